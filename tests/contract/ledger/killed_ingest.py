"""An ingest that kills itself at a named point, over a table in a file."""

from __future__ import annotations

import fcntl
import os
import pickle
import signal
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import pyarrow as pa
import sqlalchemy as sa

from tests.databases.ledgers import open_ledger
from tests.unit.ingest.memory_table import MemoryCatalog, MemoryTable, WordWriter
from toolkit.ingest.committer import WriterProgress
from toolkit.ingest.connection import connect
from toolkit.ingest.endpoint import CatalogAddress, Endpoint
from toolkit.ingest.port import DataFile, TableCommit, TableState

ENDPOINT = Endpoint(catalog=CatalogAddress(type="sql", uri="file:", warehouse="file:"), namespace="web", table="clicks")
POINTS = ("before data", "after data", "after intention", "during commit", "after commit")


@dataclass(kw_only=True)
class FileTable(MemoryTable):
    """A table whose commits are renames of one file; processes share it."""

    path: Path
    point: Callable[[str], None] = lambda _: None

    @contextmanager
    def _loaded(self) -> Iterator[None]:
        with self.path.with_suffix(".lock").open("w") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            if self.path.exists():
                self.commits, self.properties = pickle.loads(self.path.read_bytes())  # noqa: S301 - our own
            yield

    def state(self) -> TableState:
        with self._loaded():
            return super().state()

    def committed(self, transactions: Collection[int]) -> frozenset[int]:
        with self._loaded():
            return super().committed(transactions)

    def write(self, rows: pa.Table, name: str) -> tuple[DataFile, ...]:
        self.point("before data")
        try:
            return super().write(rows, name)
        finally:
            self.point("after data")

    def commit(self, commit: TableCommit, base: TableState) -> None:
        is_data = bool(commit.files)
        if is_data:
            self.point("after intention")
        with self._loaded():
            super().commit(commit, base)
            new = self.path.with_suffix(".new")
            new.write_bytes(pickle.dumps((self.commits, self.properties)))
            if is_data:
                self.point("during commit")
            new.replace(self.path)
        if is_data:
            self.point("after commit")


def ingest_words(url: str, path: Path, words: int, kill_at: tuple[str, int] | None) -> None:
    """Write the words that the progress of the table has not, one in a transaction; be killed at a point."""
    seen = 0

    def point(name: str) -> None:
        nonlocal seen
        if kill_at is not None and name == kill_at[0]:
            seen += 1
            if seen == kill_at[1]:
                os.kill(os.getpid(), signal.SIGKILL)

    catalog = MemoryCatalog(table=FileTable(path=path, point=point))
    ledger = open_ledger(sa.make_url(url))
    with connect(ENDPOINT, ledger=ledger, agent="a", open_catalog=lambda _: catalog) as connection:
        found = connection.progress("w") or {"at": 0}
        with connection.transaction_batch(words, WordWriter(), timeout=timedelta(seconds=20)) as batch:
            for number in range(int(str(found["at"])), words):
                batch.begin()
                batch.write(f"{number:03}".encode())
                batch.commit(progress=WriterProgress(name="w", document={"at": number + 1}))
    ledger.close()
