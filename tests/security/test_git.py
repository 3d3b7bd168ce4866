"""Whoever may propose a change of the config repo, or hands a checkout over, runs no program of their choice.

Against: the author of a pull request, whose files are looked at before anybody merged them (lint, `entity list`,
doctor, a dry run), and whoever made a folder with its `.git`, as an archive or a shared disk carries one. Defended:
git is only ever told where the `.git` is that a clone made, and obeys nothing in its config that names a program.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.unit.config_source.checkouts import REPO, checkout, git, write
from toolkit.config_source import (
    BadCheckout,
    BadCommitDate,
    DirtyCheckout,
    GitFailed,
    NoCommit,
    SnapshotKind,
    find_checkout,
    open_base,
    open_snapshot,
)
from toolkit.config_source.git import is_ignored, read_commit, read_objects, run_git
from toolkit.linter.engine import LintRequest, lint


def hostile_folder(marker: Path, worktree: Path) -> dict[str, str]:
    """A config repo that git, started in it, takes for a git directory whose config starts a program."""
    config = f'[core]\nrepositoryformatversion=0\nbare=false\nworktree={worktree}\nfsmonitor="touch {marker}; false"\n'
    inner = {"HEAD": "ref: refs/heads/main\n", "objects/keep": "", "refs/keep": "", "config": config}
    return {f"config/{name}": text for name, text in {**REPO, **inner}.items()}


def program(marker: Path) -> str:
    return f"touch {marker}; cat"


def touched(root: Path) -> None:
    """Files that git has to compare with their commit: of another time, and of the same size."""
    for name in ("repo.yaml", "feeds/clicks.yaml"):
        os.utime(root / name, (1, 1))


def test_a_folder_that_looks_like_a_git_directory_starts_nothing(tmp_path: Path) -> None:
    marker = tmp_path / "marker"
    root = checkout(tmp_path / "root", hostile_folder(marker, tmp_path / "root" / "config"))
    snapshot = open_snapshot(root / "config")
    open_base(root / "config", "HEAD")
    assert not marker.exists()
    assert snapshot.id.value == git(root, "rev-parse", "HEAD")
    assert "feeds/clicks.yaml" in snapshot.files


def test_nor_does_it_in_a_dirty_checkout_and_in_a_linked_worktree(tmp_path: Path) -> None:
    marker = tmp_path / "marker"
    root = checkout(tmp_path / "root", hostile_folder(marker, tmp_path / "root" / "config"))
    git(root, "worktree", "add", "--quiet", str(tmp_path / "linked"))
    write(root, {"config/feeds/new.yaml": "x"})
    assert open_snapshot(root / "config").id.dirty
    assert open_snapshot(tmp_path / "linked" / "config").id.value == git(root, "rev-parse", "HEAD")
    assert not marker.exists()


def test_lint_says_that_a_folder_looks_like_a_git_directory(tmp_path: Path) -> None:
    root = checkout(tmp_path / "root", hostile_folder(tmp_path / "marker", tmp_path))
    snapshot = open_snapshot(root / "config")
    assert snapshot.id.committed_at is not None
    report = lint(LintRequest(snapshot=snapshot, time=snapshot.id.committed_at))
    assert [each.file for each in report.findings if each.rule == "git-directory-in-repo"] == ["HEAD"]
    assert report.failed


@pytest.mark.parametrize(
    "settings",
    [
        {"core.fsmonitor": "{program}"},
        {"filter.x.clean": "{program}"},
        {"filter.x.process": "{program}"},
        {"filter.x.clean": "{program}", "filter.x.required": "true"},
        {"filter.a.b.clean": "{program}"},
        {"include.path": "{included}"},
        {"includeIf.gitdir:/**.path": "{included}"},
        {"diff.external": "{program}", "diff.x.textconv": "{program}", "core.pager": "{program}"},
        {"log.showSignature": "true", "gpg.program": "{program}"},
        {"core.hooksPath": "{hooks}", "status.submoduleSummary": "true"},
        {"core.worktree": "/", "core.bare": "true"},
    ],
    ids=", ".join,
)
def test_nothing_that_the_config_of_the_checkout_names_is_run(tmp_path: Path, settings: dict[str, str]) -> None:
    marker, hooks = tmp_path / "marker", tmp_path / "hooks"
    root = checkout(tmp_path / "root", {**REPO, ".gitattributes": "*.yaml filter=x diff=x\nrepo.yaml filter=a.b\n"})
    write(tmp_path, {"included": f'[filter "x"]\n\tclean = {program(marker)}\n'.replace("; ", " && ")})
    for hook in ("post-index-change", "reference-transaction"):
        write(hooks, {hook: f"#!/bin/sh\ntouch {marker}\n"})
        (hooks / hook).chmod(0o755)
    for key, value in settings.items():
        places = {"program": program(marker), "included": tmp_path / "included", "hooks": hooks}
        git(root, "config", key, value.format(**places))
    touched(root)
    assert open_snapshot(root).id.value == open_base(root, "HEAD").id.value
    assert not is_ignored(root)
    assert not marker.exists()


def test_a_filter_in_the_config_of_a_worktree_is_not_run(tmp_path: Path) -> None:
    root = checkout(tmp_path / "root", {**REPO, ".gitattributes": "*.yaml filter=x\n"})
    git(root, "config", "extensions.worktreeConfig", "true")
    git(root, "worktree", "add", "--quiet", str(tmp_path / "linked"))
    git(tmp_path / "linked", "config", "--worktree", "filter.x.clean", program(tmp_path / "marker"))
    touched(tmp_path / "linked")
    open_snapshot(tmp_path / "linked")
    assert not (tmp_path / "marker").exists()


def test_a_filter_whose_name_could_hide_it_is_refused(tmp_path: Path) -> None:
    root = checkout(tmp_path)
    git(root, "config", "filter.a=b.clean", "true")
    with pytest.raises(BadCheckout, match=r"defines filter\.a=b, a filter with a = in its name"):
        open_snapshot(root)


def test_no_git_is_started_inside_a_submodule(tmp_path: Path) -> None:
    """Its own config would be obeyed there; that it is a submodule is said all the same."""
    inner = checkout(tmp_path / "inner", {"clicks.yaml": "x"})
    root = checkout(tmp_path / "root")
    git(root, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(inner), "feeds/web")
    git(root, "commit", "--quiet", "--message=second")
    git(root / "feeds" / "web", "config", "filter.x.clean", program(tmp_path / "marker"))
    write(root / ".git" / "modules" / "feeds" / "web", {"info/attributes": "* filter=x\n"})
    os.utime(root / "feeds" / "web" / "clicks.yaml", (1, 1))
    assert [each.rule for each in open_snapshot(root).problems] == ["submodule"]
    assert not (tmp_path / "marker").exists()


def test_the_variables_of_a_hook_start_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = checkout(tmp_path / "root", {**REPO, ".gitattributes": "*.yaml filter=x\n"})
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", "filter.x.clean")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", program(tmp_path / "marker"))
    monkeypatch.setenv("GIT_CONFIG_PARAMETERS", f"'filter.x.process'='{program(tmp_path / 'marker')}'")
    touched(root)
    open_snapshot(root)
    assert not (tmp_path / "marker").exists()


def test_a_program_called_git_in_the_repo_is_not_taken_for_git(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = checkout(tmp_path / "root", {**REPO, "git": f"#!/bin/sh\ntouch {tmp_path / 'marker'}\n"})
    (root / "git").chmod(0o755)
    monkeypatch.setenv("PATH", f".:{os.environ['PATH']}")
    open_snapshot(root)
    assert not (tmp_path / "marker").exists()


def test_an_object_that_a_partial_clone_lacks_is_not_fetched(tmp_path: Path) -> None:
    origin = checkout(tmp_path / "origin")
    git(origin, "config", "uploadpack.allowFilter", "true")
    git(tmp_path, "clone", "--quiet", "--no-checkout", "--filter=blob:none", origin.as_uri(), "partial")
    root = tmp_path / "partial"
    git(root, "config", "remote.origin.uploadpack", f"touch {tmp_path / 'marker'}; git-upload-pack")
    git(root, "config", "protocol.file.allow", "always")
    with pytest.raises(GitFailed, match="the clone has not all objects"):
        open_base(root, "HEAD")
    assert not (tmp_path / "marker").exists()


def test_an_object_that_the_checkout_lacks_is_no_bug(tmp_path: Path) -> None:
    """A newer git says of an object that a partial clone left out just that it is missing."""
    root = checkout(tmp_path / "root")
    name = git(root, "rev-parse", "HEAD:feeds/clicks.yaml")
    (root / ".git" / "objects" / name[:2] / name[2:]).unlink()
    with pytest.raises(GitFailed, match=r"1 objects of the commit are missing.*clone it without --filter"):
        open_base(root, "HEAD")


def test_a_commit_that_expands_to_more_than_any_config_repo_is_not_read_into_memory(tmp_path: Path) -> None:
    large = "a" * (1 << 20)
    root = checkout(tmp_path / "root", {**REPO, "feeds/large.yaml": large})
    name = git(root, "rev-parse", "HEAD:feeds/large.yaml")
    with pytest.raises(GitFailed, match="the commit has 314572800 bytes of configuration, expected at most 256 MiB"):
        read_objects(root, [name] * 300)


def test_a_checkout_of_another_user_is_refused(tmp_path: Path) -> None:
    found = find_checkout(checkout(tmp_path))
    assert found is not None
    assert found.foreign({os.geteuid()}) is None
    assert found.foreign({os.geteuid() + 1}) == tmp_path


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
def test_a_config_of_another_user_is_refused_until_the_operator_trusts_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = checkout(tmp_path / "root")
    os.chown(root / ".git" / "config", 12345, -1)
    with pytest.raises(GitFailed, match=r"dubious ownership: .*config belongs to user 12345; .*safe\.directory"):
        open_snapshot(root)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "operator"))
    write(tmp_path, {"operator": f"[safe]\n\tdirectory = {root}\n"})
    assert open_snapshot(root).id.kind is SnapshotKind.COMMIT
    write(tmp_path, {"operator": f"[safe]\n\tdirectory = {root}\n\tdirectory =\n"})
    git(root, "config", "safe.directory", "*")
    os.chown(root / ".git" / "config", 12345, -1)  # git wrote a new file
    with pytest.raises(GitFailed, match="dubious ownership"):
        open_snapshot(root)


def test_a_directory_in_no_checkout_is_not_asked_about(tmp_path: Path) -> None:
    write(tmp_path, {"HEAD": "ref: refs/heads/main\n", "objects/keep": "", "refs/keep": ""})
    with pytest.raises(GitFailed, match=r"did not run: there is no \.git, neither here nor above"):
        run_git(tmp_path, ["status"])


@pytest.mark.parametrize("text", ["", "config/evil\n", "gitdir: gone\n"])
def test_a_git_file_that_names_no_directory_is_refused(tmp_path: Path, text: str) -> None:
    write(tmp_path, {**REPO, ".git": text})
    with pytest.raises(BadCheckout, match=r"\.git: (has no `gitdir: DIRECTORY`|means .*, which is no directory)"):
        open_snapshot(tmp_path)


def test_a_pipe_in_the_place_of_the_config_is_refused(tmp_path: Path) -> None:
    root = checkout(tmp_path)
    (root / ".git" / "config").unlink()
    os.mkfifo(root / ".git" / "config")
    with pytest.raises(BadCheckout, match="config: is no file"):
        open_snapshot(root)


def test_a_submodule_that_is_a_config_repo_is_read_from_its_own_git_directory(tmp_path: Path) -> None:
    inner = checkout(tmp_path / "inner")
    root = checkout(tmp_path / "root", {"README.md": "x"})
    git(root, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(inner), "config")
    assert open_snapshot(root / "config", for_mutation=True).id.value == git(inner, "rev-parse", "HEAD")


def test_a_new_file_still_makes_a_checkout_dirty(tmp_path: Path) -> None:
    root = write(checkout(tmp_path), {"feeds/new.yaml": "x"})
    with pytest.raises(DirtyCheckout):
        open_snapshot(root, for_mutation=True)


@pytest.mark.parametrize("ref", ["main\nHEAD", "x commit", "HEAD^{tree}", "-p", "^"])
def test_a_name_asks_git_one_question_only(tmp_path: Path, ref: str) -> None:
    with pytest.raises(NoCommit):
        read_commit(checkout(tmp_path), ref)


@pytest.mark.parametrize("seconds", ["99999999999999", "9" * 30, "9" * 5000])
def test_a_date_that_cannot_be_is_refused(tmp_path: Path, seconds: str) -> None:
    root = checkout(tmp_path / "root")
    tree = git(root, "rev-parse", "HEAD^{tree}")
    write(tmp_path, {"commit": f"tree {tree}\nauthor a <a> 1 +0000\ncommitter a <a> {seconds} +0000\n\nx\n"})
    commit = git(root, "hash-object", "-t", "commit", "-w", "--literally", str(tmp_path / "commit"))
    with pytest.raises(BadCommitDate, match="expected one before the year 10000"):
        read_commit(root, commit)
