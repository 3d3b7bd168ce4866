"""Units that other machines read: what is committed when units, tasks and transactions fail, or time is over."""

from __future__ import annotations

import json
import os
import pickle
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typing_extensions import override

from tests.unit.ingest_job.scene import INSTANCES, NOW
from toolkit.el import CanonicalPath
from toolkit.ingest.port import DataFile, FileWriter, IngestColumn
from toolkit.ingest.remote_transaction import RemoteTransaction
from toolkit.ingest.strict_json import StrictJson
from toolkit.ingest_job.directory import DirectorySource
from toolkit.ingest_job.instances import PartitionFiller
from toolkit.ingest_job.rejects import RejectLog, TooManyRejects
from toolkit.ingest_job.sink import TableWriter
from toolkit.ingest_job.source import Progress
from toolkit.ingest_job.spread_ingester import ExecutorFailed, SpreadIngester
from toolkit.ingest_job.targets import CommitLimits, IngestDetail, RejectRules
from toolkit.storage import LocalFileSystem, StorageSpec
from toolkit.transfer.errors import TasksFailed
from toolkit.transfer.port import Answer, ExecutorPool, Task, Work

COLUMNS = (IngestColumn(name="ts", type="timestamp"), IngestColumn(name="word", type="string"))


@dataclass(frozen=True, kw_only=True)
class FolderFiles(FileWriter):
    """Writes data files to a folder."""

    folder: Path

    @override
    def write(self, rows: pa.Table, name: str) -> tuple[DataFile, ...]:
        if "full disk" in rows["word"].to_pylist():
            raise ExecutorFailed(code="store_failed", message="no space left")
        pq.write_table(rows, self.folder / f"{name}-00000.parquet")
        return (DataFile(uri=f"{name}-00000.parquet", partition=(), rows=rows.num_rows, bytes=rows.nbytes),)

    @override
    def discard(self, files: Sequence[DataFile]) -> None:
        for each in files:
            (self.folder / each.uri).unlink()


def earliest() -> object:
    """Return the present instant, by a function that can be pickled."""
    return NOW


@dataclass(kw_only=True)
class FolderWriter(TableWriter):
    """Commits files of a folder."""

    folder: Path
    flush_bytes: int = 1 << 20
    transaction: int = 0
    open_files: list[DataFile] | None = None
    commits: list[tuple[list[DataFile], Progress | None]] = field(default_factory=list)

    @property
    def words(self) -> list[str]:
        files = [self.folder / each.uri for files, _ in self.commits for each in files]
        return sorted(word for each in files for word in pq.read_table(each)["word"].to_pylist())

    @property
    def left_over(self) -> int:
        return len(list(self.folder.iterdir())) - sum(len(files) for files, _ in self.commits)

    @override
    def progress(self) -> Progress:
        return self.commits[-1][1] or {} if self.commits else {}

    @override
    def begin(self) -> None:
        assert self.open_files is None
        self.transaction, self.open_files = self.transaction + 1, []

    @override
    def write(self, records: Sequence[bytes]) -> None:
        raise NotImplementedError

    @override
    def remote(self) -> RemoteTransaction:
        fill = PartitionFiller(instances=INSTANCES, closed_before=None, now=earliest)  # type: ignore[arg-type]
        return RemoteTransaction(
            transaction=self.transaction,
            files=FolderFiles(folder=self.folder),
            columns=COLUMNS,
            writer=StrictJson(),
            fill=fill,
            flush_bytes=self.flush_bytes,
        )

    @override
    def add(self, files: Sequence[DataFile]) -> None:
        assert self.open_files is not None
        self.open_files.extend(files)

    @override
    def commit(self, progress: Progress | None) -> None:
        assert self.open_files is not None
        self.commits.append((self.open_files, progress))
        self.open_files = None

    @override
    def abort(self) -> None:
        FolderFiles(folder=self.folder).discard(self.open_files or [])
        self.open_files = None

    @override
    def close(self) -> None:
        self.abort()


@dataclass(kw_only=True)
class PicklingPool(ExecutorPool):
    """Works in this process on what went through pickle; some tasks are lost once their work is done.

    Attributes:
        lost: so many of the first attempts.
        is_up: Spark does not give up.
    """

    parallel: int = 1
    lost: int = 0
    is_up: bool = True

    @override
    def run(self, work: Work[Task, Answer], tasks: Sequence[Task], *, check: Callable[[], None]) -> Iterator[Answer]:
        for task in tasks:
            check()
            attempt = 0
            while self.lost:
                self.lost -= 1
                list(pickle.loads(pickle.dumps(work))(pickle.loads(pickle.dumps(task)), attempt))  # noqa: S301 - ours
                attempt += 1
            if not self.is_up:
                raise TasksFailed(why="executor lost")
            answers = list(pickle.loads(pickle.dumps(work))(pickle.loads(pickle.dumps(task)), attempt))  # noqa: S301
            yield from pickle.loads(pickle.dumps(answers))  # noqa: S301 - the same


