"""Which store a result file is on, and what is known about it."""

from __future__ import annotations

from pathlib import Path

import pytest

from toolkit.bootstrap.config import RepoRequest
from toolkit.bootstrap.result_store import result_place
from toolkit.bootstrap.store_settings import ConflictingHadoopConf
from toolkit.el import CanonicalPath

CLUSTERS = {
    "ha": """\
kind: cluster
name: ha
interfaces: {write: {endpoint: "hdfs://ns1/data"}, readonly: {endpoint: "webhdfs://nn1:9870"}}
hadoop_conf:
  dfs.nameservices: ns1
  dfs.ha.namenodes.ns1: a,b
  dfs.namenode.rpc-address.ns1.a: nn1:8020
  dfs.namenode.rpc-address.ns1.b: nn2:8020
""",
    "store": """\
kind: cluster
name: store
interfaces: {write: {endpoint: "s3a://lake/"}}
hadoop_conf: {fs.s3a.endpoint: "http://store:9000", fs.s3a.path.style.access: true}
""",
}


@pytest.fixture
def repo(tmp_path: Path) -> str:
    """A config repo of two clusters."""
    (tmp_path / "repo.yaml").write_text("name: test\n")
    (tmp_path / "clusters").mkdir()
    for name, text in CLUSTERS.items():
        (tmp_path / "clusters" / f"{name}.yaml").write_text(text)
    return str(tmp_path)


def place(text: str, repo: str) -> tuple[str, dict[str, str]]:
    """The place as it is named then, and the settings of its store."""
    found = result_place(CanonicalPath.parse(text), RepoRequest(config_repo=repo, variables={}))
    assert (found.spec.scheme, found.spec.authority) == (found.path.scheme, found.path.authority)
    return str(found.path), dict(found.spec.hadoop_conf)


def test_a_store_of_a_cluster_has_the_settings_of_that_cluster_alone(repo: str) -> None:
    path, conf = place("s3a://lake/results/r.json", repo)
    assert path == "s3://lake/results/r.json"
    assert conf == {"fs.s3a.endpoint": "http://store:9000", "fs.s3a.path.style.access": "true"}


def test_a_name_node_is_known_as_its_name_service(repo: str) -> None:
    path, conf = place("hdfs://nn2:8020/results/r.json", repo)
    assert path == "hdfs://ns1/results/r.json"
    assert conf["dfs.ha.namenodes.ns1"] == "a,b"


@pytest.mark.parametrize("text", ["s3://other/r.json", "hdfs://elsewhere/r.json", "file:///tmp/r.json"])
def test_any_other_store_is_known_from_the_environment_alone(text: str, repo: str) -> None:
    assert place(text, repo) == (text, {})


def test_clusters_that_describe_one_end_point_differently_are_refused(repo: str) -> None:
    """The result must not go to whichever store comes first."""
    other = CLUSTERS["store"].replace("name: store", "name: other").replace("store:9000", "elsewhere:9000")
    (Path(repo) / "clusters" / "other.yaml").write_text(other)
    with pytest.raises(ConflictingHadoopConf):
        place("s3a://lake/results/r.json", repo)


def test_a_broken_config_repo_does_not_matter_here(repo: str) -> None:
    (Path(repo) / "clusters" / "bad.yaml").write_text("kind: cluster\nname: other\n")
    assert place("s3://lake/r.json", repo) == ("s3://lake/r.json", {})


def test_neither_does_one_that_is_not_there(tmp_path: Path) -> None:
    assert place("s3://lake/r.json", str(tmp_path / "none")) == ("s3://lake/r.json", {})
