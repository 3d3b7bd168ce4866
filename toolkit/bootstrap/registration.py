"""From a config repo to the registry of its ledger."""

from __future__ import annotations

from typing import TYPE_CHECKING

from toolkit.bootstrap.config import RepoRequest, load_entities, open_config
from toolkit.bootstrap.ledgers import ledger_of
from toolkit.config_source import require_age
from toolkit.ledger.registry.registration import registration_of
from toolkit.ledger.registry.sync import SyncReport, sync

if TYPE_CHECKING:
    from toolkit.clock import Clock


def sync_ledger(repo: RepoRequest, *, who: str, allow_dirty: bool, clock: Clock) -> SyncReport:
    """Register what a config repo has in its ledger.

    Args:
        repo: the config repo; its environment says on which clusters processes are registered.
        who: asks for it.
        allow_dirty: a checkout with uncommitted changes will do.
        clock: tells how old the config repo is.

    Raises:
        InvalidInput: no usable config repo or ledger, or the repo is too old.
        SafeModeIsOn: the whole installation rests.
        LedgerUnavailable: the database cannot be used now.
    """
    snapshot = open_config(repo, for_mutation=True, allow_dirty=allow_dirty)
    repository = load_entities(snapshot, repo)
    require_age(snapshot.id, repository.settings.max_age, clock.now())
    registration = registration_of(repository, str(snapshot.id))
    ledger = ledger_of(snapshot, repository.settings, repo.variables, read_only=False)
    try:
        return ledger.write(lambda tx: sync(tx, registration, who))
    finally:
        ledger.close()