@dataclass(kw_only=True)
class Spread:
    """A directory, and an ingester of it."""

    root: Path
    rules: RejectRules = field(default_factory=RejectRules)
    pool: PicklingPool = field(default_factory=PicklingPool)
    every: timedelta = timedelta(minutes=1)
    writer: FolderWriter = field(init=False)
    detail: IngestDetail = field(default_factory=IngestDetail)

    def __post_init__(self) -> None:
        for each in ("inbox", "table"):
            (self.root / each).mkdir(exist_ok=True)
        self.writer = FolderWriter(folder=self.root / "table")

    def put(self, name: str, *words: str) -> None:
        path, rows = self.root / "inbox" / name, ({"ts": "2026-03-02T10:00:00Z", "word": word} for word in words)
        path.write_text("".join(f"{json.dumps(row)}\n" if row["word"] != "bad" else "{\n" for row in rows))
        os.utime(path, (0, 0))

    def run(self) -> dict[str, str]:
        """Ingest what is left; returns the codes of the units that failed."""
        system, base = LocalFileSystem(), CanonicalPath.parse(f"file://{self.root}/inbox")
        source = DirectorySource(
            directory=base, pattern="*", settle=timedelta(), now=NOW, stores=lambda _: system, most_bytes=1 << 20
        )
        progress, detail = self.writer.progress(), self.detail
        ingester = SpreadIngester(
            source=source,
            writer=self.writer,
            limits=CommitLimits(bytes=1 << 20, every=self.every),
            rejects=RejectLog(table="t", rules=self.rules, name="r", stores=lambda _: system, detail=detail),
            detail=detail,
            progress=progress,
            keeps_progress=True,
            before_commit=lambda: None,
            table="t",
            store=StorageSpec(scheme="file"),
            executors=lambda: self.pool,
        )
        errors = ingester.ingest(source.units(progress))
        return {name.rpartition("/")[2]: str(getattr(error, "code", "")) for name, error in errors.items()}

    def rejecting(self, most: int | None = None) -> Spread:
        self.rules = RejectRules(directory=CanonicalPath.parse(f"file://{self.root}/rejects"), most=most)
        return self


@pytest.fixture
def spread(tmp_path: Path) -> Spread:
    """Return a directory that is empty."""
    return Spread(root=tmp_path)


@pytest.mark.parametrize("flush_bytes", [1, 1 << 20])
def test_a_unit_that_fails_takes_none_of_its_rows_and_no_other_unit_along(spread: Spread, flush_bytes: int) -> None:
    many = [f"b{at}" for at in range(10_000)]
    spread.put("a", "a0", "a1")
    spread.put("b", *many, "bad")  # its first rows are written before the bad one is read
    spread.put("c", "c0")
    spread.writer.flush_bytes = flush_bytes
    assert spread.run() == {"b": "bad_records"}
    assert (spread.writer.words, len(spread.writer.commits), spread.writer.left_over) == (["a0", "a1", "c0"], 1, 0)
    spread.put("b", *many)
    assert spread.run() == {}
    assert (spread.writer.words, spread.run()) == (sorted(["a0", "a1", "c0", *many]), {})


def test_a_task_that_is_tried_again_commits_the_files_of_one_attempt(spread: Spread) -> None:
    spread.put("a", "a0")
    spread.pool.lost = 2
    assert spread.run() == {}
    assert (spread.writer.words, spread.writer.left_over) == (["a0"], 2)
    assert len({each.name.split("-")[2] for each in spread.writer.folder.iterdir()}) == 3


def test_a_job_that_spark_gives_up_commits_nothing(spread: Spread) -> None:
    spread.put("a", "a0")
    spread.pool.is_up = False
    with pytest.raises(TasksFailed):
        spread.run()
    assert (spread.writer.commits, spread.writer.open_files) == ([], None)


def test_a_task_that_would_fail_again_ends_the_run_and_removes_its_files(spread: Spread) -> None:
    spread.put("a", "a0")
    spread.put("b", "full disk")
    spread.writer.flush_bytes = 1
    with pytest.raises(ExecutorFailed, match="no space left") as found:
        spread.run()
    assert (found.value.code, spread.writer.commits, spread.writer.left_over) == ("store_failed", [], 0)


def test_a_task_whose_time_is_over_commits_the_beginning_of_a_file_and_the_next_goes_on(spread: Spread) -> None:
    words = [f"{at:05}" for at in range(25_000)]
    spread.put("a", *words)
    spread.put("b", "z")
    spread.every = timedelta()
    assert spread.run() == {}
    assert (spread.writer.words, len(spread.writer.commits), spread.detail.rows) == ([*words, "z"], 3, 25_001)
    assert "open" in (spread.writer.commits[0][1] or {})


def test_bad_records_of_all_machines_are_in_one_file_with_their_lines(spread: Spread) -> None:
    spread.rejecting(most=2)
    spread.pool.parallel = 4
    spread.put("a", "a0", "bad")
    spread.put("b", "bad", "b0")
    assert spread.run() == {}
    lines = [json.loads(each) for each in (spread.root / "rejects" / "r.jsonl").read_text().splitlines()]
    assert [(each["unit"][-1], each["position"], each["record"]) for each in lines] == [("a", 2, "{"), ("b", 1, "{")]
    assert (spread.writer.words, spread.detail.rejects, spread.detail.rows) == (["a0", "b0"], 2, 2)


@pytest.mark.parametrize("parallel", [1, 4])
def test_more_bad_records_than_a_run_may_have_commit_nothing(spread: Spread, parallel: int) -> None:
    spread.rejecting(most=1)
    spread.pool.parallel = parallel
    spread.put("a", "bad", "a0")
    spread.put("b", "b0", "bad")
    with pytest.raises((TooManyRejects, ExecutorFailed), match="more than 1 bad records") as found:
        spread.run()
    assert (getattr(found.value, "code", ""), spread.writer.commits) == ("too_many_rejects", [])
    assert (spread.writer.left_over, (spread.root / "rejects").exists()) == (0, False)
