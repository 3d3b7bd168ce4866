"""`at_or_before` far from the start costs what it costs near it, and far less than stepping with croniter.

Prints microseconds per call, medians of several rounds that take turns, and the ratios of one run.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta

from croniter import croniter  # type: ignore[import-untyped] # it has no types

from toolkit.el import Frequency, InstanceSequence, evaluate, parse_instant

ROUNDS = 9
CALLS = 5_000
CRONITER_CALLS = 200
SAME = 1.5
LESS = 10
MINUTE_OF_20_YEARS = 20 * 365 * 24 * 60
START = parse_instant("2006-01-01T00:00Z")
NEAR = START + timedelta(days=1, seconds=30)
FAR = START + timedelta(minutes=MINUTE_OF_20_YEARS, seconds=30)


def microseconds(call: Callable[[], object], calls: int) -> float:
    began = time.perf_counter()
    for _ in range(calls):
        call()
    return (time.perf_counter() - began) / calls * 1e6


def medians(calls: Mapping[str, tuple[Callable[[], object], int]]) -> dict[str, float]:
    """Microseconds per call by name; the names take turns, so that a busy machine slows all of them alike."""
    rounds = [{name: microseconds(*call) for name, call in calls.items()} for _ in range(ROUNDS)]
    return {name: statistics.median(result[name] for result in rounds) for name in calls}


def croniter_before(instant: datetime) -> datetime:
    """The same answer from croniter, which has to find it from a pattern: one step back from the instant."""
    previous: datetime = croniter("* * * * *", instant).get_prev(datetime)
    return previous


def croniter_reused(instant: datetime) -> Callable[[], object]:
    """One step of croniter without the cost of reading its pattern."""
    schedule = croniter("* * * * *", instant)

    def step() -> object:
        schedule.set_current(instant)
        return schedule.get_prev(datetime)

    return step


def main() -> int:
    """Prints medians and ratios; 1 when a ratio misses its goal."""
    minutely = InstanceSequence(START, Frequency.parse("minutes(1)"))
    daily = InstanceSequence(START, Frequency.parse("days(1)"), "America/Los_Angeles")
    assert minutely.at_or_before(FAR) == croniter_before(FAR) == FAR - timedelta(seconds=30)
    found = medians(
        {
            "minutes(1), 1 day after the start": (lambda: minutely.at_or_before(NEAR), CALLS),
            "minutes(1), 20 years after the start": (lambda: minutely.at_or_before(FAR), CALLS),
            "days(1) in Los Angeles, 1 day after": (lambda: daily.at_or_before(NEAR), CALLS),
            "days(1) in Los Angeles, 20 years after": (lambda: daily.at_or_before(FAR), CALLS),
            "croniter, one step back, pattern read once": (croniter_reused(FAR), CRONITER_CALLS),
            "croniter, one step back": (lambda: croniter_before(FAR), CRONITER_CALLS),
            "evaluate today(-3,-20)": (lambda: evaluate("today(-3,-20)", START, "Europe/Berlin"), CALLS),
        }
    )
    for name, cost in found.items():
        print(f"{cost:10.2f} us  {name}")
    near, far, daily_near, daily_far, step, pattern, _ = found.values()
    print(f"{far / near:10.2f} x   minutes(1): 20 years after the start / 1 day after it (goal: at most {SAME})")
    print(
        f"{daily_far / daily_near:10.2f} x   days(1): 20 years after the start / 1 day after it (goal: at most {SAME})"
    )
    print(f"{step / far:10.1f} x   one croniter step, pattern read once / at_or_before (goal: at least {LESS})")
    print(f"{pattern / far:10.1f} x   one croniter step / at_or_before (goal: at least {LESS})")
    return int(max(far / near, daily_far / daily_near) > SAME or step / far < LESS)


if __name__ == "__main__":
    raise SystemExit(main())
