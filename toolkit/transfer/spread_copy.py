"""Copying on other machines: a plan's files in tasks of about the same work, each with a deadline."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from math import inf
from typing import TYPE_CHECKING, Protocol, TypeVar

from toolkit.storage import StorageError, StorageSpec, open_file_system
from toolkit.threads import WorkerPool
from toolkit.transfer.copier import Copier
from toolkit.transfer.plan import PLAIN, Copied, CreateOptions, FileCopy, failure
from toolkit.transfer.port import FILE_BYTES
from toolkit.transfer.timed_tasks import TOO_LATE, Rounds, TaskEnded, TaskTime
from toolkit.transfer.uploads import Uploads

if TYPE_CHECKING:
    from toolkit.el import CanonicalPath
    from toolkit.errors import StopRequested
    from toolkit.storage import FileSystem
    from toolkit.transfer.port import ExecutorPool

TASK_BYTES = 256 * 1024 * 1024
"""A task has about so many bytes at most, unless it is one file: what a machine that dies has to do again."""
TASK_FILES = 1000
"""A task has so many files at most: its answers come to the driver together."""
TASKS_A_MACHINE = 4
"""So many tasks each machine gets at least, when there are files enough: one long task at the end keeps all waiting."""
COPY_THREADS = 256
"""So many files a task copies at once at most: closing one on HDFS waits for its DataNode; company alone hides that."""


@dataclass(frozen=True, kw_only=True)
class SharedCopying:
    """Threads and executors that copy the files of all runs of a process.

    Attributes:
        spec_of: how the store that a path is on is opened on other machines.
        pool: copies the files of all runs.
        executors_lock: held by the run that executors work for.
        large_without_executors: files and bytes of each copy that is large enough for executors, if there are none.
    """

    spec_of: Callable[[CanonicalPath], StorageSpec]
    pool: WorkerPool = field(default_factory=lambda: WorkerPool(COPY_THREADS, "feedctl-copy"))
    executors_lock: threading.Lock = field(default_factory=threading.Lock)
    large_without_executors: list[tuple[int, int]] = field(default_factory=list)

    def notes(self) -> tuple[str, ...]:
        """Return what the user should know of the copies of all runs."""
        large = list(self.large_without_executors)
        if not large:
            return ()
        files, size = (sum(each) for each in zip(*large, strict=True))
        note = (
            f"{files} files with {size} bytes were copied or read by this process alone: they are enough for Spark's "
            "executors, and it has none, since spark-submit did not start it"
        )
        return (note,)


@dataclass(frozen=True, kw_only=True, slots=True)
class CopyTask:
    """Files to copy on another machine.

    Attributes:
        source: the store that they are read from.
        target: the store that they are written to.
        files: what is copied.
        time: until when effects may start.
        bandwidth: bytes a second of this task; inf: as many as come.
        overwrite: replace what is there; else a file that is there fails.
        create: options with which files are written.
    """

    source: StorageSpec
    target: StorageSpec
    files: tuple[FileCopy, ...]
    time: TaskTime
    bandwidth: float = inf
    overwrite: bool = True
    create: CreateOptions = PLAIN


def copy_files(task: CopyTask, attempt: int) -> Iterator[Copied]:
    """Do a task; an attempt after the first replaces what the one before has written.

    Yields:
        One outcome for each file; `TOO_LATE` of those that were not over in time, of which nothing stays.
    """
    del attempt
    return copied(task, time.time)


def copied(task: CopyTask, wall_clock: Callable[[], float]) -> Iterator[Copied]:
    """Copy the files of a task on an executor, and yield each result.

    Args:
        task: what is copied.
        wall_clock: seconds of it.
    """
    check = partial(task.time.check, wall_clock)
    outcomes: dict[object, Copied] = {}
    pool = WorkerPool(COPY_THREADS, "feedctl-copy")  # those that have no room wait
    try:
        check()
        copier = Copier(
            source=open_file_system(task.source, read_only=True, while_waiting=check),
            target=open_file_system(task.target, before_effect=check),
            check=check,
            bandwidth=task.bandwidth,
            overwrite=task.overwrite,
            create=task.create,
        )
        copier.copy_all(task.files, pool, lambda outcome: outcomes.update({outcome.key: outcome}))
    except (TaskEnded, StorageError) as error:
        rest: dict[object, Copied] = {file.key: failure(file, error) for file in task.files}
        outcomes = rest | outcomes
    finally:
        pool.shutdown()
    yield from outcomes.values()


class SizedWork(Protocol):
    """Work on something of a size."""

    @property
    def size(self) -> int:
        """Return its bytes."""
        ...


Part = TypeVar("Part", bound=SizedWork)


def divided(files: Sequence[Part], machines: int) -> Iterator[tuple[Part, ...]]:
    """Files in parts of about the same work, in their order, none of them empty.

    Args:
        files: of a plan.
        machines: so many parts are worked on at once.
    """
    work = sum(map(_work, files))
    most = min(TASK_BYTES, work / (max(1, machines) * TASKS_A_MACHINE))
    part: list[Part] = []
    size = 0.0
    for file in files:
        if part and (size + _work(file) > most or len(part) == TASK_FILES):
            yield tuple(part)
            part, size = [], 0.0
        part.append(file)
        size += _work(file)
    if part:
        yield tuple(part)


def _work(file: SizedWork) -> int:
    return file.size + FILE_BYTES


@dataclass(frozen=True, kw_only=True)
class SpreadCopy:
    """Copies files on other machines.

    Attributes:
        pool: the machines.
        source: the store that files are read from, as every machine opens it.
        target: the store that they are written to.
        joining: the same store here, which joins the ranges of large files.
        seconds_left: so long effects may start.
        check: asked while machines work; what it raises calls the work off.
        rest: called between two rounds, where none works; a run that is to pause does so in here.
        is_pause: whether an error of `check` is followed by another round.
        bandwidth: bytes a second over all machines; inf: as many as come.
        overwrite: replace what is there; else a file that is there fails.
        create: options with which files are written.
        passed: told of files and bytes that were copied, as tasks end.
        wall_clock: seconds of the clock that machines share.
    """

    pool: ExecutorPool
    source: StorageSpec
    target: StorageSpec
    joining: FileSystem
    seconds_left: Callable[[], float]
    check: Callable[[], None]
    rest: Callable[[], None] = lambda: None
    is_pause: Callable[[StopRequested], bool] = lambda _: False
    bandwidth: float = inf
    overwrite: bool = True
    create: CreateOptions = PLAIN
    passed: Callable[[int, int], None] = lambda files, size: None  # noqa: ARG005 - not used
    wall_clock: Callable[[], float] = time.time

    def copy(self, files: Sequence[FileCopy]) -> Iterator[Copied]:
        """Copy files; the outcomes come as tasks end.

        Yields:
            One for each file; a later one replaces one with the code `TOO_LATE`. Of a file without an outcome nothing
            is known.

        Raises:
            Unavailable: the machines are lost.
            StopRequested: what `check` or `rest` raised.
        """
        with Uploads(target=self.joining, check=self.check, overwrite=self.overwrite) as uploads:
            for outcome in self._answers(uploads.divided(files)):
                whole = outcome if outcome.code == TOO_LATE else uploads.add(outcome)
                is_file = whole is not None and bool(whole.digest)
                self.passed(int(is_file), outcome.size)
                if whole is not None:
                    yield whole
            yield from uploads.failed()

    def _answers(self, files: Sequence[FileCopy]) -> Iterator[Copied]:
        by_key = {file.key: file for file in files}
        rounds = Rounds(
            pool=self.pool,
            work=copy_files,
            tasks=lambda keys: self._tasks([by_key[key] for key in keys]),
            key=lambda outcome: outcome.key,
            is_late=lambda outcome: outcome.code == TOO_LATE,
            check=self.check,
            rest=self.rest,
            is_pause=self.is_pause,
        )
        for outcome, _ in rounds.answers(list(by_key)):
            yield outcome

    def _tasks(self, files: Sequence[FileCopy]) -> list[CopyTask]:
        until = TaskTime.now(self.seconds_left(), self.wall_clock)
        bandwidth = self.bandwidth / max(1, self.pool.parallel)
        return [
            CopyTask(
                source=self.source,
                target=self.target,
                files=part,
                time=until,
                bandwidth=bandwidth,
                overwrite=self.overwrite,
                create=self.create,
            )
            for part in divided(files, self.pool.parallel)
        ]
