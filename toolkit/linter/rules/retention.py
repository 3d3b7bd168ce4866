"""Rules about what retention deletes too early: before late data, or before replication."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from toolkit.el import ElError, Frequency, format_instant, shift
from toolkit.entities import (
    ClusterRole,
    Feed,
    FeedCluster,
    Pointer,
    Process,
    Protection,
    ProtectionName,
    RepoSettings,
    Repository,
)
from toolkit.linter.clock_changes import year_from
from toolkit.linter.durations import furthest_back, least_back, length_words, longest, shortest
from toolkit.linter.findings import Hit
from toolkit.linter.input_windows import InputWindow, critical_runs, input_windows
from toolkit.linter.retained import Retained
from toolkit.linter.rule import Check, LintContext

_LATE_CLOCK_CHANGES = timedelta(hours=3)


@dataclass(frozen=True, kw_only=True, slots=True)
class _Gone:
    """A run whose late check comes when its window is no longer complete."""

    run: datetime
    cut_off: datetime
    first: datetime
    kept_from: datetime


def late_window_past_retention(context: LintContext) -> Iterator[Hit]:
    """When a late run reads its inputs again, they are all still there."""
    group: list[InputWindow] = []
    for window in input_windows(context.repository):
        if window.process.late_process is None or window.counts_available:
            continue
        if group and _process_on_cluster(group[0]) != _process_on_cluster(window):
            yield from _late_hits(group, context)
            group = []
        group.append(window)
    yield from _late_hits(group, context)


def _process_on_cluster(window: InputWindow) -> tuple[str, str]:
    return window.process.name, window.cluster


def _late_hits(group: list[InputWindow], context: LintContext) -> Iterator[Hit]:
    """The hits of the inputs of one process on one cluster."""
    named = _late_inputs(group[0].process) if group else frozenset()
    found = [each for each in group if each.feed.late_arrival and each.name in named]
    if not found:
        return
    late = _LateWindows(found)
    for window in group:
        if not window.input.optional and _is_close(window, late.wait):
            yield from _of_input(window, late, context.repository, context.time)


def _late_inputs(process: Process) -> frozenset[str]:
    return frozenset(process.late_process.inputs if process.late_process else ())


def _is_close(window: InputWindow, wait: timedelta) -> bool:
    retention = window.feed_cluster.retention
    if retention is None:
        return False
    back = furthest_back(window.input.start) + longest(window.feed.frequency)
    return back + max(wait, timedelta()) > shortest(retention.limit) - _LATE_CLOCK_CHANGES


class _LateWindows:
    """The inputs of one process on one cluster that late runs read.

    Args:
        windows: at least one.
    """

    def __init__(self, windows: list[InputWindow]) -> None:
        self.wait = max(_longest_cut_off(each) - least_back(each.input.end) for each in windows)
        different = {(each.feed.name, each.input.end): each for each in windows}
        self._windows = [(each, each.grid) for each in different.values()]
        self._cut_offs: dict[datetime, datetime] = {}

    def cut_off(self, run: datetime) -> datetime:
        """The last late check of a run (DESIGN section 8: the latest resolved end plus its feed's cut-off)."""
        if run not in self._cut_offs:
            self._cut_offs[run] = max([run, *self._ends(run)])
        return self._cut_offs[run]

    def _ends(self, run: datetime) -> Iterator[datetime]:
        for window, grid in self._windows:
            end, arrival = window.instant(window.end, run), window.feed.late_arrival
            last = None if end is None else grid.at_or_before(end)
            if last is not None and arrival is not None:
                yield _after(last, arrival.cut_off, window)


def _longest_cut_off(window: InputWindow) -> timedelta:
    late = window.feed.late_arrival
    return longest(late.cut_off) if late else timedelta()


def _of_input(window: InputWindow, late: _LateWindows, repository: Repository, time: datetime) -> Iterator[Hit]:
    retained = Retained.of(window.feed, window.feed_cluster, repository.settings)
    if retained is None:
        return
    runs = critical_runs(window.runs, retained.grid, window.process.timezone, time)
    found = [gone for run in runs if (gone := _gone(window, retained, late.cut_off(run), run)) is not None]
    if found:
        yield _late_hit(window, retained, max(found, key=lambda each: each.kept_from - each.first))


def _after(last: datetime, cut_off: Frequency, window: InputWindow) -> datetime:
    try:
        return shift(last, cut_off, 1, window.feed.timezone)
    except ElError:
        return last


def _gone(window: InputWindow, retained: Retained, cut_off: datetime, run: datetime) -> _Gone | None:
    start, end = window.instant(window.start, run), window.instant(window.end, run)
    last = None if end is None else retained.grid.at_or_before(end)
    if start is None or last is None:
        return None
    first = retained.grid.at_or_before(start) or retained.grid.start
    if first < retained.kept_from(run):  # it is gone already when the run itself comes, which another rule says
        return None
    kept_from = retained.kept_from(cut_off)
    return _Gone(run=run, cut_off=cut_off, first=first, kept_from=kept_from) if first < kept_from else None


def _late_hit(window: InputWindow, retained: Retained, gone: _Gone) -> Hit:
    run, cut_off = format_instant(gone.run), format_instant(gone.cut_off)
    return Hit(
        subject=window.process.name,
        pointer=window.at("start"),
        message=(
            f"the run of {run} may be repeated for late data until {cut_off}; by then the retention of "
            f"{retained.retention.limit} on {window.cluster} has deleted what {window.feed.name} had before "
            f"{format_instant(gone.kept_from)}, and the run reads from {format_instant(gone.first)} on"
        ),
        hint=(
            f"give {window.feed.name} on {window.cluster} a limit of at least "
            f"{length_words(gone.cut_off - gone.first)}, shorten the late cut-off, or begin the window later"
        ),
        related=(window.of_feed("retention", "limit"),),
    )


_SAMPLES = 53
_COPIED_CLOCK_CHANGES = timedelta(hours=3)


@dataclass(frozen=True, kw_only=True, slots=True)
class _Lost:
    """An instance that is deleted before the replication run that would copy it."""

    instance: datetime
    copied: datetime
    kept_from: datetime


def replication_past_retention(context: LintContext) -> Iterator[Hit]:
    """An instance is still there when replication comes for it, and stays at the target when it has come."""
    for _, feed in sorted(context.repository.feeds.items()):
        sources = [each for each in feed.clusters if each.type is ClusterRole.SOURCE]
        if sources and any(each.type is ClusterRole.TARGET for each in feed.clusters):
            for position, each in enumerate(feed.clusters):
                yield from _copied_hits(feed, position, _delay(each, sources), context)


def _delay(each: FeedCluster, sources: list[FeedCluster]) -> Frequency | None:
    """Return the time until an instance leaves this source, or reaches this target at the latest."""
    if each.type is ClusterRole.SOURCE:
        return each.delay
    delays = [source.delay for source in sources if source.delay is not None]
    return max(delays, key=longest) if delays else None


def _copied_hits(feed: Feed, position: int, delay: Frequency | None, context: LintContext) -> Iterator[Hit]:
    each = feed.clusters[position]
    if each.type is None or each.retention is None or _is_protected(each):
        return
    needed = longest(feed.frequency) + (longest(delay) if delay else timedelta())
    if needed <= shortest(each.retention.limit) - _COPIED_CLOCK_CHANGES:
        return
    lost = _lost(feed, each, delay, context.repository.settings, context.time)
    if lost is not None:
        yield _copied_hit(feed, each, ("clusters", position, "retention", "limit"), delay, lost)


def _is_protected(each: FeedCluster) -> bool:
    protection = each.retention.protect if each.retention else ()
    return any(one.name is ProtectionName.UNREPLICATED for one in protection)


def _lost(
    feed: Feed, each: FeedCluster, delay: Frequency | None, settings: RepoSettings, time: datetime
) -> _Lost | None:
    retained = Retained.of(feed, each, settings)
    if retained is None:
        return None
    for instance in _samples(retained, time):
        copied = _copied(instance, feed, delay)
        kept_from = instance if copied is None else retained.kept_from(copied)
        if copied is not None and instance < kept_from:
            return _Lost(instance=instance, copied=copied, kept_from=kept_from)
    return None


def _samples(retained: Retained, time: datetime) -> Iterator[datetime]:
    """Instances of every week of a year: months differ in length, and days where clocks are changed."""
    first = retained.grid.at_or_after(time) or retained.grid.start
    step = (year_from(first)[1] - first) / _SAMPLES
    for position in range(_SAMPLES):
        instance = retained.grid.at_or_after(first + position * step)
        if instance is not None:
            yield instance


def _copied(instance: datetime, feed: Feed, delay: Frequency | None) -> datetime | None:
    """When the instance is copied at the latest: the replication runs once every frequency of the feed."""
    try:
        eligible = shift(instance, delay, 1, feed.timezone) if delay else instance
        return shift(eligible, feed.frequency, 1, feed.timezone)
    except ElError:
        return None


def _copied_hit(feed: Feed, each: FeedCluster, pointer: Pointer, delay: Frequency | None, lost: _Lost) -> Hit:
    limit = "" if each.retention is None else str(each.retention.limit)
    after = (
        f"the delay of {delay} and one frequency of {feed.frequency}" if delay else f"one frequency, {feed.frequency}"
    )
    kept_from = format_instant(lost.kept_from)
    outcome = (
        f"by then {each.name} has deleted what is before {kept_from}"
        if each.type is ClusterRole.SOURCE
        else f"{each.name} would delete what is before {kept_from} at once, so it is not copied"
    )
    return Hit(
        subject=feed.name,
        pointer=pointer,
        message=(
            f"the limit of {limit} is shorter than {after}: the instance {format_instant(lost.instance)} "
            f"may be copied as late as {format_instant(lost.copied)}, and {outcome}"
        ),
        hint=f"keep instances for {length_words(lost.copied - lost.instance)} or more, longer for runs that are late",
    )


_OF_LEDGER = {ProtectionName.UNREAD_BATCHES, ProtectionName.UNREAD_CONSUMERS}


def protection_without_effect(context: LintContext) -> Iterator[Hit]:
    """Each protection can keep an instance: somebody reads it or copies it, and its greatest age is above the limit."""
    read = _read_feeds(context.repository)
    for name, feed, protection, pointer in _protections(context.repository):
        on = feed.cluster(name)
        limit, max_age = None if on.retention is None else on.retention.limit, protection.max_age
        if limit is not None and max_age is not None and longest(max_age) <= shortest(limit):
            why = f"its max_age {max_age} is not above the limit {limit}, so that what it would keep is too old for it"
            yield _idle(feed, pointer, protection, why, f"give it a max_age above {limit}")
        elif protection.name in _OF_LEDGER and (feed.name, name) not in read:
            why = f"no process reads {feed.name} on {name} as an input"
            yield _idle(feed, pointer, protection, why, f"remove it, or add {feed.name} to the inputs of its reader")
        elif protection.name is ProtectionName.UNREPLICATED and not _is_copied(feed, on):
            why = f"{feed.name} is not copied from {name}"
            yield _idle(feed, pointer, protection, why, "remove it, or give the clusters type: source and type: target")


def protection_without_end(context: LintContext) -> Iterator[Hit]:
    """A protection ends with an age, so that a reader that never comes does not fill the disk."""
    for _, feed, protection, pointer in _protections(context.repository):
        if protection.max_age is None and protection.name is not ProtectionName.LATE_WINDOW:
            yield Hit(
                subject=feed.name,
                pointer=pointer,
                message=f"{protection.name} has no max_age: what nobody reads or copies any more stays for ever",
                hint=f"write {{name: {protection.name}, max_age: ...}}; what is older goes, and the run reports it",
            )


def _protections(repository: Repository) -> Iterator[tuple[str, Feed, Protection, Pointer]]:
    """Yield the protections of all feeds, each with its cluster and where it is written."""
    for _, feed in sorted(repository.feeds.items()):
        for index, each in enumerate(feed.clusters):
            for position, protection in enumerate(each.retention.protect if each.retention else ()):
                if protection.name is not ProtectionName.LATE_WINDOW or protection.max_age is not None:
                    yield each.name, feed, protection, ("clusters", index, "retention", "protect", position)


def _read_feeds(repository: Repository) -> frozenset[tuple[str, str]]:
    """Return the feeds that processes read, each with its cluster."""
    return frozenset(
        (each.feed, on.name)
        for process in repository.processes.values()
        for each in process.inputs.values()
        for on in process.clusters
    )


def _is_copied(feed: Feed, on: FeedCluster) -> bool:
    return on.type is ClusterRole.SOURCE and any(each.type is ClusterRole.TARGET for each in feed.clusters)


def _idle(feed: Feed, pointer: Pointer, protection: Protection, why: str, hint: str) -> Hit:
    return Hit(subject=feed.name, pointer=pointer, message=f"{protection.name} keeps nothing: {why}", hint=hint)


CHECKS: Mapping[str, Check] = {
    "late-window-past-retention": late_window_past_retention,
    "protection-without-effect": protection_without_effect,
    "protection-without-end": protection_without_end,
    "replication-past-retention": replication_past_retention,
}
