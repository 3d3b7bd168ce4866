"""`feedctl ledger upgrade`, wired; apart from `ledgers`, since Alembic takes long to load."""

from __future__ import annotations

from contextlib import closing

from toolkit.bootstrap.config import RepoRequest
from toolkit.bootstrap.ledgers import location_for
from toolkit.ledger.opening import connected, refuse_place
from toolkit.ledger.sqlite_place import make_place
from toolkit.ledger.upgrade import Upgraded, upgrade


def upgrade_ledger(repo: RepoRequest) -> tuple[str, Upgraded]:
    """Bring the ledger that a command means to the schema of this feedctl.

    Returns:
        Its place, and what was done.

    Raises:
        InvalidInput: no ledger is named, or this feedctl must not use it.
        LedgerUnavailable: the database cannot be used now.
    """
    location = location_for(repo)
    refuse_place(location, repo.variables)
    if location.file is not None:
        make_place(location.file, location.place)
    with closing(connected(location, read_only=False)) as ledger:
        return location.place, upgrade(ledger)
