from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.unit.config_source.checkouts import REPO, write
from toolkit.config_source import SnapshotKind, from_directory


def test_configuration_is_read_and_the_rest_is_named(tmp_path: Path) -> None:
    snapshot = from_directory(write(tmp_path, REPO))
    assert snapshot.files == {name: REPO[name].encode() for name in ("repo.yaml", "feeds/clicks.yaml")}
    assert snapshot.names == {"workflows/clicks.sql"}
    assert snapshot.id.kind is SnapshotKind.DIRECTORY
    assert snapshot.id.committed_at is None
    assert snapshot.problems == ()


def test_the_digest_is_of_the_content_and_of_nothing_else(tmp_path: Path) -> None:
    first = from_directory(write(tmp_path / "a", REPO)).id.value
    assert first.startswith("sha256:")
    assert from_directory(write(tmp_path / "b", dict(reversed(REPO.items())))).id.value == first
    changed = {**REPO, "workflows/clicks.sql": "select 2\n"}
    assert from_directory(write(tmp_path / "c", changed)).id.value != first
    renamed = {**REPO, "workflows/views.sql": REPO["workflows/clicks.sql"]}
    del renamed["workflows/clicks.sql"]
    assert from_directory(write(tmp_path / "d", renamed)).id.value != first


def test_hidden_directories_are_left_out(tmp_path: Path) -> None:
    before = from_directory(write(tmp_path, REPO)).id.value
    after = from_directory(write(tmp_path, {".git/config": "x", "feeds/.cache/a.yaml": "x"}))
    assert after.id.value == before
    assert set(after.files) == {"repo.yaml", "feeds/clicks.yaml"}


def test_names_with_blanks_and_unicode_are_read(tmp_path: Path) -> None:
    root = write(tmp_path / "my repo größe", {**REPO, "feeds/web größe/my feed.yaml": "kind: feed\n"})
    assert from_directory(root).files["feeds/web größe/my feed.yaml"] == b"kind: feed\n"


def test_a_link_to_a_file_is_a_problem_where_configuration_is(tmp_path: Path) -> None:
    root = write(tmp_path / "repo", REPO)
    (tmp_path / "shared.yaml").write_text("kind: cluster\n")
    (root / "clusters").mkdir()
    (root / "clusters" / "shared.yaml").symlink_to(tmp_path / "shared.yaml")
    (root / "workflows" / "shared.sql").symlink_to(tmp_path / "shared.yaml")
    snapshot = from_directory(root)
    assert [(each.file, each.rule) for each in snapshot.problems] == [("clusters/shared.yaml", "symlink")]
    assert "clusters/shared.yaml" not in snapshot.files
    assert "workflows/shared.sql" in snapshot.names


def test_a_broken_link_is_a_problem(tmp_path: Path) -> None:
    root = write(tmp_path, REPO)
    (root / "feeds" / "views.yaml").symlink_to("gone.yaml")
    (problem,) = from_directory(root).problems
    assert str(problem) == (
        "feeds/views.yaml: broken-symlink: found a broken link to gone.yaml, expected a file; mend or remove the link"
    )


def test_a_link_to_a_directory_is_not_followed(tmp_path: Path) -> None:
    root = write(tmp_path / "repo", REPO)
    write(tmp_path / "other", {"views.yaml": "kind: feed\n"})
    (root / "feeds" / "more").symlink_to(tmp_path / "other")
    (root / "workflows" / "more").symlink_to(tmp_path / "other")
    snapshot = from_directory(root)
    assert [(each.file, each.rule) for each in snapshot.problems] == [("feeds/more", "symlink")]
    assert "feeds/more/views.yaml" not in snapshot.files


def test_a_link_that_leads_to_itself_is_a_problem(tmp_path: Path) -> None:
    root = write(tmp_path, REPO)
    (root / "feeds" / "loop.yaml").symlink_to("loop.yaml")
    assert [each.file for each in from_directory(root).problems] == ["feeds/loop.yaml"]


def test_a_pipe_is_not_read(tmp_path: Path) -> None:
    root = write(tmp_path, REPO)
    os.mkfifo(root / "feeds" / "pipe.yaml")
    assert "feeds/pipe.yaml" in from_directory(root).names


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_a_file_that_cannot_be_read_is_a_problem(tmp_path: Path) -> None:
    root = write(tmp_path, REPO)
    (root / "feeds" / "clicks.yaml").chmod(0)
    assert [each.rule for each in from_directory(root).problems] == ["unreadable"]


def test_what_is_no_file_in_the_place_of_configuration_is_a_problem(tmp_path: Path) -> None:
    root = write(tmp_path, REPO)
    os.mkfifo(root / "feeds" / "pipe.yaml")
    (root / "holds.yaml").symlink_to("/dev/null")
    (root / "defaults.yaml").mkdir()
    (root / "feeds" / "web.yaml").mkdir()
    assert sorted(map(str, from_directory(root).problems)) == [
        "defaults.yaml: unreadable: found a folder, expected a file; write the file",
        "feeds/pipe.yaml: unreadable: found a pipe, a socket or a device, expected a file; write the file",
        "feeds/web.yaml: unreadable: found a folder, expected a file; write the file",
        "holds.yaml: symlink: found a link to /dev/null, expected a file; put the content itself here",
    ]


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_a_folder_that_cannot_be_read_is_a_problem_where_configuration_may_be(tmp_path: Path) -> None:
    root = write(tmp_path, REPO)
    for name in ("feeds", "workflows"):
        (root / name).chmod(0)
    snapshot = from_directory(root)
    for name in ("feeds", "workflows"):
        (root / name).chmod(0o755)
    assert list(map(str, snapshot.problems)) == [
        "feeds: unreadable: the folder cannot be read: Permission denied; check its permissions"
    ]
