from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.config_source.checkouts import REPO, checkout, git, write
from toolkit.config_source import GitFailed, NoCommit, SnapshotKind, from_git
from toolkit.config_source.git import run_git
from toolkit.el import parse_instant


def test_a_commit_is_read_whatever_the_working_tree_says(tmp_path: Path) -> None:
    root = checkout(tmp_path)
    write(root, {"feeds/clicks.yaml": "changed", "feeds/new.yaml": "new"})
    snapshot = from_git(root)
    assert snapshot.files == {name: REPO[name].encode() for name in ("repo.yaml", "feeds/clicks.yaml")}
    assert snapshot.names == {"workflows/clicks.sql"}
    assert snapshot.id.kind is SnapshotKind.COMMIT
    assert snapshot.id.value == git(root, "rev-parse", "HEAD")
    assert snapshot.id.committed_at == parse_instant("2026-03-01T06:40Z")
    assert not snapshot.id.dirty


def test_an_older_commit_can_be_named(tmp_path: Path) -> None:
    root = checkout(tmp_path)
    first = git(root, "rev-parse", "HEAD")
    write(root, {"feeds/clicks.yaml": "second\n"})
    git(root, "commit", "--quiet", "--all", "--message=second")
    assert from_git(root).files["feeds/clicks.yaml"] == b"second\n"
    assert from_git(root, first).files["feeds/clicks.yaml"] == REPO["feeds/clicks.yaml"].encode()


def test_a_config_repo_may_be_a_part_of_a_checkout(tmp_path: Path) -> None:
    texts = {f"teams/web größe/{name}": text for name, text in REPO.items()}
    root = checkout(tmp_path, {**texts, "feeds/other.yaml": "not ours\n"})
    snapshot = from_git(root / "teams" / "web größe")
    assert set(snapshot.files) == {"repo.yaml", "feeds/clicks.yaml"}


def test_empty_files_and_files_without_a_last_line_end_are_read_whole(tmp_path: Path) -> None:
    texts = {"repo.yaml": "", "feeds/a.yaml": "a", "feeds/b.yaml": "\n\nb\n", "feeds/ü b.yaml": "c"}
    assert from_git(checkout(tmp_path, texts)).files == {name: text.encode() for name, text in texts.items()}


def test_a_link_in_a_commit_is_a_problem(tmp_path: Path) -> None:
    root = write(tmp_path, REPO)
    (root / "feeds" / "views.yaml").symlink_to("clicks.yaml")
    (root / "workflows" / "views.sql").symlink_to("clicks.sql")
    snapshot = from_git(checkout(root))
    assert [(each.file, each.rule) for each in snapshot.problems] == [("feeds/views.yaml", "symlink")]
    assert "feeds/views.yaml" not in snapshot.files


def test_the_variables_of_a_hook_do_not_lead_elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other = checkout(tmp_path / "other", {"repo.yaml": "name: other\n"})
    root = checkout(tmp_path / "root")
    monkeypatch.setenv("GIT_DIR", str(other / ".git"))
    monkeypatch.setenv("GIT_INDEX_FILE", str(other / ".git" / "index"))
    monkeypatch.setenv("GIT_WORK_TREE", str(other))
    assert from_git(root).files["repo.yaml"] == b"name: web\n"


def test_a_checkout_without_a_commit_says_so(tmp_path: Path) -> None:
    git(tmp_path, "init", "--quiet")
    with pytest.raises(NoCommit, match="found no commit HEAD, expected one; commit the config repo first"):
        from_git(tmp_path)


@pytest.mark.parametrize("ref", ["gone", "--help", "-x"])
def test_an_unknown_commit_says_so(tmp_path: Path, ref: str) -> None:
    with pytest.raises(NoCommit, match=f"found no commit {ref}"):
        from_git(checkout(tmp_path), ref)


def test_a_failing_git_says_what_it_was_asked_and_what_it_answered(tmp_path: Path) -> None:
    with pytest.raises(
        GitFailed, match=r"`git frobnicate --now` in .* exited with 1: git: 'frobnicate' is not"
    ) as raised:
        run_git(checkout(tmp_path), ["frobnicate", "--now"])
    assert raised.value.code == 1
    assert raised.value.command == ("git", "frobnicate", "--now")


def test_a_missing_git_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    checkout(tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(GitFailed, match="did not run"):
        run_git(tmp_path, ["status"])


def test_a_checkout_of_another_user_is_explained() -> None:
    error = GitFailed(
        command=["git", "status"], code=128, stderr="fatal: detected dubious ownership in repository", directory="/repo"
    )
    assert "trust it with `git config --global --add safe.directory /repo`" in str(error)
