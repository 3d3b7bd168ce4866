"""The address of the ledger against whoever may change the config repo, and its password against whoever reads a log.

Defended: variables of the environment other than a password are not expanded in the ledger's URL, the audit file or an
end point, so that they neither reach a log nor choose who gets the password; a password is never repeated in an error,
however it is misspelt; a SQLite ledger in the config repo is no link, none beside it is, and neither came with the
repo; new files are for their owner alone. Not defended: a change that was merged may name another host for the ledger
or another variable for its password; `lint --against` shows it.
"""

from __future__ import annotations

import os
import re
import stat
import subprocess
from contextlib import ExitStack
from pathlib import Path

import pytest

from toolkit.bootstrap.ledgers import LEDGER_VARIABLE, UntrustedFile, location_of
from toolkit.config_source import find_repo, named_repo, open_snapshot
from toolkit.config_source.errors import NoConfigRepo
from toolkit.el import CanonicalPath, ElError
from toolkit.entities.addresses import check_ledger, check_url
from toolkit.entities.env_references import expand_path, expand_url
from toolkit.entities.formats import FORMATS, allows
from toolkit.entities.repo import RepoSettings
from toolkit.errors import FeedctlError
from toolkit.ledger.errors import LedgerUnavailable
from toolkit.ledger.location import LedgerLocation, located
from toolkit.ledger.opening import open_ledger
from toolkit.storage.local.file_system import LocalFileSystem

TOKEN = {"TOKEN": "tok-3141", "PASSWORD": "p@ss/w", "HOME": "/home/ann", "XDG_STATE_HOME": "/state"}


@pytest.fixture
def repo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv(LEDGER_VARIABLE, raising=False)
    root = tmp_path / "repo"
    root.mkdir()
    (root / "repo.yaml").write_text("name: web\n")
    return root


def _sqlite(file: Path) -> LedgerLocation:
    return located(f"sqlite:///{file}", named_by="the test", root=None, variables={})


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://u:${env:PASSWORD}@${env:TOKEN}.evil.example/x",
        "postgresql://${env:TOKEN}@evil.example/x",
        "postgresql://${env:TOKEN}:${env:PASSWORD}@evil.example/x",
        "postgresql://u:${env:PASSWORD}@db/${env:TOKEN}",
        "postgresql://db:${env:TOKEN}/x",
        "postgresql://u:x${env:TOKEN}@db/x",
        "postgresql://db/x?application_name=${env:TOKEN}",
        "postgresql://db/x?application_name=a:${env:TOKEN}@b",
        "postgresql://u?password=${env:TOKEN}&a=@db/x",
        "postgresql://u?password=${env:TOKEN}@db/x",
        "postgresql://u&password=${env:TOKEN}@db/x",
        "sqlite:////tmp/${env:TOKEN}/ledger.db",
    ],
)
def test_a_variable_stands_for_nothing_of_a_url_but_its_password(url: str) -> None:
    with pytest.raises(ElError, match="a reference where its value would be seen"):
        expand_url(url, TOKEN)
    assert not allows(FORMATS["ledger-url"], url)
    with pytest.raises(FeedctlError) as refused:
        located(url, named_by="repo.yaml", root=None, variables=TOKEN)
    assert "tok-3141" not in str(refused.value)


def test_the_password_and_folders_of_the_user_do_stand_there() -> None:
    assert expand_url("postgresql://u:${env:PASSWORD}@db/x", TOKEN) == "postgresql://u:p%40ss%2Fw@db/x"
    assert expand_url("postgresql://db/x?a=b&password=${env:PASSWORD}&c=d", TOKEN).endswith("password=p%40ss%2Fw&c=d")
    assert expand_url("sqlite:///${env:HOME}/ledger.db", TOKEN) == "sqlite:////home/ann/ledger.db"
    assert expand_path("${env:XDG_STATE_HOME}/audit.jsonl", TOKEN) == "/state/audit.jsonl"


def test_no_other_variable_stands_in_the_path_of_the_audit_file() -> None:
    with pytest.raises(ElError, match=re.escape('"${env:TOKEN}": found a reference')):
        expand_path("/tmp/${env:TOKEN}.jsonl", TOKEN)
    assert not allows(FORMATS["local-path"], "/var/log/${env:TOKEN}.jsonl")


@pytest.mark.parametrize("url", ["hdfs://${env:TOKEN}:8020", "jdbc:postgresql://${env:TOKEN}:${env:P}@db/x"])
def test_no_variable_stands_for_the_host_or_user_of_an_end_point(url: str) -> None:
    with pytest.raises(ElError):
        check_url(url)
    check_url("jdbc:postgresql://reader:${env:PASSWORD}@db/x")


