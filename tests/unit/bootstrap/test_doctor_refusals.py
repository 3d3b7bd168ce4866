"""Tests of what an action refuses at once, `feedctl doctor` says before."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.unit.config_source.checkouts import checkout
from toolkit.bootstrap.config import RepoRequest
from toolkit.bootstrap.doctor import DoctorOptions, diagnose
from toolkit.doctor.findings import CheckResult, CheckStatus

_COMMITTED = datetime(2026, 3, 1, 6, 40, tzinfo=UTC)
_FEED = """\
kind: feed
name: clicks
frequency: days(1)
locations: {data: "/d/${YEAR}-${MONTH}-${DAY}"}
clusters: [{name: lake, validity: {start: 2026-01-01T00:00Z, end: 2099-01-01T00:00Z}, retention: {limit: days(3)}}]
"""


@pytest.fixture(autouse=True)
def _nothing_named(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("FEEDCTL_LEDGER", "FEEDCTL_AUDIT", "FEEDCTL_REPO"):
        monkeypatch.delenv(name, raising=False)


def _repo(root: Path, endpoint: str = "", **settings: str) -> Path:
    """A git checkout of a config repo with one cluster; its ledger is a file beside the checkout."""
    texts = {"name": "doctor", "ledger": f"sqlite:///{root}/state/ledger.db", **settings}
    (root / "data" / "d").mkdir(parents=True)
    (root / "repo").mkdir()
    cluster = f"interfaces: {{write: {{endpoint: '{endpoint or f'file://{root}/data'}'}}}}\nlocations: {{temp: /d}}"
    files = {
        "repo.yaml": "".join(f"{key}: {value}\n" for key, value in texts.items() if value),
        "clusters/lake.yaml": f"kind: cluster\nname: lake\n{cluster}\n",
        "feeds/clicks.yaml": _FEED,
    }
    return checkout(root / "repo", files)


def _found(
    repo: Path, now: datetime = _COMMITTED, variables: Mapping[str, str] | None = None
) -> dict[str, CheckResult]:
    request = RepoRequest(config_repo=str(repo), variables={**os.environ, "PATH": "", **(variables or {})})
    checked = diagnose(DoctorOptions(repo=request, seconds=30), now)
    return {f"{each.about} {each.name} {each.finding.what}".strip(): each.finding for each in checked}


def _everything(root: Path) -> Iterator[tuple[str, int]]:
    for path in sorted(root.rglob("*")):
        yield str(path), path.stat().st_mtime_ns


def test_a_repo_that_an_action_takes_is_as_it_should_be_and_nothing_is_touched(tmp_path: Path) -> None:
    repo = _repo(tmp_path)
    before = list(_everything(tmp_path))
    found = _found(repo)
    assert list(_everything(tmp_path)) == before
    bad = {name for name, each in found.items() if each.status in {CheckStatus.WARNING, CheckStatus.FAILED}}
    assert [name for name in bad if not name.startswith("driver")] == []
    assert {"config repo", "ledger ledger", "ledger audit"} <= set(found)
    assert "driver HADOOP_CONF_DIR" not in found


def test_a_ledger_that_cannot_be_made_is_a_failure(tmp_path: Path) -> None:
    (tmp_path / "state").write_text("a file in the way")
    found = _found(_repo(tmp_path))["ledger ledger"]
    assert (found.status, f"{tmp_path}/state is no folder" in found.found) == (CheckStatus.FAILED, True)


def test_no_ledger_at_all_is_a_warning_since_an_action_can_be_told_to_do_without(tmp_path: Path) -> None:
    found = _found(_repo(tmp_path, ledger=""))["ledger ledger"]
    assert (found.status, "--no-ledger" in found.todo) == (CheckStatus.WARNING, True)


def test_an_audit_file_that_cannot_be_written_is_a_failure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    repo = _repo(tmp_path, audit_file="repo.yaml/audit.jsonl")
    assert _found(repo)["ledger audit"].status is CheckStatus.FAILED
    monkeypatch.setenv("FEEDCTL_AUDIT", str(tmp_path))
    found = _found(repo)["ledger audit"]
    assert (found.status, os.strerror(21) in found.found) == (CheckStatus.FAILED, True)


def test_a_checkout_older_than_its_max_age_is_a_failure(tmp_path: Path) -> None:
    repo = _repo(tmp_path, max_age="days(1)")
    assert "config repo age" not in _found(repo)
    found = _found(repo, datetime(2026, 3, 3, tzinfo=UTC))["config repo age"]
    assert (found.status, "from 2026-03-01T06:40Z" in found.found) == (CheckStatus.FAILED, True)


def test_a_dirty_checkout_is_a_warning_that_says_how_to_go_on(tmp_path: Path) -> None:
    repo = _repo(tmp_path)
    (repo / "notes.txt").write_text("x")
    found = _found(repo)
    dirty = found["config repo checkout"]
    assert (dirty.status, "notes.txt" in dirty.found) == (CheckStatus.WARNING, True)
    assert dirty.todo == "commit them, or use --allow-dirty"
    assert found["config repo"].status is CheckStatus.OK


def test_a_conf_dir_that_is_none_is_told_and_local_files_do_without(tmp_path: Path) -> None:
    found = _found(_repo(tmp_path), variables={"HADOOP_CONF_DIR": "/nowhere"})
    reported = found["driver HADOOP_CONF_DIR"]
    assert (reported.status, reported.found.startswith("HADOOP_CONF_DIR=/nowhere: ")) == (CheckStatus.FAILED, True)
    assert reported.todo == "correct HADOOP_CONF_DIR, or unset it"
    assert found["cluster lake temp"].status is CheckStatus.OK
    assert found["cluster lake feed clicks"].status is CheckStatus.OK


@pytest.mark.parametrize(
    ("endpoint", "is_noted"), [("hdfs://ns1", True), ("hdfs://127.0.0.1:1", False), ("hdfs://127.0.0.1:8020", False)]
)
def test_an_hdfs_without_port_is_noted_when_no_conf_dir_is_set(
    tmp_path: Path, endpoint: str, *, is_noted: bool
) -> None:
    found = _found(_repo(tmp_path, endpoint))
    note = found.get("driver HADOOP_CONF_DIR")
    assert (note is not None and endpoint in note.found) is is_noted
