"""Waits before a retry and between checks for late data (DESIGN section 8)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from enum import StrEnum
from itertools import accumulate, count
from types import MappingProxyType

from toolkit.el.errors import ElError, OutOfRange
from toolkit.el.frequency import Frequency, shift
from toolkit.el.instants import to_utc
from toolkit.el.zones import load_zone


class WaitPolicy(StrEnum):
    """Growth of waits."""

    PERIODIC = "periodic"
    """Equal delays: d, d, d."""
    BACKOFF = "backoff"
    """By one delay each: d, 2d, 3d."""
    EXP_BACKOFF = "exp_backoff"
    """Doubled each: d, 2d, 4d."""
    FINAL = "final"
    """One late check, at the cut-off; not for retries."""


_FACTORS: Mapping[WaitPolicy, Callable[[int], int]] = MappingProxyType(
    {
        WaitPolicy.PERIODIC: lambda _: 1,
        WaitPolicy.BACKOFF: lambda attempt: attempt + 1,
        WaitPolicy.EXP_BACKOFF: lambda attempt: 2**attempt,
    }
)


def retry_waits(policy: WaitPolicy, delay: Frequency, attempts: int) -> tuple[Frequency, ...]:
    """The wait before each retry, counted from the failure before it; `attempts` counts retries, not the first run.

    Raises:
        ElError: `final`, which is no policy of retries, negative attempts, or a wait longer than the calendar.
    """
    factor = _FACTORS.get(policy)
    if factor is None:
        raise ElError(text=policy, expected=f"a policy for retries: one of {', '.join(_FACTORS)}")
    if attempts < 0:
        raise ElError(text=str(attempts), expected="0 or more attempts")
    return tuple(delay.times(factor(attempt)) for attempt in range(attempts))


def late_checks(
    policy: WaitPolicy, delay: Frequency | None, nominal_time: datetime, cut_off: datetime, timezone: str = "UTC"
) -> Iterator[datetime]:
    """The instants, rising, at which an instance is checked for late data; the last is always the cut-off.

    The waits of the policy add up from the nominal time: backoff checks at +d, +3d, +6d. `final` checks once, at the
    cut-off; so does any policy whose first check does not come before the cut-off.

    Raises:
        ElError: an unknown policy, one other than `final` without a delay, naive times, an unknown time zone.
    """
    nominal, last = to_utc(nominal_time), to_utc(cut_off)
    load_zone(timezone)
    if policy == WaitPolicy.FINAL:
        return iter((last,))
    factor = _FACTORS.get(policy)
    if factor is None:
        raise ElError(text=policy, expected=f"a policy for late checks: one of {', '.join(WaitPolicy)}")
    if delay is None:
        raise ElError(text=policy, expected="a delay; only the policy final has none")
    return _checks(accumulate(map(factor, count())), delay, nominal, last, timezone)


def _checks(
    multiples: Iterator[int], delay: Frequency, nominal: datetime, last: datetime, timezone: str
) -> Iterator[datetime]:
    before = nominal
    for check in _shifted(multiples, delay, nominal, timezone):
        if check >= last:
            break
        # Two checks meet where the zone skipped a day; they are one.
        if check > before:
            yield check
        before = check
    yield last


def _shifted(multiples: Iterator[int], delay: Frequency, nominal: datetime, timezone: str) -> Iterator[datetime]:
    try:
        for multiple in multiples:
            yield shift(nominal, delay, multiple, timezone)
    except OutOfRange:
        return
