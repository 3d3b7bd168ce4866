from __future__ import annotations

import os
from datetime import timedelta
from pathlib import Path

import pytest

from tests.unit.config_source.checkouts import REPO, checkout, git, write
from toolkit.config_source import (
    DirtyCheckout,
    NoConfigRepo,
    SnapshotId,
    SnapshotKind,
    StaleSnapshot,
    find_repo,
    named_repo,
    open_snapshot,
    require_age,
)
from toolkit.el import Frequency, parse_instant

NOW = parse_instant("2026-03-03T12:00Z")


def test_the_nearest_parent_with_a_repo_yaml_is_found(tmp_path: Path) -> None:
    outer = write(tmp_path, REPO)
    inner = write(tmp_path / "feeds" / "inner", REPO)
    assert find_repo(inner / "feeds", {}) == inner
    assert find_repo(tmp_path / "workflows", {}) == outer


def test_the_environment_variable_wins(tmp_path: Path) -> None:
    write(tmp_path, REPO)
    assert find_repo(tmp_path, {"FEEDCTL_REPO": "/elsewhere"}) == Path("/elsewhere")
    assert find_repo(tmp_path, {"FEEDCTL_REPO": ""}) == tmp_path


def test_a_variable_that_names_another_repo_than_one_stands_in_is_told(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    here, other = write(tmp_path / "here", REPO), write(tmp_path / "other", REPO)
    (tmp_path / "link").symlink_to(here)
    for same in (str(here), f"{here}/feeds/..", str(tmp_path / "link")):
        find_repo(here / "feeds", {"FEEDCTL_REPO": same})
    find_repo(tmp_path, {"FEEDCTL_REPO": str(other)})
    find_repo(here, {})
    assert caplog.messages == []
    assert find_repo(here / "feeds", {"FEEDCTL_REPO": str(other)}) == other
    assert caplog.messages == [
        f'event=other_config_repo used="{other}" here="{here}" why="FEEDCTL_REPO names it"',
    ]


def test_no_config_repo_says_where_it_was_looked_for(tmp_path: Path) -> None:
    with pytest.raises(NoConfigRepo, match=r"neither it nor a parent has a repo\.yaml, expected a config repo"):
        find_repo(tmp_path, {})


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("gone", "does not exist"),
        ("empty", "is a directory without a repo.yaml"),
        ("file.txt", "does not end with .zip"),
    ],
)
def test_what_is_no_config_repo_says_why(tmp_path: Path, name: str, reason: str) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "file.txt").write_text("x")
    with pytest.raises(NoConfigRepo, match=reason):
        open_snapshot(tmp_path / name)


def test_a_plain_directory_is_known_by_its_digest(tmp_path: Path) -> None:
    assert open_snapshot(write(tmp_path, REPO), for_mutation=True).id.kind is SnapshotKind.DIRECTORY


def test_a_clean_checkout_is_known_by_its_commit(tmp_path: Path) -> None:
    root = checkout(tmp_path)
    assert open_snapshot(root, for_mutation=True).id.value == git(root, "rev-parse", "HEAD")


@pytest.mark.parametrize("change", [{"feeds/clicks.yaml": "changed\n"}, {"feeds/new.yaml": "new\n"}])
def test_a_dirty_checkout_is_refused_by_a_run_that_changes_something(tmp_path: Path, change: dict[str, str]) -> None:
    root = write(checkout(tmp_path), change)
    with pytest.raises(DirtyCheckout, match=r"found 1 changed or untracked files \(feeds/\w+.yaml\)"):
        open_snapshot(root, for_mutation=True)


def test_a_dirty_checkout_is_read_and_marked_when_that_is_allowed(tmp_path: Path) -> None:
    root = write(checkout(tmp_path), {"feeds/clicks.yaml": "changed\n"})
    for snapshot in (open_snapshot(root), open_snapshot(root, for_mutation=True, allow_dirty=True)):
        assert snapshot.files["feeds/clicks.yaml"] == b"changed\n"
        assert snapshot.id.dirty
        assert snapshot.id.value == git(root, "rev-parse", "HEAD")
        assert str(snapshot.id).endswith("(dirty)")


def test_changes_outside_of_the_config_repo_do_not_count(tmp_path: Path) -> None:
    root = checkout(tmp_path, {f"config/{name}": text for name, text in REPO.items()})
    write(root, {"code.py": "x"})
    assert not open_snapshot(root / "config", for_mutation=True).id.dirty


def test_a_removed_file_makes_a_checkout_dirty(tmp_path: Path) -> None:
    root = checkout(tmp_path)
    (root / "feeds" / "clicks.yaml").unlink()
    with pytest.raises(DirtyCheckout):
        open_snapshot(root, for_mutation=True)


def test_a_checkout_without_a_commit_is_dirty(tmp_path: Path) -> None:
    root = write(tmp_path, REPO)
    git(root, "init", "--quiet")
    with pytest.raises(DirtyCheckout):
        open_snapshot(root, for_mutation=True)
    assert open_snapshot(root).id.kind is SnapshotKind.DIRECTORY


def test_a_directory_that_the_checkout_around_it_ignores_is_a_plain_one(tmp_path: Path) -> None:
    root = checkout(tmp_path, {".gitignore": "build/\n"})
    demo = write(root / "build" / "demo", REPO)
    assert open_snapshot(demo, for_mutation=True).id.kind is SnapshotKind.DIRECTORY


