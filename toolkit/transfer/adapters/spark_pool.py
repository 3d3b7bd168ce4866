"""Tasks on Spark's executors: one job for each call, one partition for each task, answers as they come."""

from __future__ import annotations

import logging
import re
import threading
import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from py4j.protocol import Py4JError
from pyspark import AccumulatorParam, TaskContext
from pyspark.errors import PySparkException

from toolkit.transfer.errors import NoExecutors, TasksFailed

if TYPE_CHECKING:
    from pyspark import Accumulator, SparkContext


_LONGEST = 400
_CAUSE = re.compile(r"most recent failure: (?P<cause>.*)", re.DOTALL)
_LOST_TASK = re.compile(r"Lost task [\d.]+ in stage [\d.]+ \(TID \d+\) ")


def why(error: Exception) -> str:
    """Return one line: the Python error of an executor when there is one, else the first line of Java's message."""
    text = str(getattr(error, "java_exception", None) or error)
    match = _CAUSE.search(text)
    cause = _LOST_TASK.sub("", match["cause"] if match else text)
    lines = [line.strip() for line in cause.splitlines() if line.strip()]
    own = [line for line in lines if not line.startswith(("at ", "File ", "...", "Driver stacktrace"))]
    first = own[0] if own else type(error).__name__
    if "Traceback (most recent call last)" in cause:
        first = f"{first.partition(': org.')[0]}: {_last_of_traceback(lines)}"
    return first[:_LONGEST]


def _last_of_traceback(lines: list[str]) -> str:
    """The line that names the error: the last one before Java's own stack begins."""
    python = []
    for line in lines:
        if line.startswith("at "):
            break
        python.append(line)
    return python[-1]


_BETWEEN_LOOKS = 1.0


@dataclass(kw_only=True)
class IdleWatch:
    """Looks every second whether a task is under way or has ended.

    Attributes:
        context: of the application.
        seconds: so long nothing may go on.
        now: seconds of a clock that only goes forward.
    """

    context: SparkContext
    seconds: float
    now: Callable[[], float]
    _looked_at: float = field(init=False)
    _went_on_at: float = field(init=False)
    _open_tasks: int = field(default=-1, init=False)

    def __post_init__(self) -> None:
        self._looked_at = self._went_on_at = self.now()

    def look(self, *, open_tasks: int) -> None:
        """Raise when nothing has gone on for too long.

        Raises:
            NoExecutors: that is so.
        """
        now = self.now()
        if now - self._looked_at < _BETWEEN_LOOKS:
            return
        self._looked_at = now
        if open_tasks != self._open_tasks or self._is_working():
            self._went_on_at, self._open_tasks = now, open_tasks
        elif now - self._went_on_at >= self.seconds:
            raise NoExecutors(seconds=self.seconds, open_tasks=open_tasks)

    def _is_working(self) -> bool:
        """A JVM that does not answer is told by the job itself."""
        try:
            tracker = self.context.statusTracker()
            stages = map(tracker.getStageInfo, tracker.getActiveStageIds())
            return any(stage is not None and stage.numActiveTasks for stage in stages)
        except Py4JError:
            return False


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
class TaskPartition:
    """Work of an executor on the tasks of a partition; it is sent by its name, with its fields."""

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
        """Return the number of tasks that are not known to be over."""
        return len(self.tasks) - len(self._answered)

    def is_over(self, *, within: float) -> bool:
        """Return whether the job is over, successful or not; wait for it so many seconds."""
        self._thread.join(within)
        return not self._thread.is_alive()

    def new_answers(self) -> Iterator[Any]:
        """Yield the answers that came since the last call."""
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
        """Return whether the job, or a task of it whose worker is still to be killed, is not over."""
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
            numbered.mapPartitions(TaskPartition(work=self.work, gathering=self._gathering)).collect()
        except (Py4JError, PySparkException, OSError, EOFError, RuntimeError) as error:
            self._failure = why(error)


Task = TypeVar("Task")
Answer = TypeVar("Answer")

IDLE_SECONDS = 120.0
"""So long nothing may go on before the executors are given up: a cluster may need a while to start them."""
_LOOK_SECONDS = 0.2


@dataclass(kw_only=True)
class SparkExecutorPool:
    """Machines that work on tasks at once: the executors of a Spark application.

    Attributes:
        context: whose executors they are.
        idle_seconds: so long no task may be under way before the rest counts as lost.
        now: seconds of a clock that only goes forward.
    """

    context: SparkContext
    idle_seconds: float = IDLE_SECONDS
    now: Callable[[], float] = time.monotonic
    _given_up: NoExecutors | None = field(default=None, init=False)

    @property
    def parallel(self) -> int:
        """The cores of the executors that are there; at least 1."""
        return max(1, self.context.defaultParallelism)

    def run(
        self, work: Callable[[Task, int], Iterable[Answer]], tasks: Sequence[Task], *, check: Callable[[], None]
    ) -> Iterator[Answer]:
        """Work on tasks; one whose executor was lost is tried again elsewhere, as attempt 1, 2 and so on.

        Args:
            work: a function of a module that the executors have too; called once for each attempt at a task.
            tasks: small values.
            check: called several times a second; what it raises cancels the job, as closing the iterator does. Then
                Spark kills the Python of its tasks, two seconds later at the latest, and this waits until it has.

        Yields:
            The answers of each task as soon as the task is over.

        Raises:
            TasksFailed: Spark gave up; what was not answered may have happened.
            NoExecutors: nothing went on for too long, now or in an earlier call: who has many tasks waits once.
        """
        if not tasks:
            return
        if self._given_up is not None:
            raise self._given_up
        job = SparkJob(context=self.context, work=work, tasks=tasks)
        watch = IdleWatch(context=self.context, seconds=self.idle_seconds, now=self.now)
        job.start()
        try:
            while not job.is_over(within=_LOOK_SECONDS):
                check()
                watch.look(open_tasks=job.open_tasks)
                yield from job.new_answers()
            yield from job.new_answers()
            job.require_success()
        except NoExecutors as error:
            self._given_up = error
            raise
        finally:
            job.cancel()