@pytest.mark.parametrize(
    "text", ["hunter2", "/hunter2", "hunter2:", "u:hunter2", "~hunter2", "postgresql:u:hunter2@db", "${env:A}hunter2"]
)
def test_a_password_in_the_place_of_the_url_is_not_repeated(text: str) -> None:
    with pytest.raises(FeedctlError) as refused:
        located(text, named_by=LEDGER_VARIABLE, root=None, variables=TOKEN)
    assert "hunter2" not in str(refused.value)


@pytest.mark.parametrize("password", ["hunter2@", "a@hunter2", "a/hunter2", "a@b/hunter2", "a@b@hunter2", "?@hunter2"])
def test_no_part_of_a_password_with_signs_in_it_is_repeated(password: str) -> None:
    url = f"postgresql://feedctl:{password}@db/x"
    with pytest.raises(ElError) as refused:
        check_ledger(url)
    assert "hunter2" not in str(refused.value)
    try:
        found = located(url, named_by=LEDGER_VARIABLE, root=None, variables={}).place
    except FeedctlError as error:
        found = str(error)
    assert "hunter2" not in found


@pytest.mark.parametrize("text", ["s3a://KEY:SECRET@b", "https://u:SECRET@example.com/x.git"])
def test_a_url_in_the_place_of_the_config_repo_is_not_repeated(text: str) -> None:
    with pytest.raises(NoConfigRepo, match=r"--config-repo .* is a URL, expected a config repo") as refused:
        named_repo(text)
    assert "SECRET" not in str(refused.value)
    with pytest.raises(NoConfigRepo, match=r"FEEDCTL_REPO .* is a URL, expected a config repo") as refused:
        find_repo(Path(), {"FEEDCTL_REPO": text})
    assert "SECRET" not in str(refused.value)


@pytest.mark.parametrize("name", ["state", "state/ledger.db", "state/ledger.db-wal", "state/ledger.db-journal"])
def test_no_ledger_is_reached_through_a_link_of_the_config_repo(repo: Path, tmp_path: Path, name: str) -> None:
    (tmp_path / "target").mkdir()
    (repo / name).parent.mkdir(exist_ok=True)
    (repo / name).symlink_to(tmp_path / "target")
    with pytest.raises(UntrustedFile, match=f"{name} is a link"):
        location_of(open_snapshot(repo), RepoSettings(ledger="sqlite:///state/ledger.db"), os.environ)


def test_no_ledger_comes_with_the_config_repo(repo: Path) -> None:
    open_ledger(_sqlite(repo / "ledger.db"), read_only=False, variables={}).close()
    who = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false"]
    for arguments in (["init", "-q"], ["add", "-Af"], ["commit", "-qm", "x"]):
        subprocess.run(["git", *who, *arguments], cwd=repo, check=True)
    with pytest.raises(UntrustedFile, match=r"ledger.db is part of the config repo"):
        location_of(open_snapshot(repo), RepoSettings(ledger="sqlite:///ledger.db"), os.environ)


@pytest.mark.parametrize("url", ["sqlite:////home/ann/.bashrc", "sqlite:///Makefile", "sqlite:///${env:HOME}/.profile"])
def test_the_repo_names_no_ledger_that_is_not_plainly_a_database(url: str) -> None:
    with pytest.raises(ElError, match=r"ends in \.db, \.sqlite, \.sqlite3"):
        check_ledger(url)


@pytest.mark.parametrize("read_only", [True, False])
def test_a_file_that_is_no_database_stays_as_it_is(tmp_path: Path, *, read_only: bool) -> None:
    file = tmp_path / "notes.db"
    file.write_text("export PATH=/usr/bin\n" * 50)
    with pytest.raises(LedgerUnavailable, match="not a database"):
        open_ledger(_sqlite(file), read_only=read_only, variables={})
    assert file.read_text() == "export PATH=/usr/bin\n" * 50
    assert [each.name for each in tmp_path.iterdir()] == ["notes.db"]


def test_new_ledgers_and_result_files_are_for_their_owner_alone_also_where_the_folder_exists(tmp_path: Path) -> None:
    with ExitStack() as stack:
        stack.callback(os.umask, os.umask(0))
        ledger = open_ledger(_sqlite(tmp_path / "ledger.db"), read_only=False, variables={})
        stack.callback(ledger.close)
        LocalFileSystem().write(CanonicalPath.parse(f"file://{tmp_path}/result.json", "file:///"), [b"{}"])
        modes = {each.name: stat.S_IMODE(each.stat().st_mode) for each in tmp_path.iterdir()}
    assert set(modes) >= {"ledger.db", "result.json"}
    assert set(modes.values()) == {0o600}


@pytest.mark.parametrize("mode", [0o600, 0o644])
def test_a_result_file_that_is_there_keeps_its_rights(tmp_path: Path, mode: int) -> None:
    (tmp_path / "result.json").touch()
    (tmp_path / "result.json").chmod(mode)
    LocalFileSystem().write(CanonicalPath.parse(f"file://{tmp_path}/result.json", "file:///"), [b"{}"])
    assert stat.S_IMODE((tmp_path / "result.json").stat().st_mode) == mode
