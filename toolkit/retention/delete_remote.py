"""Removing very many items of an object store on other machines, some thousands at a time (DESIGN section 7)."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from toolkit.actions.attempt import FailedAttempt, attempted
from toolkit.actions.guard import CalledOff
from toolkit.actions.model import INTERRUPTED, ItemResult
from toolkit.errors import Unavailable
from toolkit.retention.batches import BULK
from toolkit.retention.delete import BulkDelete, Removed, UnitRemoved, failed
from toolkit.retention.plan import StayReason
from toolkit.runs.errors import PauseRequested, Stopped
from toolkit.storage import NotBegun, NotFound, StorageError, StorageSpec, open_file_system
from toolkit.storage.bound import RateLimiter
from toolkit.transfer.timed_tasks import CLOCK_SKEW, TOO_LATE, Rounds, TaskEnded, TaskTime

if TYPE_CHECKING:
    from toolkit.actions.action import RunContext
    from toolkit.el import CanonicalPath
    from toolkit.retention.plan import PlanItem
    from toolkit.transfer.port import ExecutorPool

EXECUTOR_BATCH = 2000
"""So many items are written down and sent out before the next ones are."""
_TASK = 100
_TASKS_A_MACHINE = 4


@dataclass(frozen=True, kw_only=True, slots=True)
class DeletionTask:
    """Paths to remove in one store, on another machine.

    Attributes:
        spec: the store.
        base: all paths are strictly below it.
        first: the availability flag, see `FileSystem.delete_all`; empty: there is none.
        paths: what goes.
        time: until when effects may start.
        rate: so many changes a second this task may ask the store for.
    """

    spec: StorageSpec
    base: CanonicalPath
    first: str
    paths: tuple[CanonicalPath, ...]
    time: TaskTime
    rate: float


class PathAnswer(NamedTuple):
    """Outcome of a path; `code` is empty when it was removed, else that of the error; `message` is for people."""

    path: CanonicalPath
    code: str
    message: str


def delete_paths(task: DeletionTask, attempt: int) -> Iterator[PathAnswer]:
    """Remove the paths of a task; what is not told in time is told to have been too late.

    Args:
        task: what goes.
        attempt: from the second on, what is not there counts as removed: the first may have got so far.

    Yields:
        One answer for each path.
    """
    return deleted(task, attempt, time.time)


def deleted(task: DeletionTask, attempt: int, wall_clock: Callable[[], float]) -> Iterator[PathAnswer]:
    """Delete the paths of a task on an executor, and yield each result.

    Args:
        task: what goes.
        attempt: counts from 0.
        wall_clock: seconds of it.
    """
    check, limiter = partial(task.time.check, wall_clock), RateLimiter(rate=task.rate)
    system = open_file_system(task.spec, before_effect=partial(limiter.acquire, check), while_waiting=check)
    waiting = dict.fromkeys(task.paths)
    try:
        check()
        for path, error in system.delete_all(task.paths, below=task.base, first=task.first):
            if not isinstance(error, NotBegun):  # that is told below, with the reason
                del waiting[path]
                yield _answer(path, error, attempt)
    except TaskEnded as ended:
        yield from (PathAnswer(path, ended.code, str(ended)) for path in waiting)
    except StorageError as error:
        yield from (PathAnswer(path, error.code, str(error)) for path in waiting)


def _answer(path: CanonicalPath, error: StorageError | None, attempt: int) -> PathAnswer:
    if error is None or (attempt and isinstance(error, NotFound)):
        return PathAnswer(path, "", "")
    return PathAnswer(path, error.code, str(error))


@dataclass(kw_only=True)
class RemoteDelete:
    """Removes items on other machines; used by one thread.

    Attributes:
        work: of the run.
        open_executors: the machines, made ready when it is first called (a SparkContext takes seconds).
        first: the feed's availability flag; empty: it has none.
        wall_clock: seconds of the clock that machines share.
    """

    work: RunContext
    open_executors: Callable[[], ExecutorPool]
    first: str
    wall_clock: Callable[[], float] = time.time
    _lost: Unavailable | None = field(default=None, init=False)

    def remove(self, items: Sequence[PlanItem]) -> UnitRemoved:
        """Remove items of one base; without machines, from here."""
        base, guard = items[0].base, self.work.guard
        refusal = guard.refusal(base, must_look=True)
        if refusal is not None:
            return UnitRemoved([Removed(refusal.of(item)) for item in items])
        try:
            executors = self._executors()
        except Unavailable as error:
            note = f"nothing was spread over other machines: {error}"
            return UnitRemoved(self._from_here(items), note=note)
        attempted(self.work, self.work.let_others_work, failures=())
        refusal = guard.refusal(base, must_look=True)  # getting machines ready may have taken minutes
        if refusal is not None:
            return UnitRemoved([Removed(refusal.of(item)) for item in items])
        return UnitRemoved(self._remove(executors, base, items))

    def _executors(self) -> ExecutorPool:
        if self._lost is not None:
            raise self._lost
        try:
            return self.open_executors()
        except Unavailable as error:
            self._lost = error
            raise

    def _from_here(self, items: Sequence[PlanItem]) -> list[Removed]:
        bulk = BulkDelete(work=self.work, first=self.first)
        parts = (items[at : at + BULK] for at in range(0, len(items), BULK))
        return [removed for part in parts for removed in bulk.remove(part)]

    def _remove(self, executors: ExecutorPool, base: CanonicalPath, items: Sequence[PlanItem]) -> list[Removed]:
        answers: dict[CanonicalPath, PathAnswer] = {}
        late = "the machines had no time left for it"
        try:
            for answer, is_again in self._rounds(executors, base).answers([item.path for item in items]):
                # What was too late before may have been half done.
                is_ours = answer.code == NotFound.code and is_again
                answers[answer.path] = answer._replace(code="") if is_ours else answer
        except Unavailable as error:
            self._lost, late = error, str(error)
        except CalledOff as called_off:
            late = f"the work was {called_off}"
        except Stopped as stopped:
            self.work.guard.stop(stopped)
            late = "the run was stopped, and the work was called off"
        return [self._removed(item, answers.get(item.path), late) for item in items]

    def _rounds(self, executors: ExecutorPool, base: CanonicalPath) -> Rounds[CanonicalPath, DeletionTask, PathAnswer]:
        return Rounds(
            pool=executors,
            work=delete_paths,
            tasks=partial(self._tasks, executors, base),
            key=lambda answer: answer.path,
            is_late=lambda answer: answer.code == TOO_LATE,
            check=partial(self._check, base),
            rest=partial(self._rest, base),
            is_pause=lambda stop: isinstance(stop, PauseRequested),
        )

    def _tasks(
        self, executors: ExecutorPool, base: CanonicalPath, paths: Sequence[CanonicalPath]
    ) -> list[DeletionTask]:
        size = min(_TASK, max(1, len(paths) // (executors.parallel * _TASKS_A_MACHINE)))
        spec, rate = self.work.copying.spec_of(base), self.work.rate(base) / executors.parallel
        until = TaskTime.now(self.work.seconds_left(), self.wall_clock)
        return [
            DeletionTask(
                spec=spec, base=base, first=self.first, paths=tuple(paths[at : at + size]), time=until, rate=rate
            )
            for at in range(0, len(paths), size)
        ]

    def _rest(self, base: CanonicalPath) -> None:
        """A run that is asked to pause does so here, where no machine works; much may have happened meanwhile."""
        refusal = self.work.guard.refusal(base, must_look=True)
        if refusal is not None:
            raise CalledOff(refusal=refusal)

    def _check(self, base: CanonicalPath) -> None:
        self.work.check_remote()
        refusal = self.work.guard.against(base)
        if refusal is not None:
            raise CalledOff(refusal=refusal)

    def _removed(self, item: PlanItem, answer: PathAnswer | None, late: str) -> Removed:
        if answer is None or answer.code == TOO_LATE:
            result = ItemResult.failed(item, INTERRUPTED, f"{late}; the next run sees how much was done")
            return Removed(result, is_open=True)
        if not answer.code:
            return Removed(ItemResult.done(item))
        if answer.code == NotFound.code:
            return Removed(ItemResult.skipped(item, StayReason.ALREADY_GONE))
        if answer.code == CLOCK_SKEW:
            # Of a round or an attempt before, or before its clock was set back, something may be half done.
            return Removed(ItemResult.failed(item, CLOCK_SKEW, answer.message), is_open=True)
        return failed(item, FailedAttempt(code=answer.code, message=answer.message), self.work.stores(item.base))
