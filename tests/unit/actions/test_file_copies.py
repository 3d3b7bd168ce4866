"""Copies of a run's files, and what is told of them while they pass."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import BinaryIO

import pytest

from tests.local_executors import LocalExecutorPool
from tests.unit.actions.fake_action import context
from toolkit.actions import file_copies
from toolkit.actions.file_copies import FileCopies
from toolkit.actions.progress import NOTHING, NoProgress, Volume
from toolkit.el import CanonicalPath
from toolkit.runs.stop import NeverStopped
from toolkit.storage import StorageSpec
from toolkit.storage.local.file_system import LocalFileSystem
from toolkit.threads import WorkerPool
from toolkit.transfer.plan import FileCopy
from toolkit.transfer.spread_copy import SharedCopying

MANY = 21
REMOTE = CanonicalPath("hdfs", "far", "/")
"""What is not on this machine, so that executors may copy it."""


@dataclass
class Watching(NoProgress):
    """Adds up."""

    volume: Volume = NOTHING
    wait_for_rate: threading.Lock = field(default_factory=threading.Lock)

    def copied(self, more: Volume) -> None:
        with self.wait_for_rate:
            self.volume += more


def files(root: Path, number: int) -> list[FileCopy]:
    """So many of three bytes, and their copies to be."""
    (root / "from").mkdir()
    names = [f"f{at}" for at in range(number)]
    for name in names:
        (root / "from" / name).write_text("abc")
    here = CanonicalPath.parse(f"file://{root}")
    return [FileCopy(here.child("from").child(name), here.child("to").child(name), 3) for name in names]


def copies(watching: Watching, pool: WorkerPool, seconds: float) -> FileCopies:
    """On this disk, as if it were far; tasks have so many seconds."""
    system = LocalFileSystem()
    work = replace(
        context(NeverStopped()),
        stores=lambda _: system,
        progress=watching,
        executors=LocalExecutorPool,
        seconds_left=lambda: seconds,
        copying=SharedCopying(spec_of=lambda _: StorageSpec(scheme="file"), pool=pool),
    )
    return FileCopies(work=work)


@pytest.fixture(autouse=True)
def spread_from_few_files(monkeypatch: pytest.MonkeyPatch) -> None:
    """Executors work on what is more than a few files."""
    monkeypatch.setattr(file_copies, "SPREAD_FILES", MANY - 1)


@pytest.fixture
def pool() -> Iterator[WorkerPool]:
    """Four threads."""
    pool = WorkerPool(4, "test")
    yield pool
    pool.shutdown()


@pytest.mark.parametrize(
    ("number", "seconds"),
    [(5, 60.0), (MANY, 60.0), (MANY, 0.0)],
    ids=["by threads", "by executors", "by threads since executors had no time"],
)
def test_all_files_are_copied_and_who_watches_is_told_of_each(
    tmp_path: Path, pool: WorkerPool, number: int, seconds: float
) -> None:
    watching = Watching()
    found = copies(watching, pool, seconds).copy(REMOTE, REMOTE, files(tmp_path, number))
    assert ({each.code for each in found}, len(found)) == ({""}, number)
    assert len(list((tmp_path / "to").iterdir())) == number
    assert watching.volume == Volume(files=number, bytes=3 * number)


def test_a_large_copy_without_executors_is_made_here_and_the_user_is_told(tmp_path: Path, pool: WorkerPool) -> None:
    copying = copies(Watching(), pool, 60.0)
    alone = replace(copying, work=replace(copying.work, executors=None))
    assert len(alone.copy(REMOTE, REMOTE, files(tmp_path, MANY))) == MANY
    (note,) = alone.work.copying.notes()
    assert note.startswith(f"{MANY} files with {3 * MANY} bytes were copied or read by this process alone")


def test_a_small_copy_needs_no_executors_and_has_no_note(tmp_path: Path, pool: WorkerPool) -> None:
    copying = copies(Watching(), pool, 60.0)
    replace(copying, work=replace(copying.work, executors=None)).copy(REMOTE, REMOTE, files(tmp_path, MANY - 1))
    assert copying.work.copying.notes() == ()


def test_who_watches_is_told_nothing_of_what_was_not_announced(tmp_path: Path, pool: WorkerPool) -> None:
    watching = Watching()
    copies(watching, pool, 60.0).copy(REMOTE, REMOTE, files(tmp_path, 1), is_progress=False)
    assert (watching.volume, len(list((tmp_path / "to").iterdir()))) == (NOTHING, 1)


@pytest.mark.parametrize(
    ("number", "seconds", "reads_here"),
    [(5, 60.0, 5), (MANY, 60.0, 0), (MANY, 0.0, MANY)],
    ids=["by threads", "by executors", "by threads since executors had no time"],
)
def test_files_are_read_again_where_they_were_copied(
    tmp_path: Path, pool: WorkerPool, number: int, seconds: float, reads_here: int
) -> None:
    wanted = files(tmp_path, number)
    gone = wanted[-1]._replace(target=wanted[-1].target.parent.child("gone"))
    copying, here = copies(Watching(), pool, 60.0), Counting()
    digests = {each.target: each.digest for each in copying.copy(REMOTE, REMOTE, wanted)}
    reading = replace(copying, work=replace(copying.work, stores=lambda _: here, seconds_left=lambda: seconds))
    found = {each.target: each for each in reading.read(REMOTE, [*wanted[:-1], gone])}
    assert found[gone.target].code == "not_found"
    del found[gone.target], digests[wanted[-1].target]
    assert {target: each.digest for target, each in found.items()} == digests
    assert here.reads == reads_here


class Counting(LocalFileSystem):
    """A disk that counts what the driver opens for reading."""

    reads = 0

    def read(self, path: CanonicalPath, *, offset: int = 0, length: int | None = None) -> BinaryIO:
        self.reads += 1
        return super().read(path, offset=offset, length=length)
