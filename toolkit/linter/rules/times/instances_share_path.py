"""Every instance of a feed has a path, or a partition, of its own."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from toolkit.el import Frequency, InstanceSequence, format_instant
from toolkit.el.fields import COARSE_TO_FINE, GRANULARITY, Field
from toolkit.entities import Feed, LocationType, Pointer
from toolkit.linter.bounds import sometimes_shorter
from toolkit.linter.context import LintContext
from toolkit.linter.findings import Hit, Severity
from toolkit.linter.rule import Rule
from toolkit.linter.rules.times.naming import Names, first_shared, shared_at_changes

_SHOWN = 4
_FINEST = {field: re.compile(re.escape(f"${{{field}}}")) for field in COARSE_TO_FINE}


def _check(context: LintContext) -> Iterator[Hit]:
    for _, feed in sorted(context.repository.feeds.items()):
        for place in _places(feed):
            yield from _hits(feed, place, context.time)


@dataclass(frozen=True, kw_only=True, slots=True)
class _Place:
    """A template of a feed, and a cluster that it holds for."""

    pointer: Pointer
    names: Names
    instances: InstanceSequence
    compulsory: bool


def _places(feed: Feed) -> Iterator[_Place]:
    """One for each template, with the first of its clusters."""
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
    """Where a template stands, its text, and whether instances must not share what it names."""
    each = feed.clusters[position]
    own: Pointer = ("clusters", position)
    if feed.table is not None:
        yield (*(own if each.table else ()), "table"), each.table or feed.table, True
        return
    for location, text in feed.locations_on(each.name).by_type():
        is_own = each.locations is not None and each.locations.get(location) is not None
        yield (*(own if is_own else ()), "locations", str(location)), text, location is LocationType.DATA


def _hits(feed: Feed, place: _Place, time: datetime) -> Iterator[Hit]:
    if sometimes_shorter(feed.frequency, GRANULARITY[place.names.finest]):
        shared = first_shared(place.instances, place.names)
        if shared is not None:
            yield _coarse_hit(feed, place, shared)
    else:
        yield from _clock_hits(feed, place, time)


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


def _clock_hits(feed: Feed, place: _Place, time: datetime) -> Iterator[Hit]:
    """Names are fine enough, but for the days on which clocks are changed."""
    pairs = shared_at_changes(place.instances, place.names, feed.timezone, time)
    if pairs:
        kind = "partition" if feed.is_table else "path"
        shown = [f"{format_instant(one)} and {format_instant(other)}" for one, other in pairs[:_SHOWN]]
        more = f", and {len(pairs) - _SHOWN} more" if len(pairs) > _SHOWN else ""
        zone = place.names.timezone
        yield Hit(
            subject=feed.name,
            pointer=place.pointer,
            message=f"two instances have one {kind} where clocks change: {'; '.join(shown)}{more}, named in {zone}",
            hint="name paths in UTC: path_timezone: UTC" if zone != "UTC" else f"step in UTC, or avoid {feed.timezone}",
            severity=Severity.WARNING,
        )


RULE = Rule(
    id="instances-share-path",
    name="Every instance of a feed has a path or a partition of its own",
    severity=Severity.ERROR,
    rationale=(
        "An instance that has its path in common with another one overwrites it, is available when the other is, "
        "and goes when the other goes. Names that are coarser than the frequency are an error. Names in a zone "
        "whose clocks are set back have one hour twice a year: that is a warning with the instances of the coming "
        "year."
    ),
    bad="""\
# feeds/clicks.yaml
frequency: hours(1)
locations: {data: "/data/clicks/${YEAR}/${MONTH}/${DAY}"}
""",
    good="""\
# feeds/clicks.yaml
frequency: hours(1)
locations: {data: "/data/clicks/${YEAR}/${MONTH}/${DAY}/${HOUR}"}
""",
    source="DESIGN section 8; Falcon overview, File system storage",
    check=_check,
)
