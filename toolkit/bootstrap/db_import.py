"""Wiring of runs that import from databases."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from functools import cache, partial
from typing import TYPE_CHECKING

from toolkit.actions.hold_watch import NoNewHolds
from toolkit.bootstrap.action_context import ActionContext, ActionOptions, Wired, run_action
from toolkit.bootstrap.catalogs import open_catalog
from toolkit.bootstrap.messages import MessageContent
from toolkit.bootstrap.replication import ReplicationOptions
from toolkit.entities.not_implemented import Area
from toolkit.entities.values import property_text
from toolkit.errors import InvalidInput
from toolkit.exchange.import_action import ImportAction
from toolkit.exchange.import_place import ImportPlaces
from toolkit.exchange.import_resolve import ImportRequest, ImportSlots
from toolkit.exchange.import_targets import ImportDetail, ImportItem, ImportMarks, ImportTarget
from toolkit.jdbc.opening import open_database
from toolkit.ledger import exchange_marks
from toolkit.planning.instance_storage import FeedStorage
from toolkit.planning.partition_address import partition_address

if TYPE_CHECKING:
    from toolkit.actions.progress import Progress
    from toolkit.catalog.port import Metastore
    from toolkit.clock import Clock
    from toolkit.entities import Cluster, Feed, FeedCluster
    from toolkit.entities.datasource import Datasource
    from toolkit.exchange.import_targets import ImportResult
    from toolkit.exchange.rows import Rows
    from toolkit.jdbc.port import Database
    from toolkit.ledger.database import Transaction
    from toolkit.runs.stop import StopSignal
    from toolkit.variables import Variables

_LAST = "9999-12-31T23:59Z"


@dataclass(frozen=True, kw_only=True, slots=True)
class ImportOptions:
    """Options of an import besides those of all actions.

    Attributes:
        instances: which, as for a replication.
        whole: all rows are read, also where the settings merge new ones.
        inconsistent_splits: connections may read different moments.
    """

    instances: ReplicationOptions
    whole: bool = False
    inconsistent_splits: bool = False


def spark_rows(cluster: Cluster) -> Rows:
    """Return what moves rows by Spark from and to the stores of a cluster; it starts with its first use."""
    from toolkit.exchange.spark_rows import SparkRows  # noqa: PLC0415 - pyspark takes a second to load

    return SparkRows({name.strip(): property_text(value) for name, value in cluster.hadoop_conf.items()})


def metastore_of(cluster: Cluster, before_effect: Callable[[], None] | None) -> Metastore:
    """Return the metastore of a cluster; what is called before each change may stop it, and None allows none."""
    if before_effect is None:
        return open_catalog(cluster, read_only=True)
    return open_catalog(cluster, before_effect=before_effect)


@dataclass(frozen=True, kw_only=True, slots=True)
class ExchangeAdapters:
    """Adapters of an exchange with databases, opened when they are used.

    Attributes:
        rows: opens what moves rows to and from the stores of a cluster.
        database: opens a datasource.
        metastore: opens that of a cluster.
    """

    rows: Callable[..., Rows] = spark_rows
    database: Callable[[Datasource, Variables], Database] = open_database
    metastore: Callable[[Cluster, Callable[[], None] | None], Metastore] = metastore_of

    def opened(
        self, context: ActionContext, pairs: Sequence[tuple[Feed, Cluster]], stack: ExitStack
    ) -> tuple[Callable[[str], Database], Callable[[str], Rows]]:
        """Return what opens datasources and rows of clusters, by name, once in a run; the stack closes them.

        Raises:
            InvalidInput: the clusters have different settings of file systems, and a process has one Spark application.
        """
        clusters = [cluster for _, cluster in pairs]
        other = next((each for each in clusters if each.hadoop_conf != clusters[0].hadoop_conf), None)
        if other is not None:
            why = "and one Spark application would reach the stores of one by the settings of the other"
            names = f"{clusters[0].name} and {other.name}"
            message = f"the clusters {names} differ in hadoop_conf, {why}; name one by --cluster"
            raise InvalidInput(message)

        @cache
        def database(name: str) -> Database:
            found = context.repository.datasource(name)
            return stack.enter_context(closing(self.database(found, context.variables)))

        @cache
        def rows(cluster: str) -> Rows:
            return stack.enter_context(closing(self.rows(context.repository.clusters[cluster])))

        return database, rows


SPARK = ExchangeAdapters()


def import_rows(
    own: ImportOptions,
    options: ActionOptions,
    clock: Clock,
    process: StopSignal,
    progress: Progress,
    adapters: ExchangeAdapters = SPARK,
) -> ImportResult:
    """Import, from the options to the result; arguments and errors are those of `run_action`."""
    _ = own.instances.wanted
    with ExitStack() as stack:
        wire = partial(_wire, own, adapters, stack)
        return run_action(options, clock, process, progress, wire, Area.IMPORT, affected=imported_pairs)


def pairs_with(has: Callable[[FeedCluster], object], context: ActionContext) -> list[tuple[Feed, Cluster]]:
    """Return the chosen feeds that have an import, or an export; all that were named."""
    is_named = bool(context.options.selection.names)
    return [pair for pair in context.pairs if is_named or has(pair[0].cluster(pair[1].name)) is not None]


imported_pairs = partial(pairs_with, lambda on: on.import_)


def _wire(
    own: ImportOptions, adapters: ExchangeAdapters, stack: ExitStack, context: ActionContext
) -> Wired[ImportTarget, ImportItem, ImportDetail]:
    options, marks = context.options, partial(_marks, context)
    request = ImportRequest(nominal=options.nominal_time, wanted=own.instances.wanted, marks=marks, is_whole=own.whole)
    pairs = imported_pairs(context)
    targets = request.resolve(pairs, must_all_work=bool(options.selection.names))
    database, rows = adapters.opened(context, pairs, stack)
    action = ImportAction(
        nominal=options.nominal_time,
        marks=marks,
        database=database,
        places=partial(_places, adapters),
        rows=rows,
        address=address_of,
        shares_moments=own.inconsistent_splits,
        new_holds=NoNewHolds() if options.dry_run else context.holds,
    )
    content: MessageContent[ImportTarget] = MessageContent.of_feed("IMPORT", address_of)
    return Wired(action=action, targets=targets, content=content, slots=ImportSlots(targets=targets.to_do))


def _marks(context: ActionContext, target: ImportTarget) -> ImportMarks:
    ledger, subject, key = context.use.ledger, target.subject, target.instance_key
    if ledger is None:
        return ImportMarks()

    def read(tx: Transaction) -> ImportMarks:
        return ImportMarks(
            own=exchange_marks.of_instance(tx, subject, key),
            before=exchange_marks.latest(tx, subject, key),
            newest=exchange_marks.latest(tx, subject, _LAST),
        )

    return ledger.read(read)


def _places(adapters: ExchangeAdapters, target: ImportTarget) -> ImportPlaces:
    metastore = partial(adapters.metastore, target.on)
    return ImportPlaces(feed=target.feed, cluster=target.on, format=target.settings.format, metastore=metastore)


def address_of(target: ImportTarget) -> str:
    """Return the address of an instance, as processes name it."""
    uri = FeedStorage.of(target.feed, target.on).table
    if uri is None:
        return str(target.path)
    return str(partition_address(target.on, uri, uri.render(target.instant)))
