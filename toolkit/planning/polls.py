"""Polls of data that others write: fingerprints, their difference, and when a change is announced: pure."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import NamedTuple, Self

from toolkit.el import EPOCH, Frequency, OutOfRange, at_microseconds, format_instant, microseconds_of, shift
from toolkit.entities import Feed
from toolkit.entities.trigger import Poll
from toolkit.entities.trigger_vocabulary import PollBy

NAMED_FILES = 1000
"""A fingerprint of more files keeps no names: that the data changed is known then, and not which file did."""
SHOWN_FILES = 20
"""So many names of each kind stand in an event; the rest is counted."""
NEWEST_ALWAYS = 2
"""The newest instances of a feed are looked at however old they are."""
NEWEST_INSTANCES = 500
"""Instances of a feed that are not among so many newest are not looked at."""
WAITING = timedelta(days=7)
"""Instances that were never seen are looked for so long, or until the late cut-off or SLA of the feed, if longer."""
MINUTE = timedelta(minutes=1)


class FileMark(NamedTuple):
    """A file of polled data.

    Attributes:
        name: below the data.
        size: bytes.
        modified: the last change, UTC; None: unknown.
        mark: differs when the file differs, by the method of the poll.
    """

    name: str
    size: int
    modified: datetime | None
    mark: str


@dataclass(frozen=True, kw_only=True, slots=True)
class PollFingerprint:
    """Fingerprint of polled data at one look; equal digests mean equal data, by the method of the poll.

    Attributes:
        by: the method.
        files: number of files.
        size: bytes of all files.
        newest_at: the last change of a file; None: unknown.
        digest: of the marks of all files; empty: there is no data.
        marks: of each file, by its name; None: there are more than `NAMED_FILES`, or the method looks at no file.
    """

    by: PollBy
    files: int = 0
    size: int = 0
    newest_at: datetime | None = None
    digest: str = ""
    marks: Mapping[str, str] | None = field(default_factory=dict)

    @classmethod
    def of(cls, by: PollBy, files: Iterable[FileMark]) -> Self:
        """Return the fingerprint of data that is there, its files listed in any order."""
        listed = sorted(files)
        newest = max((each.modified for each in listed if each.modified is not None), default=None)
        named = {each.name: each.mark for each in listed}
        is_newest_alone = by is PollBy.MTIME
        text = str(newest) if is_newest_alone else json.dumps(named)
        return cls(
            by=by,
            files=len(listed),
            size=sum(each.size for each in listed),
            newest_at=newest,
            digest=hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest(),
            marks=None if is_newest_alone or len(listed) > NAMED_FILES else named,
        )

    @property
    def is_missing(self) -> bool:
        """True if there was no data."""
        return not self.digest

    def is_same(self, other: PollFingerprint) -> bool:
        """Return whether the data was the same, as far as the two methods can tell."""
        if self.by is not other.by:
            return self.is_missing is other.is_missing
        return self.digest == other.digest

    def to_json(self) -> str:
        """Return the text that `from_json` reads."""
        newest = None if self.newest_at is None else microseconds_of(self.newest_at)
        marks = None if self.marks is None else dict(self.marks)
        fields = {"by": self.by, "files": self.files, "bytes": self.size, "newest": newest}
        return json.dumps({**fields, "digest": self.digest, "marks": marks})

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Return the fingerprint that `to_json` wrote."""
        read = json.loads(text)
        return cls(
            by=PollBy(read["by"]),
            files=read["files"],
            size=read["bytes"],
            newest_at=None if read["newest"] is None else at_microseconds(read["newest"]),
            digest=read["digest"],
            marks=read["marks"],
        )


def missing(by: PollBy) -> PollFingerprint:
    """Return the fingerprint of data that is not there."""
    return PollFingerprint(by=by)


def difference(before: PollFingerprint | None, after: PollFingerprint) -> dict[str, object]:
    """Return the difference of two fingerprints, as it stands in the event's `extra`.

    Args:
        before: what was announced last; None: nothing was.
        after: what is announced.
    """
    newest = None if after.newest_at is None else after.newest_at.isoformat()
    found: dict[str, object] = {"by": str(after.by), "files": after.files, "bytes": after.size, "newest": newest}
    if before is not None:
        found |= {"files_before": before.files, "bytes_before": before.size}
    old = {} if before is None else before.marks
    if old is None or after.marks is None or (before is not None and before.by is not after.by):
        return found
    new = after.marks
    kinds = {
        "added": sorted(new.keys() - old.keys()),
        "changed": sorted(name for name in new.keys() & old.keys() if new[name] != old[name]),
        "removed": sorted(old.keys() - new.keys()),
    }
    for kind, names in kinds.items():
        if names:
            found[kind] = names[:SHOWN_FILES]
        if len(names) > SHOWN_FILES:
            found[f"{kind}_not_shown"] = len(names) - SHOWN_FILES
    return found


class Announcement(StrEnum):
    """Result of a look at polled data."""

    NOTHING = "nothing"
    """It is as it was announced, or the change has not settled yet."""
    PRESENT = "present"
    """It is there, for the first time or changed."""
    VANISHED = "vanished"
    """It was announced, and is not there any more."""


@dataclass(frozen=True, kw_only=True, slots=True)
class PollState:
    """State of the polls of one series or instance.

    Attributes:
        announced: the fingerprint that was announced last; None: none was.
        seen: one that differs and has not settled yet; None: there is none.
        seen_at: when that was first seen.
    """

    announced: PollFingerprint | None = None
    seen: PollFingerprint | None = None
    seen_at: datetime | None = None

    @property
    def is_blank(self) -> bool:
        """True if nothing is remembered."""
        return self.announced is None and self.seen is None

    @property
    def is_announced(self) -> bool:
        """True if data was announced, and not that it vanished."""
        return self.announced is not None and not self.announced.is_missing


