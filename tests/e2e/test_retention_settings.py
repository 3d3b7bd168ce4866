"""One name of a store, two clusters: the settings of one never lead a run to the store of the other."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.e2e.in_process import run_here
from tests.e2e.retention_process import Repo
from tests.integration.http_answers import Answer, WebServer, serving

_CLUSTER = """\
kind: cluster
name: {name}
interfaces: {{write: {{endpoint: "hdfs://{name}:8020"}}}}
hadoop_conf: {conf}
"""
_FEED = """\
kind: feed
name: logs-{name}
frequency: days(1)
locations: {{data: "s3a://logs/clicks/${{YEAR}}-${{MONTH}}-${{DAY}}"}}
clusters:
  - name: {name}
    validity: {{start: 2012-01-01T00:00Z, end: 2099-01-01T00:00Z}}
    retention: {{limit: days(7)}}
"""


def _repo(directory: Path, web: WebServer, monkeypatch: pytest.MonkeyPatch) -> Repo:
    """A cluster with an S3 server of its own beside one that means Amazon's, with one feed on each."""
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "x")
    repo = Repo.make(directory)
    own = f'{{fs.s3a.endpoint: "http://{web.authority}", fs.s3a.path.style.access: true}}'
    for name, conf in (("onprem", own), ("aws", "{}")):
        repo.write(f"clusters/{name}.yaml", _CLUSTER.format(name=name, conf=conf))
        repo.write(f"feeds/logs-{name}.yaml", _FEED.format(name=name))
    return repo


def test_a_run_over_both_clusters_is_refused_before_any_store_is_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with serving(lambda _: Answer()) as web:
        repo = _repo(tmp_path, web, monkeypatch)
        assert run_here(repo, "--all", "--dry-run") == 2
        output = capsys.readouterr().err
        assert web.seen == []
    assert "fs.s3a.endpoint for s3://logs: aws does not set it and onprem says" in output
    assert "--cluster" in output


def test_a_run_for_one_of_them_asks_its_own_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = Answer(body=b"<R><IsTruncated>false</IsTruncated></R>")
    with serving(lambda calls: page if calls.startswith("GET") else Answer(status=404)) as web:
        repo = _repo(tmp_path, web, monkeypatch)
        run_here(repo, "--feed", "logs-onprem", "--cluster", "onprem", "--dry-run")
        assert all(" /logs" in calls for calls in web.seen)
        assert web.seen
