"""The nominal time of a run that changes something must not lie in the future (DESIGN section 3)."""

from __future__ import annotations

from datetime import datetime, timedelta

from toolkit.el import format_instant
from toolkit.errors import InvalidInput

CLOCK_SKEW = timedelta(minutes=5)
"""So much may the scheduler's clock be ahead of ours."""


class FutureTime(InvalidInput):
    """A nominal time ahead of the wall clock; no option lifts this.

    Args:
        nominal_time: as given.
        now: the wall clock.
    """

    def __init__(self, *, nominal_time: datetime, now: datetime) -> None:
        self.nominal_time, self.now = nominal_time, now
        found = f"--time {format_instant(nominal_time)} is in the future"
        clock = format_instant(now.replace(second=0, microsecond=0))
        super().__init__(f"{found}: the clock says {clock}, and at most 5 minutes ahead are allowed; give a past time")


def refuse_future(nominal_time: datetime, now: datetime) -> None:
    """Return when the nominal time is at most `CLOCK_SKEW` ahead.

    Raises:
        FutureTime: it is further ahead.
    """
    if nominal_time > now + CLOCK_SKEW:
        raise FutureTime(nominal_time=nominal_time, now=now)
