"""Rules about single values: end points, values that no action does yet."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from toolkit.el import ElError
from toolkit.entities import (
    STOMP_ENDPOINT,
    Cluster,
    Datasource,
    DatasourceInterface,
    DatasourceType,
    Interface,
    Messaging,
    Process,
    Repository,
)
from toolkit.entities.addresses import outside_audit_file
from toolkit.entities.not_implemented import NotImplementedValue, not_implemented
from toolkit.entities.source_files import REPO_FILE
from toolkit.linter.findings import Hit
from toolkit.linter.rule import Check, LintContext


@dataclass(frozen=True, slots=True)
class _Kind:
    """The shape of an end point, and the same in words."""

    shape: re.Pattern[str]
    expected: str


def _kind(shape: str, expected: str) -> _Kind:
    return _Kind(re.compile(shape), expected)


_HOST = r"[A-Za-z0-9_.${}:-]+"
_STORES = r"file:/|(?:hdfs|viewfs|ofs|s3|s3a|s3n|gs|abfs|abfss|wasb|wasbs)://[^/]"
_MASTER = rf"yarn(?:-client|-cluster)?|local(?:\[[^\]]+\])?|local-cluster\[[^\]]+\]|(?:spark|k8s)://{_HOST}.*"

_INTERFACES: Mapping[str, _Kind] = MappingProxyType(
    {
        "write": _kind(
            rf"(?:{_STORES}).*", "a file system: file:///DIR, hdfs://HOST:PORT, s3a://BUCKET, gs://, abfs://"
        ),
        "readonly": _kind(
            rf"(?:{_STORES}|s?webhdfs://[^/]).*", "webhdfs://HOST:PORT, or a file system such as hdfs://HOST:PORT"
        ),
        "execute": _kind(rf"{_HOST}|https?://{_HOST}.*", "the resource manager's HOST:PORT"),
        "workflow": _kind(rf"https?://{_HOST}.*", "http:// or https://"),
        "registry": _kind(rf"thrift://{_HOST}(?:,thrift://{_HOST})*/?", "thrift://HOST:PORT"),
        "messaging": _Kind(STOMP_ENDPOINT, "the broker's STOMP connector: stomp://HOST:PORT or stomp+ssl://HOST:PORT"),
        "spark": _kind(_MASTER, "yarn-cluster, yarn-client, local, local[N], spark://HOST:PORT or k8s://URL"),
    }
)


def table_without_registry(context: LintContext) -> Iterator[Hit]:
    """Report the clusters of a table feed that name no metastore, whatever their file system is.

    A table of streaming ingest is in the Iceberg catalog of the cluster.
    """
    clusters = context.repository.clusters
    for _, feed in sorted(context.repository.feeds.items()):
        for index, each in enumerate(feed.clusters if feed.is_table else ()):
            cluster = clusters.get(each.name)
            if cluster is None or cluster.interfaces.registry or each.ingest:
                continue
            yield Hit(
                subject=feed.name,
                pointer=("clusters", index, "name"),
                message=f"the feed is a table, but the cluster {each.name} has no registry",
                hint=f"add interfaces: {{registry: {{endpoint: thrift://HOST:PORT}}}} to {each.name}",
                related=(each.name,),
            )


def shared_directory(context: LintContext) -> Iterator[Hit]:
    """The directories for feedctl's own work on a cluster are two."""
    for _, cluster in sorted(context.repository.clusters.items()):
        staging, working = cluster.locations.staging, cluster.locations.working
        if staging and working and _same_place(cluster, staging, working):
            yield Hit(
                subject=cluster.name,
                pointer=("locations", "working"),
                message=f"working is {working}, the same place as staging",
                hint="give each a directory of its own",
            )


def _same_place(cluster: Cluster, one: str, other: str) -> bool:
    try:
        return cluster.place(f"{one.rstrip('/')}/") == cluster.place(f"{other.rstrip('/')}/")
    except ElError:
        return one == other


