"""The account that runs a throw-away server, and a directory for it.

PostgreSQL refuses to run as root, which is who CI is.
"""

from __future__ import annotations

import os
import pwd
import stat
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Self

_ROOT = 0
_INSTEAD_OF_ROOT = ("postgres", "nobody")


@dataclass(frozen=True, kw_only=True, slots=True)
class Account:
    """Who a server runs as; the fields are named after the arguments of `subprocess`.

    Args:
        user: its number.
        group: the number of its main group.
        extra_groups: its further groups; None leaves those of this process, which only root may change.
    """

    user: int
    group: int
    extra_groups: tuple[int, ...] | None

    @classmethod
    def of_a_server(cls) -> Self:
        """This process's own, or `postgres`, else `nobody`, when that is root."""
        if os.geteuid() != _ROOT:
            return cls(user=os.geteuid(), group=os.getegid(), extra_groups=None)
        known = {each.pw_name: each for each in pwd.getpwall()}
        found = next(known[name] for name in _INSTEAD_OF_ROOT if name in known)
        return cls(user=found.pw_uid, group=found.pw_gid, extra_groups=())

    def make_directory(self, prefix: str) -> Path:
        """A new temporary directory that belongs to the account and is closed to all others but root."""
        made = Path(tempfile.mkdtemp(prefix=prefix, dir=self._place()))
        if self.user != os.geteuid():
            os.chown(made, self.user, self.group)
        return made

    def _place(self) -> Path:
        configured = Path(tempfile.gettempdir()).resolve()
        if self.user == os.geteuid():
            return configured
        return next((each for each in (configured, Path("/tmp")) if _open_to_all(each)), configured)


def _open_to_all(directory: Path) -> bool:
    """Return whether every account may enter the folder; pytest's folders, for example, are closed to others."""
    return all(each.stat().st_mode & stat.S_IXOTH for each in (directory, *directory.parents))
