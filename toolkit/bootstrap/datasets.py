"""Entities of a config repo with the last updates of its datasets, where the repo has a ledger."""

from __future__ import annotations

from typing import TYPE_CHECKING

from toolkit.bootstrap.config import load_entities, open_config
from toolkit.bootstrap.ledgers import NoLedgerNamed, location_of
from toolkit.ledger.event_queries import last_updates
from toolkit.ledger.opening import LedgerState, examine, open_ledger

if TYPE_CHECKING:
    from collections.abc import Mapping

    from toolkit.bootstrap.config import RepoRequest
    from toolkit.entities import Repository
    from toolkit.ledger.events import Event


def entities_and_updates(repo: RepoRequest) -> tuple[Repository, Mapping[str, Event]]:
    """Return all entities, and the newest update of each dataset; without a ledger, or before its first run, none.

    Raises:
        ConfigError: all problems of all files.
        InvalidInput: the ledger's URL cannot be used, or this feedctl must not use the ledger.
        LedgerUnavailable: the database cannot be used now.
    """
    snapshot = open_config(repo)
    repository = load_entities(snapshot, repo)
    try:
        location = location_of(snapshot, repository.settings, repo.variables)
    except NoLedgerNamed:
        return repository, {}
    if location.file is not None and examine(location, repo.variables).state is LedgerState.ABSENT:
        return repository, {}
    ledger = open_ledger(location, read_only=True, variables=repo.variables)
    try:
        return repository, ledger.read(last_updates)
    finally:
        ledger.close()
