"""Wiring of runs that export, import or replicate tables."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

from toolkit.actions.copy_limits import CopyLimits
from toolkit.actions.hold_watch import NoNewHolds
from toolkit.actions.selection import NothingChosen, WrongChoice
from toolkit.bootstrap.action_context import ActionContext, ActionOptions, Wired, run_action
from toolkit.bootstrap.catalogs import open_catalog
from toolkit.bootstrap.messages import MessageContent
from toolkit.bootstrap.replication import ReplicationOptions, copy_records, ends, routes_of
from toolkit.catalog.location_policy import LocationPolicy
from toolkit.el import CanonicalPath, ElError
from toolkit.entities.not_implemented import Area
from toolkit.errors import InvalidInput
from toolkit.hive.action import TableAction
from toolkit.hive.resolve import ExchangeRequest, Pulls, instance_address, uri_of
from toolkit.hive.sources import Catalog, ExportSource, MetastoreSource
from toolkit.hive.table_export import TableExport
from toolkit.hive.table_import import TableImport
from toolkit.hive.targets import EXPORT, IMPORT, REPLICATION, ImportRules, TableDetail, TableItem, TableTarget
from toolkit.ledger.vocabulary import LifeCycle
from toolkit.retention.shared_tables import SharedTables

if TYPE_CHECKING:
    from toolkit.actions.progress import Progress
    from toolkit.catalog.port import Metastore
    from toolkit.clock import Clock
    from toolkit.el import TableUri
    from toolkit.entities import Cluster, Feed
    from toolkit.hive.batches import Mode
    from toolkit.hive.resolve import TableTargets
    from toolkit.hive.table_context import TableContext
    from toolkit.hive.targets import TableResult
    from toolkit.runs.stop import StopSignal

PARALLEL = 8
"""Instances at once, unless the user or a feed says another number: each of them asks one metastore."""

TableWired = Wired[TableTarget, TableItem, TableDetail]


@dataclass(frozen=True, kw_only=True, slots=True)
class ExchangeOptions:
    """Options of an export or an import besides those of all actions.

    Attributes:
        place: the directory of the exports, as text.
        instances: which, as for a replication.
        whole_table: the table as a whole.
        rules: of an import.
    """

    place: str
    instances: ReplicationOptions
    whole_table: bool = False
    rules: ImportRules = field(default_factory=ImportRules)


def export_tables(
    own: ExchangeOptions, options: ActionOptions, clock: Clock, process: StopSignal, progress: Progress
) -> TableResult:
    """Export tables, from the options to the result; arguments and errors are those of `run_action`."""
    _check(own)
    return run_action(options, clock, process, progress, partial(_wire_export, own), Area.EXPORT, affected=_affected)


def import_tables(
    own: ExchangeOptions, options: ActionOptions, clock: Clock, process: StopSignal, progress: Progress
) -> TableResult:
    """Import tables, from the options to the result; arguments and errors are those of `run_action`."""
    _check(own)
    return run_action(options, clock, process, progress, partial(_wire_import, own), Area.IMPORT, affected=_affected)


def replicate_tables(
    own: ReplicationOptions,
    rules: ImportRules,
    options: ActionOptions,
    clock: Clock,
    process: StopSignal,
    progress: Progress,
) -> TableResult:
    """Replicate tables, from the options to the result; arguments and errors are those of `run_action`."""
    _ = own.wanted
    wire, affected = partial(_wire_replication, own, rules), partial(ends, own, tables=True)
    return run_action(options, clock, process, progress, wire, Area.REPLICATION, affected=affected)


def _check(own: ExchangeOptions) -> None:
    """Refuse impossible options before anything is opened."""
    if own.whole_table and own.instances.start is not None:
        raise WrongChoice(given=("--whole-table", "--start"), expected="the whole table, or some of its instances")
    _ = own.instances.wanted


def _affected(context: ActionContext) -> Iterator[tuple[Feed, Cluster]]:
    """Return the chosen feeds that are tables; feeds of paths do not decide how an export is reached."""
    return (pair for pair in context.pairs if pair[0].table_on(pair[1].name) is not None)


def _wire_export(own: ExchangeOptions, context: ActionContext) -> TableWired:
    targets = _exchanged(own, context, is_export=True)
    sources = {name: _tables(context, name) for name in {each.cluster for each in targets.to_do}}

    def mode_of(plan: TableContext) -> TableExport:
        return TableExport(source=sources[plan.target.cluster], context=plan)

    return _wired(EXPORT, LifeCycle.EXPORT, mode_of, targets, context)


def _wire_import(own: ExchangeOptions, context: ActionContext) -> TableWired:
    targets = _exchanged(own, context, is_export=False)
    catalogs = _catalogs(context, targets)

    def mode_of(plan: TableContext) -> TableImport:
        source = ExportSource(uri=partial(_uri, context, plan.target.cluster))
        return TableImport(source=source, catalog=catalogs[plan.target.cluster], context=plan)

    return _wired(IMPORT, LifeCycle.IMPORT, mode_of, targets, context)


def _wire_replication(own: ReplicationOptions, rules: ImportRules, context: ActionContext) -> TableWired:
    options = context.options
    found = list(routes_of(own, context, tables=True))
    if not found:
        raise NothingChosen(wanted="a table on a cluster with type: target", known=())
    pulls = Pulls(
        nominal=options.nominal_time,
        clock=context.retention_clock,
        wanted=own.wanted,
        records=partial(copy_records, context.use.ledger),
        rules=rules,
    )
    targets = pulls.resolve(found, must_all_work=bool(options.selection.names))
    sources = {name: _tables(context, name) for name in {each.counterpart for each in targets.to_do}}
    catalogs = _catalogs(context, targets)

    def mode_of(plan: TableContext) -> TableImport:
        target = plan.target
        return TableImport(source=sources[target.counterpart], catalog=catalogs[target.cluster], context=plan)

    return _wired(REPLICATION, LifeCycle.REPLICATION, mode_of, targets, context)


def _exchanged(own: ExchangeOptions, context: ActionContext, *, is_export: bool) -> TableTargets:
    options = context.options
    try:
        root = CanonicalPath.parse(own.place)
    except ElError as error:
        message = f"--{'to' if is_export else 'from'}: {error}"
        raise InvalidInput(message) from error
    request = ExchangeRequest(
        nominal=options.nominal_time,
        wanted=own.instances.wanted,
        is_whole=own.whole_table,
        root=root,
        is_export=is_export,
        rules=own.rules,
    )
    pairs = context.pairs if options.selection.names else tuple(_affected(context))
    if len(pairs) > 1:
        named = ", ".join(f"{feed.name} on {cluster.name}" for feed, cluster in pairs)
        message = f"{named} would have one directory {own.place}; name one feed and one cluster"
        raise InvalidInput(message)
    if not pairs:
        raise NothingChosen(wanted="a table", known=())
    return request.resolve(pairs, must_all_work=bool(options.selection.names))


def _catalogs(context: ActionContext, targets: TableTargets) -> dict[str, Catalog]:
    names = {each.cluster for each in targets.to_do}
    return {name: catalog_of(context.repository.clusters[name]) for name in names}


def _tables(context: ActionContext, cluster: str) -> MetastoreSource:
    return MetastoreSource(
        catalog=catalog_of(context.repository.clusters[cluster]), uri=partial(_uri, context, cluster)
    )


def _uri(context: ActionContext, cluster: str, feed: str) -> TableUri:
    return uri_of(context.repository.feeds[feed], context.repository.clusters[cluster])


def catalog_of(cluster: Cluster) -> Catalog:
    """Open the metastore of a cluster for actions on tables; errors as of `open_catalog`."""
    return Catalog(
        metastore=open_catalog(cluster, read_only=True),
        bound=partial(_bound, cluster),
        policy=LocationPolicy(cluster=cluster),
    )


def _bound(cluster: Cluster, before_effect: Callable[[], None]) -> Metastore:
    return open_catalog(cluster, before_effect=before_effect)


def _wired(
    name: str,
    life_cycle: LifeCycle,
    mode_of: Callable[[TableContext], Mode],
    targets: TableTargets,
    context: ActionContext,
) -> TableWired:
    action, feeds = table_action(name, life_cycle, mode_of, context), context.repository.feeds
    named = {target.feed for target in targets.to_do}
    given = [value for each in named if isinstance(value := feeds[each].properties.get("parallel"), int)]
    content: MessageContent[TableTarget] = MessageContent.of_feed(
        _OPERATIONS[name],
        lambda target: target.directory if target.is_export and target.directory else action.address(target),
    )
    return Wired(action=action, targets=targets, parallel=min(given, default=PARALLEL), content=content)


def table_action(
    name: str, life_cycle: LifeCycle, mode_of: Callable[[TableContext], Mode], context: ActionContext
) -> TableAction:
    """Return the action of a run.

    Args:
        name: of the action.
        life_cycle: in the ledger.
        mode_of: the mode of a plan.
        context: of the run.
    """
    repository, limits = context.repository, context.repository.settings.max_copy
    tables = SharedTables(feeds=tuple(repository.feeds.values()), clusters=tuple(repository.clusters.values()))

    def one_metastore(target: TableTarget) -> frozenset[str]:
        pairs = tables.of(repository.feeds[target.feed], repository.clusters[target.cluster])
        return frozenset(cluster for _, cluster in pairs) - {target.cluster}

    return TableAction(
        name=name,
        life_cycle=life_cycle,
        address=partial(_address, context),
        mode_of=mode_of,
        nominal=context.options.nominal_time,
        limits=CopyLimits(instances=limits.instances, bytes=limits.bytes),
        also_on=one_metastore,
        new_holds=NoNewHolds() if context.options.dry_run else context.holds,
    )


_OPERATIONS = {EXPORT: "EXPORT", IMPORT: "IMPORT", REPLICATION: "REPLICATE"}


def _address(context: ActionContext, target: TableTarget) -> str:
    """Return the address of an instance as processes name it, or of the table."""
    uri = _uri(context, target.cluster, target.feed)
    if target.instant is None:
        return f"catalog:{uri.database}:{uri.table}"
    return instance_address(uri, context.repository.clusters[target.cluster], target.instant)
