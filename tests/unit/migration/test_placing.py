"""Files of a migration: a new folder as a whole, or a config repo, in which nothing is replaced."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.unit.migration.migrated import ONE_OF_EACH_NAME, cluster, feed, make, process, sources
from toolkit.migration.draft import MigrationRefused
from toolkit.migration.new_files import NotAConfigRepo, NotWritten, place


def test_an_empty_folder_is_as_good_as_none(tmp_path: Path) -> None:
    (tmp_path / "repo").mkdir()
    assert "main" in make(tmp_path / "repo", *sources(tmp_path, c=cluster())).repository.entries
    assert [each.name for each in tmp_path.iterdir() if each.name.startswith(".")] == []


def test_a_folder_with_something_else_in_it_is_refused(tmp_path: Path) -> None:
    (tmp_path / "repo").mkdir()
    (tmp_path / "repo" / "notes.txt").write_text("mine")
    with pytest.raises(NotAConfigRepo):
        make(tmp_path / "repo", *sources(tmp_path, c=cluster()))
    assert [each.name for each in (tmp_path / "repo").iterdir()] == ["notes.txt"]


def test_a_folder_that_git_has_begun_is_a_new_config_repo(tmp_path: Path) -> None:
    (tmp_path / "repo" / ".git").mkdir(parents=True)
    made = make(tmp_path / "repo", *sources(tmp_path, c=cluster()))
    assert {"repo.yaml", ".gitignore", "clusters/main.yaml"} <= made.files().keys()


def test_a_config_repo_gets_new_files_and_keeps_its_own(tmp_path: Path) -> None:
    first = make(tmp_path / "repo", *sources(tmp_path, c=cluster(), f=feed()))
    before = first.files()
    job = process(more='<inputs><input name="in" feed="clicks" start="now(0,0)" end="now(0,0)"/></inputs>')
    made = make(tmp_path / "repo", *sources(tmp_path, p=job))
    after = made.files()
    assert {name: after[name] for name in before} == before
    assert after.keys() - before.keys() == {"processes/job.yaml", "workflows/job.pig.sh"}
    assert made.repository.processes["job"].inputs["in"].feed == "clicks"


def test_the_same_migration_again_changes_nothing(tmp_path: Path) -> None:
    one = sources(tmp_path, c=cluster())
    make(tmp_path / "repo", *one)
    before = make(tmp_path / "repo", *one, *sources(tmp_path, f=feed())).files()
    assert make(tmp_path / "repo", *one, *sources(tmp_path, f=feed())).files() == before


def test_an_entity_that_is_there_and_differs_is_never_replaced(tmp_path: Path) -> None:
    make(tmp_path / "repo", *sources(tmp_path, c=cluster()))
    before = (tmp_path / "repo" / "clusters" / "main.yaml").read_bytes()
    with pytest.raises(MigrationRefused, match="file-exists"):
        make(tmp_path / "repo", *sources(tmp_path, c=cluster().replace("east", "west"), f=feed()))
    assert (tmp_path / "repo" / "clusters" / "main.yaml").read_bytes() == before
    assert not (tmp_path / "repo" / "feeds").exists()


def test_defaults_that_would_change_an_entity_are_refused(tmp_path: Path) -> None:
    make(tmp_path / "repo", *sources(tmp_path, c=cluster()))
    (tmp_path / "repo" / "defaults.yaml").write_text("feed: {acl: {group: hadoop}}\n")
    with pytest.raises(MigrationRefused, match=r"changed-by-defaults: feeds/clicks.yaml would say .*: acl"):
        make(tmp_path / "repo", *sources(tmp_path, f=feed(more='<ACL owner="etl"/>')))


def test_a_second_batch_gets_nothing_of_what_the_first_one_says_alike(tmp_path: Path) -> None:
    acl, late = '<ACL owner="etl" group="g" permission="0750"/>', '<late-arrival cut-off="hours(6)"/>'
    first = {name: feed(name, more=acl + late) for name in ("a", "b", "c")}
    make(tmp_path / "repo", *sources(tmp_path, main=cluster(), **first))
    assert "late_arrival" in (tmp_path / "repo" / "defaults.yaml").read_text()
    again = make(tmp_path / "repo", *sources(tmp_path, d=feed("d"), e=feed("e", more=acl)))
    assert {"late_arrival", "owner", "acl"} & again.document("d").keys() == set()
    assert again.document("e").keys() - again.document("d").keys() == {"owner", "acl"}
    assert again.migration.report.refused == ()


def test_a_file_that_came_in_the_meantime_stays(tmp_path: Path) -> None:
    (tmp_path / "clusters").mkdir()
    (tmp_path / "clusters" / "a.yaml").write_text("another's")
    with pytest.raises(NotWritten):
        place(tmp_path, {"clusters/a.yaml": b"mine"})
    assert (tmp_path / "clusters" / "a.yaml").read_text() == "another's"
    assert [each.name for each in tmp_path.iterdir()] == ["clusters"]


def test_no_file_is_written_through_a_link(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "repo").mkdir()
    (tmp_path / "repo" / "clusters").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(NotWritten, match="is a link"):
        place(tmp_path / "repo", {"clusters/a.yaml": b"mine"})
    assert not list((tmp_path / "elsewhere").iterdir())


KILLED_WHILE_WRITING = """
import os, signal, sys
from pathlib import Path
from toolkit.migration.new_files import place
written = 0
def at(event, arguments):
    global written
    written += event == "open" and "/." in str(arguments[0]) and str(arguments[0]).endswith(".yaml")
    if written == 3:
        written += 1  # killing is an event, too
        os.kill(os.getpid(), signal.SIGKILL)
sys.addaudithook(at)
place(Path(sys.argv[1]), {f"clusters/{n}.yaml": b"x" * 100 for n in range(9)})
"""


def test_a_new_config_repo_appears_as_a_whole_or_not_at_all(tmp_path: Path) -> None:
    command = [sys.executable, "-c", KILLED_WHILE_WRITING, str(tmp_path / "repo")]
    assert subprocess.run(command, check=False).returncode == -signal.SIGKILL
    assert not (tmp_path / "repo").exists()
    assert make(tmp_path / "repo", *ONE_OF_EACH_NAME).repository.feeds


def test_a_config_repo_in_which_a_migration_died_is_finished_by_another(tmp_path: Path) -> None:
    (tmp_path / "repo").mkdir()
    (tmp_path / "repo" / "repo.yaml").write_text("name: mine\n")
    command = [sys.executable, "-c", KILLED_WHILE_WRITING, str(tmp_path / "repo")]
    assert subprocess.run(command, check=False).returncode == -signal.SIGKILL
    made = make(tmp_path / "repo", *ONE_OF_EACH_NAME)
    assert len(made.repository.entries) == len(ONE_OF_EACH_NAME)
