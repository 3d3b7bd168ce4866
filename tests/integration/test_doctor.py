"""`feedctl doctor` against servers that are up, dead and frozen."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from tests.testbed.hdfs import HdfsCluster
from tests.testbed.s3 import S3Store
from tests.unit.doctor.servers import unused_port
from toolkit.bootstrap.config import RepoRequest
from toolkit.bootstrap.doctor import DoctorOptions, diagnose
from toolkit.clock import SystemClock
from toolkit.doctor.findings import Checked, CheckResult, CheckStatus

_FEED = """\
kind: feed
name: clicks
frequency: hours(1)
locations: {data: "%s/clicks/${YEAR}-${MONTH}-${DAY}-${HOUR}"}
clusters:
  - name: lake
    validity: {start: 2026-01-01T00:00Z, end: 2099-01-01T00:00Z}
    retention: {limit: days(3)}
"""


def _repo(directory: Path, interfaces: str, base: str = "/data", more: str = "") -> DoctorOptions:
    for folder in ("clusters", "feeds"):
        (directory / folder).mkdir(parents=True)
    (directory / "repo.yaml").write_text(f"name: doctor\nledger: sqlite:///{directory}/ledger.db\n")
    (directory / "clusters/lake.yaml").write_text(f"kind: cluster\nname: lake\ninterfaces:\n{interfaces}\n{more}\n")
    (directory / "feeds/clicks.yaml").write_text(_FEED % base)
    return DoctorOptions(repo=RepoRequest(config_repo=str(directory), variables=os.environ), seconds=20)


def _on_lake(found: tuple[Checked, ...]) -> dict[str, CheckResult]:
    return {each.name: each.finding for each in found if each.about == "cluster lake"}


def _hdfs_interfaces(cluster: HdfsCluster) -> str:
    return f'  write: {{endpoint: "{cluster.uri}"}}\n  readonly: {{endpoint: "{cluster.webhdfs}"}}'


def test_an_hdfs_that_is_up_tells_its_version_and_what_may_be_written(
    hdfs: HdfsCluster, hdfs_dir: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = hdfs_dir.removeprefix(hdfs.uri)
    monkeypatch.setenv("HADOOP_USER_NAME", hdfs.superuser)
    locations = f"locations: {{staging: {place}, temp: {place}/none}}"
    found = _on_lake(diagnose(_repo(tmp_path, _hdfs_interfaces(hdfs), place, locations), SystemClock().now()))
    assert {name: finding.status for name, finding in found.items()} == {
        "write": CheckStatus.OK,
        "readonly": CheckStatus.OK,
        "identity": CheckStatus.OK,
        "hadoop": CheckStatus.OK,
        "staging": CheckStatus.OK,
        "temp": CheckStatus.WARNING,
        "feed": CheckStatus.WARNING,
    }
    assert found["hadoop"].found.startswith("Hadoop 3.4")
    assert "active, not in safe mode" in found["hadoop"].found
    assert found["identity"].found.startswith(f"{hdfs.superuser}: HADOOP_USER_NAME")


def test_a_stranger_is_told_what_its_rights_are_and_nothing_is_changed(
    hdfs: HdfsCluster, hdfs_dir: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = hdfs_dir.removeprefix(hdfs.uri)
    monkeypatch.setenv("HADOOP_USER_NAME", "stranger")
    locations = f"locations: {{staging: {place}, temp: /}}"
    found = _on_lake(diagnose(_repo(tmp_path, _hdfs_interfaces(hdfs), place, locations), SystemClock().now()))
    assert (found["staging"].status, found["temp"].status) == (CheckStatus.OK, CheckStatus.WARNING)
    assert "stranger may not write" in found["temp"].found


def test_a_dead_port_fails_within_the_deadline_and_hides_nothing_else(tmp_path: Path) -> None:
    dead = unused_port()
    interfaces = (
        f'  write: {{endpoint: "hdfs://127.0.0.1:{dead}"}}\n  readonly: {{endpoint: "webhdfs://127.0.0.1:{dead}"}}\n'
        f'  registry: {{endpoint: "thrift://127.0.0.1:{dead}"}}\n  execute: {{endpoint: "127.0.0.1:{dead}"}}\n'
        f'  messaging: {{endpoint: "tcp://127.0.0.1:{dead}"}}\n  spark: {{endpoint: local}}'
    )
    begun = time.monotonic()
    everything = diagnose(_repo(tmp_path, interfaces), SystemClock().now())
    assert time.monotonic() - begun < 60
    found = _on_lake(everything)
    broken = {name for name, finding in found.items() if finding.status is CheckStatus.FAILED}
    assert broken == {"write", "readonly", "feed", "registry", "execute", "messaging"}
    assert (found["hadoop"].status, found["spark"].status) == (CheckStatus.SKIPPED, CheckStatus.OK)
    assert {each.about for each in everything} == {"driver", "tokens", "config", "ledger", "cluster lake"}


@pytest.mark.slow
@pytest.mark.extended
def test_a_frozen_name_node_fails_within_the_deadline(restartable_hdfs: HdfsCluster, tmp_path: Path) -> None:
    options = _repo(tmp_path, _hdfs_interfaces(restartable_hdfs))
    restartable_hdfs.freeze_namenode()
    begun = time.monotonic()
    found = _on_lake(diagnose(DoctorOptions(repo=options.repo, seconds=3), SystemClock().now()))
    took = time.monotonic() - begun
    restartable_hdfs.thaw_namenode()
    assert {found[name].found for name in ("write", "readonly", "feed")} == {"no answer within 3 s"}
    assert took < 40


def test_a_bucket_answers_with_the_callers_key_masked(s3: S3Store, s3_bucket: str, tmp_path: Path) -> None:
    conf = ", ".join(f'{key}: "{value}"' for key, value in s3.settings.items())
    interfaces = f'  write: {{endpoint: "s3a://{s3_bucket}"}}'
    found = _on_lake(diagnose(_repo(tmp_path, interfaces, more=f"hadoop_conf: {{{conf}}}"), SystemClock().now()))
    assert found["write"].status is CheckStatus.OK
    assert found["identity"].found.endswith("from the environment (AWS_ACCESS_KEY_ID)")
    assert s3.environment["AWS_SECRET_ACCESS_KEY"] not in repr(found)
    assert "hadoop" not in found


def test_a_bucket_that_does_not_exist_is_a_failure(s3: S3Store, tmp_path: Path) -> None:
    conf = ", ".join(f'{key}: "{value}"' for key, value in s3.settings.items())
    interfaces = '  write: {endpoint: "s3a://no-such-bucket"}'
    found = _on_lake(diagnose(_repo(tmp_path, interfaces, more=f"hadoop_conf: {{{conf}}}"), SystemClock().now()))
    assert found["write"].status is CheckStatus.FAILED
