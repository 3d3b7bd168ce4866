"""Files and batches from outside: register-file and enqueue (BDRE, RegisterFile and BatchEnqueuer)."""

from __future__ import annotations

from dataclasses import dataclass, replace

import sqlalchemy as sa

from toolkit.ledger.batches import making
from toolkit.ledger.batches.announcing import announce
from toolkit.ledger.batches.downstream import enqueue_downstream
from toolkit.ledger.batches.errors import BatchIsTaken, BatchNotPublished, BatchOfAnother
from toolkit.ledger.batches.files import add_file, find_file
from toolkit.ledger.batches.instances import FeedInstance, attach
from toolkit.ledger.batches.marking import joined, tokens
from toolkit.ledger.batches.rows import Batch, BatchFile, Downstream, NewFile
from toolkit.ledger.registry.finding import source as registered_source
from toolkit.ledger.registry.registration import Site
from toolkit.ledger.registry.rows import RegisteredProcess
from toolkit.ledger.tables import archive, batch, process, queue, step, upstream
from toolkit.ledger.transaction import Transaction
from toolkit.ledger.vocabulary import BatchState


@dataclass(frozen=True, kw_only=True, slots=True)
class Enqueued:
    """A file on its way to the steps that read it.

    Attributes:
        batch_id: its batch.
        marking: of the batch.
        file: its row.
        waiting: the steps downstream that have not taken the batch yet.
    """

    batch_id: int
    marking: str | None
    file: BatchFile
    waiting: tuple[Downstream, ...]


def register_file(tx: Transaction, new: NewFile, *, batch_id: int | None = None) -> BatchFile:
    """Register a file, in a new batch or in one that is there, for example the target batch of a job that runs.

    Registering enqueues nothing. The same file in the same batch again is the row that is there.

    Args:
        tx: the transaction.
        new: the file.
        batch_id: None: a new batch.

    Raises:
        UnknownBatch: there is no such batch.
        UnknownServer: no server has that name.
        FileConflict: it is there with another size or hash.
        BatchIsTaken: a step has taken the batch and may miss the file.
    """
    if batch_id is None:
        return add_file(tx, making.make_file_batch(tx, process_id=None, marking=None), new)
    _lock_readers(tx, batch_id)
    making.locked_batch(tx, batch_id)
    return _join(tx, batch_id, new)


def enqueue(
    tx: Transaction,
    source: Site,
    new: NewFile,
    *,
    batch_id: int | None = None,
    marking: str | None = None,
    instance: FeedInstance | None = None,
) -> Enqueued:
    """Register a file and put its batch into the queue of every live step downstream of the source.

    The same call again, with the number of the batch, changes nothing. With an instance its event goes out too.

    Args:
        tx: the transaction.
        source: the feed, or process, that the file comes from.
        new: the file.
        batch_id: None: a new batch.
        marking: batch dates; None: the instance's key, or those that the batch has.
        instance: what the batch stands for.

    Raises:
        UnknownProcess: the source is not registered.
        UnknownBatch: there is no such batch.
        BatchNotPublished: the batch may not be read.
        BatchOfAnother: it has another source, or another marking.
        UnknownServer: no server has that name.
        FileConflict: it is there with another size or hash.
        BatchIsTaken: a step has taken the batch and may miss the file.
    """
    owner = registered_source(tx, source)
    if batch_id is None:
        target = _new_batch(tx, owner, marking if instance is None or marking else instance.instance_key)
    else:
        target = _known_batch(tx, owner, batch_id, marking)
    added = _join(tx, target.batch_id, new)
    waiting = enqueue_downstream(tx, owner.process_id, target.batch_id, target.marking, tx.now())
    instances = () if instance is None else attach(tx, target.batch_id, [instance])
    announce(tx, instances, run_id=None)
    return Enqueued(batch_id=target.batch_id, marking=target.marking, file=added, waiting=waiting)


def _new_batch(tx: Transaction, owner: RegisteredProcess, marking: str | None) -> Batch:
    return making.find_batch(tx, making.make_file_batch(tx, owner.process_id, joined([marking])))


def _known_batch(tx: Transaction, owner: RegisteredProcess, batch_id: int, marking: str | None) -> Batch:
    """A batch that is there, locked; one without a source or marking gets them now."""
    _lock_readers(tx, batch_id)
    found = making.locked_batch(tx, batch_id)
    if found.state is not BatchState.PUBLISHED:
        raise BatchNotPublished(batch_id=batch_id, state=found.state)
    if found.process_id not in {None, owner.process_id}:
        raise BatchOfAnother(batch_id=batch_id, found="of another source", expected=f"one of {owner.site}")
    if marking and found.marking and tokens(marking) != tokens(found.marking):
        raise BatchOfAnother(batch_id=batch_id, found=f"marked {found.marking}", expected=f"marking {marking}")
    adopted = replace(found, process_id=owner.process_id, marking=found.marking or joined([marking]))
    if adopted != found:
        making.adopt(tx, adopted)
    return adopted


def _join(tx: Transaction, batch_id: int, new: NewFile) -> BatchFile:
    """Add a file to a batch that nobody has read yet; what is there already may be named at any time."""
    if find_file(tx, batch_id, new) is None and _is_taken(tx, batch_id):
        raise BatchIsTaken(batch_id=batch_id, path=new.path)
    return add_file(tx, batch_id, new)


def _lock_readers(tx: Transaction, batch_id: int) -> None:
    """Let no job of a process downstream take the batch while a file joins it: a job locks its process's row first."""
    readers = (
        sa.select(step.c.process_id)
        .join(upstream, upstream.c.step_id == step.c.step_id)
        .join(batch, batch.c.process_id == upstream.c.process_id)
        .where(batch.c.batch_id == batch_id)
    )
    rows = sa.select(process.c.process_id).where(process.c.process_id.in_(readers))
    tx.execute(tx.locked(rows.order_by(process.c.process_id))).all()


def _is_taken(tx: Transaction, batch_id: int) -> bool:
    taken = sa.exists().where(queue.c.source_batch_id == batch_id, queue.c.target_batch_id.is_not(None))
    archived = sa.exists().where(archive.c.source_batch_id == batch_id)
    return bool(tx.execute(sa.select(sa.or_(taken, archived))).scalar_one())
