"""Git checkout of a directory, found without git.

Git's own search takes any folder with HEAD, objects and refs for a git directory and obeys the config beside them;
a commit with such a folder could run programs. A folder named `.git` cannot be committed, so only that one counts.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

from toolkit.config_source.errors import BadCheckout

_MOST_BYTES = 1 << 20
"""More than any config has."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Checkout:
    """A git checkout.

    Attributes:
        top: of its working tree.
        git_dir: where HEAD and the index are.
        common_dir: where the objects and the config are; of a linked worktree another one than `git_dir`.
    """

    top: Path
    git_dir: Path
    common_dir: Path

    def foreign(self, trusted: Collection[int]) -> Path | None:
        """The first of its places that belongs to a user who is not trusted; git checks the same when it searches.

        Args:
            trusted: numbers of users.
        """
        places = (self.top, self.top / ".git", self.git_dir, self.common_dir, *self._configs())
        return next((each for each in places if not {each.lstat().st_uid, each.stat().st_uid} <= set(trusted)), None)

    def may_define_filters(self) -> bool:
        """Return whether the checkout's config may define filters, itself or in an included file; True if unsure."""
        texts = [_read(file).lower() for file in self._configs()]
        return any(word in text for text in texts for word in (b"filter", b"include"))

    def _configs(self) -> Iterator[Path]:
        for file in (self.common_dir / "config", self.git_dir / "config.worktree"):
            if file.is_file():
                yield file
            elif os.path.lexists(file):
                raise BadCheckout(path=str(file), reason="is no file")


def find_checkout(directory: Path) -> Checkout | None:
    """The checkout that a directory is part of: that of the nearest `.git`, at or above it.

    Raises:
        BadCheckout: the `.git` there does not say where the git directory is.
    """
    resolved = directory.resolve()
    top = next((each for each in (resolved, *resolved.parents) if os.path.lexists(each / ".git")), None)
    if top is None:
        return None
    git_dir = top / ".git" if (top / ".git").is_dir() else _of_git_file(top / ".git")
    common = git_dir / "commondir"
    common_dir = git_dir / _line(common) if common.is_file() else git_dir
    if not common_dir.is_dir():
        raise BadCheckout(path=str(top / ".git"), reason=f"means {common_dir}, which is no directory")
    return Checkout(top=top, git_dir=git_dir.resolve(), common_dir=common_dir.resolve())


def _of_git_file(file: Path) -> Path:
    """Return the git directory that a `.git` file names, as a linked worktree and a submodule have one."""
    key, colon, place = _line(file).partition(": ")
    if key != "gitdir" or not colon or not place:
        raise BadCheckout(path=str(file), reason="has no `gitdir: DIRECTORY`")
    return file.parent / place


def _line(file: Path) -> str:
    return os.fsdecode(_read(file)).rstrip("\r\n")


def _read(file: Path) -> bytes:
    try:
        if not file.is_file() or file.stat().st_size > _MOST_BYTES:
            raise BadCheckout(path=str(file), reason="is neither a directory nor a file of less than a megabyte")
        return file.read_bytes()
    except OSError as error:
        raise BadCheckout(path=str(file), reason=f"cannot be read ({error.strerror})") from error
