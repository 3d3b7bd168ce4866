"""The settings of a feed's `ingest`, and its table on PyIceberg."""

from __future__ import annotations

from contextlib import closing, contextmanager
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING

from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError

from toolkit.bootstrap.ingest import FeedIngest, NotIngested, directory_source, instances_of
from toolkit.compaction.targets import CompactRules
from toolkit.entities.env_references import MissingVariable
from toolkit.entities.ingest import BadRecordRule, CatalogType, RecordType
from toolkit.ingest.connection import connect
from toolkit.ingest.endpoint import CatalogAddress, Endpoint
from toolkit.ingest.iceberg import open_catalog
from toolkit.ingest.port import IngestColumn, TableSpec
from toolkit.ingest.writer_loading import built_in_writer
from toolkit.ingest.writer_progress import WriterProgress
from toolkit.ingest_job.connected_table import ConnectedTable
from toolkit.ingest_job.feed_instances import IngestedInstances
from toolkit.ingest_job.targets import CommitLimits

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from toolkit.bootstrap.action_context import ActionContext
    from toolkit.clock import Clock
    from toolkit.entities import Cluster, Feed
    from toolkit.entities.ingest import IcebergSettings, Ingest, RecordFormat
    from toolkit.ingest.batch import FillRows
    from toolkit.ingest.connection import Connection
    from toolkit.ingest.port import IngestTable
    from toolkit.ingest.settlement import IngestEvents
    from toolkit.ingest_job.instances import IngestInstances
    from toolkit.ingest_job.source import IngestSource, Stores
    from toolkit.ledger.database import Ledger
    from toolkit.variables import Variables

_DRIVER = "postgresql+psycopg"
_NO_TIME = timedelta()


def configured(context: ActionContext, clock: Clock, feed: Feed, cluster: Cluster) -> FeedIngest | None:
    """Return the settings of a feed on a cluster, from the config repo; None: it has no `ingest` there.

    Raises:
        NotIngested: the cluster has no catalog.
        MissingVariable: the password of the catalog is not in the environment.
    """
    ingest = next(each for each in feed.clusters if each.name == cluster.name).ingest
    if ingest is None:
        return None
    if cluster.interfaces.iceberg is None:
        raise NotIngested(feed=feed.name, why=f"needs interfaces.iceberg of cluster {cluster.name}")
    address = _address(feed.name, cluster.interfaces.iceberg, cluster, context.variables)
    instances, commit = instances_of(feed, cluster, ingest.event_time), ingest.commit
    return FeedIngest(
        table=_table(context, ingest, instances, address),
        event_time=ingest.event_time,
        source=_source(ingest, cluster, clock, feed),
        directory=None if ingest.source is None else cluster.place(ingest.source.directory),
        settle=_NO_TIME if ingest.source is None else ingest.source.settle.elapsed or _NO_TIME,
        limits=CommitLimits(rows=commit.rows, bytes=commit.bytes, every=commit.every.elapsed or _NO_TIME),
        rejects_bad=ingest.on_bad_record is BadRecordRule.REJECT,
        max_rejects=ingest.max_rejects,
        after=str(ingest.after),
        compaction=CompactRules(
            close_after=ingest.close_after.elapsed or _NO_TIME,
            has_source=ingest.source is not None,
            files=ingest.compact_when.files,
            bytes=ingest.target_file_bytes,
        ),
    )


def reader_of_ingested(variables: Variables, feed: Feed, cluster: Cluster) -> IngestedInstances:
    """Return the reader of the instances of an ingested feed; nothing is opened yet.

    Raises:
        NotIngested: the cluster has no catalog.
        MissingVariable: the password of the catalog is not in the environment.
    """
    ingest = feed.cluster(cluster.name).ingest
    if ingest is None or cluster.interfaces.iceberg is None:
        raise NotIngested(feed=feed.name, why=f"needs ingest and interfaces.iceberg on cluster {cluster.name}")
    address = _address(feed.name, cluster.interfaces.iceberg, cluster, variables)
    instances = instances_of(feed, cluster, ingest.event_time)
    namespace, table = instances.table.database, instances.table.table

    @contextmanager
    def opened() -> Iterator[IngestTable]:
        with closing(open_catalog(address, is_look=True)) as catalog:
            yield catalog.open(namespace, table)

    return IngestedInstances(instances=instances, name=f"{address.name}.{namespace}.{table}", open_table=opened)