def table_roots(context: LintContext) -> Iterator[Hit]:
    """Report directories of `locations.tables` that cannot bound what owners of tables choose."""
    for _, cluster in sorted(context.repository.clusters.items()):
        for index, text in enumerate(cluster.locations.tables):
            if why := _why_no_root(cluster, text):
                yield Hit(
                    subject=cluster.name,
                    pointer=("locations", "tables", index),
                    message=f"found {text!r}, {why}",
                    hint="name the directory that partitions outside of their table's own directory are in",
                )


def _why_no_root(cluster: Cluster, text: str) -> str:
    try:
        place = cluster.place(f"{text.rstrip('/')}/")
        is_own_local = cluster.place("/").is_local
    except ElError as error:
        return str(error)
    if place.is_local and not is_own_local:
        return f"a local directory, expected one on a store of the cluster, whose file system is {cluster.default_fs}"
    is_whole = place.path == "/" and not place.in_object_store
    return "a whole file system, expected a directory in it" if is_whole else ""


_DATABASES: Mapping[DatasourceType, _Kind] = MappingProxyType(
    {
        DatasourceType.MYSQL: _kind(r"jdbc:(?:mysql|mariadb):.*", "jdbc:mysql://"),
        DatasourceType.ORACLE: _kind(r"jdbc:oracle:.*", "jdbc:oracle:thin:@"),
        DatasourceType.HSQL: _kind(r"jdbc:hsqldb:.*", "jdbc:hsqldb:"),
        DatasourceType.POSTGRES: _kind(r"jdbc:postgresql:.*", "jdbc:postgresql://"),
        DatasourceType.DB2: _kind(r"jdbc:db2:.*", "jdbc:db2://"),
        DatasourceType.NETEZZA: _kind(r"jdbc:netezza:.*", "jdbc:netezza://"),
        DatasourceType.TERADATA: _kind(r"jdbc:teradata:.*", "jdbc:teradata://"),
        DatasourceType.GENERIC: _kind(r"jdbc:.+", "jdbc:"),
    }
)


def endpoint_type(context: LintContext) -> Iterator[Hit]:
    """An end point is of the kind that its interface needs."""
    for _, cluster in sorted(context.repository.clusters.items()):
        yield from _cluster_hits(cluster)
    for _, datasource in sorted(context.repository.datasources.items()):
        yield from _datasource_hits(datasource)


def _cluster_hits(cluster: Cluster) -> Iterator[Hit]:
    for name, kind in _INTERFACES.items():
        found = _interface(cluster, name)
        if found is not None and not kind.shape.fullmatch(found.endpoint):
            yield _endpoint_hit(cluster.name, name, found.endpoint, kind, f"the interface {name}")


def _interface(cluster: Cluster, name: str) -> Interface | Messaging | None:
    all_of = cluster.interfaces
    return {
        "write": all_of.write,
        "readonly": all_of.readonly,
        "execute": all_of.execute,
        "workflow": all_of.workflow,
        "registry": all_of.registry,
        "messaging": all_of.messaging,
        "spark": all_of.spark,
    }[name]


def _datasource_hits(datasource: Datasource) -> Iterator[Hit]:
    both = {"readonly": datasource.interfaces.readonly, "write": datasource.interfaces.write}
    kind = _DATABASES[datasource.type]
    for name, found in both.items():
        if isinstance(found, DatasourceInterface) and not kind.shape.fullmatch(found.endpoint):
            yield _endpoint_hit(datasource.name, name, found.endpoint, kind, f"a datasource of type {datasource.type}")


def _endpoint_hit(subject: str, name: str, endpoint: str, kind: _Kind, where: str) -> Hit:
    return Hit(
        subject=subject,
        pointer=("interfaces", name, "endpoint"),
        message=f"found the end point {endpoint!r} for {where}, expected {kind.expected}",
        hint=_hint(name, endpoint),
    )


