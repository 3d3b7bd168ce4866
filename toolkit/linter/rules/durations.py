"""Rules about frequencies and limits that fit together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import overload

from toolkit.el import ElError, Frequency, Unit, WaitPolicy, retry_waits
from toolkit.entities import Feed, FeedCluster, Lifecycle, Pointer, Process, ProcessCluster, Repository, Retry
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
        """Yield a hit for each pair that is the wrong way round."""
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
            low, high = (each.sla.low, each.sla.high) if each.sla else (None, None)
            if low is not None and high is not None:
                yield _Pair(subject=feed.name, pointer=(*pointer, "low"), one=low, other=high)
    for process in repository.processes.values():
        for pointer, one in _places(process):
            start, end = (one.sla.should_start_in, one.sla.should_end_in) if one.sla else (None, None)
            if start is not None and end is not None:
                yield _Pair(subject=process.name, pointer=(*pointer, "should_start_in"), one=start, other=end)


def _late_breaches(repository: Repository) -> Iterator[_Pair]:
    """The later time of each SLA without a deadline beside the retention limit of each cluster on which it counts."""
    for feed in repository.feeds.values():
        for index, each in enumerate(feed.clusters):
            sla = feed.sla_on(each.name)
            high = None if sla is None or sla.deadline is not None else sla.high
            if high is not None and each.retention is not None:
                pointer: Pointer = (*(("clusters", index) if each.sla else ()), "sla", "high")
                limit = each.retention.limit
                yield _Pair(subject=feed.name, pointer=pointer, one=high, other=limit, cluster=each.name)


def _late_slas(repository: Repository) -> Iterator[_Pair]:
    """The later time of each SLA without a deadline beside the late cut-off of its feed."""
    for feed in repository.feeds.values():
        cut_off = _cut_off(feed)
        for pointer, each in _places(feed) if cut_off else ():
            high = None if each.sla is None or each.sla.deadline is not None else each.sla.high
            if high is not None and cut_off is not None:
                yield _Pair(subject=feed.name, pointer=(*pointer, "high"), one=high, other=cut_off)


def _late_starts(repository: Repository) -> Iterator[_Pair]:
    """The time in which an instance should start beside the timeout of its process."""
    for process in repository.processes.values():
        timeout = _timeout(process)
        for pointer, each in _places(process):
            start = each.sla.should_start_in if each.sla else None
            if start is not None and timeout is not None:
                yield _Pair(subject=process.name, pointer=(*pointer, "should_start_in"), one=start, other=timeout)


@overload
def _places(entity: Feed) -> Iterator[tuple[Pointer, Feed | FeedCluster]]: ...
@overload
def _places(entity: Process) -> Iterator[tuple[Pointer, Process | ProcessCluster]]: ...
def _places(entity: Feed | Process) -> Iterator[tuple[Pointer, object]]:
    """Yield the places that can have an SLA: the entity, and each of its clusters."""
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
    "sla-past-retention": _Order(
        pairs=_late_breaches,
        is_wrong=lambda high, limit: sometimes_shorter(limit, high),
        message=lambda each: f"high is {each.one}, longer than the retention limit of {each.other} on {each.cluster}",
        hint=lambda each: f"expect an instance within {each.other}, or keep it for longer",
    ),
    "sla-past-cut-off": _Order(
        pairs=_late_slas,
        is_wrong=lambda high, cut_off: sometimes_shorter(cut_off, high),
        message=lambda each: f"high is {each.one}, longer than the late cut-off of {each.other}",
        hint=lambda each: f"expect an instance within {each.other}, or raise the cut-off",
    ),
    "sla-past-timeout": _Order(
        pairs=_late_starts,
        is_wrong=always_longer,
        message=lambda each: f"should_start_in is {each.one}, longer than the timeout of an instance, {each.other}",
        hint=lambda each: f"expect the start within {each.other}, or raise the timeout",
    ),
}


_MOST_OFTEN, _DAY = Frequency.parse("hours(1)"), Frequency.parse("days(1)")


def stage_too_often(context: LintContext) -> Iterator[Hit]:
    """Retention runs at most hourly, and not more often than its feed gets an instance; of rare feeds it runs daily."""
    for feed, pointer, lifecycle in _lifecycles(context.repository):
        own = lifecycle.retention_stage.frequency
        if own is None:
            continue
        of_feed = _DAY if always_longer(feed.frequency, _DAY) else feed.frequency
        least = next((each for each in (of_feed, _MOST_OFTEN) if always_longer(each, own)), None)
        if least is not None:
            owner = "the feed has an instance every" if least is feed.frequency else "the most often is"
            yield Hit(
                subject=feed.name,
                pointer=(*pointer, "frequency"),
                message=f"the retention stage runs every {own}, but {owner} {least}",
                hint=f"run it every {least} or less often, or leave the frequency out",
            )


def stage_without_limit(context: LintContext) -> Iterator[Hit]:
    """A retention stage is one of a cluster that has a retention."""
    for feed, pointer, lifecycle in _lifecycles(context.repository):
        reached = [each for each in feed.clusters if feed.lifecycle_on(each.name) is lifecycle]
        if reached and not any(each.retention for each in reached):
            names = ", ".join(each.name for each in reached)
            yield Hit(
                subject=feed.name,
                pointer=pointer,
                message=f"the retention stage has no limit: no retention on {names}, so nothing is ever deleted",
                hint="add retention: {limit: ...} to the cluster, or remove the lifecycle (in an environment by null)",
                on_key=True,
            )


def _lifecycles(repository: Repository) -> Iterator[tuple[Feed, Pointer, Lifecycle]]:
    """Each lifecycle once, where it stands: at a feed, or at one of its clusters."""
    for feed in repository.feeds.values():
        own = [(("clusters", index, "lifecycle"), each.lifecycle) for index, each in enumerate(feed.clusters)]
        for pointer, each in [(("lifecycle",), feed.lifecycle), *own]:
            if each is not None:
                yield feed, (*pointer, "retention_stage"), each


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
    """Yield a hit for each feed that has not the frequency of most."""
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
    "group-frequency": group_frequency,
    "stage-too-often": stage_too_often,
    "stage-without-limit": stage_without_limit,
    "retry-bounds": retry_bounds,
}
