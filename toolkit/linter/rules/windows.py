"""Rules about the windows of inputs: in order, in the validity of the feed, and not yet evicted."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from toolkit.el import Expression, InstanceSequence, format_instant
from toolkit.linter.durations import furthest_back, least_back, length_words, longest, shortest
from toolkit.linter.findings import Hit, Severity
from toolkit.linter.input_windows import InputWindow, critical_runs, input_windows
from toolkit.linter.retained import Retained
from toolkit.linter.rule import Check, LintContext


def input_start_after_end(context: LintContext) -> Iterator[Hit]:
    """The window of an input begins before it ends, at every run."""
    for window in input_windows(context.repository):
        if window.start.function.needs_availability and window.end.function.needs_availability:
            yield from _counted_hits(window)
        elif not window.counts_available and not _is_ordered(window):
            yield from _order_hits(window, context.time)


def _counted_hits(window: InputWindow) -> Iterator[Hit]:
    """`latest` and `future` count: the first argument rises with time for both."""
    start, end = window.start, window.end
    if start.function is end.function and start.arguments[0] > end.arguments[0]:
        yield Hit(
            subject=window.process.name,
            pointer=window.at("start"),
            message=f"the window begins with {start} and ends with {end}, which is earlier",
            hint=f'exchange them: start: "{end}", end: "{start}"',
        )


def _is_ordered(window: InputWindow) -> bool:
    """Return whether the start never comes after the end, found without looking at any run."""
    start, end = window.start, window.end
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


def _order_hits(window: InputWindow, time: datetime) -> Iterator[Hit]:
    runs = critical_runs(window.runs, window.grid, window.process.timezone, time)
    wrong = next((found for run in runs if (found := _reversed(window, run)) is not None), None)
    if wrong is not None:
        yield _order_hit(window, *wrong, every=all(_reversed(window, run) is not None for run in runs))


def _reversed(window: InputWindow, run: datetime) -> tuple[datetime, datetime, datetime] | None:
    """The run and the ends of its window, when they are the wrong way round."""
    start, end = window.instant(window.start, run), window.instant(window.end, run)
    return (run, start, end) if start is not None and end is not None and start > end else None


def _order_hit(window: InputWindow, run: datetime, start: datetime, end: datetime, *, every: bool) -> Hit:
    which = "every run" if every else "some runs"
    return Hit(
        subject=window.process.name,
        pointer=window.at("start"),
        message=(
            f"at {which} the window begins after its end: at {format_instant(run)} it is {format_instant(start)} to "
            f"{format_instant(end)}, {length_words(start - end)} the wrong way round"
        ),
        hint=(
            f'exchange them: start: "{window.input.end}", end: "{window.input.start}"'
            if every
            else "choose ends that keep their order at the ends of weeks, months and years too"
        ),
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class _Span:
    """Span that a run reads, before it is clipped to the feed's validity."""

    run: datetime
    first: datetime
    last: datetime

    def begins_before(self, start: datetime) -> bool:
        """Return whether instances of the window would be before the feed's first."""
        return self.first < start

    def ends_before(self, start: datetime) -> bool:
        """Return whether the whole window lies there."""
        return self.last < start


def input_outside_validity(context: LintContext) -> Iterator[Hit]:
    """The window of an input lies in its feed's validity, for the first run of the process and for the last."""
    for window in input_windows(context.repository):
        if not window.counts_available:
            runs = window.runs
            yield from _first_hits(window, runs)
            yield from _last_hits(window, runs)


def _first_hits(window: InputWindow, runs: InstanceSequence) -> Iterator[Hit]:
    span, start = _span(window, runs.start), window.feed_cluster.validity.start
    if span is None or not span.begins_before(start) or _bootstraps(window):
        return
    if not span.ends_before(start) and window.input.optional:
        return
    yield _first_hit(window, span, _first_complete(window, runs))


def _span(window: InputWindow, run: datetime) -> _Span | None:
    first, last = window.instant(window.start, run), window.instant(window.end, run)
    return None if first is None or last is None else _Span(run=run, first=first, last=last)


def _bootstraps(window: InputWindow) -> bool:
    """Return whether the process reads its own earlier output, which the first run cannot find and must not need."""
    return any(output.feed == window.feed.name for output in window.process.outputs.values())