_OPENWIRE = ("tcp:", "ssl:", "nio:", "nio+ssl:", "failover:")


def _hint(name: str, endpoint: str) -> str:
    if endpoint.startswith(("hftp:", "hsftp:")):
        return "hftp is gone from Hadoop 3; webhdfs took its place"
    if name == "messaging" and endpoint.startswith(_OPENWIRE):
        return "that is OpenWire's; ActiveMQ's STOMP connector has a port of its own, 61613 unless it was changed"
    others = [
        other
        for other, kind in _INTERFACES.items()
        if other not in {name, "execute"} and kind.shape.fullmatch(endpoint)
    ]
    return f"that is an end point for {' or '.join(others)}" if others else ""


def unimplemented_value(context: LintContext) -> Iterator[Hit]:
    """A value means an action that exists."""
    for each in not_implemented(context.repository.settings):
        yield _refused_hit(REPO_FILE, each)
    evicted = {each.name for feed in context.repository.feeds.values() for each in feed.clusters if each.retention}
    for entity in context.repository.entities():
        if isinstance(entity, Cluster) and entity.name not in evicted:
            continue  # nothing opens its store
        for each in not_implemented(entity):
            yield _refused_hit(entity.name, each)
    for process in context.repository.processes.values():
        yield from _validated_tables(process, context.repository)
        yield from _prepared_tables(process, context.repository)


def _validated_tables(process: Process, repository: Repository) -> Iterator[Hit]:
    """Find processes that write partitions in place, where data cannot be validated before it is visible."""
    for name, output in sorted(process.outputs.items()):
        feed = repository.feeds.get(output.feed)
        there = () if feed is None else tuple(each.name for each in process.clusters)
        for cluster in there:
            if feed is not None and feed.table_on(cluster) and (output.suites or feed.quality_on(cluster)):
                yield Hit(
                    subject=process.name,
                    pointer=("outputs", name, "feed"),
                    message=f"quality of {feed.name}, a table that a process makes, is not implemented yet, and the "
                    "process action refuses it",
                    hint="let the process make a path feed with quality, or remove the quality of this one",
                    related=(feed.name,),
                )
                break


def _prepared_tables(process: Process, repository: Repository) -> Iterator[Hit]:
    """Outputs that are tables, of which no partition is dropped before a run."""
    for name, output in sorted(process.outputs.items()):
        feed = repository.feeds.get(output.feed)
        if output.prepare is None or feed is None or not any(feed.table_on(each.name) for each in process.clusters):
            continue
        yield Hit(
            subject=process.name,
            pointer=("outputs", name, "prepare"),
            message=f"prepare: {output.prepare} of {feed.name}, which is a table, is not implemented yet, and the "
            "process action refuses it",
            hint="let the workflow overwrite the partition (INSERT OVERWRITE), and remove prepare",
            related=(feed.name,),
        )


def _refused_hit(subject: str, found: NotImplementedValue) -> Hit:
    return Hit(
        subject=subject,
        pointer=found.pointer,
        message=f"{found.value} is not implemented yet, and {found.area.consequence}",
        hint=found.instead,
        on_key=found.on_key,
    )


def audit_file_outside(context: LintContext) -> Iterator[Hit]:
    """The config repo names no audit file outside of itself, unless that was accepted by name."""
    settings = context.repository.settings
    if outside_audit_file(settings):
        yield Hit(
            subject=REPO_FILE,
            pointer=("audit_file",),
            message=f"audit_file is {settings.audit_file}, outside of the config repo, expected a file below it",
            hint="let the operator name it in FEEDCTL_AUDIT, or accept this rule by name",
        )


CHECKS: Mapping[str, Check] = {
    "endpoint-type": endpoint_type,
    "table-without-registry": table_without_registry,
    "staging-is-working": shared_directory,
    "table-root": table_roots,
    "not-implemented": unimplemented_value,
    "audit-file-outside": audit_file_outside,
}
