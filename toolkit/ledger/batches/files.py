"""Files and batches from outside, and the files of batches (BDRE, RegisterFile, BatchEnqueuer, GetFiles)."""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import dataclass, replace

import sqlalchemy as sa

from toolkit.ledger.batches import creation
from toolkit.ledger.batches.creation import enqueue_downstream
from toolkit.ledger.batches.errors import (
    BatchIsTaken,
    BatchNotPublished,
    BatchOfAnother,
    FileConflict,
    UnknownServer,
    UnlistableFile,
)
from toolkit.ledger.batches.rows import BatchFile, BatchRow, Downstream, FeedInstance, NewFile, attach, joined, tokens
from toolkit.ledger.batches.updates import announce
from toolkit.ledger.database import Transaction
from toolkit.ledger.errors import moment
from toolkit.ledger.registry.lookup import RegisteredProcess
from toolkit.ledger.registry.lookup import source as registered_source
from toolkit.ledger.registry.registration import Site, UnknownProcess
from toolkit.ledger.runs.queries import get
from toolkit.ledger.statements import given
from toolkit.ledger.tables import archive, batch, file, process, queue, server, step, upstream
from toolkit.ledger.vocabulary import BatchState

_SEPARATOR = re.compile(r"[,;\n]")


def add_file(tx: Transaction, batch_id: int, new: NewFile) -> BatchFile:
    """Register a file in a batch; the same one again is the row that is there.

    Args:
        tx: the transaction.
        batch_id: of a batch that may still get files.
        new: the file.

    Raises:
        UnknownServer: no server has that name.
        FileConflict: it is there with another size or hash.
    """
    server_id = _server_id(tx, new.server)
    row = tx.upsert(file).values(
        batch_id=batch_id,
        server_id=server_id,
        path=new.path,
        size=new.size,
        hash=new.hash,
        modified_at=new.modified_at or tx.now(),
    )
    tx.execute(row.on_conflict_do_nothing())
    found = find_file(tx, batch_id, new)
    if found is None:
        message = f"the file {new.path} of batch {batch_id} was written and is not there"
        raise RuntimeError(message)
    if (found.size, found.hash) != (new.size, new.hash):
        raise FileConflict(
            batch_id=batch_id,
            server=new.server,
            path=new.path,
            registered=(found.size, found.hash),
            found=(new.size, new.hash),
        )
    return found


def find_file(tx: Transaction, batch_id: int, new: NewFile) -> BatchFile | None:
    """The row of a file in a batch, whatever its size and hash."""
    there = (file.c.batch_id == batch_id, server.c.name == new.server, file.c.path == new.path)
    return tx.row(BatchFile, _files().where(*there))


def get_files(tx: Transaction, first: int, last: int) -> tuple[BatchFile, ...]:
    """The files of the batches from the first to the last number, both included (BDRE, GetFiles).

    Files of other processes whose batches lie between are among them; `files_of_job` has a job's own.
    """
    return tuple(tx.rows(BatchFile, _ordered(_files().where(file.c.batch_id.between(first, last)))))


def files_of_job(tx: Transaction, run_id: int) -> tuple[BatchFile, ...]:
    """The files of exactly the batches that a job reads, or has read.

    Raises:
        UnknownRun: there is no such run.
    """
    target = get(tx, run_id).target_batch_id
    return () if target is None else files_read_for(tx, target)


def files_read_for(tx: Transaction, target_batch_id: int) -> tuple[BatchFile, ...]:
    """The files of exactly the batches that are, or were, read to make a batch."""
    return tuple(tx.rows(BatchFile, _FILES_READ, {"target_batch_id": target_batch_id}))


def get_etl_driver(tx: Transaction, first: int, last: int) -> str:
    """The files as one text: ``batch,server,path,size,hash,timestamp``, joined by ``;`` (BDRE, GetETLDriver).

    Raises:
        UnlistableFile: a path or hash has a separator in it.
    """
    return ";".join(_line(each) for each in get_files(tx, first, last))


def _line(each: BatchFile) -> str:
    for text in (each.path, each.hash or ""):
        if _SEPARATOR.search(text):
            raise UnlistableFile(batch_id=each.batch_id, text=text)
    fields = (each.batch_id, each.server, each.path, each.size, each.hash or "", moment(each.modified_at))
    return ",".join(map(str, fields))


def _files() -> sa.Select[tuple[object, ...]]:
    return sa.select(
        file.c.file_id,
        file.c.batch_id,
        server.c.name.label("server"),
        server.c.kind.label("server_kind"),
        server.c.endpoint,
        file.c.path,
        file.c.size,
        file.c.hash,
        file.c.modified_at,
    ).join(server, server.c.server_id == file.c.server_id)


def _ordered(files: sa.Select[tuple[object, ...]]) -> sa.Select[tuple[object, ...]]:
    return files.order_by(file.c.batch_id, file.c.file_id)


_READ = [
    sa.select(rows.c.source_batch_id).where(rows.c.target_batch_id == given(rows.c.target_batch_id))
    for rows in (queue, archive)
]
_FILES_READ = _ordered(_files().where(file.c.batch_id.in_(sa.union(*_READ))))


def _server_id(tx: Transaction, name: str) -> int:
    found = tx.execute(sa.select(server.c.server_id).where(server.c.name == name)).scalar()
    if found is None:
        raise UnknownServer(name=name, known=tuple(tx.execute(sa.select(server.c.name)).scalars()))
    return int(found)


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
        return add_file(tx, creation.make_file_batch(tx, process_id=None, marking=None), new)
    _lock_readers(tx, batch_id)
    creation.locked_batch(tx, batch_id)
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


def enqueue_instance(tx: Transaction, instance: FeedInstance, size: int, path: str | None = None) -> None:
    """Queue a new batch of an instance, with its place as a file, for the steps that read its feed, if any.

    The caller appends the event of the instance.

    Args:
        tx: the transaction.
        instance: with its address.
        size: of its data in bytes.
        path: of its data; None: its address, which of a table may have characters that lists of files use.
    """
    new = NewFile(server=instance.cluster, path=path or instance.uri or "", size=size)
    with suppress(UnknownProcess):  # no step reads it
        batch = enqueue(tx, Site(name=instance.feed, cluster=instance.cluster), new, marking=instance.instance_key)
        attach(tx, batch.batch_id, [instance])


def _new_batch(tx: Transaction, owner: RegisteredProcess, marking: str | None) -> BatchRow:
    return creation.find_batch(tx, creation.make_file_batch(tx, owner.process_id, joined([marking])))


def _known_batch(tx: Transaction, owner: RegisteredProcess, batch_id: int, marking: str | None) -> BatchRow:
    """A batch that is there, locked; one without a source or marking gets them now."""
    _lock_readers(tx, batch_id)
    found = creation.locked_batch(tx, batch_id)
    if found.state is not BatchState.PUBLISHED:
        raise BatchNotPublished(batch_id=batch_id, state=found.state)
    if found.process_id not in {None, owner.process_id}:
        raise BatchOfAnother(batch_id=batch_id, found="of another source", expected=f"one of {owner.site}")
    if marking and found.marking and tokens(marking) != tokens(found.marking):
        raise BatchOfAnother(batch_id=batch_id, found=f"marked {found.marking}", expected=f"marking {marking}")
    adopted = replace(found, process_id=owner.process_id, marking=found.marking or joined([marking]))
    if adopted != found:
        creation.adopt(tx, adopted)
    return adopted


def _join(tx: Transaction, batch_id: int, new: NewFile) -> BatchFile:
    """Add a file to an unread batch; a file that is there already may be named at any time."""
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
