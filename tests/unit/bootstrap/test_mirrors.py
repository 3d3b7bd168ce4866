"""WebHDFS of a cluster, and the settings of a run without feeds."""

from __future__ import annotations

import pytest

from toolkit.bootstrap.mirrors import NoSnapshots, owner_of, web_spec
from toolkit.bootstrap.storages import StoreChoice
from toolkit.entities import Cluster, Interface, Interfaces
from toolkit.storage import StorageSpec


def _cluster(write: str, readonly: str | None = None, **conf: str) -> Cluster:
    settings = {f"dfs.{key.replace('__', '.').replace('_', '-')}": value for key, value in conf.items()}
    interface = None if readonly is None else Interface(endpoint=readonly)
    interfaces = Interfaces(write=Interface(endpoint=write), readonly=interface)
    return Cluster(name="one", interfaces=interfaces, hadoop_conf=settings)


def _web(cluster: Cluster) -> tuple[str, str]:
    path = cluster.place("/data/sales")
    spec = StoreChoice(others=[cluster]).spec_of(path)
    found = web_spec(path, cluster, spec, {})
    assert found.hadoop_conf == spec.hadoop_conf
    return found.scheme, found.authority


def test_webhdfs_is_at_the_cluster_itself_its_readonly_end_point_its_settings_or_the_usual_port() -> None:
    assert _web(_cluster("webhdfs://nn:50070")) == ("webhdfs", "nn:50070")
    assert _web(_cluster("hdfs://nn:9000", "swebhdfs://nn:9871")) == ("swebhdfs", "nn:9871")
    assert _web(_cluster("hdfs://nn:9000", namenode__http_address="web:1234")) == ("webhdfs", "web:1234")
    assert _web(_cluster("hdfs://nn:9000")) == _web(_cluster("hdfs://nn")) == ("webhdfs", "nn")
    service = {"nameservices": "ns", "ha__namenodes__ns": "a,b"}
    assert _web(_cluster("hdfs://ns", **service)) == ("webhdfs", "ns")


def test_a_store_without_snapshots_is_refused_by_name() -> None:
    with pytest.raises(NoSnapshots, match="file:///data/sales is not on HDFS"):
        _web(_cluster("file:///"))


def test_a_run_without_feeds_reaches_a_store_by_the_settings_of_its_cluster() -> None:
    cluster = _cluster("hdfs://nn", replication="2")
    found = StoreChoice(others=[cluster]).spec_of(cluster.place("/data/sales"))
    assert found == StorageSpec(scheme="hdfs", authority="nn", hadoop_conf={"dfs.replication": "2"})


def test_no_two_repos_and_environments_have_one_owner() -> None:
    owners = [owner_of(repo, environment) for repo in (None, "a", "b") for environment in ("", "a", "b")]
    assert len(set(owners)) == len(owners)
    assert owner_of("web", "prod") == "web.prod"
