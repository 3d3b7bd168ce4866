"""Reading units on executors and committing what they wrote: the backlog of a directory (issue 29, Entrypoint)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Protocol

from typing_extensions import override

from toolkit.errors import Failed
from toolkit.ingest_job.executor_read import ReadJob, TaskRead, UnitRead, read_files
from toolkit.ingest_job.feed_ingester import FeedIngester
from toolkit.ingest_job.source import IngestSource
from toolkit.transfer.port import FILE_BYTES
from toolkit.transfer.spread_copy import TASKS_A_MACHINE, divided

if TYPE_CHECKING:
    from toolkit.errors import FeedctlError
    from toolkit.ingest_job.file_read import FileRead
    from toolkit.ingest_job.source import SourceUnit
    from toolkit.storage import StorageSpec
    from toolkit.transfer.port import ExecutorPool

TASK_BYTES = 64 << 20
"""So many bytes each task of a commit has, when there are enough: some seconds of work."""
COMMIT_UNITS = 5_000
"""So many units a commit has at most."""
REJECT_BYTES = 256 << 20
"""So many bytes of bad records a commit has at most, about."""


class ExecutorFailed(Failed):
    """A failure of a unit or a task on an executor.

    Args:
        code: of its error.
        message: of its error.
    """

    def __init__(self, *, code: str, message: str) -> None:
        self.code, self.message = code, message
        super().__init__(message)


class SpreadSource(IngestSource, Protocol):
    """A source whose units other machines can read."""

    def file_read(self, unit: SourceUnit) -> FileRead:
        """Return what it takes to read a unit."""
        ...

    def was_read(self, name: str, reached: tuple[int, str]) -> None:
        """Take how far a unit was read elsewhere."""
        ...


@dataclass(kw_only=True)
class SpreadIngester(FeedIngester):
    """Commits units that executors read; a commit has about so much as they read in some seconds.

    Only the data files that a task has answered with are committed. Those of a task that was lost, or tried again, have
    names that compaction knows.

    Attributes:
        table: its name.
        store: of the source.
        executors: opens them.
    """

    source: SpreadSource
    table: str
    store: StorageSpec
    executors: Callable[[], ExecutorPool]

    @override
    def ingest(self, units: Sequence[SourceUnit]) -> dict[str, FeedctlError]:
        errors: dict[str, FeedctlError] = {}
        left = list(units)
        with ExitStack() as unfinished:
            unfinished.callback(self._abort)
            while left and not self.is_out_of_time:
                self._round(self.executors(), left, errors)
                left = self._unread(left, errors)
            unfinished.pop_all()
        self.detail.is_out_of_time = self.detail.is_out_of_time or bool(left)
        return errors

    def _round(self, pool: ExecutorPool, units: Sequence[SourceUnit], errors: dict[str, FeedctlError]) -> None:
        """Commit what fits into one commit; units that fail by themselves are left out."""
        chosen = {each.name: each for each in _first(units, pool.parallel * TASKS_A_MACHINE * TASK_BYTES)}
        tasks = list(divided([self.source.file_read(each) for each in chosen.values()], pool.parallel))
        self._begin()
        answers: list[TaskRead] = []
        for answer in pool.run(partial(read_files, self._job(len(tasks))), tasks, check=self.before_commit):
            self.writer.add(answer.files)
            answers.append(answer)
        if failed := next((each.error for each in answers if each.error is not None), None):
            raise ExecutorFailed(code=failed[0], message=failed[1])
        found = {each.name: each for answer in answers for each in answer.units}
        for name, unit in chosen.items():
            if name in found:
                self._take(unit, found[name], errors)
        if self._pending.reached:
            self._commit()
        else:
            self._abort()

    def _job(self, tasks: int) -> ReadJob:
        seconds = self.limits.every / timedelta(seconds=1)
        return ReadJob(
            transaction=self.writer.remote(),
            table=self.table,
            store=self.store,
            rules=self.rejects.rules,
            rejected=self.detail.rejects,
            max_bytes=self.limits.bytes,
            seconds=seconds if self.ends_at is None else min(seconds, self.ends_at - self.now()),
            reject_bytes=REJECT_BYTES // tasks,
        )

    def _take(self, unit: SourceUnit, found: UnitRead, errors: dict[str, FeedctlError]) -> None:
        if found.error is not None:
            errors[unit.name] = ExecutorFailed(code=found.error[0], message=found.error[1])
            return
        self.rejects.take(found.rejects)
        self.source.was_read(unit.name, found.reached)
        pending, offset = self._pending, found.reached[0]
        pending.reached[unit.name] = (unit, offset, offset == unit.end)
        pending.rows, pending.bytes = pending.rows + found.rows, pending.bytes + found.size


def _first(units: Sequence[SourceUnit], most: int) -> Iterator[SourceUnit]:
    """Yield the first units with together about so many bytes; at least one."""
    size = 0
    for unit in islice(units, COMMIT_UNITS):
        if size >= most:
            return
        size += FILE_BYTES + (unit.end or 0) - unit.start
        yield unit
