"""The window of an input lies in its feed's validity, for the first run of the process and for the last."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from toolkit.el import InstanceSequence, format_instant
from toolkit.linter.context import LintContext
from toolkit.linter.findings import Hit, Severity
from toolkit.linter.readings import Reading, readings
from toolkit.linter.rule import Rule


@dataclass(frozen=True, kw_only=True, slots=True)
class _Window:
    """What a run reads, before it is clipped to the feed's validity."""

    run: datetime
    first: datetime
    last: datetime

    def begins_before(self, start: datetime) -> bool:
        """Whether instances of the window would lie before the feed's first."""
        return self.first < start

    def ends_before(self, start: datetime) -> bool:
        """Whether the whole window lies there."""
        return self.last < start


def _check(context: LintContext) -> Iterator[Hit]:
    for reading in readings(context.repository):
        if not reading.counts_available:
            runs = reading.runs
            yield from _first_hits(reading, runs)
            yield from _last_hits(reading, runs)


def _first_hits(reading: Reading, runs: InstanceSequence) -> Iterator[Hit]:
    window, start = _window(reading, runs.start), reading.feed_cluster.validity.start
    if window is None or not window.begins_before(start) or _bootstraps(reading):
        return
    if not window.ends_before(start) and reading.input.optional:
        return
    yield _first_hit(reading, window, _first_complete(reading, runs))


def _window(reading: Reading, run: datetime) -> _Window | None:
    first, last = reading.instant(reading.start, run), reading.instant(reading.end, run)
    return None if first is None or last is None else _Window(run=run, first=first, last=last)


def _bootstraps(reading: Reading) -> bool:
    """Whether the process reads what it made before: its first run cannot find anything, and must not need to."""
    return any(output.feed == reading.feed.name for output in reading.process.outputs.values())


def _first_complete(reading: Reading, runs: InstanceSequence) -> datetime | None:
    """The first run whose window begins in the validity; windows never go back from one run to the next."""
    start = reading.feed_cluster.validity.start

    def is_complete(position: int) -> bool:
        window = _window(reading, runs[position])
        return window is not None and not window.begins_before(start)

    return _run_at(runs, bisect_left(_positions(runs), x=True, key=is_complete))


def _positions(runs: InstanceSequence) -> range:
    return range(runs.count(runs.start, runs.end or runs.start))


def _run_at(runs: InstanceSequence, position: int) -> datetime | None:
    return runs[position] if position < len(_positions(runs)) else None


def _first_hit(reading: Reading, window: _Window, complete: datetime | None) -> Hit:
    feed, start = reading.feed.name, reading.feed_cluster.validity.start
    whole = window.ends_before(start)
    range_words = f"{format_instant(window.first)} to {format_instant(window.last)}"
    what = "nothing" if whole else "only a part of its window"
    hint = f"start the process at {format_instant(complete)}" if complete else "no run of the process has a full window"
    return Hit(
        subject=reading.process.name,
        pointer=reading.at("start"),
        message=(
            f"the first run, {format_instant(window.run)}, finds {what}: it reads {range_words}, and {feed} begins on "
            f"{reading.cluster} with {format_instant(start)}"
        ),
        hint=f"{hint}, or let {feed} begin earlier",
        severity=Severity.ERROR if whole and not reading.input.optional else Severity.WARNING,
        related=(feed,),
    )


def _last_hits(reading: Reading, runs: InstanceSequence) -> Iterator[Hit]:
    run = runs.at_or_before(runs.end) if runs.end else None
    window = None if run is None else _window(reading, run)
    end = reading.feed_cluster.validity.end
    if window is None or window.last < end:
        return
    if _is_beyond(_endless(reading), reading, window):
        yield _last_hit(reading, window, _first_beyond(reading, runs))


def _endless(reading: Reading) -> InstanceSequence:
    return InstanceSequence(reading.feed_cluster.validity.start, reading.feed.frequency, reading.feed.timezone)


def _is_beyond(endless: InstanceSequence, reading: Reading, window: _Window) -> bool:
    """Whether the window would end with an instance that the feed does not have any more."""
    instance = endless.at_or_before(window.last)
    return instance is not None and instance >= reading.feed_cluster.validity.end


def _first_beyond(reading: Reading, runs: InstanceSequence) -> datetime | None:
    """The first run whose window ends after the feed's last instance."""
    endless = _endless(reading)

    def is_beyond(position: int) -> bool:
        window = _window(reading, runs[position])
        return window is None or _is_beyond(endless, reading, window)

    return _run_at(runs, bisect_left(_positions(runs), x=True, key=is_beyond))


def _last_hit(reading: Reading, window: _Window, beyond: datetime | None) -> Hit:
    feed, end = reading.feed.name, reading.feed_cluster.validity.end
    since = f"from the run of {format_instant(beyond)} on" if beyond and beyond != window.run else "at the last run"
    whole = window.first >= end
    return Hit(
        subject=reading.process.name,
        pointer=reading.at("end"),
        message=(
            f"{since} the window ends after {feed} does: the last run, {format_instant(window.run)}, reads "
            f"{format_instant(window.first)} to {format_instant(window.last)}, and {feed} ends on {reading.cluster} "
            f"before {format_instant(end)}"
        ),
        hint=f"end the process earlier, or let {feed} go on for longer",
        severity=Severity.ERROR if whole and not reading.input.optional else Severity.WARNING,
        related=(feed,),
    )


RULE = Rule(
    id="input-outside-validity",
    name="The first and the last run of a process find their whole window in the feed's validity",
    severity=Severity.WARNING,
    rationale=(
        "Before its validity a feed has no instances, and after it no new ones: a run whose window lies there reads "
        "less than its expression says, or again the feed's last instance, and nothing fails. It is an error when "
        "the whole window lies outside. A process that reads what it made itself has to begin with nothing and is "
        "left out."
    ),
    bad="""\
# processes/clicks_daily.yaml; clicks begins at 2026-01-01T00:00Z
clusters:
  - {name: primary, validity: {start: 2026-01-01T00:00Z, end: 2099-01-01T00:00Z}}
inputs:
  clicks: {feed: clicks, start: "yesterday(0,0)", end: "today(-1,0)"}
""",
    good="""\
# processes/clicks_daily.yaml; clicks begins at 2026-01-01T00:00Z
clusters:
  - {name: primary, validity: {start: 2026-01-02T00:00Z, end: 2099-01-01T00:00Z}}
inputs:
  clicks: {feed: clicks, start: "yesterday(0,0)", end: "today(-1,0)"}
""",
    source="Falcon overview, Feed-Process cross validations",
    check=_check,
)
