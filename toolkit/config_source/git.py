"""The one place that starts git, and all that is asked of it."""

import os
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from toolkit.config_source.errors import GitFailed, NoCommit

_TIMEOUT_SECONDS = 120

_HOOK_VARIABLES = frozenset(
    {
        "GIT_ALTERNATE_OBJECT_DIRECTORIES",
        "GIT_COMMON_DIR",
        "GIT_DIR",
        "GIT_GRAFT_FILE",
        "GIT_INDEX_FILE",
        "GIT_INTERNAL_SUPER_PREFIX",
        "GIT_NAMESPACE",
        "GIT_NO_REPLACE_OBJECTS",
        "GIT_OBJECT_DIRECTORY",
        "GIT_PREFIX",
        "GIT_QUARANTINE_PATH",
        "GIT_REPLACE_REF_BASE",
        "GIT_SHALLOW_FILE",
        "GIT_WORK_TREE",
    }
)
"""A hook has these set for its own repository; with them git would answer about that one."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Commit:
    """A commit.

    Attributes:
        id: full object name.
        committed_at: UTC.
    """

    id: str
    committed_at: datetime


@dataclass(frozen=True, kw_only=True, slots=True)
class TreeEntry:
    """A file of a commit.

    Attributes:
        mode: ``100644``, ``100755``, ``120000`` (link) or ``160000`` (submodule).
        object: name of its content.
        path: from the directory that was asked about, with `/`.
    """

    mode: str
    object: str
    path: str


def run_git(directory: Path, arguments: Sequence[str], stdin: bytes = b"") -> bytes:
    """Runs git and returns its standard output.

    Raises:
        GitFailed: git is not installed, does not end in two minutes, or exits with another code than 0.
    """
    command = ["git", *arguments]
    try:
        done = subprocess.run(  # noqa: S603 - no shell, fixed program
            command,
            cwd=directory,
            input=stdin,
            capture_output=True,
            env=_environment(os.environ),
            timeout=_TIMEOUT_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise GitFailed(command=command, code=None, stderr=str(error), directory=str(directory)) from error
    if done.returncode != 0:
        stderr = done.stderr.decode(errors="replace")
        raise GitFailed(command=command, code=done.returncode, stderr=stderr, directory=str(directory))
    return done.stdout


def _environment(variables: Mapping[str, str]) -> dict[str, str]:
    kept = {name: value for name, value in variables.items() if name not in _HOOK_VARIABLES}
    return {**kept, "LC_ALL": "C", "GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0"}


def read_commit(directory: Path, ref: str) -> Commit:
    """The commit that a name stands for.

    Raises:
        NoCommit: nothing in the checkout has that name.
        GitFailed: git failed otherwise.
    """
    try:
        name = run_git(directory, ["rev-parse", "--verify", "--quiet", "--end-of-options", f"{ref}^{{commit}}"])
    except GitFailed as error:
        if error.code == 1:
            raise NoCommit(path=str(directory), ref=ref) from error
        raise
    commit = name.decode().strip()
    seconds = run_git(directory, ["show", "--no-patch", "--format=%ct", commit])
    return Commit(id=commit, committed_at=datetime.fromtimestamp(int(seconds), UTC))


def list_tree(directory: Path, commit: str) -> tuple[TreeEntry, ...]:
    """All files of a commit at and below a directory of the checkout."""
    output = run_git(directory, ["ls-tree", "-r", "-z", commit])
    return tuple(_tree_entry(line) for line in os.fsdecode(output).split("\0") if line)


def _tree_entry(line: str) -> TreeEntry:
    facts, _, path = line.partition("\t")
    mode, _, name = facts.split(" ")
    return TreeEntry(mode=mode, object=name, path=path)


def read_objects(directory: Path, names: Sequence[str]) -> list[bytes]:
    """The content of objects, in their order, by one git process."""
    output = run_git(directory, ["cat-file", "--batch"], stdin="".join(f"{name}\n" for name in names).encode())
    contents: list[bytes] = []
    offset = 0
    for _ in names:
        line_end = output.index(b"\n", offset)
        size = int(output[offset:line_end].split(b" ")[2])
        contents.append(output[line_end + 1 : line_end + 1 + size])
        offset = line_end + 1 + size + 1
    return contents


def changed_files(directory: Path) -> tuple[str, ...]:
    """Tracked files at and below a directory that differ from the commit, and untracked ones; not ignored ones."""
    output = run_git(directory, ["status", "--porcelain=v1", "-z", "--no-renames", "--untracked-files=all", "--", "."])
    return tuple(line[3:] for line in os.fsdecode(output).split("\0") if line)


def ignored_files(directory: Path) -> tuple[str, ...]:
    """YAML files at and below a directory that git ignores; not those in directories that are ignored as a whole."""
    command = ["ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--directory", "--", "*.yaml"]
    return tuple(name for name in os.fsdecode(run_git(directory, command)).split("\0") if name)


def is_ignored(directory: Path) -> bool:
    """Whether the checkout around a directory ignores it, as build output."""
    try:
        run_git(directory, ["check-ignore", "--quiet", "--", "."])
    except GitFailed as error:
        if error.code == 1:
            return False
        raise
    return True


def in_checkout(directory: Path) -> bool:
    """Whether a directory is part of a git checkout; git itself is not needed to tell."""
    resolved = directory.resolve()
    return any((each / ".git").exists() for each in (resolved, *resolved.parents))
