"""Work on other machines that must be over before a lease is: tasks with a deadline, in rounds until all are answered.

The deadline travels as a duration with the time at which it was told, since no clock of one machine but the wall clock
means anything on another (DESIGN section 6, Lease).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Generic, TypeVar

from toolkit.errors import StopRequested
from toolkit.transfer.port import Answer, ExecutorPool, Task, Work

Key = TypeVar("Key", bound=Hashable)

SKEW_SECONDS = 5.0
"""A clock that is behind the sender's by no more than this is taken for right."""
LONGEST_SECONDS = 600.0
"""So long a task may work at most, whatever the lease has left."""

TOO_LATE = "too_late"
"""The code of work for which a task had no time left: it was not begun, or not finished."""
CLOCK_SKEW = "clock_skew"
"""The code of work that a machine did not begin because its clock cannot be compared with the sender's."""


class TaskEnded(StopRequested):
    """A task must not begin anything more; `code` says why."""

    code: str = TOO_LATE


class OutOfTime(TaskEnded):
    """The task's deadline is over; its sender may not own what it works on any more."""

    code = TOO_LATE

    def __init__(self) -> None:
        super().__init__("the time that the lease had left is over")


class ClockSkew(TaskEnded):
    """A machine's clock is behind that of the sender, so that no deadline means anything there.

    Args:
        here: seconds of the machine's wall clock.
        issued_at: seconds of the sender's, when it sent the task.
    """

    code = CLOCK_SKEW

    def __init__(self, *, here: float, issued_at: float) -> None:
        self.here, self.issued_at = here, issued_at
        super().__init__(
            f"the clock of the executor says {_moment(here)}, but the driver sent the task at {_moment(issued_at)} by "
            f"its own, {issued_at - here:.0f} s later; set the clocks of both machines right (NTP), then run again"
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class TaskTime:
    """Until when a task may start effects.

    Attributes:
        issued_at: seconds of the wall clock of the machine that sends the task.
        seconds_left: so long from then on effects may start.
    """

    issued_at: float
    seconds_left: float

    @classmethod
    def now(cls, seconds_left: float, wall_clock: Callable[[], float] = time.time) -> TaskTime:
        """The time of a task that is sent now."""
        return cls(issued_at=wall_clock(), seconds_left=min(seconds_left, LONGEST_SECONDS))

    def check(self, wall_clock: Callable[[], float] = time.time) -> None:
        """Return when an effect may start here.

        Raises:
            TaskEnded: it must not.
        """
        here = wall_clock()
        if here < self.issued_at - SKEW_SECONDS:
            raise ClockSkew(here=here, issued_at=self.issued_at)
        if here - self.issued_at >= self.seconds_left:
            raise OutOfTime


@dataclass(frozen=True, kw_only=True)
class Rounds(Generic[Key, Task, Answer]):
    """Asks machines about keys until every one has an answer, or a round brings none.

    Attributes:
        pool: the machines.
        work: done there with each task.
        tasks: makes tasks of keys, with the time that is left at that moment.
        key: what an answer is about.
        is_late: whether an answer says that its time was over, so that it is asked for again.
        check: called while a round is under way; `is_pause` tells which of its errors is followed by another round.
        rest: called between two rounds, where no machine works: a run that was asked to pause does so in here.
    """

    pool: ExecutorPool
    work: Work[Task, Answer]
    tasks: Callable[[Sequence[Key]], Sequence[Task]]
    key: Callable[[Answer], Key]
    is_late: Callable[[Answer], bool]
    check: Callable[[], None]
    rest: Callable[[], None]
    is_pause: Callable[[StopRequested], bool] = lambda _: False

    def answers(self, keys: Sequence[Key]) -> Iterator[tuple[Answer, bool]]:
        """The answers as they come, each with whether its round is not the first; a later one of a key counts."""
        waiting, left, is_again = dict.fromkeys(keys), len(keys) + 1, False
        while waiting and len(waiting) < left:
            if is_again:
                self.rest()
            left = len(waiting)
            try:
                for answer in self.pool.run(self.work, self.tasks(tuple(waiting)), check=self.check):
                    if not self.is_late(answer):
                        waiting.pop(self.key(answer), None)
                    yield answer, is_again
            except StopRequested as stop:
                if not self.is_pause(stop):
                    raise
                left += 1
            is_again = True


def _moment(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
