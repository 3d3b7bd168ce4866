"""Storage of instances on a cluster: paths, table partitions, and the part that a partition expression selects."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property

from toolkit.el import PathTemplate, TableUri
from toolkit.el.segment import Segment
from toolkit.el.tokens import DateField, Variable, tokenize
from toolkit.entities import Cluster, Feed, LocationType


@dataclass(frozen=True, kw_only=True, slots=True)
class InstanceStorage:
    """Storage of one feed instance.

    Args:
        instant: the instance time, UTC.
        paths: path by location type; empty for a table feed.
        partition: partition key to value, in the table's order; None for a path feed.
    """

    instant: datetime
    paths: Mapping[LocationType, str]
    partition: Mapping[str, str] | None


def partition_name(partition: Mapping[str, str]) -> str:
    """A partition as one text: ``ds=2026-03-01/region=us``."""
    return "/".join(f"{key}={value}" for key, value in partition.items())


@dataclass(frozen=True, kw_only=True, slots=True)
class FeedStorage:
    """The templates of a feed on a cluster, with the variables that the feed and the cluster give a value.

    Args:
        feed: the feed's name.
        cluster: the cluster's name.
        templates: path template by location type; empty for a table feed.
        table: the table; None for a path feed.
    """

    feed: str
    cluster: str
    templates: Mapping[LocationType, PathTemplate]
    table: TableUri | None

    @classmethod
    def of(cls, feed: Feed, cluster: Cluster) -> FeedStorage:
        """The storage of a feed on a cluster.

        Raises:
            UnknownName: the feed is not on that cluster.
            ElError: a template is malformed.
        """
        variables, zone = feed.variables_on(cluster), feed.path_timezone
        located = feed.locations_on(cluster.name).by_type()
        templates = {kind: PathTemplate(text, zone).bind(variables) for kind, text in located}
        uri = feed.table_on(cluster.name)
        table = None if uri is None else TableUri.parse(uri, zone).bind(variables)
        return cls(feed=feed.name, cluster=cluster.name, templates=templates, table=table)

    def at(self, instant: datetime) -> InstanceStorage:
        """Return the storage of the instance of that time.

        Raises:
            ElError: a template has a variable without a value.
        """
        paths = {kind: template.render(instant) for kind, template in self.templates.items()}
        partition = None if self.table is None else self.table.render(instant)
        return InstanceStorage(instant=instant, paths=paths, partition=partition)


@dataclass(frozen=True)
class PartitionExpression:
    """A partition expression such as ``*/${cluster.colo}``: one part for each of the feed's first partitions.

    Args:
        text: names, globs and variables between slashes; the schema has checked it.
    """

    text: str

    @cached_property
    def parts(self) -> tuple[Segment, ...]:
        """The parts, outermost first.

        Raises:
            ElError: a malformed part.
        """
        return tuple(self._segments())

    @property
    def variables(self) -> Iterator[Variable]:
        """The variables, each with its position in the text."""
        return (token for part in self.parts for token in part.tokens if isinstance(token, Variable))

    @property
    def has_expression(self) -> bool:
        """True if a part of it is more than names and globs."""
        return any(isinstance(token, Variable | DateField) for part in self.parts for token in part.tokens)

    def bind(self, variables: Mapping[str, str]) -> tuple[Segment, ...]:
        """The parts with the values of the variables; those without a value stay.

        Args:
            variables: values by name, for example those of `Feed.variables_on`.

        Raises:
            ElError: a value that is not one name.
        """
        return tuple(part.bind(variables) for part in self.parts)

    def _segments(self) -> Iterator[Segment]:
        offset = 0
        for part in self.text.split("/"):
            yield Segment(tuple(tokenize(part, whole=self.text, offset=offset)), self.text)
            offset += len(part) + 1


def on_clusters(feeds: Iterable[Feed], clusters: Iterable[Cluster]) -> Iterator[tuple[Feed, Cluster]]:
    """Yield each feed with each of its clusters that is among these."""
    known = {each.name: each for each in clusters}
    return ((feed, known[each.name]) for feed in feeds for each in feed.clusters if each.name in known)


def tables_on_clusters(feeds: Iterable[Feed], clusters: Iterable[Cluster]) -> Iterator[tuple[Feed, Cluster, TableUri]]:
    """Yield each table feed with each of its clusters that is among these, and its table there."""
    for feed, cluster in on_clusters((feed for feed in feeds if feed.is_table), clusters):
        table = FeedStorage.of(feed, cluster).table
        if table is not None:
            yield feed, cluster, table
