"""Feeds of a path: templates matched against a path by the one implementation of templates."""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass

from toolkit.el import CanonicalPath, ElError, PathPeriod, PathTemplate
from toolkit.entities.cluster import Cluster
from toolkit.entities.feed import Feed


@dataclass(frozen=True, kw_only=True, slots=True)
class PathOwner:
    """A feed that a path belongs to.

    Attributes:
        location: the type of the location; ``table`` of a table.
        template: the location as written.
        period: the instances that the path is part of; None when the location is undated.
    """

    feed: str
    cluster: str
    location: str
    template: str
    period: PathPeriod | None


def owners(path: str, feeds: Collection[Feed], clusters: Iterable[Cluster]) -> tuple[PathOwner, ...]:
    """The feeds that a path belongs to: it is an instance, lies in one, or lies in an undated location.

    Args:
        path: a path, or a URI; a path without scheme is looked for on each cluster's own file system.
        feeds: whom to ask.
        clusters: where.

    Raises:
        ElError: the path is relative or has an unknown scheme.
    """
    found = (owner for cluster in clusters for owner in _owners_on(cluster, path, feeds))
    return tuple(sorted(found, key=lambda owner: (owner.feed, owner.cluster, owner.location)))


def _owners_on(cluster: Cluster, path: str, feeds: Iterable[Feed]) -> Iterator[PathOwner]:
    place = cluster.place(path)
    for feed in feeds:
        if any(each.name == cluster.name for each in feed.clusters) and not feed.is_table:
            yield from _owners_by(feed, cluster, place)


def _owners_by(feed: Feed, cluster: Cluster, place: CanonicalPath) -> Iterator[PathOwner]:
    variables = feed.variables_on(cluster)
    for location, text in feed.locations_on(cluster.name).by_type():
        template = PathTemplate(text, feed.path_timezone).bind(variables)
        names = _names_below_root(template, cluster, place)
        period = None if names is None else _period(template, names)
        if period is not None or (names is not None and not template.dated and _is_below(template, names)):
            yield PathOwner(feed=feed.name, cluster=cluster.name, location=location, template=text, period=period)


def _names_below_root(template: PathTemplate, cluster: Cluster, place: CanonicalPath) -> list[str] | None:
    try:
        root = cluster.place(f"{template.root}/")
    except ElError:
        return None
    return place.relative_to(root).split("/") if place.is_within(root) else None


def _period(template: PathTemplate, names: list[str]) -> PathPeriod | None:
    """The period of the instance at or above the path."""
    depth = len(template.segments)
    return template.parse(f"{template.root}/{'/'.join(names[:depth])}") if len(names) >= depth else None


def _is_below(template: PathTemplate, names: list[str]) -> bool:
    segments = template.segments
    return len(names) >= len(segments) and all(
        segment.match(name) is not None for segment, name in zip(segments, names, strict=False)
    )
