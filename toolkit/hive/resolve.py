"""Resolution of table feeds to the instances that a run exports, imports or replicates."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from math import inf
from typing import TYPE_CHECKING, TypeAlias

from toolkit.actions.model import NoTarget
from toolkit.actions.target_resolution import of_route, resolved
from toolkit.actions.validation import FeedValidation
from toolkit.catalog.model import TableName
from toolkit.el import TableUri, format_instant
from toolkit.entities.errors import UnfitFeed
from toolkit.entities.not_implemented import Area, not_implemented
from toolkit.errors import NotImplementedYet
from toolkit.hive.targets import ImportRules, TableDetail, TableItem, TableTarget
from toolkit.planning.due_copies import CopyRecords, DueCopies
from toolkit.planning.instance_storage import FeedStorage
from toolkit.planning.partition_address import partition_address
from toolkit.planning.replication import Range

if TYPE_CHECKING:
    from toolkit.actions.runner import Targets
    from toolkit.el import CanonicalPath
    from toolkit.entities import Cluster, Feed
    from toolkit.planning.replication import Route
    from toolkit.planning.retention import RetentionClock

TableTargets: TypeAlias = "Targets[TableTarget, TableItem, TableDetail]"

REFUSED = "not_a_table"
"""The code of a feed that cannot be done."""
_MEGABYTE = 1_000_000
_FOR_PATHS = {
    "overwrite": True,
    "removeDeletedFiles": False,
    "preservePermission": True,
    "preserveUser": True,
    "preserveGroup": True,
    "preserveAcl": True,
    "preserveXattr": True,
    "preserveTimes": True,
    "preserveBlockSize": True,
    "preserveReplicationNumber": True,
    "preserveChecksumType": True,
    "ignoreErrors": True,
    "tdeEncryptionEnabled": True,
}
"""Properties with the value that asks of a copy what copies of tables do not do."""


class NotATable(UnfitFeed):
    """Feed that cannot be exported, imported or replicated as a table."""


def uri_of(feed: Feed, cluster: Cluster) -> TableUri:
    """Return the table of a feed on a cluster, with the variables that have a value.

    Raises:
        NotATable: it is a feed of paths there, or the cluster has no metastore.
    """
    uri = FeedStorage.of(feed, cluster).table
    if uri is None:
        raise NotATable(feed=feed.name, why=f"has paths on {cluster.name}; copy them with replication.py")
    if cluster.interfaces.registry is None:
        raise NotATable(feed=feed.name, why=f"is a table, and {cluster.name} has no registry; add its interface")
    return uri


def instance_address(uri: TableUri, cluster: Cluster, instant: datetime) -> str:
    """Return the address of an instance of a table feed, as processes name it."""
    return str(partition_address(cluster, uri, uri.render(instant)))


def name_of(uri: TableUri) -> TableName:
    """Return the name of a table."""
    return TableName(uri.database, uri.table)


@dataclass(frozen=True, kw_only=True, slots=True)
class ExchangeRequest:
    """Request of an export or an import.

    Attributes:
        nominal: of the run.
        wanted: which instances; none given: the last one that is due.
        is_whole: the whole table, instead of instances.
        root: the directory that has the exports of instances in it; of a whole table its export itself.
        is_export: whether it is an export.
        rules: of an import.
    """

    nominal: datetime
    wanted: Range
    is_whole: bool
    root: CanonicalPath
    is_export: bool
    rules: ImportRules

    def resolve(self, pairs: Iterable[tuple[Feed, Cluster]], *, must_all_work: bool) -> TableTargets:
        """Return the instances of all feeds, each on its cluster; arguments and errors as of `resolved`."""
        key = format_instant(self.nominal)
        chosen = [
            (NoTarget(entity=feed.name, cluster=on.name, instance_key=key), partial(self._targets, feed, on))
            for feed, on in pairs
        ]
        return resolved(chosen, TableDetail, refusal=REFUSED, must_all_work=must_all_work)

    def _targets(self, feed: Feed, cluster: Cluster) -> Iterator[TableTarget]:
        """Yield the instances of a feed on a cluster.

        Raises:
            NotATable: see `uri_of`.
            NotImplementedYet: a property of the feed cannot be kept.
        """
        uri = uri_of(feed, cluster)
        base = TableTarget(
            feed=feed.name,
            cluster=cluster.name,
            instance_key=format_instant(self.nominal),
            instant=None,
            table=name_of(uri),
            directory=self.root,
            is_export=self.is_export,
            flag=(feed.availability_flag or "") if self.is_export else "",
            rules=rules_of(feed, self.rules),
            validation=None if self.is_export else FeedValidation.on(feed, cluster),
        )
        if self.is_whole:
            yield base
            return
        for instant in self._instants(feed, cluster):
            key = format_instant(instant)
            yield replace(base, instance_key=key, instant=instant, directory=self.root.child(directory_name(key)))

    def _instants(self, feed: Feed, cluster: Cluster) -> list[datetime]:
        instances = feed.instances_on(cluster.name)
        wanted = self.wanted
        last = instances.at_or_before(self.nominal)
        if wanted.first is None or wanted.end is None:
            return [] if last is None else [last]
        found = [each for each in instances.between(wanted.first, wanted.end) if each <= self.nominal]
        return found[::-1] if wanted.newest_first else found


def directory_name(key: str) -> str:
    """Return the name of the directory of an instance's export; HDFS has no names with ``:``."""
    return key.replace(":", "")