def _first_complete(window: InputWindow, runs: InstanceSequence) -> datetime | None:
    """The first run whose window begins in the validity; windows never go back from one run to the next."""
    start = window.feed_cluster.validity.start

    def is_complete(position: int) -> bool:
        span = _span(window, runs[position])
        return span is not None and not span.begins_before(start)

    return _run_at(runs, bisect_left(_positions(runs), x=True, key=is_complete))


def _positions(runs: InstanceSequence) -> range:
    return range(runs.count(runs.start, runs.end or runs.start))


def _run_at(runs: InstanceSequence, position: int) -> datetime | None:
    return runs[position] if position < len(_positions(runs)) else None


def _first_hit(window: InputWindow, span: _Span, complete: datetime | None) -> Hit:
    feed, start = window.feed.name, window.feed_cluster.validity.start
    whole = span.ends_before(start)
    range_words = f"{format_instant(span.first)} to {format_instant(span.last)}"
    what = "nothing" if whole else "only a part of its window"
    hint = f"start the process at {format_instant(complete)}" if complete else "no run of the process has a full window"
    return Hit(
        subject=window.process.name,
        pointer=window.at("start"),
        message=(
            f"the first run, {format_instant(span.run)}, finds {what}: it reads {range_words}, and {feed} begins on "
            f"{window.cluster} with {format_instant(start)}"
        ),
        hint=f"{hint}, or let {feed} begin earlier",
        severity=Severity.ERROR if whole and not window.input.optional else Severity.WARNING,
        related=(window.of_feed("validity", "start"),),
    )


def _last_hits(window: InputWindow, runs: InstanceSequence) -> Iterator[Hit]:
    run = runs.at_or_before(runs.end) if runs.end else None
    span = None if run is None else _span(window, run)
    end = window.feed_cluster.validity.end
    if span is None or span.last < end:
        return
    if _is_beyond(_endless(window), window, span):
        yield _last_hit(window, span, _first_beyond(window, runs))


def _endless(window: InputWindow) -> InstanceSequence:
    return InstanceSequence(window.feed_cluster.validity.start, window.feed.frequency, window.feed.timezone)


def _is_beyond(endless: InstanceSequence, window: InputWindow, span: _Span) -> bool:
    """Return whether the window would end with an instance after the feed's last one."""
    instance = endless.at_or_before(span.last)
    return instance is not None and instance >= window.feed_cluster.validity.end


def _first_beyond(window: InputWindow, runs: InstanceSequence) -> datetime | None:
    """The first run whose window ends after the feed's last instance."""
    endless = _endless(window)

    def is_beyond(position: int) -> bool:
        span = _span(window, runs[position])
        return span is None or _is_beyond(endless, window, span)

    return _run_at(runs, bisect_left(_positions(runs), x=True, key=is_beyond))


def _last_hit(window: InputWindow, span: _Span, beyond: datetime | None) -> Hit:
    feed, end = window.feed.name, window.feed_cluster.validity.end
    since = f"from the run of {format_instant(beyond)} on" if beyond and beyond != span.run else "at the last run"
    whole = span.first >= end
    return Hit(
        subject=window.process.name,
        pointer=window.at("end"),
        message=(
            f"{since} the window ends after {feed} does: the last run, {format_instant(span.run)}, reads "
            f"{format_instant(span.first)} to {format_instant(span.last)}, and {feed} ends on {window.cluster} "
            f"before {format_instant(end)}"
        ),
        hint=f"end the process earlier, or let {feed} go on for longer",
        severity=Severity.ERROR if whole and not window.input.optional else Severity.WARNING,
        related=(window.of_feed("validity", "end"),),
    )


_CLOCK_CHANGES = timedelta(hours=3)


@dataclass(frozen=True, kw_only=True, slots=True)
class _Missing:
    """A run whose window begins with instances that are gone."""

    run: datetime
    first: datetime
    kept_from: datetime
    count: int


