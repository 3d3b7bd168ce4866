"""Tasks on Spark's executors: one job for each call, one partition for each task, answers as they come."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

from toolkit.transfer.adapters.spark_job import SparkJob
from toolkit.transfer.adapters.spark_watch import IdleWatch
from toolkit.transfer.errors import NoExecutors

if TYPE_CHECKING:
    from pyspark import SparkContext

Task = TypeVar("Task")
Answer = TypeVar("Answer")

IDLE_SECONDS = 120.0
"""So long nothing may go on before the executors are given up: a cluster may need a while to start them."""
_LOOK_SECONDS = 0.2


@dataclass(kw_only=True)
class SparkSpread:
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
