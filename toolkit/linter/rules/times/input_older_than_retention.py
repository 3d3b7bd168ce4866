"""An input reads nothing that retention has already deleted by then."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from toolkit.el import format_instant
from toolkit.entities import Repository
from toolkit.linter.bounds import length_words, longest, shortest
from toolkit.linter.context import LintContext
from toolkit.linter.findings import Hit, Severity
from toolkit.linter.keeping import Keeping
from toolkit.linter.reach import furthest_back
from toolkit.linter.readings import Reading, critical_runs, readings
from toolkit.linter.rule import Rule

_CLOCK_CHANGES = timedelta(hours=3)


@dataclass(frozen=True, kw_only=True, slots=True)
class _Missing:
    """A run whose window begins with instances that are gone."""

    run: datetime
    first: datetime
    kept_from: datetime
    count: int


def _check(context: LintContext) -> Iterator[Hit]:
    for reading in readings(context.repository):
        if _is_close(reading):
            yield from _hits(reading, context.repository, context.time)


def _is_close(reading: Reading) -> bool:
    """Whether the window may reach beyond the limit at all; most do not come near it."""
    retention = reading.feed_cluster.retention
    if retention is None:
        return False
    return _reach(reading) > shortest(retention.limit) - _CLOCK_CHANGES


def _reach(reading: Reading) -> timedelta:
    step = longest(reading.feed.frequency)
    if reading.counts_available:
        return min(max(-reading.start.arguments[0], 0) + 1, timedelta.max // step) * step
    return furthest_back(reading.input.start) + step


def _hits(reading: Reading, repository: Repository, time: datetime) -> Iterator[Hit]:
    keeping = Keeping.of(reading.feed, reading.feed_cluster, repository.settings)
    if keeping is None:
        return
    runs = critical_runs(reading.runs, keeping.grid, reading.process.timezone, time)
    found = [missing for run in runs if (missing := _missing(reading, keeping, run)) is not None]
    if found:
        worst = max(found, key=lambda each: each.kept_from - each.first)
        yield _hit(reading, keeping, worst, every=len(found) == len(runs))


def _missing(reading: Reading, keeping: Keeping, run: datetime) -> _Missing | None:
    first, last = _window(reading, keeping, run)
    if first is None or last is None:
        return None
    kept_from = keeping.kept_from(run)
    if first >= kept_from:
        return None
    count = keeping.grid.count(first, min(kept_from, last + timedelta(minutes=1)))
    return _Missing(run=run, first=first, kept_from=kept_from, count=count)


def _window(reading: Reading, keeping: Keeping, run: datetime) -> tuple[datetime | None, datetime | None]:
    """The oldest and newest instances that the run needs."""
    grid = keeping.grid
    if reading.counts_available:
        return _counted(reading, keeping, run)
    start, end = reading.instant(reading.start, run), reading.instant(reading.end, run)
    if start is None or end is None:
        return None, None
    return grid.at_or_before(start) or grid.start, grid.at_or_before(end)


def _counted(reading: Reading, keeping: Keeping, run: datetime) -> tuple[datetime | None, datetime | None]:
    """What `latest` needs at best: that the newest instances are all available."""
    grid, newest = keeping.grid, keeping.grid.at_or_before(run)
    back = -reading.start.arguments[0]
    if newest is None or back < 0 or grid.index(newest) < back:
        return None, None
    return grid[grid.index(newest) - back], newest


def _hit(reading: Reading, keeping: Keeping, worst: _Missing, *, every: bool) -> Hit:
    run, first = format_instant(worst.run), format_instant(worst.first)
    which = "no run can" if every else "some runs cannot"
    what = f"{worst.count} instance{'' if worst.count == 1 else 's'} of {reading.feed.name}"
    return Hit(
        subject=reading.process.name,
        pointer=reading.at("start"),
        message=(
            f"{which} find {what} on {reading.cluster}: the run of {run} reads from {first} on, "
            f"{length_words(worst.run - worst.first)} back, and the retention of {keeping.retention.limit} has by then "
            f"deleted what is before {format_instant(worst.kept_from)}"
        ),
        hint=(
            f"begin the window later, or give {reading.feed.name} on {reading.cluster} a limit of at least "
            f"{length_words(worst.run - worst.first)}, and more for runs that come late"
        ),
        severity=Severity.WARNING if reading.input.optional else None,
        related=(reading.feed.name,),
    )


RULE = Rule(
    id="input-older-than-retention",
    name="An input reads nothing that retention has already deleted",
    severity=Severity.ERROR,
    rationale=(
        "A run waits until all instances of its window are available. What retention deleted never becomes "
        "available again, so the run waits until it times out, every time. The window is evaluated over a year of "
        "runs, at the ends of days, weeks and months, where it is longest; keep_last and a protected late window "
        "count as kept."
    ),
    bad="""\
# processes/monthly_report.yaml; clicks has retention: {limit: days(10)}
inputs:
  clicks: {feed: clicks, start: "currentMonth(0,0,0)", end: "now(-1,0)"}
""",
    good="""\
# processes/weekly_report.yaml; clicks has retention: {limit: days(10)}
inputs:
  clicks: {feed: clicks, start: "currentWeek(MON,0,0)", end: "now(-1,0)"}
""",
    source="Falcon overview, Retention; Falcon entity specification, Inputs",
    check=_check,
)
