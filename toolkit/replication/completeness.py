"""Completeness of an instance at a target: a mark for each of several sources, and the availability flag.

The flag is removed before the first part of an instance is replaced, and written when the parts of all sources are
there. A run that dies in between leaves an instance without the flag, which the next run completes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from toolkit.actions.publication import remove
from toolkit.availability import is_there
from toolkit.storage import OWN_PREFIX, AlreadyExists, NotFound

if TYPE_CHECKING:
    from toolkit.el import CanonicalPath
    from toolkit.replication.targets import ReplicationTarget
    from toolkit.storage import FileSystem

_MARK, _NEXT_FLAG = f"{OWN_PREFIX}-from-", f"{OWN_PREFIX}-flag-"
"""Own names in an instance that several sources make."""
_PIECE = 1 << 16


def mark_of(instance: CanonicalPath, source: str) -> CanonicalPath:
    """Return the file that says that the part of one of several sources is there."""
    return instance.child(f"{_MARK}{source}")


@dataclass(frozen=True, kw_only=True)
class Completeness:
    """Mark of one source, and availability flag, of an instance at its target.

    The runs of two sources hold no common lease. Where renames are atomic, a source writes the flag under a name of its
    own, looks at the marks, and then renames it. Another source that begins anew removes first its mark and then that
    file, so that the rename fails. Without renames the flag is removed again when a mark has gone meanwhile.

    Every call raises StorageError and StopRequested.
    """

    target: ReplicationTarget
    source_system: FileSystem
    system: FileSystem

    def withdraw(self) -> None:
        """Remove the mark and the flag; called before something of the instance is replaced."""
        if self.target.others:
            self._remove(self._mark(self.target.counterpart))
            for name in self.target.others:
                self._remove(self._next_flag(name))
        if self.target.flag_path is not None:
            self._remove(self.target.flag_path)

    def announce(self) -> bool:
        """Write the mark, and the flag when all parts are there; return whether the instance is whole."""
        flag = self.target.flag_path
        if self.target.others:
            self.system.write(self._mark(self.target.counterpart), [b""])
            if not self._are_others_there():
                return False
        if flag is None or is_there(self.system, flag):
            return True
        if self.target.others and self.system.capabilities.atomic_rename:
            return self._renamed(flag)
        self._write(flag)
        if self._are_others_there():
            return True
        self._remove(flag)
        return False

    def _renamed(self, flag: CanonicalPath) -> bool:
        own = self._next_flag(self.target.counterpart)
        self._write(own)
        if not self._are_others_there():
            self._remove(own)
            return False
        try:
            self.system.rename(own, flag)
        except (AlreadyExists, NotFound):  # the run of another source has ended at the same time, or begun anew
            self._remove(own)
            return is_there(self.system, flag)
        return True

    def _write(self, path: CanonicalPath) -> None:
        with self.source_system.read(self.target.source.child(self.target.flag)) as stream:
            self.system.write(path, iter(lambda: stream.read(_PIECE), b""))

    def _are_others_there(self) -> bool:
        return all(is_there(self.system, self._mark(name)) for name in self.target.others)

    def _mark(self, source: str) -> CanonicalPath:
        return mark_of(self.target.target, source)

    def _next_flag(self, source: str) -> CanonicalPath:
        return self.target.target.child(f"{_NEXT_FLAG}{source}")

    def _remove(self, path: CanonicalPath) -> None:
        remove(self.system, path, self.target.target_base)
