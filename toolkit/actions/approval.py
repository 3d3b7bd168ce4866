"""Conditions under which nothing is applied: an exceeded limit, another plan than approved, a future time."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from toolkit.el import format_instant
from toolkit.errors import InvalidInput, Refused

if TYPE_CHECKING:
    from toolkit.actions.action import ExceededLimit


class PlanChanged(Refused):
    """Another plan was approved than the one that is due now; nothing was touched.

    Args:
        approved: the digest given with `--approve`.
        found: the digest of the plan as it is now.
    """

    def __init__(self, *, approved: str, found: str) -> None:
        self.approved, self.found = approved, found
        super().__init__(
            f"the plan is {found}, but {approved} was approved; nothing was touched. "
            f"Look at the plan again with --dry-run and approve what it shows"
        )


def refusal_of(digest: str, exceeded: ExceededLimit | None, approve: str | None) -> Refused | None:
    """Why a plan must not be applied; an approval lifts all limits for exactly the plan that it names."""
    if approve is not None:
        return None if approve == digest else PlanChanged(approved=approve, found=digest)
    return None if exceeded is None else exceeded.refusal(digest)


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
