"""A process that upgrades a ledger to a later revision and kills itself: `killed_upgrade.py URL STATEMENT`."""

from __future__ import annotations

import os
import signal
import sys

import sqlalchemy as sa

from tests.contract.ledger_schema.later_revision import WITH_LATER
from toolkit.ledger.location import LedgerLocation
from toolkit.ledger.opening import connected
from toolkit.ledger.upgrade import upgrade


def main(url: str, statement: str) -> None:
    """Upgrade; the process does not come to the end when a statement begins like this one."""
    ledger = connected(LedgerLocation(url=sa.make_url(url), place=url), read_only=False)

    def die(_connection: object, _cursor: object, sql: str, *_rest: object) -> None:
        if sql.strip().startswith(statement):
            os.kill(os.getpid(), signal.SIGKILL)

    sa.event.listen(ledger.engine, "after_cursor_execute", die)
    upgrade(ledger, revisions=WITH_LATER)


if __name__ == "__main__":
    main(*sys.argv[1:])
