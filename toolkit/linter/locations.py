"""Locations of the instances of all feeds on every cluster: templates as canonical names, tables as keys."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from functools import lru_cache

from toolkit.el import ElError, PathTemplate, TableUri
from toolkit.el.segment import Segment
from toolkit.el.tokens import Glob, Literal, Token
from toolkit.entities import Cluster, Feed, FeedCluster, LocationType, Pointer, Repository
from toolkit.entities.templates import path_template, table_uri

_VARIABLE = re.compile(r"\$\{(?!(?:YEAR|MONTH|DAY|HOUR|MINUTE)\})")
_ANY_VALUE = Segment((Glob("*"),), "*")


@dataclass(frozen=True, kw_only=True, slots=True)
class FeedLocation:
    """A template of a feed on a cluster.

    Attributes:
        pointer: of the template.
        what: a path's location type, or ``table``.
        store: what tells equal names apart: a file system, or a table.
        names: of the path from the file system's root on, or the values of the table's partition keys.
        keys: the table's partition keys, in lower case; none for a path.
        is_dated: names have a date in them.
        text: the template as it is written.
        bound: the values of its variables.
        is_archive: retention archives there; else the feed itself is there.
    """

    feed: Feed
    feed_cluster: FeedCluster
    pointer: Pointer
    what: str
    store: tuple[str, ...]
    names: tuple[Segment, ...]
    keys: tuple[str, ...] = ()
    is_dated: bool
    text: str
    bound: Mapping[str, str]
    is_archive: bool = False

    @property
    def key(self) -> tuple[str, Pointer]:
        """The key of the text, which is written once for all clusters."""
        return self.feed.name, self.pointer

    @property
    def is_data(self) -> bool:
        """True if the location holds the instances themselves, and not statistics or metadata about them."""
        return self.what in {LocationType.DATA, "table"}

    @property
    def is_evicted(self) -> bool:
        """True if retention deletes what conforms to the template."""
        return self.feed_cluster.retention is not None and self.is_dated

    def meets_in_time(self, other: FeedLocation) -> bool:
        """Return whether both feeds are valid at some time."""
        one, two = self.feed_cluster.validity, other.feed_cluster.validity
        return max(one.start, two.start) < min(one.end, two.end)

    def named(self, instant: datetime) -> str:
        """The path or partition of an instant; empty when it has variables without a value."""
        try:
            found = self._template().render(instant)
        except (ElError, OverflowError):  # a variable without a value, or an instant without a local time
            return ""
        return found if isinstance(found, str) else "/".join(f"{key}={value}" for key, value in found.items())

    def shares(self, other: FeedLocation, instant: datetime) -> bool:
        """Return whether another location can have the name that this one has for an instant."""
        try:
            rendered = list(self._template().pattern.render(instant, {}))
        except (ElError, OverflowError):
            return False
        names = [segment.text for segment in self.names[: len(self.names) - len(rendered)]] + rendered
        pairs = zip(other.names, names, strict=False)
        return len(names) == len(other.names) and all(segment.match(name) is not None for segment, name in pairs)

    def by_keys(self, keys: tuple[str, ...]) -> tuple[Segment, ...]:
        """The names in the order of these partition keys; one that the table's URI does not name has any value."""
        own = dict(zip(self.keys, self.names, strict=True)) if self.keys else {}
        return tuple(own.get(key, _ANY_VALUE) for key in keys) if own else self.names

    def _template(self) -> PathTemplate | TableUri:
        make = TableUri if self.keys else PathTemplate
        return make(self.text, self.feed.path_timezone, self.bound)

    def __str__(self) -> str:
        kind = self.what if self.what == "table" else f"{self.what} path"
        return f"archived {kind}" if self.is_archive else kind


def feed_locations(repository: Repository) -> Iterator[FeedLocation]:
    """Every template of every feed on every usable cluster, by name of the feed."""
    for _, feed in sorted(repository.feeds.items()):
        for position, each in enumerate(feed.clusters):
            cluster = repository.clusters.get(each.name)
            if cluster is not None:
                yield from _of_cluster(feed, position, cluster)
            archived = feed.archive_on(each.name)
            there = None if archived is None else repository.clusters.get(archived.clusters[0].name)
            if archived is not None and there is not None:
                yield from _archive(archived, position, there)


def _archive(archived: Feed, position: int, there: Cluster) -> Iterator[FeedLocation]:
    """Return the archive of a feed as a location: written like a location of the feed, and never evicted."""
    pointer: Pointer = ("clusters", position, "retention", "archive")
    for found in _of_cluster(archived, 0, there):
        yield replace(found, pointer=(*pointer, *found.pointer), is_archive=True)


def _of_cluster(feed: Feed, position: int, cluster: Cluster) -> Iterator[FeedLocation]:
    try:
        if feed.is_table:
            yield _table_location(feed, position, cluster)
        else:
            yield from _path_locations(feed, position, cluster)
    except ElError:  # an end point or a template that another rule is about
        return


def _path_locations(feed: Feed, position: int, cluster: Cluster) -> Iterator[FeedLocation]:
    each = feed.clusters[position]
    for location, text in feed.locations_on(each.name).by_type():
        bound = _bound(feed, cluster, text)
        template = _path(text, feed.path_timezone, bound)
        root = cluster.place(f"{template.root}/")
        is_own = each.locations is not None and each.locations.get(location) is not None
        yield FeedLocation(
            feed=feed,
            feed_cluster=each,
            pointer=(*(("clusters", position) if is_own else ()), "locations", str(location)),
            what=str(location),
            store=(root.scheme, root.authority),
            names=(*_literals(root.path), *map(_shared, template.segments)),
            is_dated=template.dated,
            text=text,
            bound=bound,
        )


def _path(text: str, timezone: str, bound: Mapping[str, str]) -> PathTemplate:
    """A template without variables is the same on all clusters of its feed."""
    return PathTemplate(text, timezone, bound) if bound else path_template(text, timezone)


def _bound(feed: Feed, cluster: Cluster, text: str) -> Mapping[str, str]:
    return feed.variables_on(cluster) if _VARIABLE.search(text) else {}


def _literals(path: str) -> tuple[Segment, ...]:
    return tuple(_shared(Segment((Literal(name),), path)) for name in path.split("/") if name)


def _shared(segment: Segment) -> Segment:
    """Return one segment for all names that are written alike: feeds have most of their names in common."""
    return _first_of(segment.tokens) if segment.literal is None else segment


@lru_cache(maxsize=4096)
def _first_of(tokens: tuple[Token, ...]) -> Segment:
    return Segment(tokens, "")


def _table_location(feed: Feed, position: int, cluster: Cluster) -> FeedLocation:
    each = feed.clusters[position]
    text = feed.table_on(each.name) or ""
    bound = _bound(feed, cluster, text)
    uri = TableUri(text, feed.path_timezone, bound) if bound else table_uri(text, feed.path_timezone)
    registry = cluster.interfaces.registry
    catalog = cluster.name if registry is None else registry.endpoint.casefold()
    return FeedLocation(
        feed=feed,
        feed_cluster=each,
        pointer=(*(("clusters", position) if each.table else ()), "table"),
        what="table",
        store=(catalog, uri.database.casefold(), uri.table.casefold()),
        names=tuple(map(_shared, uri.pattern.segments)),
        keys=tuple(key.casefold() for key in uri.partition_keys),
        is_dated=True,
        text=text,
        bound=bound,
    )
