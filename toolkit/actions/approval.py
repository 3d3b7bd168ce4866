"""Conditions under which nothing is applied: an exceeded limit, another plan than approved, a future time."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from toolkit.el import format_instant
from toolkit.errors import InvalidInput, Refused

if TYPE_CHECKING:
    from collections.abc import Sequence

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


class BadPlanFile(Refused):
    """A text that is not a plan file as feedctl wrote it; nothing was touched.

    Args:
        why: what is wrong with it.
    """

    def __init__(self, *, why: str) -> None:
        self.why = why
        super().__init__(f"this is not a plan file as feedctl wrote it: {why}; make a new one with --plan-out")


class OtherPlan(Refused):
    """A plan file that was made for another run; nothing was touched.

    Args:
        differences: between the file and this run.
    """

    def __init__(self, *, differences: Sequence[str]) -> None:
        self.differences = tuple(differences)
        super().__init__(
            f"the plan file is not for this run: {'; '.join(self.differences)}. Nothing was touched; make a new plan "
            f"with --plan-out, or run with the options that the plan was made with"
        )


class PlanOutdated(Refused):
    """A plan file of which no item is due any more as it was planned; nothing was touched.

    Args:
        items: so many the file has.
        created_at: when it was made.
    """

    def __init__(self, *, items: int, created_at: str) -> None:
        self.items, self.created_at = items, created_at
        super().__init__(
            f"none of the {items} items of the plan file of {created_at} is due as it was planned; nothing was "
            f"touched. Make a new plan with --plan-out"
        )


class PlanApplied(Refused):
    """A plan file that was applied before; nothing was touched.

    Args:
        when: that was.
        who: did it.
    """

    def __init__(self, *, when: datetime, who: str) -> None:
        self.when, self.who = when, who
        super().__init__(
            f"{who} applied this plan file at {format_instant(when.replace(second=0, microsecond=0))}; nothing was "
            f"touched. Make a new plan with --plan-out"
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
