"""Finds a config repo and opens it as a snapshot (DESIGN section 1)."""

import logging
import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from toolkit.config_source.checkout import find_checkout
from toolkit.config_source.commit import from_git
from toolkit.config_source.directory import from_directory
from toolkit.config_source.errors import DirtyCheckout, GitFailed, NoCommit, NoConfigRepo
from toolkit.config_source.git import changed_files, ignored_files, is_ignored, list_tree, read_commit
from toolkit.config_source.snapshot import FileFilter, Snapshot, SnapshotId, SnapshotKind, no_other_file
from toolkit.entities.problems import ConfigProblem
from toolkit.entities.source_files import REPO_FILE, SUFFIX, is_config_file, own_files

_LOG = logging.getLogger(__name__)

REPO_VARIABLE = "FEEDCTL_REPO"
"""Environment variable that names the config repo."""


def find_repo(start: Path, environ: Mapping[str, str]) -> Path:
    """The config repo to use when none is named: FEEDCTL_REPO, else the nearest parent with a repo.yaml.

    When both are there and differ, the log says so.

    Args:
        start: where to begin, usually the working directory.
        environ: environment variables.

    Raises:
        NoConfigRepo: there is none.
    """
    configured, here = environ.get(REPO_VARIABLE), _nearest(start.resolve())
    if configured:
        named = named_repo(configured, REPO_VARIABLE)
        if here is not None and named.resolve() != here:
            _LOG.warning('event=other_config_repo used="%s" here="%s" why="%s names it"', named, here, REPO_VARIABLE)
        return named
    if here is None:
        raise NoConfigRepo(path=str(start.resolve()), reason=f"neither it nor a parent has a {REPO_FILE}")
    return here


def _nearest(start: Path) -> Path | None:
    """The directory, or its nearest parent, with a repo.yaml; what may not be looked into has none."""
    for each in (start, *start.parents):
        with suppress(PermissionError):
            if (each / REPO_FILE).is_file():
                return each
    return None


def named_repo(text: str, named_by: str = "--config-repo") -> Path:
    """The config repo that `--config-repo` names.

    Args:
        text: the directory or archive.
        named_by: who says so, for messages.

    Raises:
        NoConfigRepo: the text is empty, as an unset variable of a script leaves it: any other repo would be a guess; or
            it is a URL, of which nothing but the scheme is said, since it may hold a password.
    """
    if not text:
        raise NoConfigRepo(path=f"{named_by} ''", reason="is empty")
    scheme, mark, _ = text.partition("://")
    if mark and "/" not in scheme:
        raise NoConfigRepo(path=f"{named_by} {scheme if scheme.isalnum() else ''}://...", reason="is a URL")
    return Path(text)


def open_snapshot(
    location: Path, *, for_mutation: bool = False, allow_dirty: bool = False, keeps: FileFilter = no_other_file
) -> Snapshot:
    """Opens a directory, a git checkout or an archive.

    A clean checkout is read from its commit. Of a dirty one the working tree is read, and the snapshot says so; a run
    that changes something refuses it. Configuration that git ignores makes a checkout dirty too: the author of a
    holds.yaml there counts on it.

    Args:
        location: a directory with a repo.yaml, or an archive.
        for_mutation: the run is going to change something.
        allow_dirty: a dirty checkout will do all the same.
        keeps: other files whose content is kept; of an archive, which is made of a checkout, none is.

    Raises:
        NoConfigRepo: there is no config repo.
        BadArchive: the archive cannot be used.
        DirtyCheckout: the checkout has changes that are not committed.
        NoCommit: the checkout has no commit.
        GitFailed: git failed.
    """
    if location.is_file():
        return _open_archive(location)
    if not location.is_dir():
        reason = "is neither a directory nor a file" if location.exists() else "does not exist"
        raise NoConfigRepo(path=str(location), reason=reason)
    if not os.access(location, os.R_OK | os.X_OK):
        raise NoConfigRepo(path=str(location), reason="is a directory that the user of this run may not read")
    if not (location / REPO_FILE).is_file():
        raise NoConfigRepo(path=str(location), reason=f"is a directory without a {REPO_FILE}")
    if find_checkout(location) is None or is_ignored(location):
        return from_directory(location, keeps=keeps)
    return _open_checkout(location, keeps, strict=for_mutation and not allow_dirty)


def _open_archive(path: Path) -> Snapshot:
    from toolkit.config_source.archive import SUFFIXES, from_archive  # noqa: PLC0415 - most repos are no archives

    if not path.name.endswith(SUFFIXES):
        raise NoConfigRepo(path=str(path), reason=f"is a file that does not end with {', '.join(SUFFIXES)}")
    return from_archive(path)


def _open_checkout(path: Path, keeps: FileFilter, *, strict: bool) -> Snapshot:
    changed, all_ignored = changed_files(path), frozenset(ignored_files(path))
    ignored = tuple(sorted(each for each in all_ignored if each.endswith(SUFFIX) and is_config_file(each)))
    if not changed and not ignored:
        return from_git(path, keeps=keeps)
    if strict:
        raise DirtyCheckout(path=str(path), changed=changed, ignored=ignored)

    def keeps_of_git(name: str) -> bool:
        """Leave out what git ignores, as a `.env`: such a file is the right place for a secret."""
        return keeps(name) and not any(each in all_ignored for each in _with_folders(name))

    snapshot = from_directory(path, _dirty_identity(path), keeps_of_git)
    return replace(snapshot, problems=(*snapshot.problems, *_committed_own_files(path)))


def _with_folders(name: str) -> Iterator[str]:
    """Yield a path and the folders above it, as `ignored_files` has them."""
    yield name
    yield from (name[: at + 1] for at, sign in enumerate(name) if sign == "/")


def _committed_own_files(path: Path) -> tuple[ConfigProblem, ...]:
    """In the working tree they cannot be told from those that feedctl made."""
    try:
        return tuple(own_files([each.path for each in list_tree(path, "HEAD")]))
    except GitFailed:  # there is no commit yet
        return ()


def _dirty_identity(path: Path) -> SnapshotId | None:
    try:
        commit = read_commit(path, "HEAD")
    except NoCommit:
        return None
    return SnapshotId(kind=SnapshotKind.COMMIT, value=commit.id, dirty=True, committed_at=commit.committed_at)
