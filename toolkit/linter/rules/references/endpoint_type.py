"""An end point is of the kind that its interface needs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from toolkit.entities import Cluster, Datasource, DatasourceInterface, DatasourceType, Interface
from toolkit.linter.context import LintContext
from toolkit.linter.findings import Hit, Severity
from toolkit.linter.rule import Rule


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
        "messaging": _kind(r"(?:tcp|ssl|nio|nio\+ssl|amqp|amqps|vm)://.+|failover:.+", "tcp:// or ssl://"),
        "spark": _kind(_MASTER, "yarn-cluster, yarn-client, local, local[N], spark://HOST:PORT or k8s://URL"),
    }
)

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


def _check(context: LintContext) -> Iterator[Hit]:
    for _, cluster in sorted(context.repository.clusters.items()):
        yield from _cluster_hits(cluster)
    for _, datasource in sorted(context.repository.datasources.items()):
        yield from _datasource_hits(datasource)


def _cluster_hits(cluster: Cluster) -> Iterator[Hit]:
    for name, kind in _INTERFACES.items():
        found = _interface(cluster, name)
        if found is not None and not kind.shape.fullmatch(found.endpoint):
            yield _hit(cluster.name, name, found.endpoint, kind, f"the interface {name}")


def _interface(cluster: Cluster, name: str) -> Interface | None:
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
            yield _hit(datasource.name, name, found.endpoint, kind, f"a datasource of type {datasource.type}")


def _hit(subject: str, name: str, endpoint: str, kind: _Kind, where: str) -> Hit:
    return Hit(
        subject=subject,
        pointer=("interfaces", name, "endpoint"),
        message=f"found the end point {endpoint!r} for {where}, expected {kind.expected}",
        hint=_hint(name, endpoint),
    )


def _hint(name: str, endpoint: str) -> str:
    if endpoint.startswith(("hftp:", "hsftp:")):
        return "hftp is gone from Hadoop 3; webhdfs took its place"
    others = [
        other
        for other, kind in _INTERFACES.items()
        if other not in {name, "execute"} and kind.shape.fullmatch(endpoint)
    ]
    return f"that is an end point for {' or '.join(others)}" if others else ""


RULE = Rule(
    id="endpoint-type",
    name="An end point is of the kind that its interface needs",
    severity=Severity.ERROR,
    rationale=(
        "Each interface is spoken to in one way: file systems by their own scheme, the metastore by thrift, the web "
        "by http, Spark by the name of a master, databases by the JDBC URL of their type. Another kind of end point "
        "is found out by the first action only, mostly after a long time-out."
    ),
    bad="""\
# clusters/primary.yaml
interfaces:
  write: {endpoint: "webhdfs://namenode:9870"}
  registry: {endpoint: "http://metastore:9083"}
""",
    good="""\
# clusters/primary.yaml
interfaces:
  write: {endpoint: "hdfs://namenode:8020"}
  registry: {endpoint: "thrift://metastore:9083"}
""",
    source="Falcon entity specification, Cluster: interfaces",
    check=_check,
)
