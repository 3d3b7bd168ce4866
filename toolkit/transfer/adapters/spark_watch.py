"""Notices that nobody works on a job: an application whose executors are gone would wait for ever."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from py4j.protocol import Py4JError

from toolkit.transfer.errors import NoExecutors

if TYPE_CHECKING:
    from pyspark import SparkContext

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
