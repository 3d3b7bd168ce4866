"""Fixtures of the test bed; `tests/conftest.py` loads them for all tests.

Servers are shared by all workers of one run of pytest, start when the first test asks, and end with the run.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeVar
from uuid import uuid4

import hdfs_native
import pytest

from tests.databases.postgresql import PostgresServer
from tests.testbed.activemq import ActiveMQ
from tests.testbed.client import Testbed
from tests.testbed.cloud_places import CloudPlace, cloud_place
from tests.testbed.clouds import Azure, Cloud, Gcs
from tests.testbed.controller import Controller
from tests.testbed.fault_proxy import FaultProxy, fault_proxy
from tests.testbed.hdfs import HdfsCluster
from tests.testbed.kafka_broker import KafkaBroker
from tests.testbed.metastore import HiveMetastoreServer
from tests.testbed.metastore_on_postgres import metastore_on
from tests.testbed.missing import LeftOut, Missing
from tests.testbed.s3 import S3Store
from tests.testbed.spark import SparkStandalone
from toolkit.catalog.port import CatalogSpec

_Cloud = TypeVar("_Cloud", bound=Cloud)


def controlling(config: pytest.Config) -> Controller:
    """The process of this run of pytest that outlives its workers."""
    return Controller.of(os.getppid() if hasattr(config, "workerinput") else os.getpid())


def pytest_sessionfinish(session: pytest.Session) -> None:
    """End the servers with the run; its supervisor does so anyhow when the run is killed."""
    if not hasattr(session.config, "workerinput"):
        Testbed(controller=controlling(session.config)).end()


@contextlib.contextmanager
def needing_programs() -> Iterator[None]:
    """Without Java or Maven tests are skipped, except in CI, where they must run."""
    try:
        yield
    except Missing as missing:
        if os.environ.get("CI") and not isinstance(missing, LeftOut):
            pytest.fail(str(missing))
        pytest.skip(str(missing))


@pytest.fixture(scope="session")
def testbed(pytestconfig: pytest.Config) -> Testbed:
    """The servers of this run; none is started yet."""
    return Testbed(controller=controlling(pytestconfig))


@pytest.fixture(scope="session")
def hdfs(testbed: Testbed) -> HdfsCluster:
    """An HDFS that all tests share; nobody stops it."""
    with needing_programs():
        return HdfsCluster.of(testbed)


@pytest.fixture
def hdfs_dir(hdfs: HdfsCluster) -> Iterator[str]:
    """The URI of a new directory on `hdfs`, this test's own and open to all users."""
    client, path = hdfs_native.Client(hdfs.uri), f"/tests/{uuid4().hex}"
    client.mkdirs(path, permission=0o777, create_parent=True)
    client.set_permission(path, 0o777)
    yield f"{hdfs.uri}{path}"
    client.delete(path, recursive=True)


@pytest.fixture
def restartable_hdfs(testbed: Testbed) -> Iterator[HdfsCluster]:
    """Another HDFS, for one test at a time: it may stop, freeze and start its processes."""
    with needing_programs():
        cluster = HdfsCluster.of(testbed, "restartable_hdfs")
    with testbed.alone("restartable_hdfs"):
        try:
            yield cluster
        finally:
            cluster.repair()


@pytest.fixture
def other_hdfs(testbed: Testbed) -> Iterator[HdfsCluster]:
    """Another HDFS that many tests share: that of `restartable_hdfs`, while no test stops it."""
    with needing_programs():
        cluster = HdfsCluster.of(testbed, "restartable_hdfs")
    with testbed.shared("restartable_hdfs"):
        yield cluster


@pytest.fixture(scope="session")
def metastore(testbed: Testbed) -> HiveMetastoreServer:
    """A Hive metastore that all tests share; nobody stops it. Databases are a test's own."""
    with needing_programs():
        return HiveMetastoreServer.of(testbed)


@pytest.fixture(scope="session")
def metastore_4(testbed: Testbed) -> HiveMetastoreServer:
    """One of Hive 4; nobody stops it."""
    with needing_programs():
        return HiveMetastoreServer.of(testbed, "metastore_4")


@pytest.fixture(scope="session")
def metastore_events(testbed: Testbed) -> HiveMetastoreServer:
    """One that keeps notification events; nobody stops it."""
    with needing_programs():
        return HiveMetastoreServer.of(testbed, "metastore_events")


@pytest.fixture(scope="session")
def metastore_on_postgres(postgres_server: PostgresServer) -> Iterator[CatalogSpec]:
    """One whose data are on PostgreSQL, of this process alone."""
    with needing_programs(), metastore_on(postgres_server) as uri:
        yield CatalogSpec(uris=uri)