def input_older_than_retention(context: LintContext) -> Iterator[Hit]:
    """An input reads nothing that retention has already deleted by then."""
    retained: dict[tuple[str, str], Retained | None] = {}
    alike: dict[tuple[str, str, str, str, str], list[_Missing | None]] = {}
    for window in input_windows(context.repository):
        if not _is_close(window):
            continue
        feed = (window.feed.name, window.cluster)
        if feed not in retained:
            retained[feed] = Retained.of(window.feed, window.feed_cluster, context.repository.settings)
        kept = retained[feed]
        if kept is not None:
            same = (window.process.name, *feed, window.input.start, window.input.end)
            if same not in alike:
                alike[same] = _of_runs(window, kept, context.time)
            yield from _evicted_hits(window, kept, alike[same])


def _is_close(window: InputWindow) -> bool:
    """Return whether the window may reach beyond the limit at all; most do not come near it."""
    retention = window.feed_cluster.retention
    if retention is None:
        return False
    return _furthest(window) > shortest(retention.limit) - _CLOCK_CHANGES


def _furthest(window: InputWindow) -> timedelta:
    step = longest(window.feed.frequency)
    if window.counts_available:
        return min(max(-window.start.arguments[0], 0) + 1, timedelta.max // step) * step
    return furthest_back(window.input.start) + step


def _of_runs(window: InputWindow, retained: Retained, time: datetime) -> list[_Missing | None]:
    runs = critical_runs(window.runs, retained.grid, window.process.timezone, time)
    return [_missing(window, retained, run) for run in runs]


def _evicted_hits(window: InputWindow, retained: Retained, runs: list[_Missing | None]) -> Iterator[Hit]:
    found = [each for each in runs if each is not None]
    if found:
        worst = max(found, key=lambda each: each.kept_from - each.first)
        yield _evicted_hit(window, retained, worst, every=len(found) == len(runs))


def _missing(window: InputWindow, retained: Retained, run: datetime) -> _Missing | None:
    first, last = _needed(window, retained, run)
    if first is None or last is None:
        return None
    kept_from = retained.kept_from(run)
    if first >= kept_from:
        return None
    count = retained.grid.count(first, min(kept_from, last + timedelta(minutes=1)))
    return _Missing(run=run, first=first, kept_from=kept_from, count=count)


def _needed(window: InputWindow, retained: Retained, run: datetime) -> tuple[datetime | None, datetime | None]:
    """The oldest and newest instances that the run needs."""
    grid = retained.grid
    if window.counts_available:
        return _counted(window, retained, run)
    start, end = window.instant(window.start, run), window.instant(window.end, run)
    if start is None or end is None:
        return None, None
    return grid.at_or_before(start) or grid.start, grid.at_or_before(end)


def _counted(window: InputWindow, retained: Retained, run: datetime) -> tuple[datetime | None, datetime | None]:
    """Return the span that `latest` needs at best, when the newest instances are all available."""
    grid, newest = retained.grid, retained.grid.at_or_before(run)
    back = -window.start.arguments[0]
    if newest is None or back < 0 or grid.index(newest) < back:
        return None, None
    return grid[grid.index(newest) - back], newest


def _evicted_hit(window: InputWindow, retained: Retained, worst: _Missing, *, every: bool) -> Hit:
    run, first = format_instant(worst.run), format_instant(worst.first)
    which = "no run can" if every else "some runs cannot"
    what = f"{worst.count} instance{'' if worst.count == 1 else 's'} of {window.feed.name}"
    return Hit(
        subject=window.process.name,
        pointer=window.at("start"),
        message=(
            f"{which} find {what} on {window.cluster}: the run of {run} reads from {first} on, "
            f"{length_words(worst.run - worst.first)} back, and the retention of {retained.retention.limit} has by "
            f"then deleted what is before {format_instant(worst.kept_from)}"
        ),
        hint=(
            f"begin the window later, or give {window.feed.name} on {window.cluster} a limit of at least "
            f"{length_words(worst.run - worst.first)}, and more for runs that come late"
        ),
        severity=Severity.WARNING if window.input.optional else None,
        related=(window.of_feed("retention", "limit"),),
    )


CHECKS: Mapping[str, Check] = {
    "input-start-after-end": input_start_after_end,
    "input-outside-validity": input_outside_validity,
    "input-older-than-retention": input_older_than_retention,
}
