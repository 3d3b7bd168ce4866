"""The one place that starts git, and all that is asked of it."""

import os
import re
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from toolkit.config_source.checkout import Checkout, find_checkout
from toolkit.config_source.errors import BadCheckout, BadCommitDate, GitFailed, NoCommit
from toolkit.variables import process_variables

_TIMEOUT_SECONDS = 120

_MOST_BYTES = 256 << 20
"""More configuration than any repo has."""

_FIXED = (
    "--no-pager",
    *("-c", "safe.bareRepository=explicit"),
    *("-c", "core.fsmonitor=false"),
    *("-c", "core.hooksPath=/dev/null"),
    *("-c", "core.untrackedCache=false"),
    *("-c", "protocol.allow=never"),
    *("-c", "submodule.recurse=false"),
    *("-c", "status.submoduleSummary=false"),
    *("-c", "log.showSignature=false"),
)
"""Whatever a config says that runs programs, except filters, which have names (`_filters_off`)."""

_KEPT_VARIABLES = frozenset(
    {
        "GIT_AUTHOR_DATE",
        "GIT_AUTHOR_EMAIL",
        "GIT_AUTHOR_NAME",
        "GIT_COMMITTER_DATE",
        "GIT_COMMITTER_EMAIL",
        "GIT_COMMITTER_NAME",
        "GIT_CONFIG_GLOBAL",
        "GIT_CONFIG_NOSYSTEM",
        "GIT_CONFIG_SYSTEM",
        "GIT_EXEC_PATH",
    }
)
"""Git's own variables that are kept; a hook has others set for its repository, and some of them start programs."""

_CONFIG_VARIABLES = ("GIT_CONFIG_COUNT", "GIT_CONFIG_KEY_", "GIT_CONFIG_VALUE_", "GIT_CONFIG_PARAMETERS")
"""Variables with which a container's operator trusts a checkout without a file; they are for nothing else."""

_COMMITTED = re.compile(rb"^committer .*> (\d+) [+-]\d{4}$", re.MULTILINE)


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
    """Runs git in the checkout that a directory is part of, and returns its standard output.

    Nothing that the checkout's files or its config name is run, and nothing is fetched.

    Raises:
        BadCheckout: the directory's `.git` is none.
        GitFailed: the directory is in no checkout or in one of another user; git is not installed, does not end in
            two minutes, or exits with another code than 0.
    """
    command, checkout = ["git", *arguments], find_checkout(directory)
    if checkout is None:
        reason = "there is no .git, neither here nor above"
        raise GitFailed(command=command, code=None, stderr=reason, directory=str(directory))
    _require_owner(checkout, command)
    return _run(directory, [*_places(checkout), *_filters_off(checkout)], arguments, stdin)


def make_checkout(directory: Path) -> None:
    """Makes an empty directory a checkout without a commit.

    Raises:
        GitFailed: git is missing, or failed.
    """
    _run(directory, [], ["init", "--quiet", "--initial-branch=main"])


