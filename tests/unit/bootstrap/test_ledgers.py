"""Which ledger and which audit file a command means."""

from __future__ import annotations

import os
import zipfile
from contextlib import closing
from pathlib import Path

import pytest

from toolkit.bootstrap.config import RepoRequest
from toolkit.bootstrap.ledgers import (
    BadAuditFile,
    NoLedgerNamed,
    audit_place,
    examine_ledger,
    ledger_and_repository,
    ledger_of,
    location_for,
    location_of,
    open_ledger_for,
)
from toolkit.config_source import Snapshot, open_snapshot
from toolkit.entities.errors import UnknownName
from toolkit.entities.problems import ConfigError
from toolkit.entities.repo import RepoSettings
from toolkit.ledger.errors import UnusableLedger
from toolkit.ledger.opening import LedgerState

VARIABLES = ("FEEDCTL_LEDGER", "FEEDCTL_AUDIT", "FEEDCTL_REPO", "XDG_STATE_HOME", "LEDGER_PASSWORD")

PROD = "repo: {ledger: 'postgresql://u:${env:FEEDCTL_LEDGER_PASSWORD}@db/ledger'}\n"


@pytest.fixture(autouse=True)
def _nothing_set(monkeypatch: pytest.MonkeyPatch) -> None:
    for each in VARIABLES:
        monkeypatch.delenv(each, raising=False)
    monkeypatch.setenv("FEEDCTL_LEDGER_PASSWORD", "sesame")


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    """A config repo with two environments, and a feed that is broken."""
    root = tmp_path / "repo"
    (root / "environments").mkdir(parents=True)
    (root / "feeds").mkdir()
    (root / "repo.yaml").write_text("environments: [dev, prod]\nledger: sqlite:///.feedctl/ledger.db\n")
    (root / "environments" / "dev.yaml").write_text("description: local\n")
    (root / "environments" / "prod.yaml").write_text(PROD)
    (root / "feeds" / "clicks.yaml").write_text("kind: feed\nname: other\n")
    return root


@pytest.fixture
def snapshot(repo: Path) -> Snapshot:
    return open_snapshot(repo)


@pytest.fixture
def archive(repo: Path, tmp_path: Path) -> Snapshot:
    """The same repo as an archive."""
    with zipfile.ZipFile(tmp_path / "repo.zip", "w") as made:
        made.write(repo / "repo.yaml", "repo.yaml")
    return open_snapshot(tmp_path / "repo.zip")


def request(config_repo: str | None, environment: str | None) -> RepoRequest:
    return RepoRequest(config_repo=config_repo, environment=environment, variables=os.environ)


def test_the_ledger_is_that_of_the_config_repo(repo: Path) -> None:
    assert location_for(request(str(repo), None)).file == repo / ".feedctl" / "ledger.db"
    assert location_for(request(str(repo), "dev")).file == repo / ".feedctl" / "ledger.db"


def test_an_environment_lays_its_own_over_it(repo: Path) -> None:
    assert location_for(request(str(repo), "prod")).place == "postgresql://u@db/ledger"