@dataclass(frozen=True, kw_only=True, slots=True)
class Pulls:
    """Resolves the routes of table feeds.

    Attributes:
        nominal: of the run.
        clock: of the target's retention.
        wanted: which instances.
        records: of the runs of a route (feed, target, source).
        rules: of the import at the target.
    """

    nominal: datetime
    clock: RetentionClock | None
    wanted: Range
    records: Callable[[str, str, str], CopyRecords]
    rules: ImportRules

    def resolve(self, routes: Iterable[Route], *, must_all_work: bool) -> TableTargets:
        """Return the instances of all routes; arguments and errors as of `resolved`."""
        chosen = [(of_route(each, self.nominal), partial(self._targets, each)) for each in routes]
        return resolved(chosen, TableDetail, refusal=REFUSED, must_all_work=must_all_work)

    def _targets(self, route: Route) -> Iterator[TableTarget]:
        """Yield the instances of a route, in their order.

        Raises:
            NotATable: see `uri_of`; or there are several sources, or a partition expression.
            NotImplementedYet: a property of the feed cannot be kept.
        """
        feed, source, target = route.feed, route.source, route.target
        for value in not_implemented(feed, Area.REPLICATION, target.cluster.name):
            raise value.error(where=f"feed {feed.name}")
        if route.others:
            names = ", ".join(side.cluster.name for side in (source, *route.others))
            why = f"has the sources {names}, which would replace each other's partitions; give each a feed of its own"
            raise NotATable(feed=feed.name, why=why)
        if source.on.partition or target.on.partition:
            raise NotATable(feed=feed.name, why="has a partition expression, which tables have none of; remove it")
        uris = [uri_of(feed, side.cluster) for side in (source, target)]
        records = self.records(feed.name, target.cluster.name, source.cluster.name)
        due = DueCopies(route=route, nominal=self.nominal, clock=self.clock, wanted=self.wanted, records=records)
        for instant in due.found().instants:
            yield TableTarget(
                feed=feed.name,
                cluster=target.cluster.name,
                counterpart=source.cluster.name,
                instance_key=format_instant(instant),
                instant=instant,
                table=name_of(uris[1]),
                source=name_of(uris[0]),
                flag=feed.availability_flag or "",
                waits_until=route.waits_until(instant),
                rules=rules_of(feed, self.rules),
                validation=FeedValidation.on(feed, target.cluster),
            )


def rules_of(feed: Feed, rules: ImportRules) -> ImportRules:
    """Return the rules with what the properties of a feed ask for.

    Raises:
        NotImplementedYet: one asks for what a copy of a table does not have.
    """
    for name, value in _FOR_PATHS.items():
        if feed.properties.get(name) is value:
            text = f"{name}: {str(value).lower()}"
            raise NotImplementedYet(what=f"{text} of a table", instead=f"remove {name}", where=f"feed {feed.name}")
    bandwidth, maps = feed.properties.get("mapBandwidth"), feed.properties.get("maxMaps")
    return replace(
        rules,
        at_once=maps if isinstance(maps, int) else None,
        bandwidth=inf if bandwidth is None else float(bandwidth) * _MEGABYTE,
    )
