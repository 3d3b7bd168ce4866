"""The files of batches: registering and reading them (BDRE, FILE, GetFiles, GetETLDriver)."""

from __future__ import annotations

import re

import sqlalchemy as sa

from toolkit.ledger.batches.errors import FileConflict, UnknownServer, UnlistableFile
from toolkit.ledger.batches.rows import BatchFile, NewFile
from toolkit.ledger.runs.finding import get
from toolkit.ledger.tables import archive, file, queue, server
from toolkit.ledger.transaction import Transaction
from toolkit.ledger.wording import moment

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
    sources = [
        sa.select(rows.c.source_batch_id).where(rows.c.target_batch_id == target_batch_id) for rows in (queue, archive)
    ]
    return tuple(tx.rows(BatchFile, _ordered(_files().where(file.c.batch_id.in_(sa.union(*sources))))))


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


def _server_id(tx: Transaction, name: str) -> int:
    found = tx.execute(sa.select(server.c.server_id).where(server.c.name == name)).scalar()
    if found is None:
        raise UnknownServer(name=name, known=tuple(tx.execute(sa.select(server.c.name)).scalars()))
    return int(found)
