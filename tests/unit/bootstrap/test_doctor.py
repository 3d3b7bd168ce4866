from __future__ import annotations

import os
from pathlib import Path

import pytest

from toolkit.bootstrap.config import RepoRequest
from toolkit.bootstrap.doctor import DoctorOptions, diagnose
from toolkit.clock import SystemClock
from toolkit.doctor.findings import Checked, CheckStatus
from toolkit.entities import UnknownName
from toolkit.entities.errors import NotInEnvironment

_CLUSTER = "kind: cluster\nname: {name}\ninterfaces: {{write: {{endpoint: 'file://{data}/{name}'}}}}\n"


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    """Two clusters of local directories, one of which the environment `dev` may act on."""
    for folder in ("clusters", "environments", "a", "b"):
        (tmp_path / folder).mkdir()
    (tmp_path / "repo.yaml").write_text(f"name: doctor\nenvironments: [dev]\nledger: sqlite:///{tmp_path}/ledger.db\n")
    (tmp_path / "environments/dev.yaml").write_text("clusters: [a]\n")
    for name in ("a", "b"):
        (tmp_path / f"clusters/{name}.yaml").write_text(_CLUSTER.format(name=name, data=tmp_path))
    return tmp_path


def _diagnosed(repo: Path, cluster: str | None = None, environment: str | None = None) -> tuple[Checked, ...]:
    variables = {**os.environ, "PATH": "", "HADOOP_CONF_DIR": ""}
    request = RepoRequest(config_repo=str(repo), environment=environment, variables=variables)
    return diagnose(DoctorOptions(cluster=cluster, repo=request, seconds=10), SystemClock().now())


def _clusters(found: tuple[Checked, ...]) -> list[str]:
    return sorted({each.about for each in found if each.about.startswith("cluster ")})


def test_all_clusters_or_the_one_or_those_of_the_environment_are_looked_at(repo: Path) -> None:
    assert _clusters(_diagnosed(repo)) == ["cluster a", "cluster b"]
    assert _clusters(_diagnosed(repo, cluster="b")) == ["cluster b"]
    assert _clusters(_diagnosed(repo, environment="dev")) == ["cluster a"]


def test_a_cluster_that_is_unknown_or_not_of_the_environment_is_wrong_usage(repo: Path) -> None:
    with pytest.raises(UnknownName):
        _diagnosed(repo, cluster="c")
    with pytest.raises(NotInEnvironment):
        _diagnosed(repo, cluster="b", environment="dev")
    with pytest.raises(UnknownName):
        _diagnosed(repo, environment="prod")


def test_a_problem_of_the_repo_is_a_finding_and_the_usable_clusters_are_looked_at(repo: Path) -> None:
    (repo / "clusters/b.yaml").write_text("kind: cluster\nname: b\n")
    found = _diagnosed(repo)
    (config,) = (each.finding for each in found if each.about == "config")
    assert (config.status, config.todo) == (CheckStatus.FAILED, "see feedctl lint")
    assert _clusters(found) == ["cluster a"]


def test_without_a_config_repo_the_machine_is_still_looked_at(tmp_path: Path) -> None:
    found = _diagnosed(tmp_path)
    status = {each.about: each.finding.status for each in found}
    assert status["config"] is CheckStatus.FAILED
    assert {"driver", "tokens", "ledger"} <= set(status)


def test_settings_that_contradict_each_other_or_are_no_place_are_findings(repo: Path) -> None:
    text = "kind: cluster\nname: a\ninterfaces: {write: {endpoint: 'ofs://volume'}}\nlocations: {temp: relative}\n"
    (repo / "clusters/a.yaml").write_text(text)
    found = {each.name: each.finding for each in _diagnosed(repo, cluster="a") if each.about == "cluster a"}
    assert found["write"].status is CheckStatus.FAILED


def test_no_executors_are_asked_for_unless_wanted(repo: Path) -> None:
    assert "executors" not in {each.about for each in _diagnosed(repo)}


def test_a_table_on_a_cluster_without_a_registry_is_passed_over(repo: Path) -> None:
    (repo / "feeds").mkdir()
    (repo / "feeds/t.yaml").write_text(
        'kind: feed\nname: t\nfrequency: days(1)\ntable: "catalog:logs:t#ds=${YEAR}-${MONTH}-${DAY}"\n'
        "clusters: [{name: a, validity: {start: 2026-01-01T00:00Z, end: 2099-01-01T00:00Z}}]\n"
    )
    (found,) = (each.finding for each in _diagnosed(repo, cluster="a") if each.name == "feed")
    assert (found.what, found.status, "no registry" in found.found) == ("t", CheckStatus.SKIPPED, True)
