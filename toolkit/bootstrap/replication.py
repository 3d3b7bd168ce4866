"""A replication run, wired."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING

from toolkit.actions.copy_limits import CopyLimits
from toolkit.actions.hold_watch import NoNewHolds
from toolkit.actions.selection import NothingChosen
from toolkit.availability.dated_listing import DatedListing
from toolkit.bootstrap.action_context import ActionContext, ActionOptions, Wired, run_action
from toolkit.bootstrap.messages import MessageContent
from toolkit.el import ElError, parse_instant
from toolkit.entities import ClusterRole
from toolkit.entities.not_implemented import Area
from toolkit.errors import InvalidInput
from toolkit.ledger import events, manifests
from toolkit.ledger.runs import route_keys
from toolkit.ledger.runs.history import RecordedRuns
from toolkit.ledger.runs.route_keys import CopyRoute
from toolkit.ledger.vocabulary import EventKind
from toolkit.planning.delete_limits import DeleteLimits
from toolkit.planning.due_copies import CopyRecords
from toolkit.planning.history import gaps, unrecorded
from toolkit.planning.replication import Range, Route, Side, routes
from toolkit.replication.action import ReplicationAction
from toolkit.replication.planner import SOURCE_EVICTED
from toolkit.replication.resolve import ReplicationResolver
from toolkit.replication.targets import ReplicationDetail, ReplicationTarget, UnitItem
from toolkit.storage.calls import Once

if TYPE_CHECKING:
    from toolkit.actions.progress import Progress
    from toolkit.clock import Clock
    from toolkit.el.periods import Span
    from toolkit.entities import Cluster, Feed
    from toolkit.ledger.database import Ledger, Transaction
    from toolkit.ledger.manifests import Manifest
    from toolkit.replication.targets import ReplicationResult
    from toolkit.runs.stop import StopSignal


_MINUTE = timedelta(minutes=1)
PARALLEL = 64
"""So many instances are copied at once, unless the user or a feed says another number: on HDFS a copy mostly waits for
the DataNode to report the end of a file, 400 ms, and small instances have few files to wait for together."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ReplicationOptions:
    """Options of a replication besides those of all actions.

    Attributes:
        source: only from this cluster; None: from all sources.
        start: the first instance, as text; None: those that are due.
        end: the first that is too late, as text; None: `start` alone is asked for.
        newest_first: the newest is copied first.
        rehash: bytes are compared, not sizes and times.
    """

    source: str | None = None
    start: str | None = None
    end: str | None = None
    newest_first: bool = False
    rehash: bool = False

    @property
    def wanted(self) -> Range:
        """Return which instances are requested.

        Raises:
            BadRange: a time that is none, or an end without a start.
        """
        if self.start is None:
            if self.end is not None:
                raise BadRange(why=f"--end {self.end} stands alone; add --start")
            return Range(newest_first=self.newest_first)
        try:
            first = parse_instant(self.start)
            end = first + _MINUTE if self.end is None else parse_instant(self.end)
        except ElError as error:
            raise BadRange(why=f"--start or --end: {error}") from error
        if end <= first:
            raise BadRange(why=f"--end {self.end} is not after --start {self.start}")
        return Range(first=first, end=end, newest_first=self.newest_first)


class BadRange(InvalidInput):
    """Instances that cannot be asked for so."""

    def __init__(self, *, why: str) -> None:
        self.why = why
        super().__init__(why)


def replicate(
    own: ReplicationOptions, options: ActionOptions, clock: Clock, process: StopSignal, progress: Progress
) -> ReplicationResult:
    """A replication run, from the options to the result; arguments and errors are those of `run_action`."""
    _ = own.wanted  # what cannot be asked for is said before anything is opened
    wire = partial(_wire, own)
    return run_action(options, clock, process, progress, wire, Area.REPLICATION, affected=partial(ends, own))


def ends(own: ReplicationOptions, context: ActionContext, *, tables: bool = False) -> Iterator[tuple[Feed, Cluster]]:
    """The feeds on both ends of their routes, which are those of `routes_of`."""
    for route in routes_of(own, context, tables=tables):
        yield route.feed, route.target.cluster
        yield route.feed, route.source.cluster


def routes_of(own: ReplicationOptions, context: ActionContext, *, tables: bool = False) -> Iterator[Route]:
    """Yield the routes of the chosen feeds to those of their clusters that are targets; one, unless all were asked for.

    Feeds of the other kind, tables or paths, are left out unless the user named them.
    """
    repository, selection = context.repository, context.options.selection
    for feed, cluster in context.pairs:
        if feed.is_table is not tables and not selection.names:
            continue
        is_target = feed.cluster(cluster.name).type is ClusterRole.TARGET
        has_none = not any(each.type is ClusterRole.TARGET for each in feed.clusters)
        if is_target or (selection.names and (selection.clusters or has_none)):
            yield from routes(feed, repository.clusters, target=cluster.name, source=own.source)


