"""The commit that a config repo is compared with."""

from __future__ import annotations

from pathlib import Path

from toolkit.config_source.checkout import find_checkout
from toolkit.config_source.commit import from_git
from toolkit.config_source.errors import NoCommit
from toolkit.config_source.snapshot import FileFilter, Snapshot, no_other_file
from toolkit.errors import InvalidInput


class NoBase(InvalidInput):
    """There is nothing to compare with.

    Args:
        ref: as the user gave it.
        path: the config repo.
        reason: what was found instead.
    """

    def __init__(self, *, ref: str, path: str, reason: str) -> None:
        self.ref, self.path, self.reason = ref, path, reason
        super().__init__(f"found no {ref} to compare with: {path} {reason}")


def open_base(location: Path, ref: str, keeps: FileFilter = no_other_file) -> Snapshot:
    """The config repo at a directory of a git checkout, as it is in the commit that a change is compared with.

    Args:
        location: the config repo.
        ref: a branch, a tag or a commit.
        keeps: which files that are no configuration are kept.

    Raises:
        NoBase: the config repo is no git checkout, or has no such commit.
        GitFailed: git failed.
    """
    if not location.is_dir() or find_checkout(location) is None:
        raise NoBase(ref=ref, path=str(location), reason="is no git checkout, expected a folder of one")
    try:
        return from_git(location, ref, keeps=keeps)
    except NoCommit as error:
        advice = "has no commit of that name; fetch it first (in CI the whole history, not only its newest commit)"
        raise NoBase(ref=ref, path=str(location), reason=advice) from error
