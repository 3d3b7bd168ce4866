"""The window of an input begins before it ends, at every run."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from toolkit.el import Expression, format_instant
from toolkit.linter.bounds import length_words
from toolkit.linter.context import LintContext
from toolkit.linter.findings import Hit, Severity
from toolkit.linter.reach import furthest_back, least_back
from toolkit.linter.readings import Reading, critical_runs, readings
from toolkit.linter.rule import Rule


def _check(context: LintContext) -> Iterator[Hit]:
    for reading in readings(context.repository):
        if reading.start.function.needs_availability and reading.end.function.needs_availability:
            yield from _counted_hits(reading)
        elif not reading.counts_available and not _is_ordered(reading):
            yield from _hits(reading, context.time)


def _counted_hits(reading: Reading) -> Iterator[Hit]:
    """`latest` and `future` count: the first argument rises with time for both."""
    start, end = reading.start, reading.end
    if start.function is end.function and start.arguments[0] > end.arguments[0]:
        yield Hit(
            subject=reading.process.name,
            pointer=reading.at("start"),
            message=f"the window begins with {start} and ends with {end}, which is earlier",
            hint=f'exchange them: start: "{end}", end: "{start}"',
        )


def _is_ordered(reading: Reading) -> bool:
    """Whether the start never comes after the end, as can be told without looking at any run."""
    start, end = reading.start, reading.end
    if start.function is end.function and _fixed(start) == _fixed(end):
        return _clock(start) <= _clock(end)
    return least_back(start.text) >= furthest_back(end.text)


def _fixed(call: Expression) -> tuple[int, ...]:
    """The arguments before hours and minutes."""
    return call.arguments[:-2]


def _clock(call: Expression) -> int:
    """Hours and minutes as minutes."""
    hours, minutes = call.arguments[-2:] or (0, 0)
    return 60 * hours + minutes


def _hits(reading: Reading, time: datetime) -> Iterator[Hit]:
    runs = critical_runs(reading.runs, reading.grid, reading.process.timezone, time)
    wrong = next((found for run in runs if (found := _window(reading, run)) is not None), None)
    if wrong is not None:
        yield _hit(reading, *wrong, every=all(_window(reading, run) is not None for run in runs))


def _window(reading: Reading, run: datetime) -> tuple[datetime, datetime, datetime] | None:
    """The run and the ends of its window, when they are the wrong way round."""
    start, end = reading.instant(reading.start, run), reading.instant(reading.end, run)
    return (run, start, end) if start is not None and end is not None and start > end else None


def _hit(reading: Reading, run: datetime, start: datetime, end: datetime, *, every: bool) -> Hit:
    which = "every run" if every else "some runs"
    return Hit(
        subject=reading.process.name,
        pointer=reading.at("start"),
        message=(
            f"at {which} the window begins after its end: at {format_instant(run)} it is {format_instant(start)} to "
            f"{format_instant(end)}, {length_words(start - end)} the wrong way round"
        ),
        hint=(
            f'exchange them: start: "{reading.input.end}", end: "{reading.input.start}"'
            if every
            else "choose ends that keep their order at the ends of weeks, months and years too"
        ),
    )


RULE = Rule(
    id="input-start-after-end",
    name="The window of an input begins before it ends",
    severity=Severity.ERROR,
    rationale=(
        "A window that begins after its end holds no instance, and a run refuses it. Two expressions may keep their "
        "order on most days only: currentMonth and yesterday change it on the first of a month."
    ),
    bad="""\
# processes/month_so_far.yaml
inputs:
  clicks: {feed: clicks, start: "currentMonth(0,0,0)", end: "yesterday(23,0)"}
""",
    good="""\
# processes/month_so_far.yaml
inputs:
  clicks: {feed: clicks, start: "currentMonth(0,0,0)", end: "now(0,0)"}
""",
    source="Falcon entity specification, Inputs",
    check=_check,
)