def _wire(own: ReplicationOptions, context: ActionContext) -> Wired[ReplicationTarget, UnitItem, ReplicationDetail]:
    repository, options = context.repository, context.options
    found, wanted = list(routes_of(own, context)), own.wanted
    if not found:
        raise NothingChosen(wanted="a cluster with type: target", known=())
    resolver = ReplicationResolver(
        nominal=options.nominal_time,
        clock=context.retention_clock,
        wanted=wanted,
        records=partial(copy_records, context.use.ledger),
        listed=partial(_listed, context),
        holds=(*repository.holds, *context.holds.as_entities),
        rehash=own.rehash,
    )
    targets = resolver.resolve(found, must_all_work=bool(options.selection.names))
    limits, max_delete = repository.settings.max_copy, repository.settings.max_delete
    action = ReplicationAction(
        nominal=options.nominal_time,
        limits=CopyLimits(instances=limits.instances, bytes=limits.bytes),
        max_delete=DeleteLimits(instances=max_delete.instances, fraction=max_delete.fraction, bytes=max_delete.bytes),
        recorded=known_manifests(context.use.ledger, targets.to_do),
        new_holds=NoNewHolds() if options.dry_run else context.holds,
    )
    given = [value for route in found if isinstance(value := route.feed.properties.get("parallel"), int)]
    content: MessageContent[ReplicationTarget] = MessageContent.of_feed("REPLICATE", lambda target: target.target)
    return Wired(action=action, targets=targets, parallel=min(given, default=PARALLEL), content=content)


def _listed(context: ActionContext, side: Side, periods: Sequence[Span]) -> Collection[datetime]:
    """Return the instances of some periods that have anything at a side."""
    base = side.base_for_reading
    system = context.look(context.process).stores(base)
    return DatedListing(sequence=side.instances, template=side.template, base=base, system=system).instants(periods)


def copied_keys(ledger: Ledger | None, feed: str, target: str, source: str) -> frozenset[str]:
    """The instances that the ledger has as copied; without one none are."""
    if ledger is None:
        return frozenset()
    return ledger.read(lambda tx: route_keys.succeeded_keys(tx, CopyRoute(feed=feed, target=target, source=source)))


def copy_records(ledger: Ledger | None, feed: str, target: str, source: str) -> CopyRecords:
    """Return the records of a route in the ledger, which are read when they are asked for."""
    if ledger is None:
        return CopyRecords()
    route = CopyRoute(feed=feed, target=target, source=source)

    def runs(tx: Transaction) -> RecordedRuns:
        return RecordedRuns(tx=tx, subject=route.subject)

    return CopyRecords(
        unrecorded=lambda of, first, end: ledger.read(lambda tx: tuple(unrecorded(of, first, end, runs(tx)))),
        gaps=lambda of, first, end: ledger.read(lambda tx: tuple(gaps(of, first, end, runs(tx)))),
        recorded=lambda keys: ledger.read(lambda tx: runs(tx).among(keys)),
        unfinished=lambda: ledger.read(lambda tx: route_keys.unfinished_keys(tx, route)),
        skipped=lambda: ledger.read(lambda tx: route_keys.skipped_keys(tx, route, SOURCE_EVICTED)),
        evicted=partial(evicted_of, ledger, feed, target),
    )


def recorded_of(ledger: Ledger | None, target: ReplicationTarget) -> Mapping[str, Manifest]:
    """Return the manifests of an instance in the ledger; without one, sizes and times decide."""
    if ledger is None:
        return {}
    key = (target.feed, target.cluster, target.instance_key, target.counterpart)
    return ledger.read(lambda tx: manifests.of_instance(tx, *key))


def known_manifests(
    ledger: Ledger | None, targets: Sequence[ReplicationTarget]
) -> Callable[[ReplicationTarget], Mapping[str, Manifest]]:
    """Return what gives the manifests of an instance as `recorded_of` does.

    Which of the targets have any is read once, by the first plan: by then all runs hold their leases.
    """
    known = Once(lambda: _known_among(ledger, targets))

    def recorded(target: ReplicationTarget) -> Mapping[str, Manifest]:
        has_some = target.instance_key in known().get(_route(target), ())
        return recorded_of(ledger, target) if has_some else {}

    return recorded


def _known_among(ledger: Ledger | None, targets: Sequence[ReplicationTarget]) -> Mapping[CopyRoute, Collection[str]]:
    """Return the instances of each route of which the ledger has manifests."""
    if ledger is None:
        return {}
    keys: dict[CopyRoute, list[str]] = {}
    for each in targets:
        keys.setdefault(_route(each), []).append(each.instance_key)
    return {route: ledger.read(partial(manifests.known_among, route=route, keys=own)) for route, own in keys.items()}


def _route(target: ReplicationTarget) -> CopyRoute:
    return CopyRoute(feed=target.feed, target=target.cluster, source=target.counterpart)


def evicted_of(ledger: Ledger | None, feed: str, cluster: str, keys: Sequence[str]) -> frozenset[str]:
    """Return which of the instances retention has removed, and nothing has happened to since."""
    if ledger is None:
        return frozenset()
    last = ledger.read(lambda tx: events.last_kinds(tx, feed, cluster, keys))
    return frozenset(key for key, kind in last.items() if kind is EventKind.EVICTED)
