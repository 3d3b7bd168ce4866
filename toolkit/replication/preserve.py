"""Attributes of files that a copy keeps beside the bytes, as the properties of the feed ask."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from toolkit.replication.errors import NotPreserved
from toolkit.storage import FileKind, StorageError
from toolkit.transfer.checksum_types import require_same_type
from toolkit.transfer.trees import Tree, below

if TYPE_CHECKING:
    from toolkit.el import CanonicalPath
    from toolkit.replication.targets import CopyRules
    from toolkit.storage import Capabilities, FileSystem
    from toolkit.threads import WorkerPool
    from toolkit.transfer.plan import CreateOptions


@dataclass(frozen=True, kw_only=True)
class Preservation:
    """Gives copies what their sources have.

    Attributes:
        source: the store that was read.
        target: the store that was written to.
        rules: what is requested for.
        check: requested before each file.
    """

    source: FileSystem
    target: FileSystem
    rules: CopyRules
    check: Callable[[], None]

    @property
    def is_requested(self) -> bool:
        """True if the feed asks for anything."""
        return any(self._requested())

    @property
    def create(self) -> CreateOptions:
        """Return the options with which files are written, as far as both stores have blocks."""
        requested = self.rules.create
        if all(each.capabilities.blocks for each in (self.source, self.target)):
            return requested
        return requested._replace(block_size=False, replication=False)

    def refused(self, unit: CanonicalPath) -> tuple[str, ...]:
        """Return notes about attributes that one of the stores does not have; checked before the copy.

        Raises:
            NotPreserved: there is something, and the feed wants no copy without it.
        """
        missing = sorted(name for name, has in self._requested() if not (has(self.source) and has(self.target)))
        if not missing:
            return ()
        where = (
            "source" if any(not has(self.source) for name, has in self._requested() if name in missing) else "target"
        )
        hint = " by its own protocol; WebHDFS (webhdfs:) may have it" if self._has_blocks(where) else ""
        detail = f"the store of the {where} has none{hint}"
        return self._note(NotPreserved(path=unit, properties=missing, detail=detail))

    def _has_blocks(self, where: str) -> bool:
        return (self.source if where == "source" else self.target).capabilities.blocks

    def keep(self, source: CanonicalPath, target: CanonicalPath, wanted: Tree, pool: WorkerPool) -> tuple[str, ...]:
        """Set what is requested for: on files, then on the deepest directories, which may keep us from what is in them.

        Args:
            source: the directory that was read.
            target: the copy of it.
            wanted: what is in it.
            pool: works on files.

        Raises:
            NotPreserved: it could not be set, and the feed wants no copy without it.
            StopRequested: the run was stopped.
        """
        preserved = {name for name, has in self._requested() if has(self.source) and has(self.target)}
        failures: list[StorageError] = []

        def set_all(name: str) -> None:
            self.check()
            try:
                self._set(preserved, below(source, name), below(target, name), wanted, name)
            except StorageError as error:
                failures.append(error)

        if not preserved:
            return ()
        files = [name for name, entry in wanted.items() if entry.kind is FileKind.FILE]
        pool.run_all(set_all, files, at_once=self.target.capabilities.parallel)
        directories = {name for name, entry in wanted.items() if entry.kind is FileKind.DIRECTORY}
        if self.target.capabilities.directories:
            for name in sorted({*directories, ""}, key=lambda each: (-len(each.split("/")), not each, each)):
                set_all(name)
        if not failures:
            return ()
        detail = f"{len(failures)} files or directories, the first: {failures[0]}"
        return self._note(NotPreserved(path=target, properties=sorted(preserved), detail=detail))

    def _note(self, error: NotPreserved) -> tuple[str, ...]:
        if not self.rules.or_warn:
            raise error
        return (str(error),)

    def _requested(self) -> Iterator[tuple[str, Callable[[FileSystem], bool]]]:
        """The properties that are set, each with whether a store has what it is about."""
        rules = self.rules
        if rules.permission:
            yield "preservePermission", _having(lambda can: can.permissions)
        if rules.owner:
            yield "preserveUser", _having(lambda can: can.permissions)
        if rules.group:
            yield "preserveGroup", _having(lambda can: can.permissions)
        if rules.acl:
            yield "preserveAcl", _having(lambda can: can.acls)
        if rules.xattrs:
            yield "preserveXattr", _having(lambda can: can.xattrs)
        if rules.times:
            yield "preserveTimes", _having(lambda can: can.times)
        if rules.create.block_size:
            yield "preserveBlockSize", _having(lambda can: can.blocks)
        if rules.create.replication:
            yield "preserveReplicationNumber", _having(lambda can: can.blocks)
        if rules.checksum_type:
            yield "preserveChecksumType", _having(lambda can: can.blocks and can.checksums)

    def _set(self, preserved: set[str], source: CanonicalPath, target: CanonicalPath, wanted: Tree, name: str) -> None:
        found, entry = self.source.status(source), wanted.get(name)
        if {"preserveUser", "preserveGroup"} & preserved:
            owner, group = found.owner if "preserveUser" in preserved else None, found.group
            self.target.set_owner(target, owner=owner, group=group if "preserveGroup" in preserved else None)
        for attribute, value in (self.source.xattrs(source) if "preserveXattr" in preserved else {}).items():
            self.target.set_xattr(target, attribute, value)
        if "preservePermission" in preserved and found.permission is not None:
            self.target.set_permission(target, found.permission)
        if "preserveAcl" in preserved:  # after the permission bits, which are those of its mask
            self.target.set_acl(target, self.source.acl(source))
        if "preserveTimes" in preserved and found.kind is FileKind.FILE:
            # Not the time that it has by now: a change since then would look copied.
            self.target.set_modified(target, (entry.modified if entry else None) or found.modified)
        if "preserveChecksumType" in preserved and found.size:
            require_same_type(self.source, source, self.target, target)


def _having(has: Callable[[Capabilities], bool]) -> Callable[[FileSystem], bool]:
    return lambda system: has(system.capabilities)