def _address(feed: str, catalog: IcebergSettings, cluster: Cluster, variables: Variables) -> CatalogAddress:
    if catalog.type is CatalogType.HIVE:
        warehouse = str(cluster.place(catalog.warehouse))
        return CatalogAddress(type=str(catalog.type), uri=catalog.uri, warehouse=warehouse, name=catalog.name)
    try:
        url = make_url(catalog.uri)
    except (ArgumentError, ValueError) as error:
        why = f"needs interfaces.iceberg.uri of cluster {cluster.name}, which is no address of a database: {error}"
        raise NotIngested(feed=feed, why=why) from None
    if url.drivername == "postgresql":
        url = url.set(drivername=_DRIVER)
    if catalog.user is not None:
        url = url.set(username=catalog.user)
    if catalog.env is not None:
        if catalog.env not in variables:
            raise MissingVariable(name=catalog.env)
        url = url.set(password=variables[catalog.env])
    uri, warehouse = url.render_as_string(hide_password=False), str(cluster.place(catalog.warehouse))
    return CatalogAddress(type=str(catalog.type), uri=uri, warehouse=warehouse, name=catalog.name)


def _table(
    context: ActionContext, ingest: Ingest, instances: IngestInstances, address: CatalogAddress
) -> ConnectedTable[WriterProgress]:
    namespace, table = instances.table.database, instances.table.table
    columns = [IngestColumn(name=each.name, type=each.type, is_required=each.required) for each in ingest.columns]
    keys = [IngestColumn(name=each, type="string", is_required=True) for each in instances.partition_columns]
    spec = TableSpec(columns=(*columns, *keys), partition_columns=instances.partition_columns)
    endpoint = Endpoint(catalog=address, namespace=namespace, table=table)

    def ledger() -> Ledger:
        if context.use.ledger is None:
            raise NotIngested(feed=instances.feed, why="is ingested with a ledger alone; configure one in repo.yaml")
        return context.use.ledger

    def connected(fill: FillRows, events: IngestEvents) -> Connection:
        return connect(
            endpoint,
            ledger=ledger(),
            agent=f"ingest {instances.feed}",
            open_catalog=open_catalog,
            create=spec,
            events=events,
            fill=fill,
            filled=instances.partition_columns,
        )

    return ConnectedTable(
        name=f"{address.name}.{namespace}.{table}",
        catalog=partial(open_catalog, address, is_look=True),
        namespace=namespace,
        table=table,
        connect=connected,
        record_writer=built_in_writer(str(ingest.format.type), _settings(ingest.format)),
        ledger=ledger,
        progress_of=lambda name, document: WriterProgress(name=name, document=document),
    )


def _settings(given: RecordFormat) -> Mapping[str, object]:
    """Return the settings of a record writer."""
    match given.type:
        case RecordType.DELIMITED:
            names = ("separator", "quote", "escape", "header", "null")
            return {each: getattr(given, each) for each in names} | {"columns": given.fields}
        case RecordType.REGEX:
            return {"pattern": given.pattern}
        case RecordType.JSON:
            return {}


def _source(ingest: Ingest, cluster: Cluster, clock: Clock, feed: Feed) -> tuple[str, Callable[[Stores], IngestSource]]:
    source = ingest.source
    if source is None:
        return "stdin", partial(_no_source, feed.name)
    return directory_source(
        cluster.place(source.directory),
        source.pattern,
        source.settle.elapsed or _NO_TIME,
        clock,
        after=str(ingest.after),
        archive=None if ingest.archive is None else cluster.place(ingest.archive),
        most_bytes=ingest.commit.bytes,
    )


def _no_source(feed: str, stores: Stores) -> IngestSource:
    del stores
    raise NotIngested(feed=feed, why="has no `ingest.source`; give the records by --stdin, or add a source")
