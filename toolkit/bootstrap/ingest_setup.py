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
from toolkit.entities.ingest import BadRecordRule, CatalogType, DataLossRule, IngestDirectory, IngestTopic, RecordType
from toolkit.ingest.connection import connect
from toolkit.ingest.endpoint import CatalogAddress, Endpoint
from toolkit.ingest.extra import KAFKA, require_extra
from toolkit.ingest.iceberg import open_catalog
from toolkit.ingest.port import IngestColumn, TableSpec
from toolkit.ingest.slot import last_fence
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
    from toolkit.ingest.connection import Connection
    from toolkit.ingest.port import IngestTable
    from toolkit.ingest.remote_transaction import FillRows
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
        source=_source(ingest, cluster, clock, feed, context.variables),
        directory=None if ingest.files is None else cluster.place(ingest.files.directory),
        settle=_NO_TIME if ingest.files is None else ingest.files.settle.elapsed or _NO_TIME,
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

    name = f"{address.name}.{namespace}.{table}"

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
        name=name,
        catalog=partial(open_catalog, address, is_look=True),
        namespace=namespace,
        table=table,
        connect=connected,
        record_writer=built_in_writer(str(ingest.format.type), _settings(ingest.format)),
        ledger=ledger,
        last_fence=partial(last_fence, context.use.ledger, name),
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


def _source(
    ingest: Ingest, cluster: Cluster, clock: Clock, feed: Feed, variables: Variables
) -> tuple[str, Callable[[Stores], IngestSource]]:
    match ingest.source:
        case None:
            return "stdin", partial(_no_source, feed.name)
        case IngestTopic() as topic:
            return f"kafka.{topic.kafka}", partial(_topic_source, topic, variables, ingest.commit.bytes)
        case IngestDirectory() as files:
            return directory_source(
                cluster.place(files.directory),
                files.pattern,
                files.settle.elapsed or _NO_TIME,
                clock,
                after=str(ingest.after),
                archive=None if ingest.archive is None else cluster.place(ingest.archive),
                most_bytes=ingest.commit.bytes,
            )


def _topic_source(topic: IngestTopic, variables: Variables, most_bytes: int, stores: Stores) -> IngestSource:
    del stores
    require_extra(modules=KAFKA)
    from toolkit.ingest_job.kafka import KafkaSource  # noqa: PLC0415 - loads a package that only a topic needs

    return KafkaSource(
        topic=topic.kafka,
        group=topic.group,
        settings=client_settings(topic, variables),
        skips_lost=topic.on_data_loss is DataLossRule.SKIP,
        most_bytes=most_bytes,
    )


def client_settings(topic: IngestTopic, variables: Variables) -> Mapping[str, str]:
    """Return the properties of librdkafka for the connections to the brokers of a topic.

    Raises:
        MissingVariable: the password is not in the environment.
    """
    security = topic.security
    settings = {"bootstrap.servers": topic.bootstrap}
    if security is None:
        return settings
    settings["security.protocol"] = str(security.protocol)
    if security.ca is not None:
        settings["ssl.ca.location"] = security.ca
    if security.mechanism is not None and security.user is not None and security.env is not None:
        if security.env not in variables:
            raise MissingVariable(name=security.env)
        password = variables[security.env]
        settings |= {
            "sasl.mechanism": str(security.mechanism),
            "sasl.username": security.user,
            "sasl.password": password,
        }
    return settings


def _no_source(feed: str, stores: Stores) -> IngestSource:
    del stores
    raise NotIngested(feed=feed, why="has no `ingest.source`; give the records by --stdin, or add a source")
