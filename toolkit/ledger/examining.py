"""What is to be said of a ledger from outside: `feedctl ledger status`."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from pathlib import Path

import sqlalchemy as sa

from toolkit.ledger.errors import LedgerConflict, LedgerUnavailable
from toolkit.ledger.location import LedgerLocation
from toolkit.ledger.opening import connected, refuse_place
from toolkit.ledger.schema_version import HEAD, REVISIONS, stored_revision
from toolkit.ledger.tables import metadata, run
from toolkit.ledger.transaction import Transaction
from toolkit.ledger.vocabulary import RunStatus


class LedgerState(StrEnum):
    """Whether this feedctl can work with a ledger as it is."""

    READY = "ready"
    """It can."""
    ABSENT = "absent"
    """There is no SQLite file yet: the first action that changes something makes it."""
    OUTDATED = "outdated"
    """It has no tables, or those of an older feedctl: `feedctl ledger upgrade` makes the new ones."""
    UNKNOWN = "unknown"
    """A newer feedctl, or another program, made the tables."""
    UNREACHABLE = "unreachable"
    """The database does not answer."""


@dataclass(frozen=True, kw_only=True, slots=True)
class OpenRun:
    """A run that is not over; the fields are columns of the table `run`."""

    run_id: int
    life_cycle: str
    entity: str
    cluster: str
    instance_key: str
    status: RunStatus
    created_at: datetime


@dataclass(frozen=True, kw_only=True, slots=True)
class LedgerExamination:
    """What was found.

    Attributes:
        place: the URL without its password.
        state: whether this feedctl can work with it.
        revision: of its schema; None: it has no tables, or nobody can tell.
        why: why it does not answer; None: it does.
        rows: how many each table has, by name.
        size: bytes on the disk; None: unknown.
        oldest_open: of the runs that are not over, the one that was written first.
    """

    place: str
    state: LedgerState
    revision: str | None = None
    why: str | None = None
    rows: Mapping[str, int] = field(default_factory=dict)
    size: int | None = None
    oldest_open: OpenRun | None = None


def examine(location: LedgerLocation, variables: Mapping[str, str]) -> LedgerExamination:
    """Look at a ledger, whatever state it is in; nothing is changed or made.

    Args:
        location: where it is.
        variables: of the environment.

    Raises:
        UnusableLedger: it must not be used from here, or its driver is missing.
    """
    refuse_place(location, variables)
    if location.file is not None and not location.file.exists():
        return LedgerExamination(place=location.place, state=LedgerState.ABSENT)
    with closing(connected(location, read_only=True)) as ledger:
        try:
            revision = ledger.read(lambda tx: stored_revision(tx.connection))
            return ledger.read(lambda tx: _examined(tx, location, revision))
        except (LedgerUnavailable, LedgerConflict) as error:
            return LedgerExamination(place=location.place, state=LedgerState.UNREACHABLE, why=error.why)


def _examined(tx: Transaction, location: LedgerLocation, revision: str | None) -> LedgerExamination:
    tables = sorted(set(sa.inspect(tx.connection).get_table_names()) & set(metadata.tables))
    return LedgerExamination(
        place=location.place,
        state=_state(revision),
        revision=revision,
        rows={name: _count(tx, name) for name in tables},
        size=_file_size(location.file) if location.file is not None else _database_size(tx),
        oldest_open=_oldest_open(tx) if revision in REVISIONS else None,
    )


def _state(revision: str | None) -> LedgerState:
    if revision == HEAD:
        return LedgerState.READY
    return LedgerState.OUTDATED if revision is None or revision in REVISIONS else LedgerState.UNKNOWN


def _count(tx: Transaction, table: str) -> int:
    found: int = tx.execute(sa.select(sa.func.count()).select_from(sa.table(table))).scalar_one()
    return found


def _file_size(file: Path) -> int:
    """With what SQLite has not moved into the file yet."""
    parts = (file, file.with_name(f"{file.name}-wal"))
    return sum(each.stat().st_size for each in parts if each.exists())


def _database_size(tx: Transaction) -> int:
    names = sa.text(
        "SELECT coalesce(sum(pg_total_relation_size(oid)), 0) FROM pg_class "
        "WHERE relkind = 'r' AND relnamespace = current_schema()::regnamespace AND relname = ANY(:names)"
    )
    return int(tx.execute(names.bindparams(names=list(metadata.tables))).scalar_one())


def _oldest_open(tx: Transaction) -> OpenRun | None:
    columns = (run.c[name] for name in OpenRun.__dataclass_fields__)
    is_open = run.c.status.in_([each for each in RunStatus if not each.is_terminal])
    return tx.row(OpenRun, sa.select(*columns).where(is_open).order_by(run.c.run_id).limit(1))