@pytest.fixture
def restartable_metastore(testbed: Testbed) -> Iterator[HiveMetastoreServer]:
    """Another one, for one test at a time: it may stop, freeze and start it."""
    with needing_programs():
        server = HiveMetastoreServer.of(testbed, "restartable_metastore")
    with testbed.alone("restartable_metastore"):
        try:
            yield server
        finally:
            server.repair()


@pytest.fixture
def other_metastore(testbed: Testbed) -> Iterator[HiveMetastoreServer]:
    """Another metastore that many tests share: that of `restartable_metastore`, while no test stops it."""
    with needing_programs():
        server = HiveMetastoreServer.of(testbed, "restartable_metastore")
    with testbed.shared("restartable_metastore"):
        yield server


@pytest.fixture(scope="session")
def shared_s3(testbed: Testbed) -> S3Store:
    """The S3 of this run, without credentials in the environment; most tests want `s3`."""
    return S3Store.of(testbed)


@pytest.fixture
def s3(shared_s3: S3Store, monkeypatch: pytest.MonkeyPatch) -> S3Store:
    """The S3 that all tests share; the test's environment has its credentials and no others."""
    _set_credentials(shared_s3, monkeypatch)
    return shared_s3


@pytest.fixture
def s3_bucket(s3: S3Store) -> str:
    """The name of a new, empty bucket, this test's own; it is left to the end of the run."""
    name = f"test-{uuid4().hex}"
    with s3.client() as client:
        client.create_bucket(Bucket=name)
    return name


@pytest.fixture
def gcs(testbed: Testbed, monkeypatch: pytest.MonkeyPatch) -> Gcs:
    """The Google Cloud Storage that all tests share; the test's environment leads there."""
    with needing_programs():
        return _entered(Gcs.of(testbed), monkeypatch)


@pytest.fixture
def azure(testbed: Testbed, monkeypatch: pytest.MonkeyPatch) -> Azure:
    """The Azure Blob Storage that all tests share; the test's environment leads there."""
    with needing_programs():
        return _entered(Azure.of(testbed), monkeypatch)


@pytest.fixture
def on_gcs(gcs: Gcs, monkeypatch: pytest.MonkeyPatch) -> Iterator[CloudPlace]:
    """A new bucket of Google Cloud Storage, reached through a proxy."""
    with cloud_place(gcs, monkeypatch) as place:
        yield place


@pytest.fixture
def on_azure(azure: Azure, monkeypatch: pytest.MonkeyPatch) -> Iterator[CloudPlace]:
    """A new container of Azure, reached through a proxy."""
    with cloud_place(azure, monkeypatch) as place:
        yield place


def _entered(cloud: _Cloud, monkeypatch: pytest.MonkeyPatch) -> _Cloud:
    for name in ("AZURE_STORAGE_ACCOUNT_KEY", "GOOGLE_APPLICATION_CREDENTIALS"):
        monkeypatch.delenv(name, raising=False)
    for name, value in cloud.environment.items():
        monkeypatch.setenv(name, value)
    return cloud


@dataclass(frozen=True, kw_only=True, slots=True)
class FaultyS3:
    """The shared S3 behind a proxy of this test's own.

    Args:
        store: the way through the proxy; give its endpoint to what is tested.
        proxy: where faults are planned and requests were noted.
    """

    store: S3Store
    proxy: FaultProxy


@pytest.fixture
def s3_faults(s3: S3Store) -> Iterator[FaultyS3]:
    """The shared S3 behind a proxy that does what the test tells it; without faults it only notes requests."""
    with fault_proxy(s3.port) as proxy:
        yield FaultyS3(store=S3Store(port=proxy.port), proxy=proxy)


@pytest.fixture
def activemq(testbed: Testbed) -> Iterator[ActiveMQ]:
    """A message broker, for one test at a time: it may stop and start it."""
    with needing_programs():
        broker = ActiveMQ.of(testbed)
    with testbed.alone("activemq"):
        broker.start()
        yield broker


@pytest.fixture
def kafka(testbed: Testbed) -> Iterator[KafkaBroker]:
    """A Kafka broker, for one test at a time: it may kill and start it."""
    with needing_programs():
        broker = KafkaBroker.of(testbed)
    with testbed.alone("kafka"):
        broker.start()
        yield broker


@pytest.fixture
def spark_cluster(testbed: Testbed) -> Iterator[SparkStandalone]:
    """Spark standalone, for one test at a time, with all its cores free."""
    with needing_programs():
        cluster = SparkStandalone.of(testbed)
    with testbed.alone("spark"):
        cluster.wait_idle()
        yield cluster


def _set_credentials(store: S3Store, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_PROFILE", "AWS_SESSION_TOKEN", "AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3", "AWS_REGION"):
        monkeypatch.delenv(name, raising=False)
    for name, value in store.environment.items():
        monkeypatch.setenv(name, value)
