"""Rules about frequencies and limits that fit together, and the clock."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import overload

from toolkit.el import (
    ElError,
    Frequency,
    InstanceSequence,
    Unit,
    WaitPolicy,
    format_instant,
    load_zone,
    localize,
    retry_waits,
)
from toolkit.el.zones import to_local
from toolkit.entities import Feed, FeedCluster, Pointer, Process, ProcessCluster, Repository, Retry
from toolkit.linter.clock_changes import ClockChange, clock_changes, year_from
from toolkit.linter.durations import always_longer, length_words, longest, shortest, sometimes_shorter
from toolkit.linter.findings import Hit, Severity
from toolkit.linter.rule import Check, LintContext


@dataclass(frozen=True, kw_only=True, slots=True)
class _Pair:
    """Two durations that are compared.

    Attributes:
        subject: the entity.
        pointer: of the first.
        cluster: its name, where it matters.
    """

    subject: str
    pointer: Pointer
    one: Frequency
    other: Frequency
    cluster: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class _Order:
    """A rule that one duration is not shorter, or not longer, than another.

    Attributes:
        pairs: of a config repo.
        is_wrong: of the first and the second duration.
        message: for a pair that is wrong.
        hint: for the same.
    """

    pairs: Callable[[Repository], Iterator[_Pair]]
    is_wrong: Callable[[Frequency, Frequency], bool]
    message: Callable[[_Pair], str]
    hint: Callable[[_Pair], str]

    def check(self, context: LintContext) -> Iterator[Hit]:
        """One hit for each pair that is the wrong way round."""
        for each in self.pairs(context.repository):
            if self.is_wrong(each.one, each.other):
                yield Hit(subject=each.subject, pointer=each.pointer, message=self.message(each), hint=self.hint(each))


def _limits(repository: Repository, other: Callable[[Feed], Frequency | None]) -> Iterator[_Pair]:
    """The retention limits of each feed beside another duration of it."""
    for feed in repository.feeds.values():
        duration = other(feed)
        for position, each in enumerate(feed.clusters if duration else ()):
            if duration and each.retention:
                pointer = ("clusters", position, "retention", "limit")
                limit = each.retention.limit
                yield _Pair(subject=feed.name, pointer=pointer, one=limit, other=duration, cluster=each.name)


def _cut_off(feed: Feed) -> Frequency | None:
    return None if feed.late_arrival is None else feed.late_arrival.cut_off


def _below_cut_off(each: _Pair) -> str:
    limit, cut_off = each.one, each.other
    found = f"the retention limit of {limit} on {each.cluster} is not greater than the late cut-off of {cut_off}"
    if limit.unit is cut_off.unit or (limit.elapsed and cut_off.elapsed):
        return found
    return f"{found}: {length_words(shortest(limit))} at the least, {length_words(longest(cut_off))} at the most"


def _timeouts(repository: Repository) -> Iterator[_Pair]:
    for process in repository.processes.values():
        if process.timeout is not None:
            yield _Pair(subject=process.name, pointer=("timeout",), one=process.timeout, other=process.frequency)


def _slas(repository: Repository) -> Iterator[_Pair]:
    """The earlier and the later time of each SLA."""
    for feed in repository.feeds.values():
        for pointer, each in _places(feed):
            if each.sla is not None:
                yield _Pair(subject=feed.name, pointer=(*pointer, "low"), one=each.sla.low, other=each.sla.high)
    for process in repository.processes.values():
        for pointer, one in _places(process):
            start, end = (one.sla.should_start_in, one.sla.should_end_in) if one.sla else (None, None)
            if start is not None and end is not None:
                yield _Pair(subject=process.name, pointer=(*pointer, "should_start_in"), one=start, other=end)


@overload
def _places(entity: Feed) -> Iterator[tuple[Pointer, Feed | FeedCluster]]: ...
@overload
def _places(entity: Process) -> Iterator[tuple[Pointer, Process | ProcessCluster]]: ...
def _places(entity: Feed | Process) -> Iterator[tuple[Pointer, object]]:
    """Where an SLA can be: the entity, and each of its clusters."""
    yield ("sla",), entity
    yield from ((("clusters", index, "sla"), each) for index, each in enumerate(entity.clusters))


_LATER = {"low": "high", "should_start_in": "should_end_in"}

_TABLE: Mapping[str, _Order] = {
    "retention-below-frequency": _Order(
        pairs=lambda repository: _limits(repository, lambda feed: feed.frequency),
        is_wrong=sometimes_shorter,
        message=lambda each: (
            f"the retention limit of {each.one} on {each.cluster} is shorter than the feed's frequency, {each.other}"
        ),
        hint=lambda each: f"keep instances for at least {length_words(longest(each.other))}",
    ),
    "retention-below-cut-off": _Order(
        pairs=lambda repository: _limits(repository, _cut_off),
        is_wrong=lambda limit, cut_off: not always_longer(limit, cut_off),
        message=_below_cut_off,
        hint=lambda each: f"keep instances for more than {length_words(longest(each.other))}, or shorten the cut-off",
    ),
    "timeout-below-frequency": _Order(
        pairs=_timeouts,
        is_wrong=sometimes_shorter,
        message=lambda each: f"the timeout of {each.one} is shorter than the frequency of the process, {each.other}",
        hint=lambda each: f"wait for {each.other} or more, or leave it out: the default is six times the frequency",
    ),
    "sla-order": _Order(
        pairs=_slas,
        is_wrong=always_longer,
        message=lambda each: (
            f"{each.pointer[-1]} is {each.one}, longer than {_LATER[str(each.pointer[-1])]}, {each.other}"
        ),
        hint=lambda _: "exchange the two, or correct one of them",
    ),
}


_DAY = timedelta(days=1)


def clock_change_slot(context: LintContext) -> Iterator[Hit]:
    """The local time at which a feed or a process steps exists once on every day."""
    repository = context.repository
    entities: list[Feed | Process] = [*repository.feeds.values(), *repository.processes.values()]
    for entity in entities:
        if _steps_in_zone(entity.frequency, entity.timezone):
            yield from _slot_hits(entity, context.time)


def _steps_in_zone(frequency: Frequency, timezone: str) -> bool:
    return frequency.elapsed is None and timezone != "UTC"


def _slot_hits(entity: Feed | Process, time: datetime) -> Iterator[Hit]:
    seen: set[str] = set()
    names = [each.name for each in entity.clusters]
    for position, name in enumerate(names):
        found = list(_odd_slots(entity.instances_on(name), time))
        message = f"clocks are changed in {entity.timezone}: {'; '.join(found)}"
        if found and message not in seen:
            seen.add(message)
            yield Hit(
                subject=entity.name,
                pointer=("clusters", position, "validity", "start"),
                message=message,
                hint=f"start at a local time at which the clocks of {entity.timezone} are never changed, such as noon",
            )


def _odd_slots(steps: InstanceSequence, time: datetime) -> Iterator[str]:
    """The slots of the coming year that do not exist, or come twice, in words."""
    zone = load_zone(steps.timezone)
    clock = to_local(steps.start, zone) - to_local(steps.start, zone).replace(hour=0, minute=0)
    for change in clock_changes(steps.timezone, *year_from(time)):
        for slot in _slots(change, clock):
            if localize(slot, zone) in steps:
                yield _words(change, slot, localize(slot, zone), steps)


def _slots(change: ClockChange, clock: timedelta) -> Iterator[datetime]:
    """The local times of this time of day that the change makes come twice, or never."""
    first, end = change.local
    day = first.replace(hour=0, minute=0, second=0)
    while day < end:
        if first <= day + clock < end:
            yield day + clock
        day += _DAY


def _words(change: ClockChange, slot: datetime, instant: datetime, steps: InstanceSequence) -> str:
    local = f"{slot:%Y-%m-%d %H:%M}"
    if change.is_set_back:
        return f"{local} comes twice, and the instance is its first, {format_instant(instant)}"
    shifted = to_local(instant, load_zone(steps.timezone))
    return f"{local} does not exist, and the instance is {format_instant(instant)}, {shifted:%H:%M} there"


def group_frequency(context: LintContext) -> Iterator[Hit]:
    """The feeds of one group have one frequency."""
    for group, members in sorted(_groups(context.repository.feeds).items()):
        yield from _group_hits(group, members)


def _groups(feeds: Mapping[str, Feed]) -> dict[str, list[Feed]]:
    groups: dict[str, list[Feed]] = {}
    for _, feed in sorted(feeds.items()):
        for group in dict.fromkeys(feed.groups):
            groups.setdefault(group, []).append(feed)
    return groups


def _group_hits(group: str, members: list[Feed]) -> Iterator[Hit]:
    """One for each feed that has not the frequency of most."""
    counted = Counter(_length(feed.frequency) for feed in members)
    if len(counted) == 1:
        return
    usual = max(counted, key=lambda length: counted[length])  # of equally many, that of the first by name
    model = next(feed for feed in members if _length(feed.frequency) == usual)
    for feed in members:
        if _length(feed.frequency) != usual:
            yield _hit(group, feed, model, counted[usual])


def _length(frequency: Frequency) -> tuple[Unit, int] | timedelta:
    """Equal for frequencies that step alike: minutes(60) is hours(1), while days(1) is not hours(24)."""
    return frequency.elapsed or (frequency.unit, frequency.count)


def _hit(group: str, feed: Feed, model: Feed, count: int) -> Hit:
    have = f"{model.name} has" if count == 1 else f"{model.name} and {count - 1} more have"
    return Hit(
        subject=feed.name,
        pointer=("frequency",),
        message=f"the frequency {feed.frequency} differs from that of the group {group}: {have} {model.frequency}",
        hint=f"give the feeds of {group} one frequency, or put this one into another group",
        related=(model.name,),
    )


_DOUBLINGS = 64
"""So many doublings of a minute are longer than the calendar."""


def retry_bounds(context: LintContext) -> Iterator[Hit]:
    """Retries are few enough and soon enough to be of use."""
    most = context.number("retry-bounds", "attempts")
    for process in context.repository.processes.values():
        if process.retry is not None:
            yield from _retry_hits(process, process.retry, most)


def _retry_hits(process: Process, retry: Retry, most: int) -> Iterator[Hit]:
    if retry.attempts > most:
        message = f"found {retry.attempts} retries, expected at most {most}"
        hint = "a failure that so many retries do not cure needs a person"
        yield Hit(subject=process.name, pointer=("retry", "attempts"), message=message, hint=hint)
    elif not _is_finite(retry):
        message = f"the last of {retry.attempts} waits ({retry.policy} from {retry.delay}) is longer than the calendar"
        yield Hit(
            subject=process.name,
            pointer=("retry", "attempts"),
            message=message,
            hint="fewer attempts, or a shorter delay",
            severity=Severity.ERROR,
        )
    limit = _timeout(process)
    if limit is not None and always_longer(retry.delay, limit):
        message = f"the first retry comes after {retry.delay}, later than the timeout of an instance, {limit}"
        yield Hit(subject=process.name, pointer=("retry", "delay"), message=message, hint="choose a shorter delay")


def _is_finite(retry: Retry) -> bool:
    try:
        retry_waits(WaitPolicy(retry.policy), retry.delay, min(retry.attempts, _DOUBLINGS))
    except ElError:
        return False
    return True


def _timeout(process: Process) -> Frequency | None:
    try:
        return process.effective_timeout
    except ElError:  # six frequencies are longer than the calendar
        return None


CHECKS: Mapping[str, Check] = {
    **{rule_id: row.check for rule_id, row in _TABLE.items()},
    "clock-change-slot": clock_change_slot,
    "group-frequency": group_frequency,
    "retry-bounds": retry_bounds,
}
