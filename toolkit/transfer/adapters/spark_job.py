"""One Spark job in a thread of its own, so that the thread that waits for it can stop it."""

from __future__ import annotations

import logging
import threading
import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from py4j.protocol import Py4JError
from pyspark import AccumulatorParam, TaskContext
from pyspark.errors import PySparkException

from toolkit.transfer.adapters.spark_messages import why
from toolkit.transfer.errors import TasksFailed

if TYPE_CHECKING:
    from pyspark import Accumulator, SparkContext

_LOG = logging.getLogger(__name__)
_CANCEL_SECONDS = 10.0

Work = Callable[[Any, int], Iterable[Any]]
Numbered = tuple[int, tuple[Any, ...]]
"""The position of a task, and its answers."""


class Gathering(AccumulatorParam[list[Numbered]]):
    """Answers that come with the end of each task; Spark counts each partition of a job once."""

    def zero(self, value: list[Numbered]) -> list[Numbered]:
        """Nothing yet."""
        del value
        return []

    def addInPlace(self, value1: list[Numbered], value2: list[Numbered]) -> list[Numbered]:  # noqa: N802 - Spark's name
        """Both, in the first list: on the driver another thread reads it meanwhile."""
        value1.extend(value2)
        return value1


@dataclass(frozen=True, kw_only=True)
class Partition:
    """What an executor does with the tasks of a partition; it is sent by its name, with its fields."""

    work: Work
    gathering: Accumulator[list[Numbered]]

    def __call__(self, numbered: Iterable[tuple[int, Any]]) -> Iterator[int]:
        """Work on them; gives their numbers, which say that they are over."""
        context = TaskContext.get()
        attempt = 0 if context is None else context.attemptNumber()
        for number, task in numbered:
            self.gathering.add([(number, tuple(self.work(task, attempt)))])
            yield number


@dataclass(kw_only=True)
class SparkJob:
    """A job that works on tasks.

    Attributes:
        context: runs it.
        work: sent to the executors.
        tasks: one partition each, so that the attempts at one are not those at another.
    """

    context: SparkContext
    work: Work
    tasks: Sequence[Any]
    _group: str = field(default_factory=lambda: f"feedctl-{uuid.uuid4()}", init=False)
    _gathering: Accumulator[list[Numbered]] = field(init=False)
    _thread: threading.Thread = field(init=False)
    _read: int = field(default=0, init=False)
    _answered: set[int] = field(default_factory=set, init=False)
    _failure: str | None = field(default=None, init=False)

    def start(self) -> None:
        """Hand the job to Spark."""
        self._gathering = self.context.accumulator([], Gathering())
        self._thread = threading.Thread(target=self._work, name=self._group, daemon=True)
        self._thread.start()

    @property
    def open_tasks(self) -> int:
        """So many are not over, as far as is known here."""
        return len(self.tasks) - len(self._answered)

    def is_over(self, *, within: float) -> bool:
        """Whether the job is over, by itself or not; waits for it so many seconds."""
        self._thread.join(within)
        return not self._thread.is_alive()

    def new_answers(self) -> Iterator[Any]:
        """Those that have come since the last call."""
        come = self._gathering.value
        while self._read < len(come):
            number, answers = come[self._read]
            self._read += 1
            if number not in self._answered:
                self._answered.add(number)
                yield from answers

    def require_success(self) -> None:
        """Return when each task was answered.

        Raises:
            TasksFailed: Spark gave up, or answers were lost on their way.
        """
        if self._failure is not None:
            raise TasksFailed(why=self._failure)
        if self.open_tasks:
            raise TasksFailed(why=f"the answers of {self.open_tasks} of {len(self.tasks)} tasks were lost")

    def cancel(self) -> None:
        """Stop what is under way, and return when nothing is; a job that is over is left as it is.

        Asked again and again, since Spark forgets it of a job that it does not know yet.
        """
        if not self._thread.is_alive():
            return
        until = time.monotonic() + _CANCEL_SECONDS
        with suppress(Py4JError, OSError):
            while self._is_under_way() and time.monotonic() < until:
                self.context.cancelJobGroup(self._group)
                self._thread.join(0.1)
                time.sleep(0.1)
        if self._thread.is_alive() or time.monotonic() >= until:
            _LOG.warning("event=tasks_may_go_on group=%s", self._group)

    def _is_under_way(self) -> bool:
        """Whether the job, or a task of it whose worker is still to be killed, is not over."""
        if self._thread.is_alive():
            return True
        tracker = self.context.statusTracker()
        jobs = [job for number in tracker.getJobIdsForGroup(self._group) if (job := tracker.getJobInfo(number))]
        stages = [tracker.getStageInfo(number) for job in jobs for number in job.stageIds]
        return any(stage is not None and stage.numActiveTasks for stage in stages)

    def _work(self) -> None:
        """In a thread: job groups belong to threads."""
        try:
            # Not interrupted: Spark would close the task on its side at once, and its Python would go on unseen.
            self.context.setJobGroup(self._group, "feedctl", interruptOnCancel=False)
            numbered = self.context.parallelize(list(enumerate(self.tasks)), len(self.tasks))
            numbered.mapPartitions(Partition(work=self.work, gathering=self._gathering)).collect()
        except (Py4JError, PySparkException, OSError, EOFError, RuntimeError) as error:
            self._failure = why(error)
