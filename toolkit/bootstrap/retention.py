"""A retention run, wired."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from toolkit.bootstrap.action_context import ActionContext, ActionOptions, Wired, run_action
from toolkit.bootstrap.catalogs import open_catalog
from toolkit.bootstrap.ingested_data import data_access, ingested_instances
from toolkit.bootstrap.messages import MessageContent
from toolkit.bootstrap.owner import act_as_owner
from toolkit.entities import FirstRun
from toolkit.entities.not_implemented import Area
from toolkit.errors import InvalidInput
from toolkit.planning.delete_limits import DeleteLimits
from toolkit.planning.nearby_feeds import nearby_feeds
from toolkit.process_runner.late_fingerprint import fingerprint_at
from toolkit.retention import FeedTarget, PlanItem, RetentionAction, RetentionDetail, RetentionResolver, SharedDataIndex
from toolkit.retention.needed import NeededInstances, looked_at_targets
from toolkit.retention.shared_tables import SharedTables
from toolkit.retention.targets import IcebergAccess, NoArchive
from toolkit.retention.temporary import TemporaryData, by_age_alone
from toolkit.storage import RealPlaces

if TYPE_CHECKING:
    from toolkit.actions.progress import Progress
    from toolkit.clock import Clock
    from toolkit.entities import Cluster, Feed, Pointer, Repository
    from toolkit.ledger.database import Ledger
    from toolkit.retention import RetentionResult
    from toolkit.runs.stop import StopSignal


class LedgerNeeded(InvalidInput):
    """A table feed in a run without a ledger: data of forgotten partitions that a killed run leaves are found by it.

    Args:
        feed: name.
        cluster: name.
        is_ingested: it is an Iceberg table, whose commits the ledger serializes.
    """

    def __init__(self, *, feed: str, cluster: str, is_ingested: bool = False) -> None:
        self.feed, self.cluster, self.is_ingested = feed, cluster, is_ingested
        why = "no run finds data of partitions that the metastore has forgotten when a run is killed"
        if is_ingested:
            why = "nothing keeps a commit of it apart from those of an ingest"
        super().__init__(f"feed {feed} on {cluster} is a table: without the ledger {why}; run it without --no-ledger")


def evict(options: ActionOptions, clock: Clock, process: StopSignal, progress: Progress) -> RetentionResult:
    """A retention run, from the options to the result; arguments and errors are those of `run_action`."""
    return run_action(options, clock, process, progress, wire, Area.RETENTION, affected=evicted_and_archives)


def evicted_and_archives(context: ActionContext) -> Iterator[tuple[Feed, Cluster]]:
    """The stakes of an eviction: the chosen feeds that have retention, what they are in their archives, and targets."""
    clusters = context.repository.clusters
    for feed, cluster in (pair for pair in context.pairs if pair[0].cluster(pair[1].name).retention is not None):
        yield feed, cluster
        yield from ((feed, clusters[name]) for name in looked_at_targets(feed, cluster))
        archived = feed.archive_on(cluster.name)
        if archived is not None:
            yield archived, clusters[archived.clusters[0].name]


def wire(context: ActionContext) -> Wired[FeedTarget, PlanItem, RetentionDetail]:
    """The action, and the feeds on their clusters that the user chose."""
    repository, options = context.repository, context.options
    limits = repository.settings.max_delete
    resolver = resolver_of(context)
    targets = resolver.resolve(context.pairs, must_all_work=bool(options.selection.names))
    if repository.settings.act_as_owner:
        note = "acts on HDFS as the feed's owner"
        targets = replace(targets, to_do=tuple(replace(each, notes=(*each.notes, note)) for each in targets.to_do))
    if options.no_ledger:
        _require_ledger(targets.to_do, dry_run=options.dry_run)
    if options.dry_run:
        targets = replace(targets, to_do=tuple(_with_obstacle(target, context) for target in targets.to_do))
    action = RetentionAction(
        limits=DeleteLimits(instances=limits.instances, fraction=limits.fraction, bytes=limits.bytes),
        new_holds=context.holds,
        place_of=partial(place_of, repository),
        hold_seen=None if options.dry_run else context.holds.note_file,
        executors_above=repository.settings.executors_above,
        asks_first=repository.settings.first_run is FirstRun.PLAN,
    )
    content: MessageContent[FeedTarget] = MessageContent.of_feed("DELETE", message_path)
    return Wired(action=action, targets=targets, content=content)


def resolver_of(context: ActionContext) -> RetentionResolver:
    """Return what resolves the feeds of a run of retention, or of a restore; from now on it may act as their owner."""
    repository, options = context.repository, context.options
    if repository.settings.act_as_owner:
        act_as_owner(context.affected(context), context.variables)
    places, chosen = RealPlaces(), {feed.name: feed for feed, _ in context.pairs}
    feeds, clusters = nearby_feeds(repository, chosen.values(), places.of_all), tuple(repository.clusters.values())
    ledger = context.use.ledger
    return RetentionResolver(
        nominal_time=options.nominal_time,
        keep_beyond_validity=repository.settings.keep_instances_beyond_validity,
        holds=(*repository.holds, *context.holds.as_entities),
        storage=context.look(context.process).stores,
        shared_data=SharedDataIndex(feeds=feeds, clusters=clusters, real=places.of),
        shared_tables=SharedTables(feeds=feeds, clusters=clusters),
        metastore=partial(open_catalog, read_only=options.dry_run),
        iceberg=partial(_iceberg, context),
        temporary=by_age_alone if ledger is None else _temporary(context, ledger).policy,
        protectors=_needed(context).protectors,
        archives={
            name: each
            for name, each in repository.clusters.items()
            if repository.environment is None or repository.environment.allows(name)
        },
    )


def _temporary(context: ActionContext, ledger: Ledger) -> TemporaryData:
    data = data_access(context.look(context.process).stores, context.variables)
    return TemporaryData(
        repository=context.repository, ledger=ledger, data=data, fingerprint=partial(fingerprint_at, data)
    )


def _needed(context: ActionContext) -> NeededInstances:
    data = data_access(context.look(context.process).stores, context.variables)
    return NeededInstances(
        repository=context.repository, clock=context.retention_clock, data=data, ledger=context.use.ledger
    )


def _iceberg(context: ActionContext, feed: Feed, cluster: Cluster) -> IcebergAccess:
    reader = ingested_instances(context.variables, feed, cluster)
    return IcebergAccess(
        name=reader.name,
        opened=reader.open_table,
        late_events=reader.instances.late_events,
        ledger=context.use.ledger,
    )


def _require_ledger(targets: Iterable[FeedTarget], *, dry_run: bool) -> None:
    """Require a ledger for archives and tables: only its items find what a killed run leaves there."""
    for target in targets:
        if target.archive is not None:
            why = "without the ledger no run finds what a killed run leaves in the archive; run it without --no-ledger"
            raise NoArchive(feed=target.feed, cluster=target.cluster, why=why)
        if target.table is not None and not dry_run:
            is_ingested = target.table.iceberg is not None
            raise LedgerNeeded(feed=target.feed, cluster=target.cluster, is_ingested=is_ingested)


def message_path(target: FeedTarget) -> str:
    """Return the place that messages name for the instances of a feed: the directory above them, or the table."""
    table = target.table
    return str(target.locations[0].base) if table is None else f"catalog:{table.name.database}:{table.name.table}"


def place_of(repository: Repository, target: FeedTarget, key: str) -> str:
    """Return where a key of a feed's retention is written, for its cluster or for all clusters."""
    names = [each.name for each in repository.feed(target.feed).clusters]
    path: Pointer = tuple(key.split("."))
    own: Pointer = ("clusters", names.index(target.cluster), "retention", *path)
    return repository.place(target.feed, own, path)


def _with_obstacle(target: FeedTarget, context: ActionContext) -> FeedTarget:
    obstacle = context.use.obstacle(target.feed, target.cluster)
    return target if obstacle is None else replace(target, notes=(*target.notes, f"would be skipped: {obstacle}"))
