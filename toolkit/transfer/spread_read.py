"""Reading copies again on other machines: the digests of their bytes, in tasks with a deadline."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from toolkit.storage import StorageError, StorageSpec, open_file_system
from toolkit.threads import WorkerPool
from toolkit.transfer.digest_reader import DigestReader
from toolkit.transfer.plan import Copied, FileCopy, failure
from toolkit.transfer.spread_copy import COPY_THREADS, divided
from toolkit.transfer.timed_tasks import TOO_LATE, Rounds, TaskEnded, TaskTime

if TYPE_CHECKING:
    from toolkit.errors import StopRequested
    from toolkit.transfer.port import ExecutorPool


@dataclass(frozen=True, kw_only=True, slots=True)
class ReadTask:
    """Copies to read on another machine.

    Attributes:
        store: that they are on.
        files: whose targets are read.
        time: until when the reading may go on.
    """

    store: StorageSpec
    files: tuple[FileCopy, ...]
    time: TaskTime


def read_files(task: ReadTask, attempt: int) -> Iterator[Copied]:
    """Do a task.

    Yields:
        One outcome for each file; `TOO_LATE` of those that were not read in time.
    """
    del attempt
    check = partial(task.time.check, time.time)
    pool = WorkerPool(COPY_THREADS, "feedctl-read")
    try:
        check()
        reader = DigestReader(system=open_file_system(task.store, read_only=True, while_waiting=check), check=check)
        outcomes = read_again(reader, task.files, pool)
    except (TaskEnded, StorageError) as error:
        outcomes = [failure(file, error) for file in task.files]
    finally:
        pool.shutdown()
    yield from outcomes


def read_again(reader: DigestReader, files: Sequence[FileCopy], pool: WorkerPool) -> list[Copied]:
    """Return the outcome of reading each copy to its end, in any order.

    Raises:
        StopRequested: the work was called off.
    """
    by_target = {file.target: file for file in files}
    outcomes: list[Copied] = []  # appending is atomic
    reader.read_all(
        list(by_target),
        pool,
        lambda path, read: outcomes.append(
            Copied(path, size=read.size, digest=read.digest)
            if read.error is None
            else failure(by_target[path], read.error)
        ),
    )
    return outcomes


@dataclass(frozen=True, kw_only=True)
class SpreadRead:
    """Reads copies again on other machines; the attributes are those of `SpreadCopy`.

    Attributes:
        store: that the copies are on, as every machine opens it.
    """

    pool: ExecutorPool
    store: StorageSpec
    seconds_left: Callable[[], float]
    check: Callable[[], None]
    rest: Callable[[], None] = lambda: None
    is_pause: Callable[[StopRequested], bool] = lambda _: False

    def read(self, files: Sequence[FileCopy]) -> Iterator[Copied]:
        """Read copies; the outcomes come as tasks end.

        Yields:
            As `SpreadCopy.copy`.

        Raises:
            Unavailable: the machines are lost.
            StopRequested: what `check` or `rest` raised.
        """
        by_target = {file.target: file for file in files}
        rounds = Rounds(
            pool=self.pool,
            work=read_files,
            tasks=lambda targets: self._tasks([by_target[target] for target in targets]),
            key=lambda outcome: outcome.target,
            is_late=lambda outcome: outcome.code == TOO_LATE,
            check=self.check,
            rest=self.rest,
            is_pause=self.is_pause,
        )
        for outcome, _ in rounds.answers(list(by_target)):
            yield outcome

    def _tasks(self, files: Sequence[FileCopy]) -> list[ReadTask]:
        until = TaskTime.now(self.seconds_left())
        return [ReadTask(store=self.store, files=part, time=until) for part in divided(files, self.pool.parallel)]