_BLANK = PollState()


@dataclass(frozen=True, kw_only=True, slots=True)
class PollStep:
    """Result of a look.

    Attributes:
        state: what is remembered from now on.
        announcement: what is announced.
        extra: the difference; empty with nothing to announce.
    """

    state: PollState
    announcement: Announcement = Announcement.NOTHING
    extra: Mapping[str, object] = field(default_factory=dict)


def next_step(state: PollState, look: PollFingerprint | None, now: datetime, settle: timedelta) -> PollStep:
    """Return what follows from a look at data.

    A fingerprint that differs from the announced one is announced when a later look, at least `settle` after the
    first, finds the same. Any other fingerprint in between starts the wait anew.

    Args:
        state: from earlier looks.
        look: what is there; None: data that is being written, which says nothing.
        now: of the look.
        settle: see above.
    """
    announced = state.announced
    if look is None or (look.is_missing and not state.is_announced):
        return PollStep(state=PollState(announced=announced))
    if announced is not None and look.is_same(announced):
        return PollStep(state=PollState(announced=look))
    if state.seen is None or state.seen_at is None or not _is_again(look, state.seen):
        return PollStep(state=PollState(announced=announced, seen=look, seen_at=now))
    if now - state.seen_at < settle:
        return PollStep(state=state)
    kind = Announcement.VANISHED if look.is_missing else Announcement.PRESENT
    return PollStep(state=PollState(announced=look), announcement=kind, extra=difference(announced, look))


def _is_again(look: PollFingerprint, seen: PollFingerprint) -> bool:
    return look.by is seen.by and look.digest == seen.digest


def is_due(poll: Poll, polled_at: datetime | None, now: datetime) -> bool:
    """Return whether a series is looked at: it never was, or `every` ago, counted in whole minutes as cron starts.

    A look that lies in the future is one by a clock that was wrong; the series is looked at.
    """
    if polled_at is None or polled_at > now:
        return True
    last = polled_at.replace(second=0, microsecond=0)
    return shift(last, poll.every, 1) <= now


def settle_time(poll: Poll, now: datetime) -> timedelta:
    """Return how long the same has to be there before it is announced."""
    return now - shift(now, poll.settle, -1)


@dataclass(frozen=True, kw_only=True, slots=True)
class PolledInstances:
    """Instances of a feed at one poll, by key.

    Attributes:
        looked_at: newest first.
        over: instances whose rows are removed, since they are not looked at again.
    """

    looked_at: Sequence[str] = ()
    over: Sequence[str] = ()


def polled_instances(
    feed: Feed, cluster: str, nominal_time: datetime, states: Mapping[str, PollState]
) -> PolledInstances:
    """Return the instances of a feed that can still matter.

    Those are: the newest `NEWEST_ALWAYS`; instances within the late cut-off; instances that were never announced, no
    older than `WAITING`, the cut-off or the SLA; and instances with a change that has not settled. The first three
    kinds are among the newest `NEWEST_INSTANCES`.

    Args:
        feed: the feed.
        cluster: one of its clusters.
        nominal_time: newer instances are not looked at.
        states: of its instances, by key.

    Raises:
        UnknownName: the feed is not on that cluster.
    """
    sequence = feed.instances_on(cluster)
    newest = sequence.at_or_before(nominal_time)
    if newest is None:
        return PolledInstances()
    last = sequence.index(newest)
    late_from = _late_from(feed, nominal_time)
    oldest = min([late_from, nominal_time - WAITING, *_sla_from(feed, cluster, nominal_time)])
    window: list[str] = []
    wanted: list[str] = []
    for position in range(last, max(-1, last - NEWEST_INSTANCES), -1):
        instant = sequence[position]
        is_newest = position > last - NEWEST_ALWAYS
        if instant < oldest and not is_newest:
            break
        window.append(format_instant(instant))
        if is_newest or instant >= late_from or states.get(window[-1], _BLANK).announced is None:
            wanted.append(window[-1])
    unsettled = sorted((key for key, state in states.items() if state.seen is not None), reverse=True)
    over = [key for key, state in states.items() if state.seen is None and key < window[-1]]
    return PolledInstances(looked_at=list(dict.fromkeys([*wanted, *unsettled])), over=over)


def _late_from(feed: Feed, nominal_time: datetime) -> datetime:
    """Return the oldest time of instances for which late data is expected."""
    late = feed.late_arrival
    return nominal_time + MINUTE if late is None else _before(nominal_time, late.cut_off, feed.timezone)


def _sla_from(feed: Feed, cluster: str, nominal_time: datetime) -> list[datetime]:
    """Return the time of the oldest instance that the SLA still expects; a deadline may be `WAITING` later."""
    sla = feed.sla_on(cluster)
    if sla is None:
        return []
    oldest = nominal_time if sla.high is None else _before(nominal_time, sla.high, feed.timezone)
    if sla.deadline is None:
        return [oldest]
    after = sla.deadline.after
    oldest = oldest if after is None else _before(oldest, after, feed.timezone)
    return [max(EPOCH, oldest - WAITING)]


def _before(instant: datetime, distance: Frequency, timezone: str) -> datetime:
    try:
        return shift(instant, distance, -1, timezone)
    except OutOfRange:
        return EPOCH