def test_the_variable_comes_first(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FEEDCTL_LEDGER", "postgresql://other/ledger")
    assert location_for(request(str(repo), None)).place == "postgresql://other/ledger"
    monkeypatch.setenv("FEEDCTL_LEDGER", "sqlite:///other.db")
    assert location_for(request(str(repo), "prod")).file == repo / "other.db"
    monkeypatch.setenv("FEEDCTL_LEDGER", "")
    assert location_for(request(str(repo), "prod")).place == "postgresql://u@db/ledger"


@pytest.mark.parametrize("url", ["postgresql://other/ledger", "sqlite:////data/ledger.db"])
def test_a_variable_that_says_it_all_needs_no_config_repo(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, url: str
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("FEEDCTL_LEDGER", url)
    assert location_for(request(None, None)).place == url


def test_without_any_name_the_error_says_where_to_write_one(snapshot: Snapshot) -> None:
    with pytest.raises(NoLedgerNamed, match=r"`ledger:` in repo.yaml or FEEDCTL_LEDGER; .*sqlite:///"):
        location_of(snapshot, RepoSettings(), os.environ)


def test_a_broken_entity_does_not_keep_the_ledger_closed(repo: Path) -> None:
    open_ledger_for(request(str(repo), None), read_only=False).close()
    assert examine_ledger(request(str(repo), None)).state is LedgerState.READY
    with pytest.raises(ConfigError, match=r"feeds/clicks\.yaml"):
        ledger_and_repository(request(str(repo), None), read_only=True)


def test_broken_settings_do(repo: Path) -> None:
    (repo / "repo.yaml").write_text("ledger: mysql://db/ledger\n")
    with pytest.raises(ConfigError, match=r"repo\.yaml"):
        open_ledger_for(request(str(repo), None), read_only=True)


def test_an_unknown_environment_is_refused(repo: Path) -> None:
    with pytest.raises(UnknownName, match="prodd"):
        open_ledger_for(request(str(repo), "prodd"), read_only=True)


def test_the_ledger_comes_with_the_entities(repo: Path) -> None:
    (repo / "feeds" / "clicks.yaml").unlink()
    ledger, repository = ledger_and_repository(request(str(repo), "dev"), read_only=True)
    with closing(ledger):
        assert repository.settings.ledger == "sqlite:///.feedctl/ledger.db"
    assert not (repo / ".feedctl").exists()


def test_an_archive_holds_no_ledger(archive: Snapshot) -> None:
    with pytest.raises(UnusableLedger, match="archive"):
        ledger_of(archive, RepoSettings(ledger="sqlite:///.feedctl/ledger.db"), os.environ, read_only=True)


def test_the_audit_file_is_beside_a_ledger_on_sqlite(repo: Path, snapshot: Snapshot) -> None:
    settings = RepoSettings(ledger="sqlite:///.feedctl/ledger.db")
    assert audit_place(snapshot, settings, os.environ).file == repo / ".feedctl" / "ledger.audit.jsonl"


def test_the_config_repo_may_name_it(repo: Path, snapshot: Snapshot, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", "/state")
    own = audit_place(snapshot, RepoSettings(audit_file="log/audit.jsonl"), os.environ)
    assert (own.file, own.below) == (repo / "log" / "audit.jsonl", repo)
    accepted = RepoSettings(audit_file="${env:XDG_STATE_HOME}/audit.jsonl", accept=("audit-file-outside",))
    outside = audit_place(snapshot, accepted, os.environ)
    assert (outside.file, outside.below) == (Path("/state/audit.jsonl"), None)


def test_the_variable_of_the_audit_file_comes_first(
    repo: Path, snapshot: Snapshot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FEEDCTL_AUDIT", "mine.jsonl")
    assert audit_place(snapshot, RepoSettings(audit_file="audit.jsonl"), os.environ).file == repo / "mine.jsonl"


def test_else_it_is_in_the_state_folder_of_the_user(snapshot: Snapshot, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = RepoSettings(ledger="postgresql://feedctl:${env:FEEDCTL_LEDGER_PASSWORD}@db/ledger")
    monkeypatch.setenv("HOME", "/home/ann")
    assert audit_place(snapshot, settings, os.environ).file == Path("/home/ann/.local/state/feedctl/audit.jsonl")
    monkeypatch.setenv("XDG_STATE_HOME", "relative")
    assert audit_place(snapshot, settings, os.environ).file == Path("/home/ann/.local/state/feedctl/audit.jsonl")
    monkeypatch.setenv("XDG_STATE_HOME", "/state")
    assert audit_place(snapshot, RepoSettings(), os.environ).file == Path("/state/feedctl/audit.jsonl")


def test_an_archive_holds_no_audit_file(archive: Snapshot, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", "/state")
    assert audit_place(archive, RepoSettings(ledger="sqlite:///ledger.db"), os.environ).file == Path(
        "/state/feedctl/audit.jsonl"
    )
    with pytest.raises(BadAuditFile, match=r"audit.jsonl of repo.yaml .* archive; .*FEEDCTL_AUDIT"):
        audit_place(archive, RepoSettings(audit_file="audit.jsonl"), os.environ)
