"""The audit file against whoever may change the config repo.

Defended: files of the user who runs feedctl. A line of the audit file has text that the repo chooses, in the paths of
feeds, so that a line in a file that a shell reads would be a command. The repo may name a file of its own folder that
is not part of it, or, accepted by name, a file elsewhere that is an audit file or is not there yet. Not defended: what
the operator names in FEEDCTL_AUDIT, save that links, files of others and files that are no audit files are refused.
"""

from __future__ import annotations

import os
import stat
import subprocess
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path

import pytest

from toolkit.bootstrap.config import RepoRequest
from toolkit.bootstrap.ledgers import OutsideAuditFile, UntrustedFile, audit_place, location_for
from toolkit.config_source import Snapshot, open_snapshot
from toolkit.doctor.findings import CheckStatus
from toolkit.doctor.records import audit_findings
from toolkit.entities.loader import load
from toolkit.entities.problems import ConfigError
from toolkit.entities.repo import RepoSettings
from toolkit.ledger.opening import open_ledger
from toolkit.ledger.runs.rows import Origin
from toolkit.runs.audit import AuditPlace, opened_audit
from toolkit.runs.errors import AuditUnusable

PROFILE = "export PATH=/usr/bin\n"
LINE = '{"at": "2026-03-20T12:00:01.250Z", "who": "alice", "host": "edge1", "pid": 77, "what": "process"}\n'


