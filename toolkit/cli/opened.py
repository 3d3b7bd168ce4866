"""The ledger and the config repo of a command, open while it works."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from toolkit.entities.repo import RepoSettings
    from toolkit.entities.repository import Repository
    from toolkit.ledger.database import Ledger


@contextmanager
def opened(config_repo: str | None, environment: str | None, *, writing: bool) -> Iterator[tuple[Ledger, Repository]]:
    """The ledger that a command means, and all entities.

    Args:
        config_repo: as `--config-repo` names it.
        environment: as `--env` names it.
        writing: the command changes something; otherwise the database itself refuses every change.

    Raises:
        InvalidInput: no usable config repo or ledger.
        LedgerUnavailable: the database cannot be used now.
    """
    from toolkit.bootstrap.ledgers import ledger_and_repository

    ledger, repository = ledger_and_repository(config_repo, environment, read_only=not writing)
    try:
        yield ledger, repository
    finally:
        ledger.close()


@contextmanager
def opened_with_settings(
    config_repo: str | None, environment: str | None, *, writing: bool
) -> Iterator[tuple[Ledger, RepoSettings]]:
    """The ledger that a command means, and the settings of the repo; the entities are not read and may be broken.

    Raises:
        InvalidInput: no usable config repo or ledger.
        LedgerUnavailable: the database cannot be used now.
    """
    from toolkit.bootstrap.config import load_settings_of, open_config
    from toolkit.bootstrap.ledgers import ledger_of

    snapshot = open_config(config_repo)
    settings = load_settings_of(snapshot, environment)
    ledger = ledger_of(snapshot, settings, read_only=not writing)
    try:
        yield ledger, settings
    finally:
        ledger.close()
