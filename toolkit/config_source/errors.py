"""Errors of reading a config repo; nothing was touched.

InvalidInput
├── NoConfigRepo     there is no config repo where it was looked for
├── BadArchive       the archive cannot be read, or has names that it must not have
├── BadCheckout      the checkout's `.git` cannot be used
├── GitFailed        a git command failed
├── BadCommitDate    a commit has a date that cannot be
├── NoCommit         the checkout has no commit yet
├── DirtyCheckout    the checkout has changes that are not committed
└── StaleSnapshot    older than repo.yaml allows, or of unknown age
"""

from collections.abc import Sequence

from toolkit.errors import InvalidInput


class NoConfigRepo(InvalidInput):
    """There is no config repo where it was looked for.

    Args:
        path: where.
        reason: what is there instead.
    """

    def __init__(self, *, path: str, reason: str) -> None:
        self.path, self.reason = path, reason
        super().__init__(
            f"{path}: {reason}, expected a config repo (a directory with a repo.yaml, or an archive of one); "
            "name one with --config-repo or FEEDCTL_REPO, or make one with `feedctl init`"
        )


class BadArchive(InvalidInput):
    """An archive that cannot be used.

    Args:
        path: the archive.
        reason: what was found in it.
    """

    def __init__(self, *, path: str, reason: str) -> None:
        self.path, self.reason = path, reason
        super().__init__(f"{path}: {reason}, expected a zip or tar archive of a config repo, as `git archive` makes it")


class BadCheckout(InvalidInput):
    """A checkout whose `.git` cannot be used.

    Args:
        path: the file at fault.
        reason: what was found there.
    """

    def __init__(self, *, path: str, reason: str) -> None:
        self.path, self.reason = path, reason
        super().__init__(f"{path}: {reason}, expected what `git clone` makes; clone the config repo again")


class BadCommitDate(InvalidInput):
    """A commit whose date is none.

    Args:
        commit: its name.
        found: the seconds since 1970 that it has; may be empty.
    """

    def __init__(self, *, commit: str, found: str) -> None:
        self.commit, self.found = commit, found
        shown = "no date" if not found else f"a date {found[:20]} seconds after 1970"
        super().__init__(f"found {shown} in commit {commit}, expected one before the year 10000; commit again")


class GitFailed(InvalidInput):
    """A git command failed.

    Args:
        command: with its arguments.
        code: exit code; None when git could not be started or did not end.
        stderr: what git said.
        directory: where it ran.
    """

    def __init__(self, *, command: Sequence[str], code: int | None, stderr: str, directory: str) -> None:
        self.command, self.code, self.stderr, self.directory = tuple(command), code, stderr, directory
        status = "did not run" if code is None else f"exited with {code}"
        super().__init__(f"`{' '.join(command)}` in {directory} {status}: {stderr.strip()}{self._advice()}")

    def _advice(self) -> str:
        if "lazy fetching" in self.stderr or "promisor" in self.stderr:
            return "; the clone has not all objects, and reading a config repo fetches none: clone it without --filter"
        if "dubious ownership" not in self.stderr:
            return ""
        return (
            "; the checkout belongs to another user: run as that user, "
            f"or trust it with `git config --global --add safe.directory {self.directory}`"
        )


class NoCommit(InvalidInput):
    """The checkout has no commit that could be read.

    Args:
        path: the checkout.
        ref: what was asked for.
    """

    def __init__(self, *, path: str, ref: str) -> None:
        self.path, self.ref = path, ref
        super().__init__(f"{path}: found no commit {ref}, expected one; commit the config repo first")


class DirtyCheckout(InvalidInput):
    """The config repo has changes that are not committed.

    Args:
        path: the config repo.
        changed: the changed and untracked files.
        ignored: configuration that git ignores, so that no commit has it.
    """

    def __init__(self, *, path: str, changed: Sequence[str], ignored: Sequence[str] = ()) -> None:
        self.path, self.changed, self.ignored = path, tuple(changed), tuple(ignored)
        kinds = (("changed or untracked files", changed), ("configuration files that git ignores", ignored))
        found = " and ".join(f"{len(names)} {kind} ({_shown(names)})" for kind, names in kinds if names)
        super().__init__(f"{path}: found {found}, expected a clean checkout; commit them, or use --allow-dirty")


class StaleSnapshot(InvalidInput):
    """The config repo is older than its own `max_age`, or its age is unknown.

    Args:
        snapshot: what was read.
        committed_at: when it was committed; None: unknown.
        max_age: of repo.yaml.
        is_future: the date is later than now, so that the age is unknown.
    """

    def __init__(self, *, snapshot: str, committed_at: str | None, max_age: str, is_future: bool = False) -> None:
        self.snapshot, self.committed_at, self.max_age, self.is_future = snapshot, committed_at, max_age, is_future
        found = "has no commit time" if committed_at is None else f"is from {committed_at}"
        if is_future:
            found += ", which is in the future"
        super().__init__(
            f"the config repo ({snapshot}) {found}, expected one at most {max_age} old (max_age in repo.yaml); "
            "update the checkout or archive"
        )


_SHOWN = 5


def _shown(names: Sequence[str]) -> str:
    return ", ".join(names[:_SHOWN]) + (", ..." if len(names) > _SHOWN else "")
