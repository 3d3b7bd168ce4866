"""Rules about paths and partitions: each belongs to one feed, and to one instance of it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from itertools import islice

from toolkit.el import Frequency, InstanceSequence, OutOfRange, format_instant, load_zone
from toolkit.el.fields import COARSE_TO_FINE, GRANULARITY, Field, next_start
from toolkit.el.periods import Span, spans_of
from toolkit.el.zones import to_local
from toolkit.entities import Feed, LocationType, Pointer, Repository
from toolkit.linter.clock_changes import ClockChange, clock_changes, year_from
from toolkit.linter.durations import sometimes_shorter
from toolkit.linter.findings import Hit, Severity
from toolkit.linter.locations import FeedLocation
from toolkit.linter.overlap import overlaps
from toolkit.linter.rule import Check, LintContext, remembered


def shared_path(context: LintContext) -> Iterator[Hit]:
    """No path and no partition belongs to two feeds, or to two locations of one feed."""
    made = _made(context.repository)
    seen: set[tuple[str, Pointer]] = set()
    for found in overlaps(context.repository):
        others = [each for each in found.same if _matters(found.location, each)]
        if others and found.location.key not in seen:
            seen.add(found.location.key)
            yield _shared_hit(found.location, others, made)


@remembered
def _made(repository: Repository) -> frozenset[tuple[str, str]]:
    """The feeds that a process makes, with the cluster."""
    return frozenset(
        (output.feed, cluster.name)
        for process in repository.processes.values()
        for output in process.outputs.values()
        for cluster in process.clusters
    )


def _declare_it(location: FeedLocation, other: FeedLocation) -> bool:
    """Return whether both feeds declare that they share their data; an archive is never shared on purpose."""
    one, two = location.feed, other.feed
    is_declared = two.name in one.shares_data_with and one.name in two.shares_data_with
    return is_declared and not (location.is_archive or other.is_archive)


def _matters(location: FeedLocation, other: FeedLocation) -> bool:
    """Return whether both locations use the name; undated statistics and metadata are shared on purpose."""
    if _declare_it(location, other):
        return False
    if not (location.is_dated or location.is_data) and not (other.is_dated or other.is_data):
        return False
    return location.is_evicted or other.is_evicted or location.meets_in_time(other)


def _shared_hit(location: FeedLocation, others: list[FeedLocation], made: frozenset[tuple[str, str]]) -> Hit:
    other = others[0]
    deletes = other if other.is_evicted else location if location.is_evicted else None
    both_made = {(each.feed.name, each.feed_cluster.name) for each in (location, other)} <= made
    is_loss = deletes or both_made or location.is_archive or other.is_archive
    consequence = _shared_consequence(deletes, location, other)
    return Hit(
        subject=location.feed.name,
        pointer=location.pointer,
        message=f"{_who(location, others)}{_shared_such_as(location, other)}{consequence}",
        hint=_shared_hint(location, other),
        severity=Severity.ERROR if is_loss and other.feed is not location.feed else Severity.WARNING,
        related=tuple(dict.fromkeys(each.key for each in others)),
    )


def _shared_hint(location: FeedLocation, other: FeedLocation) -> str:
    apart = "give each its own directory" if location.what != "table" else "tell them apart by a partition key"
    if not {location.feed.name, other.feed.name} & {*location.feed.shares_data_with, *other.feed.shares_data_with}:
        return apart
    return f"{apart}, or let both feeds name each other in shares_data_with"


def _who(location: FeedLocation, others: list[FeedLocation]) -> str:
    named = " and ".join(_name(each, location) for each in others)
    kind = "partitions" if location.what == "table" else "paths"
    return f"the {location} on {location.feed_cluster.name} can have the same {kind} as {named}"


def _name(other: FeedLocation, location: FeedLocation) -> str:
    if other.feed is location.feed:
        is_beside = other.feed_cluster is location.feed_cluster
        return f"its {other}" if is_beside else f"its {other} on {other.feed_cluster.name}"
    return f"the {other} of {other.feed.name} on {other.feed_cluster.name}"


def _shared_such_as(location: FeedLocation, other: FeedLocation) -> str:
    first = location.feed_cluster.validity.start
    return f", such as {location.named(first)}" if location.shares(other, first) else ""


def _shared_consequence(deletes: FeedLocation | None, location: FeedLocation, other: FeedLocation) -> str:
    if deletes is None and location.is_archive and other.is_archive:
        return "; of two instances with one place there the second is archived as another version of the first"
    if deletes is None:
        return "; what one writes the other reads, or overwrites"
    limit = deletes.feed_cluster.retention.limit if deletes.feed_cluster.retention else ""
    victim = location if deletes is other else other
    owner = "both" if victim.feed is deletes.feed else f"{victim.feed.name}'s as well"
    return f"; the retention of {limit} of {deletes.feed.name} deletes {owner}"


def nested_path(context: LintContext) -> Iterator[Hit]:
    """No feed's instances lie in another feed's instances."""
    chosen: dict[tuple[str, Pointer], tuple[FeedLocation, FeedLocation]] = {}
    for found in overlaps(context.repository):
        outer = _worst(each for each in found.around if not _declare_it(found.location, each))
        if outer is not None and (
            found.location.key not in chosen or outer.is_evicted > chosen[found.location.key][1].is_evicted
        ):
            chosen[found.location.key] = found.location, outer
    for inner, outer in chosen.values():
        yield _nested_hit(inner, outer)


def _worst(around: Iterable[FeedLocation]) -> FeedLocation | None:
    """One that retention acts on, else any whose content is read; undated metadata only holds what it holds."""
    relevant = [each for each in around if each.is_dated or each.is_data]
    return next((each for each in relevant if each.is_evicted), relevant[0] if relevant else None)


def _nested_hit(inner: FeedLocation, outer: FeedLocation) -> Hit:
    return Hit(
        subject=inner.feed.name,
        pointer=inner.pointer,
        message=(
            f"the {inner} on {inner.feed_cluster.name} lies in the {outer} of {outer.feed.name} on "
            f"{outer.feed_cluster.name}{_nested_such_as(inner, outer)}; {_nested_consequence(inner, outer)}"
        ),
        hint="put them beside one another",
        severity=Severity.ERROR if outer.is_evicted else Severity.WARNING,
        related=(outer.key,),
    )


def _nested_such_as(inner: FeedLocation, outer: FeedLocation) -> str:
    first = inner.feed_cluster.validity.start
    name, instance = inner.named(first), outer.named(first)
    return f", such as {name} in {instance}" if instance and name.startswith(f"{instance}/") else ""


def _nested_consequence(inner: FeedLocation, outer: FeedLocation) -> str:
    retention = outer.feed_cluster.retention
    if outer.is_evicted and retention is not None:
        own = inner.feed_cluster.retention
        kept = f", though {inner.feed.name} keeps its own for {own.limit}" if own else ", though nothing else ever does"
        return f"the retention of {retention.limit} of {outer.feed.name} deletes it with its own instances{kept}"
    return f"readers and copies of {outer.feed.name} take it for a part of that"


_LOOKED_AT = 400
"""So many of a feed's first instances are looked at when its names are coarser than its frequency."""
_AROUND = 6
"""So many instances before and after a change of the clocks are looked at."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Names:
    """Names of the instances of a feed.

    Attributes:
        finest: the finest date field; names with equal dates down to it are equal.
        timezone: of the fields.
    """

    finest: Field
    timezone: str

    def spans(self, instant: datetime) -> tuple[Span, ...]:
        """The instants that have the same name as this one; none where it has no local time."""
        zone = load_zone(self.timezone)
        try:
            start = _truncated(to_local(instant, zone), self.finest)
            return spans_of(start, next_start(self.finest, start), zone)
        except (OutOfRange, OverflowError):
            return ()


def _truncated(local: datetime, finest: Field) -> datetime:
    """The naive local time at which the period of a name with this finest field begins."""
    known = [local.year, local.month, local.day, local.hour, local.minute]
    kept = COARSE_TO_FINE.index(finest) + 1
    year, month, day, hour, minute = (*known[:kept], *(1, 1, 0, 0)[kept - 1 :])
    return datetime(year, month, day, hour, minute)  # noqa: DTZ001 - a name states a local time


@lru_cache(maxsize=1024)
def first_shared(instances: InstanceSequence, names: Names) -> tuple[datetime, datetime, int] | None:
    """The first two instances with one name, and how many have it; None when there are none among the first."""
    for instant in islice(instances, _LOOKED_AT):
        sharing = [each for span in names.spans(instant) for each in islice(instances.between(*span), 2)]
        if len(sharing) > 1:
            count = sum(instances.count(*span) for span in names.spans(instant))
            return sharing[0], sharing[1], count
    return None


def shared_at_changes(
    instances: InstanceSequence, names: Names, timezone: str, time: datetime
) -> tuple[tuple[datetime, datetime], ...]:
    """Pairs of instances with one name, around the changes of the clocks in the year from an instant on.

    Args:
        instances: of the feed.
        names: what they are called.
        timezone: the feed's, in which days and months are counted.
        time: UTC.
    """
    zones = {names.timezone} | (set() if _is_elapsed(instances.frequency) else {timezone})
    changes = {change for zone in zones if zone != "UTC" for change in clock_changes(zone, *year_from(time))}
    if not changes:
        return ()
    return _shared_around(instances, names, tuple(sorted(changes, key=lambda change: change.at)))


def _is_elapsed(frequency: Frequency) -> bool:
    return frequency.elapsed is not None


@lru_cache(maxsize=1024)
def _shared_around(
    instances: InstanceSequence, names: Names, changes: tuple[ClockChange, ...]
) -> tuple[tuple[datetime, datetime], ...]:
    found: dict[tuple[datetime, datetime], None] = {}
    for change in changes:
        for instant in _near(instances, change):
            sharing = [each for span in names.spans(instant) for each in islice(instances.between(*span), 2)]
            found.update(dict.fromkeys([(sharing[0], sharing[1])] if len(sharing) > 1 else []))
    return tuple(sorted(found))


def _near(instances: InstanceSequence, change: ClockChange) -> Iterator[datetime]:
    """Some instances around a change: those just before it, where names are given that come again, and just after."""
    position = instances.count(instances.start, change.at)
    last = instances.count(instances.start, instances.end or change.at)
    for each in range(max(0, position - _AROUND), min(position + _AROUND, last)):
        yield instances[each]


_FINEST = {field: re.compile(re.escape(f"${{{field}}}")) for field in COARSE_TO_FINE}


def instances_share_path(context: LintContext) -> Iterator[Hit]:
    """Every instance of a feed has a path, or a partition, of its own."""
    for _, feed in sorted(context.repository.feeds.items()):
        for place in _places(feed):
            yield from _hits(feed, place, context)


@dataclass(frozen=True, kw_only=True, slots=True)
class _Place:
    """A template of a feed, and a cluster that it holds for."""

    pointer: Pointer
    names: Names
    instances: InstanceSequence
    compulsory: bool


def _places(feed: Feed) -> Iterator[_Place]:
    """Yield each template once, with the first of its clusters."""
    seen: set[Pointer] = set()
    for position, each in enumerate(feed.clusters):
        for pointer, text, compulsory in _texts(feed, position):
            finest = next((field for field in reversed(COARSE_TO_FINE) if _FINEST[field].search(text)), None)
            if pointer not in seen and finest is not None:
                seen.add(pointer)
                instances = each.validity.sequence(feed.frequency, feed.timezone)
                names = Names(finest=finest, timezone=feed.path_timezone)
                yield _Place(pointer=pointer, names=names, instances=instances, compulsory=compulsory)


def _texts(feed: Feed, position: int) -> Iterator[tuple[Pointer, str, bool]]:
    """Yield the place of each template, its text, and whether instances must not share what it names."""
    each = feed.clusters[position]
    own: Pointer = ("clusters", position)
    if feed.table is not None:
        yield (*(own if each.table else ()), "table"), each.table or feed.table, True
        return
    for location, text in feed.locations_on(each.name).by_type():
        is_own = each.locations is not None and each.locations.get(location) is not None
        yield (*(own if is_own else ()), "locations", str(location)), text, location is LocationType.DATA


def _hits(feed: Feed, place: _Place, context: LintContext) -> Iterator[Hit]:
    if sometimes_shorter(feed.frequency, GRANULARITY[place.names.finest]):
        shared = first_shared(place.instances, place.names)
        if shared is not None:
            yield _coarse_hit(feed, place, shared)
    else:
        yield from _clock_hits(feed, place, context)


def _coarse_hit(feed: Feed, place: _Place, shared: tuple[datetime, datetime, int]) -> Hit:
    first, second, count = shared
    kind = "partition" if feed.is_table else "path"
    return Hit(
        subject=feed.name,
        pointer=place.pointer,
        message=(
            f"{count} instances have one {kind}, from {format_instant(first)} and {format_instant(second)} on: the "
            f"feed has one every {feed.frequency}, and the template stops at ${{{place.names.finest}}}"
        ),
        hint=f"add {' and '.join(_missing_fields(feed.frequency, place.names.finest))} to the template",
        severity=Severity.ERROR if place.compulsory else Severity.WARNING,
    )


def _missing_fields(frequency: Frequency, finest: Field) -> Iterator[str]:
    for field in COARSE_TO_FINE[COARSE_TO_FINE.index(finest) + 1 :]:
        yield f"${{{field}}}"
        if not sometimes_shorter(frequency, GRANULARITY[field]):
            return


def _clock_hits(feed: Feed, place: _Place, context: LintContext) -> Iterator[Hit]:
    """Names are fine enough, but for the days on which clocks are changed; one zone is one finding."""
    if feed.frequency.elapsed is None and feed.timezone != feed.path_timezone:
        return  # `path-timezone` has what follows from that
    pairs = shared_at_changes(place.instances, place.names, feed.timezone, context.time)
    if pairs:
        zone, (one, other) = place.names.timezone, map(format_instant, pairs[0])
        is_written = "path_timezone" in context.repository.entries[feed.name].document
        yield Hit(
            subject=feed.name,
            pointer=("path_timezone",) if is_written else place.pointer,
            message=f"instances have one path where clocks change, such as {one} and {other}, named in {zone}",
            hint="name paths in UTC: path_timezone: UTC" if zone != "UTC" else f"step in UTC, or avoid {feed.timezone}",
            severity=Severity.WARNING,
            related=(feed.name,),
        )


CHECKS: Mapping[str, Check] = {
    "shared-path": shared_path,
    "nested-path": nested_path,
    "instances-share-path": instances_share_path,
}