def _run(
    directory: Path,
    options: Sequence[str],
    arguments: Sequence[str],
    stdin: bytes = b"",
    also_kept: tuple[str, ...] = (),
) -> bytes:
    command = ["git", *arguments]
    try:
        done = subprocess.run(  # noqa: S603 - no shell, fixed program
            ["git", *_FIXED, *options, *arguments],  # noqa: S607 - looked for on PATH, never in the repo
            cwd=directory,
            input=stdin,
            capture_output=True,
            env=_environment(process_variables(), also_kept),
            timeout=_TIMEOUT_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise GitFailed(command=command, code=None, stderr=str(error), directory=str(directory)) from error
    if done.returncode != 0:
        stderr = done.stderr.decode(errors="replace")
        raise GitFailed(command=command, code=done.returncode, stderr=stderr, directory=str(directory))
    return done.stdout


def _environment(variables: Mapping[str, str], also_kept: tuple[str, ...] = ()) -> dict[str, str]:
    kept = {
        name: value
        for name, value in variables.items()
        if not name.startswith("GIT_") or name in _KEPT_VARIABLES or name.startswith(("GIT_TRACE", *also_kept))
    }
    path = os.pathsep.join(each for each in os.get_exec_path(kept) if Path(each).is_absolute())
    fixed = {"LC_ALL": "C", "GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0"}
    return {**kept, **fixed, "PATH": path, "GIT_NO_LAZY_FETCH": "1", "GIT_ALLOW_PROTOCOL": ""}


def _places(checkout: Checkout) -> tuple[str, ...]:
    return f"--git-dir={checkout.git_dir}", f"--work-tree={checkout.top}"


def _filters_off(checkout: Checkout) -> Iterator[str]:
    """Filters that the checkout's own config defines do nothing; to read a config runs nothing."""
    if not checkout.may_define_filters():
        return
    listed = _run(checkout.top, _places(checkout), ["config", "--list", "--show-scope", "--name-only", "-z"])
    words = os.fsdecode(listed).split("\0")[:-1]
    own = {key for scope, key in zip(words[::2], words[1::2], strict=True) if scope in {"local", "worktree"}}
    for name in sorted({key.rpartition(".")[0] for key in own if key.startswith("filter.") and key.count(".") > 1}):
        if "=" in name:  # `-c` would cut the name there
            raise BadCheckout(path=str(checkout.common_dir), reason=f"defines {name}, a filter with a = in its name")
        for setting in ("clean=", "smudge=", "process=", "required=false"):
            yield from ("-c", f"{name}.{setting}")


def _require_owner(checkout: Checkout, command: Sequence[str]) -> None:
    """Refuse a checkout with a foreign owner, as git does; git itself checks only when it searches for one."""
    trusted, sudo = {0, os.geteuid()}, process_variables().get("SUDO_UID", "")
    if os.geteuid() == 0 and sudo.isdecimal():
        trusted.add(int(sudo))
    foreign = checkout.foreign(trusted)
    if foreign is not None and not _is_safe(checkout.top):
        reason = f"dubious ownership: {foreign} belongs to user {foreign.lstat().st_uid}"
        raise GitFailed(command=command, code=None, stderr=reason, directory=str(checkout.top))


def _is_safe(top: Path) -> bool:
    """Return whether the operator trusts a directory in git's own config; the checkout's config is not read for it."""
    question = ["config", "--type=path", "-z", "--get-all", "safe.directory"]
    try:
        listed = _run(Path("/"), ["--git-dir=/dev/null"], question, also_kept=_CONFIG_VARIABLES)
    except GitFailed as error:
        if error.code == 1:
            return False
        raise
    is_safe = False
    for named in os.fsdecode(listed).split("\0")[:-1]:  # an empty one takes back those before it
        folder = named.removesuffix("/*")
        above = top.parents if folder != named else (top,)
        is_safe = named != "" and (is_safe or named == "*" or Path(folder).resolve() in above)
    return is_safe


def read_commit(directory: Path, ref: str) -> Commit:
    """The commit that a name stands for.

    Raises:
        NoCommit: nothing in the checkout has that name.
        BadCommitDate: the date cannot be that of a commit.
        GitFailed: git failed otherwise.
    """
    if "\n" in ref:
        raise NoCommit(path=str(directory), ref=ref)
    answer = run_git(directory, ["cat-file", "--batch"], stdin=os.fsencode(f"{ref}^{{commit}}\n"))
    facts, _, content = answer.partition(b"\n")
    name, _, kind = facts.rpartition(b" ")[0].rpartition(b" ")
    if kind != b"commit":  # `NAME missing` or `NAME ambiguous`
        raise NoCommit(path=str(directory), ref=ref)
    commit = name.decode()
    return Commit(id=commit, committed_at=_commit_time(commit, content.partition(b"\n\n")[0]))


def _commit_time(commit: str, header: bytes) -> datetime:
    match = _COMMITTED.search(header)
    seconds = "" if match is None else match[1].decode()
    try:
        return datetime.fromtimestamp(int(seconds), UTC)
    except (ValueError, OverflowError, OSError) as error:
        raise BadCommitDate(commit=commit, found=seconds) from error


def list_tree(directory: Path, commit: str) -> tuple[TreeEntry, ...]:
    """Return all files of a commit at and below a directory of the checkout."""
    output = run_git(directory, ["ls-tree", "-r", "-z", commit])
    return tuple(_tree_entry(line) for line in os.fsdecode(output).split("\0") if line)


def _tree_entry(line: str) -> TreeEntry:
    facts, _, path = line.partition("\t")
    mode, _, name = facts.split(" ")
    return TreeEntry(mode=mode, object=name, path=path)


def read_objects(directory: Path, names: Sequence[str]) -> list[bytes]:
    """The content of objects, in their order.

    Raises:
        GitFailed: the checkout has not all of them, or together they are larger than any config repo: git packs a text
            that repeats itself into a thousandth, and gives it back whole.
    """
    known = object_sizes(directory, names)
    sizes = [known[name] for name in names if name in known]
    reason = ""
    if len(sizes) < len(names):
        reason = f"{len(names) - len(sizes)} objects of the commit are missing; lazy fetching is off"
    elif sum(sizes) > _MOST_BYTES:
        reason = f"the commit has {sum(sizes)} bytes of configuration, expected at most {_MOST_BYTES >> 20} MiB"
    if reason:
        raise GitFailed(command=["git", "cat-file"], code=None, stderr=reason, directory=str(directory))
    output = run_git(directory, ["cat-file", "--batch"], stdin=_lines(names))
    contents: list[bytes] = []
    offset = 0
    for size in sizes:
        begin = output.index(b"\n", offset) + 1
        contents.append(output[begin : begin + size])
        offset = begin + size + 1
    return contents


def object_sizes(directory: Path, names: Sequence[str]) -> dict[str, int]:
    """Return the octets of objects, of those that the checkout has.

    Raises:
        GitFailed: git failed.
    """
    command = ["cat-file", "--batch-check=%(objectname) %(objectsize)"]
    answers = run_git(directory, command, stdin=_lines(names)).decode().splitlines() if names else ()
    return {name: int(size) for name, _, size in (each.rpartition(" ") for each in answers) if size.isdecimal()}


def _lines(names: Sequence[str]) -> bytes:
    return "".join(f"{name}\n" for name in names).encode()


def changed_files(directory: Path) -> tuple[str, ...]:
    """Tracked files at and below a directory that differ from the commit, and untracked ones; not ignored ones."""
    command = ["status", "--porcelain=v1", "-z", "--no-renames", "--untracked-files=all"]
    # to look into a submodule git starts another git there, which obeys that one's config
    output = run_git(directory, [*command, "--ignore-submodules=dirty", "--", "."])
    return tuple(line[3:] for line in os.fsdecode(output).split("\0") if line)


def ignored_files(directory: Path) -> tuple[str, ...]:
    """Return what git ignores at and below a directory: files, and with a slash behind them whole directories."""
    command = ["ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--directory", "--", "."]
    return tuple(name for name in os.fsdecode(run_git(directory, command)).split("\0") if name)


def is_ignored(directory: Path) -> bool:
    """Return whether the checkout around a directory ignores it, as build output."""
    try:
        run_git(directory, ["check-ignore", "--quiet", "--", "."])
    except GitFailed as error:
        if error.code == 1:
            return False
        raise
    return True
