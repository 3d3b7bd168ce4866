"""SLAs of instances: when one is late or missing, and from when to when: pure (Falcon overview, Monitoring; SLA)."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, time, timedelta
from typing import TYPE_CHECKING

from cronsim import CronSim

from toolkit.el import Frequency, InstanceSequence, OutOfRange, load_zone, localize, shift, to_local
from toolkit.planning.sla_vocabulary import DataPresence, SlaState

if TYPE_CHECKING:
    from toolkit.entities.calendar import Calendar
    from toolkit.entities.sla import FeedSla, ProcessSla, SlaDeadline

_MINUTE = timedelta(minutes=1)
_LAST_MINUTE = time(23, 59)
_FURTHEST = timedelta(days=9 * 366)
"""A deadline that its calendar does not meet for so long never comes; two leap days may be eight years apart."""
_MISSED = frozenset({DataPresence.ABSENT, DataPresence.SMALL})


class NoDeadline(ValueError):  # noqa: N818 - named for what was found
    """A deadline that never comes, since no time that matches is on a day of its calendar.

    Args:
        deadline: as written.
        instant: the instance.
    """

    def __init__(self, *, deadline: SlaDeadline, instant: datetime) -> None:
        self.deadline, self.instant = deadline, instant
        super().__init__(
            f"no time of {deadline.cron!r} is on a day of the calendar {deadline.calendar}; `feedctl lint` says where"
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class SlaMoments:
    """Moments from which on an instance that is not available is late, and missing.

    Attributes:
        low_at: late from then on; None: it is never only late.
        high_at: missing from then on; None: it is never missing.
    """

    low_at: datetime | None = None
    high_at: datetime | None = None

    @property
    def last(self) -> datetime | None:
        """The last moment; None: there is none."""
        return max((each for each in (self.low_at, self.high_at) if each is not None), default=None)

    def next_after(self, now: datetime) -> datetime | None:
        """Return the first moment after now; None: all are over."""
        return min((each for each in (self.low_at, self.high_at) if each is not None and each > now), default=None)


def feed_moments(sla: FeedSla, instant: datetime, timezone: str, calendar: Calendar | None = None) -> SlaMoments:
    """Return the moments of an instance of a feed.

    Args:
        sla: of the feed on the cluster.
        instant: time of the instance.
        timezone: of the feed; days and months of the limits are counted there.
        calendar: of the deadline; None: every day counts.

    Raises:
        NoDeadline: the deadline never comes.
        OutOfRange: a moment is outside the calendar.
    """
    deadline = sla.deadline
    if deadline is None:
        return SlaMoments(low_at=_later(instant, sla.low, timezone), high_at=_later(instant, sla.high, timezone))
    base = deadline_of(deadline, instant, calendar)
    zone = deadline.timezone
    return SlaMoments(low_at=_later(base, sla.low, zone), high_at=_later(base, sla.high, zone) or base)


def process_moments(sla: ProcessSla, instant: datetime, timezone: str) -> SlaMoments:
    """Return the moments of an instance of a process: low when it should have started, high when it should have ended.

    Raises:
        OutOfRange: a moment is outside the calendar.
    """
    return SlaMoments(
        low_at=_later(instant, sla.should_start_in, timezone), high_at=_later(instant, sla.should_end_in, timezone)
    )


def deadline_of(deadline: SlaDeadline, instant: datetime, calendar: Calendar | None = None) -> datetime:
    """Return the deadline of an instance: the first match of `cron` on a day of the calendar, not before the instance.

    Days are those of the deadline's time zone. A local time that does not exist is shifted forward, an ambiguous one
    is its first (DESIGN section 3).

    Raises:
        NoDeadline: no match is on such a day.
        OutOfRange: it is outside the calendar.
    """
    zone = load_zone(deadline.timezone)
    start = instant if deadline.after is None else shift(instant, deadline.after, 1, deadline.timezone)
    # One match earlier than the local time says: of an hour that comes twice, the first may lie before the start.
    begin = to_local(start, zone) - _MINUTE
    for local in _matches(deadline.cron, begin, calendar):
        found = localize(local, zone)
        if found >= start:
            return found
    raise NoDeadline(deadline=deadline, instant=instant)


def _matches(cron: str, begin: datetime, calendar: Calendar | None) -> Iterator[datetime]:
    """Yield the local times after begin that match, on days of the calendar; a day off is passed over as a whole."""
    matches = CronSim(cron, begin)
    try:
        while (local := next(matches, None)) is not None and local - begin < _FURTHEST:
            if calendar is None or calendar.has(local.date()):
                yield local
            else:
                matches = CronSim(cron, datetime.combine(local.date(), _LAST_MINUTE))
    except OverflowError:  # the years that times can have are over
        return


def is_day_off(deadline: SlaDeadline | None, instant: datetime, calendar: Calendar | None) -> bool:
    """Return whether the calendar of a deadline leaves out the day of an instance, so that it is not expected."""
    if deadline is None or calendar is None:
        return False
    return not calendar.has(to_local(instant, load_zone(deadline.timezone)).date())


def first_open(sequence: InstanceSequence, moments: Callable[[datetime], SlaMoments], now: datetime) -> datetime | None:
    """Return the first instance that a monitor expects which begins now: the SLA of all earlier ones is over.

    Args:
        sequence: the instances; of later ones the moments are not earlier.
        moments: of an instance.
        now: when the monitor begins.

    Returns:
        None: no instance comes any more.
    """
    newest = sequence.at_or_before(now)
    if newest is None:
        return sequence.at_or_after(now)
    positions = range(sequence.index(newest) + 1)
    position = bisect_right(positions, now, key=lambda each: moments(sequence[each]).last or sequence[each])
    return sequence[position] if position < len(sequence) else None


@dataclass(frozen=True, kw_only=True, slots=True)
class PresenceChange:
    """Change of what is there of an instance.

    Attributes:
        at: when.
        presence: from then on.
        why: what it is known from, for people.
    """

    at: datetime
    presence: DataPresence
    why: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class PresenceSpan:
    """Time for which the same is there of an instance.

    Attributes:
        presence: what is there.
        start: from then on.
        end: until then; None: still.
        why: what its end is known from; empty: it has not ended.
    """

    presence: DataPresence
    start: datetime
    end: datetime | None = None
    why: str = ""


def presence_spans(
    presence: DataPresence, since: datetime, changes: Iterable[PresenceChange]
) -> Sequence[PresenceSpan]:
    """Return what was there of an instance from when to when, in order; the last span has no end.

    Args:
        presence: what is there at first.
        since: from when on.
        changes: later ones, in their order.
    """
    found: list[PresenceSpan] = []
    start = since
    for each in changes:
        if each.presence is not presence:
            at = max(each.at, start)
            found.append(PresenceSpan(presence=presence, start=start, end=at, why=each.why))
            presence, start = each.presence, at
    return [*found, PresenceSpan(presence=presence, start=start)]


@dataclass(frozen=True, kw_only=True, slots=True)
class SlaEpisode:
    """Time for which an SLA was missed.

    Attributes:
        presence: absent, or with too little data.
        opened_at: from then on.
        is_high: missed high, at the end or now.
        escalated_at: when it was missed high, if it was missed low before; None: it was high from the beginning, or
            was never.
        closed_at: until then; None: still.
        why: what its end is known from.
    """

    presence: DataPresence
    opened_at: datetime
    is_high: bool
    escalated_at: datetime | None = None
    closed_at: datetime | None = None
    why: str = ""


def sla_episodes(moments: SlaMoments, spans: Iterable[PresenceSpan], now: datetime) -> Iterator[SlaEpisode]:
    """Yield the times for which an SLA was missed, up to now.

    What is there exactly at a moment is there in time. The times depend on the moments and on the spans alone, and
    not on when somebody looked.

    Args:
        moments: of the instance.
        spans: what was there of it.
        now: no moment after it counts.
    """
    for span in spans:
        if span.presence not in _MISSED:
            continue
        low, high = (_missed_at(each, span, now) for each in (moments.low_at, moments.high_at))
        opened = min((each for each in (low, high) if each is not None), default=None)
        if opened is not None:
            yield SlaEpisode(
                presence=span.presence,
                opened_at=opened,
                is_high=high is not None,
                escalated_at=high if high is not None and high > opened else None,
                closed_at=span.end,
                why=span.why,
            )


def state_of(moments: SlaMoments, presence: DataPresence, now: datetime) -> SlaState:
    """Return the state of an instance, by what is there of it now."""
    if presence is DataPresence.EXEMPT:
        return SlaState.EXEMPT
    if presence is DataPresence.SMALL:
        return SlaState.EMPTY
    if presence is DataPresence.PRESENT:
        return SlaState.FRESH
    if moments.high_at is not None and moments.high_at <= now:
        return SlaState.MISSING
    return SlaState.LATE if moments.low_at is not None and moments.low_at <= now else SlaState.FRESH


def _missed_at(moment: datetime | None, span: PresenceSpan, now: datetime) -> datetime | None:
    """Return when a span missed a moment; None: it did not."""
    if moment is None:
        return None
    at = max(moment, span.start)
    return at if at <= now and (span.end is None or at < span.end) else None


def moment_after(instant: datetime, by: Frequency) -> datetime | None:
    """Return the moment by so much later, counted in UTC; None: it is outside the calendar and never comes."""
    try:
        return shift(instant, by, 1)
    except OutOfRange:
        return None


def _later(instant: datetime, by: Frequency | None, timezone: str) -> datetime | None:
    return None if by is None else shift(instant, by, 1, timezone)
