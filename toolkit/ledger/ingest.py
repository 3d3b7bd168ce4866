"""Batches and transactions of streaming ingest, and the slot to commit to a table.

The ledger keeps ids, intentions and results; whether an intended transaction was committed is known by the table alone.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import sqlalchemy as sa

from toolkit.el import EPOCH
from toolkit.ledger.database import Transaction, in_chunks
from toolkit.ledger.tables import ingest_batch, ingest_slot, ingest_transaction
from toolkit.ledger.vocabulary import IngestBatchState, IngestTransactionState

SLOT_TIME = timedelta(seconds=30)
"""A slot that was taken for so long may be taken by another."""
WAITING = timedelta(seconds=2)
"""A process that waits for the slot and has not asked for so long loses its place."""

_T, _B, _SLOT = ingest_transaction.c, ingest_batch.c, ingest_slot.c


@dataclass(frozen=True, kw_only=True, slots=True)
class OpenedBatch:
    """A batch with the ids of its transactions, in their order."""

    batch_id: int
    transactions: tuple[int, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class IntendedTransaction:
    """Content of a transaction whose commit is about to begin.

    Attributes:
        transaction_id: its id.
        partitions: that it touches.
        rows: number of rows.
        bytes: size of its data files.
        files: number of its data files.
    """

    transaction_id: int
    partitions: tuple[tuple[str, ...], ...]
    rows: int
    bytes: int
    files: int


@dataclass(frozen=True, kw_only=True, slots=True)
class CommitSlot:
    """A slot that was asked for.

    Attributes:
        fence: of the slot; None: another process has it.
        holder: which process has it.
    """

    fence: int | None
    holder: str


@dataclass(frozen=True, kw_only=True, slots=True)
class SlotView:
    """A slot as a process sees it that waits for it.

    Attributes:
        holder: which process has it; empty: none.
        is_next: this process takes it next.
        is_worth_asking: the process would get the slot or the place after its holder, or would keep that place longer.
    """

    holder: str
    is_next: bool
    is_worth_asking: bool


def open_batch(tx: Transaction, table: str, agent: str, count: int, timeout: timedelta) -> OpenedBatch:
    """Open a batch of transactions, and return their ids."""
    values = {"table_name": table, "agent": agent, "state": IngestBatchState.OPEN}
    seconds = timeout.total_seconds()
    batch = tx.insert(ingest_batch, **values, timeout_seconds=seconds, expires_at=tx.now() + timeout)
    row: dict[str, object] = {
        "batch_id": batch,
        "table_name": table,
        "state": IngestTransactionState.OPEN,
        "fence": 0,
    }
    made = tx.execute(sa.insert(ingest_transaction).returning(_T.transaction_id), [row] * count)
    return OpenedBatch(batch_id=batch, transactions=tuple(sorted(made.scalars())))


def heartbeat(tx: Transaction, batch: int, timeout: timedelta) -> bool:
    """Prolong a batch; False: it was aborted or it lapsed."""
    now = tx.now()
    is_alive = (_B.batch_id == batch) & (_B.state == IngestBatchState.OPEN) & (_B.expires_at > now)
    return bool(tx.execute(sa.update(ingest_batch).where(is_alive).values(expires_at=now + timeout)).rowcount)


def close_batch(tx: Transaction, batch: int) -> None:
    """Close a batch; its open transactions are aborted, the intended ones are left to the next slot."""
    _end(tx, batch, IngestBatchState.CLOSED)


def abort_lapsed(tx: Transaction, table: str) -> Sequence[int]:
    """Abort the batches of a table whose heartbeats stopped, and return their ids."""
    lapsed = (_B.state == IngestBatchState.OPEN) & (_B.table_name == table) & (_B.expires_at <= tx.now())
    found = tx.execute(tx.locked(sa.select(_B.batch_id).where(lapsed).order_by(_B.batch_id))).scalars().all()
    for each in found:
        _end(tx, each, IngestBatchState.ABORTED)
    return found


def _end(tx: Transaction, batch: int, state: IngestBatchState) -> None:
    is_open = (_B.batch_id == batch) & (_B.state == IngestBatchState.OPEN)
    tx.execute(sa.update(ingest_batch).where(is_open).values(state=state))
    left = (_T.batch_id == batch) & (_T.state == IngestTransactionState.OPEN)
    tx.execute(sa.update(ingest_transaction).where(left).values(state=IngestTransactionState.ABORTED))


def intend(tx: Transaction, intended: Sequence[IntendedTransaction], fence: int) -> frozenset[int]:
    """Note that commits are about to begin, and return which of them may.

    A transaction may not when it is not open any more, or its batch is aborted, closed or lapsed. The same may
    be asked twice, since the first answer may be lost.
    """
    now = tx.now()
    ids = [each.transaction_id for each in intended]
    # The lock on the batch keeps `abort_lapsed` away until the intention is written.
    batches = sa.select(_T.batch_id).where(_T.transaction_id.in_(ids))
    is_alive = (_B.state == IngestBatchState.OPEN) & (_B.expires_at > now) & _B.batch_id.in_(batches)
    alive = tx.execute(tx.locked(sa.select(_B.batch_id).where(is_alive).order_by(_B.batch_id))).scalars().all()
    is_own = (_T.state == IngestTransactionState.INTENDED) & (_T.fence == fence)
    may = ((_T.state == IngestTransactionState.OPEN) | is_own) & _T.transaction_id.in_(ids) & _T.batch_id.in_(alive)
    found = frozenset(tx.execute(tx.locked(sa.select(_T.transaction_id).where(may))).scalars())
    rows = [_intention(each, fence, now) for each in intended if each.transaction_id in found]
    if rows:
        tx.execute(_INTENDED, rows)
    return found


def _intention(each: IntendedTransaction, fence: int, now: datetime) -> dict[str, object]:
    return {
        "of": each.transaction_id,
        "state": IngestTransactionState.INTENDED,
        "fence": fence,
        "intended_at": now,
        "partitions": json.dumps(each.partitions),
        "rows": each.rows,
        "bytes": each.bytes,
        "files": each.files,
    }


_WRITTEN = ("state", "fence", "intended_at", "partitions", "rows", "bytes", "files")
_INTENDED = (
    sa.update(ingest_transaction)
    .where(_T.transaction_id == sa.bindparam("of"))
    .values({name: sa.bindparam(name) for name in _WRITTEN})
)


def settle(tx: Transaction, transactions: Collection[int], state: IngestTransactionState) -> frozenset[int]:
    """Write the result of intended transactions down, and return those that had none before."""
    changed: set[int] = set()
    for chunk in in_chunks(transactions):
        undecided = (_T.state == IngestTransactionState.INTENDED) & _T.transaction_id.in_(chunk)
        statement = sa.update(ingest_transaction).where(undecided).values(state=state)
        changed.update(tx.execute(statement.returning(_T.transaction_id)).scalars())
    return frozenset(changed)


def abort(tx: Transaction, transaction: int) -> None:
    """Abort a transaction that is open; another state stays."""
    is_open = (_T.state == IngestTransactionState.OPEN) & (_T.transaction_id == transaction)
    tx.execute(sa.update(ingest_transaction).where(is_open).values(state=IngestTransactionState.ABORTED))


def states(tx: Transaction, transactions: Iterable[int]) -> dict[int, IngestTransactionState]:
    """Return the states of transactions."""
    found: dict[int, IngestTransactionState] = {}
    for chunk in in_chunks(tuple(transactions)):
        rows = tx.execute(sa.select(_T.transaction_id, _T.state).where(_T.transaction_id.in_(chunk)))
        found.update((row.transaction_id, row.state) for row in rows)
    return found


def never_committed(tx: Transaction, transactions: Collection[int]) -> frozenset[int]:
    """Return those of the transactions that were aborted, or are open in a batch that ended: none will be committed."""
    found: set[int] = set()
    has_ended = (_B.state != IngestBatchState.OPEN) | (_B.expires_at <= tx.now())
    is_over = (_T.state == IngestTransactionState.ABORTED) | ((_T.state == IngestTransactionState.OPEN) & has_ended)
    for chunk in in_chunks(tuple(transactions)):
        joined = sa.select(_T.transaction_id).join(ingest_batch, _B.batch_id == _T.batch_id)
        found.update(tx.execute(joined.where(is_over, _T.transaction_id.in_(chunk))).scalars())
    return frozenset(found)


def last_committed_fence(tx: Transaction, table: str) -> int:
    """Return the highest fence with which a transaction of a table was committed; 0: none was."""
    wanted = (_T.state == IngestTransactionState.COMMITTED) & (_T.table_name == table)
    return int(tx.execute(sa.select(sa.func.max(_T.fence)).where(wanted)).scalar() or 0)


def undecided(tx: Transaction, table: str) -> Sequence[IntendedTransaction]:
    """Return the transactions of a table whose result is not known, oldest first."""
    wanted = (_T.state == IngestTransactionState.INTENDED) & (_T.table_name == table)
    columns = (_T.transaction_id, _T.partitions, _T.rows, _T.bytes, _T.files)
    found = tx.execute(sa.select(*columns).where(wanted).order_by(_T.transaction_id)).mappings()
    return [
        IntendedTransaction(**{**row, "partitions": tuple(tuple(each) for each in json.loads(row["partitions"]))})
        for row in found
    ]


def oldest_intention(tx: Transaction, table: str) -> datetime | None:
    """Return when the oldest undecided transaction of a table was intended; None: all are decided."""
    wanted = (_T.state == IngestTransactionState.INTENDED) & (_T.table_name == table)
    found: datetime | None = tx.execute(
        sa.select(sa.func.min(_T.intended_at, type_=_T.intended_at.type)).where(wanted)
    ).scalar()
    return found


def acquire_slot(tx: Transaction, table: str, process: str, gone: Collection[str]) -> CommitSlot:
    """Take the slot of a table, or wait for it.

    Args:
        tx: the transaction.
        table: its name.
        process: who asks.
        gone: processes that have ended for certain.
    """
    now = tx.now()
    row: dict[str, object] = {"table_name": table, "fence": 0, "holder": "", "next": ""}
    times: dict[str, object] = {"expires_at": EPOCH, "next_expires_at": EPOCH}
    found = tx.execute(tx.locked(sa.select(ingest_slot).where(_SLOT.table_name == table))).mappings().first()
    if found is None:
        tx.execute(tx.upsert(ingest_slot).values(**row, **times).on_conflict_do_nothing())
        found = tx.execute(tx.locked(sa.select(ingest_slot).where(_SLOT.table_name == table))).mappings().one()
    is_free, is_first = _openings(found, process, gone, now)
    if is_free and is_first:
        taken = {"holder": process, "fence": found["fence"] + 1, "expires_at": now + SLOT_TIME, "next": ""}
        _write_slot(tx, table, taken)
        return CommitSlot(fence=found["fence"] + 1, holder=process)
    if is_first:
        _write_slot(tx, table, {"next": process, "next_expires_at": now + WAITING})
    return CommitSlot(fence=None, holder=found["holder"])


def view_slot(tx: Transaction, table: str, process: str, gone: Collection[str]) -> SlotView:
    """Look at a slot without a lock: processes that wait do so often, and ask when it is worth it."""
    now = tx.now()
    found = tx.execute(sa.select(ingest_slot).where(_SLOT.table_name == table)).mappings().first()
    if found is None:  # the ledger was made anew
        return SlotView(holder="", is_next=False, is_worth_asking=True)
    is_free, is_first = _openings(found, process, gone, now)
    is_next = found["next"] == process
    is_kept = is_next and found["next_expires_at"] > now + WAITING / 2
    return SlotView(holder=found["holder"], is_next=is_next, is_worth_asking=is_first and (is_free or not is_kept))


def _openings(found: sa.RowMapping, process: str, gone: Collection[str], now: datetime) -> tuple[bool, bool]:
    """Return whether nobody else has the slot, and whether nobody else is to take it next."""
    holder, after = found["holder"], found["next"]
    is_free = holder in ("", process) or holder in gone or found["expires_at"] <= now
    is_first = after in ("", process) or after in gone or found["next_expires_at"] <= now
    return is_free, is_first


def release_slot(tx: Transaction, table: str, process: str, fence: int) -> None:
    """End a slot; the process that waits longest takes it next."""
    is_own = (_SLOT.table_name == table) & (_SLOT.holder == process) & (_SLOT.fence == fence)
    tx.execute(sa.update(ingest_slot).where(is_own).values(holder=""))


def _write_slot(tx: Transaction, table: str, values: dict[str, object]) -> None:
    tx.execute(sa.update(ingest_slot).where(_SLOT.table_name == table).values(values))