def test_an_archive_is_opened(tmp_path: Path) -> None:
    root = checkout(tmp_path / "repo")
    git(root, "archive", f"--output={tmp_path / 'a.zip'}", "HEAD")
    assert open_snapshot(tmp_path / "a.zip", for_mutation=True).id.kind is SnapshotKind.ARCHIVE


def test_age_is_checked_only_where_it_is_limited() -> None:
    unknown = SnapshotId(kind=SnapshotKind.DIRECTORY, value="sha256:0")
    require_age(unknown, None, NOW)
    with pytest.raises(StaleSnapshot, match="has no commit time, expected one at most days"):
        require_age(unknown, Frequency.parse("days(2)"), NOW)


def test_a_snapshot_of_exactly_the_greatest_age_will_do() -> None:
    at_limit = SnapshotId(kind=SnapshotKind.COMMIT, value="c", committed_at=NOW - timedelta(days=2))
    older = SnapshotId(kind=SnapshotKind.COMMIT, value="c", committed_at=NOW - timedelta(days=2, seconds=1))
    require_age(at_limit, Frequency.parse("days(2)"), NOW)
    with pytest.raises(StaleSnapshot, match=r"\(commit c\) is from 2026-03-01T11:59Z, expected one at most days\(2\)"):
        require_age(older, Frequency.parse("days(2)"), NOW)


def test_an_empty_name_is_not_read_as_no_name() -> None:
    assert named_repo("/repo") == Path("/repo")
    with pytest.raises(NoConfigRepo, match=r"^--config-repo '': is empty, expected a config repo"):
        named_repo("")


def test_a_pipe_is_no_config_repo(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "repo")
    with pytest.raises(NoConfigRepo, match="is neither a directory nor a file"):
        open_snapshot(tmp_path / "repo")


def test_configuration_that_git_ignores_makes_a_checkout_dirty(tmp_path: Path) -> None:
    """A hold that somebody put there in a hurry is not in any commit, and must not be passed over in silence."""
    root = write(checkout(tmp_path, {**REPO, ".gitignore": "holds.yaml\n*.log.yaml\n"}), {"workflows/a.log.yaml": "x"})
    assert not open_snapshot(root, for_mutation=True).id.dirty
    write(root, {"holds.yaml": "holds: []\n"})
    with pytest.raises(DirtyCheckout, match=r"found 1 configuration files that git ignores \(holds\.yaml\), expected"):
        open_snapshot(root, for_mutation=True)
    snapshot = open_snapshot(root, for_mutation=True, allow_dirty=True)
    assert snapshot.id.dirty
    assert snapshot.files["holds.yaml"] == b"holds: []\n"


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_a_config_repo_that_may_not_be_read_says_so(tmp_path: Path) -> None:
    root = write(tmp_path / "repo", REPO)
    root.chmod(0)
    with pytest.raises(NoConfigRepo, match="the user of this run may not read"):
        open_snapshot(root)
    root.chmod(0o755)


@pytest.mark.parametrize("state", ["committed", "dirty", "plain"])
def test_other_files_are_kept_when_they_are_asked_for_and_small(tmp_path: Path, state: str) -> None:
    texts = {**REPO, "workflows/large.sql": "-- " + "x" * (1 << 20), "workflows/model.bin": "x"}
    root = write(tmp_path, texts) if state == "plain" else checkout(tmp_path, texts)
    if state == "dirty":
        write(root, {"workflows/new.sql": "select 2\n"})
    kept = open_snapshot(root, keeps=lambda path: path.endswith(".sql"))
    added = {"workflows/new.sql": b"select 2\n"} if state == "dirty" else {}
    assert dict(kept.texts) == {"workflows/clicks.sql": b"select 1\n", **added}
    assert "workflows/large.sql" in kept.names
    assert open_snapshot(root).texts == {}
    assert kept.id == open_snapshot(root).id


def test_texts_take_no_room_from_configuration(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("directory", "git"):
        monkeypatch.setattr(f"toolkit.config_source.{module}._MOST_BYTES", 100)
    for module in ("directory", "commit"):
        monkeypatch.setattr(f"toolkit.config_source.{module}.MOST_TEXTS", 50)
    texts = {**REPO, **{f"data/{number}.json": "x" * 20 for number in range(20)}}
    for root in (write(tmp_path / "plain", texts), checkout(tmp_path / "committed", texts)):
        kept = open_snapshot(root, keeps=lambda path: path.endswith(".json"))
        assert set(kept.texts) == {"data/0.json", "data/1.json"}
        assert set(kept.files) == {"repo.yaml", "feeds/clicks.yaml"}
        assert kept.problems == ()


def test_what_git_ignores_and_what_is_no_text_is_not_kept(tmp_path: Path) -> None:
    root = checkout(tmp_path, {**REPO, ".gitignore": ".env\nbuild/\n", "workflows/tool": "\x7fELF\0"})
    write(root, {".env": "a", "build/deep/x.sql": "a", "workflows/new.sql": "a"})
    kept = open_snapshot(root, keeps=lambda path: path != ".gitignore")
    assert kept.id.dirty
    assert set(kept.texts) == {"workflows/clicks.sql", "workflows/new.sql"}