class _Noon:
    def now(self) -> datetime:
        return datetime(2026, 3, 20, 12, tzinfo=UTC)


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the user who runs feedctl, with a file that a shell reads."""
    for each in ("FEEDCTL_LEDGER", "FEEDCTL_AUDIT", "FEEDCTL_REPO", "XDG_STATE_HOME"):
        monkeypatch.delenv(each, raising=False)
    folder = tmp_path / "home"
    folder.mkdir()
    (folder / ".profile").write_text(PROFILE)
    monkeypatch.setenv("HOME", str(folder))
    return folder


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    root = tmp_path / "repo"
    root.mkdir()
    (root / "repo.yaml").write_text("ledger: sqlite:///.feedctl/ledger.db\n")
    return root


def _write(place: AuditPlace) -> None:
    with opened_audit(place, Origin(who="alice", host="edge1", pid=77), _Noon(), {"what": "process"}):
        pass


def _committed(root: Path) -> Snapshot:
    for arguments in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "x"]):
        who = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false"]
        subprocess.run(["git", *who, *arguments], cwd=root, check=True)
    return open_snapshot(root)


@pytest.mark.parametrize("text", ["${env:HOME}/audit.jsonl", "/var/log/audit.jsonl", "../audit.jsonl", "a/../../b.log"])
def test_the_repo_alone_names_no_file_outside_of_itself(repo: Path, text: str) -> None:
    with pytest.raises(OutsideAuditFile, match=r"outside of the config repo.*FEEDCTL_AUDIT.*audit-file-outside"):
        audit_place(open_snapshot(repo), RepoSettings(audit_file=text), os.environ)


def test_a_file_outside_is_taken_when_the_rule_is_accepted_by_name_or_the_operator_names_it(
    repo: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    accepted = RepoSettings(audit_file="${env:HOME}/audit.jsonl", accept=("audit-file-outside",))
    assert audit_place(open_snapshot(repo), accepted, os.environ).file == home / "audit.jsonl"
    monkeypatch.setenv("FEEDCTL_AUDIT", str(home / "mine"))
    assert (
        audit_place(open_snapshot(repo), RepoSettings(audit_file="/etc/profile.d/x.log"), os.environ).file
        == home / "mine"
    )


@pytest.mark.parametrize("name", [".envrc", "Makefile", ".git/hooks/post-checkout", ".git/x.jsonl", "conftest.py"])
def test_the_repo_names_no_file_that_another_program_reads(repo: Path, name: str) -> None:
    (repo / "repo.yaml").write_text(f"audit_file: {name}\n")
    with pytest.raises(ConfigError, match="bad-local-path"):
        load(open_snapshot(repo))


def test_a_file_that_is_no_audit_file_is_never_appended_to(home: Path) -> None:
    place = AuditPlace(file=home / ".profile")
    with pytest.raises(AuditUnusable, match="its first line is no line of an audit file"):
        _write(place)
    assert (home / ".profile").read_text() == PROFILE
    (found,) = audit_findings(place)
    assert found.status is CheckStatus.FAILED


def test_an_audit_file_and_an_empty_file_are_appended_to(tmp_path: Path) -> None:
    for name, text in (("old", LINE), ("new", "")):
        (tmp_path / name).write_text(text)
        _write(AuditPlace(file=tmp_path / name))
        assert (tmp_path / name).read_text().startswith(text)
        assert '"host": "edge1", "pid": 77, "what": "process"}\n' in (tmp_path / name).read_text()[len(text) :]


@pytest.mark.parametrize("place", ["operator", "repo"])
def test_no_link_is_followed_even_to_an_audit_file(repo: Path, home: Path, place: str) -> None:
    (home / "audit.jsonl").write_text(LINE)
    (repo / "audit.jsonl").symlink_to(home / "audit.jsonl")
    with pytest.raises(AuditUnusable, match="it is a link"):
        _write(AuditPlace(file=repo / "audit.jsonl", below=repo if place == "repo" else None))
    assert (home / "audit.jsonl").read_text() == LINE


def test_no_link_on_the_way_below_the_repo_is_followed(repo: Path, home: Path) -> None:
    (repo / "logs").symlink_to(home)
    with pytest.raises(UntrustedFile, match="logs is a link"):
        audit_place(open_snapshot(repo), RepoSettings(audit_file="logs/audit.jsonl"), os.environ)
    with pytest.raises(AuditUnusable, match="logs on the way to it is a link"):
        _write(AuditPlace(file=repo / "logs" / "new" / "audit.jsonl", below=repo))
    assert sorted(each.name for each in home.iterdir()) == [".profile"]


def test_a_second_name_of_another_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "other").write_text(LINE)
    os.link(tmp_path / "other", tmp_path / "audit.jsonl")
    with pytest.raises(AuditUnusable, match="2 names"):
        _write(AuditPlace(file=tmp_path / "audit.jsonl"))
    assert (tmp_path / "other").read_text() == LINE


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
def test_a_file_of_another_user_is_refused(tmp_path: Path) -> None:
    (tmp_path / "audit.jsonl").write_text(LINE)
    os.chown(tmp_path / "audit.jsonl", 4711, -1)
    with pytest.raises(AuditUnusable, match="belongs to user 4711"):
        _write(AuditPlace(file=tmp_path / "audit.jsonl"))


@pytest.mark.parametrize("name", [".feedctl/ledger.audit.jsonl", ".feedctl/ledger.db", ".feedctl.jsonl"])
def test_files_of_feedctl_are_no_part_of_a_commit(repo: Path, name: str) -> None:
    (repo / name).parent.mkdir(exist_ok=True)
    (repo / name).write_text(LINE)
    snapshot = _committed(repo)
    with pytest.raises(ConfigError, match=f"{name}.*own-file"):
        load(snapshot)
    with pytest.raises(ConfigError, match="own-file"):
        location_for(RepoRequest(config_repo=str(repo), variables=os.environ))


def test_they_are_none_of_a_changed_checkout_either(repo: Path) -> None:
    (repo / ".feedctl").mkdir()
    (repo / ".feedctl" / "ledger.db").write_text("")
    _committed(repo)
    (repo / "repo.yaml").write_text("ledger: sqlite:///.feedctl/ledger.db\nname: web\n")
    with pytest.raises(ConfigError, match="own-file"):
        location_for(RepoRequest(config_repo=str(repo), variables=os.environ))


def test_what_feedctl_made_there_is_no_part_of_it(repo: Path) -> None:
    (repo / ".gitignore").write_text(".feedctl/\n")
    snapshot = _committed(repo)
    open_ledger(
        location_for(RepoRequest(config_repo=str(repo), variables=os.environ)), read_only=False, variables={}
    ).close()
    _write(audit_place(snapshot, load(snapshot).settings, os.environ))
    assert audit_place(open_snapshot(repo), load(open_snapshot(repo)).settings, os.environ).below == repo
    _write(audit_place(open_snapshot(repo), load(open_snapshot(repo)).settings, os.environ))
    assert len((repo / ".feedctl" / "ledger.audit.jsonl").read_text().splitlines()) == 2


def test_links_of_that_name_are_no_part_of_a_commit_or_a_folder(repo: Path, home: Path) -> None:
    (repo / ".feedctl").symlink_to(home)
    for snapshot in (open_snapshot(repo), _committed(repo)):
        with pytest.raises(ConfigError, match="own-file"):
            load(snapshot)


def test_an_audit_file_that_is_part_of_the_commit_is_refused(repo: Path) -> None:
    (repo / "audit.jsonl").write_text(LINE)
    with pytest.raises(UntrustedFile, match="part of the config repo"):
        audit_place(_committed(repo), RepoSettings(audit_file="audit.jsonl"), os.environ)


def test_a_new_file_and_its_folders_are_for_their_owner_alone(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir(mode=0o755)
    before = os.umask(0)
    with ExitStack() as stack:
        stack.callback(os.umask, before)
        _write(AuditPlace(file=tmp_path / "there" / "new" / "audit.jsonl"))
        _write(AuditPlace(file=tmp_path / "there" / "new2" / "audit.jsonl", below=tmp_path))
    for name in ("new", "new2"):
        made = tmp_path / "there" / name
        assert stat.S_IMODE(made.stat().st_mode) == 0o700
        assert stat.S_IMODE((made / "audit.jsonl").stat().st_mode) == 0o600


def test_the_rights_of_a_file_that_is_there_stay(tmp_path: Path) -> None:
    (tmp_path / "audit.jsonl").touch(mode=0o640)
    _write(AuditPlace(file=tmp_path / "audit.jsonl"))
    assert stat.S_IMODE((tmp_path / "audit.jsonl").stat().st_mode) == 0o640


@pytest.mark.skipif(os.geteuid() == 0, reason="root lists every folder")
def test_a_folder_that_may_be_written_but_not_listed_will_do(tmp_path: Path) -> None:
    """So that who writes an audit file does not see those of others."""
    (tmp_path / "box").mkdir(mode=0o300)
    _write(AuditPlace(file=tmp_path / "box" / "audit.jsonl"))
    (tmp_path / "box").chmod(0o700)
    assert (tmp_path / "box" / "audit.jsonl").read_text()
