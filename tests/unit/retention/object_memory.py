"""An object store in memory: keys, and directories only as their common beginnings."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tests.unit.retention.memory import MemoryFileSystem
from toolkit.el import CanonicalPath
from toolkit.storage import Capabilities, Entry, FileKind, NotFound, PermissionDenied, WrongKind


@dataclass
class ObjectMemory(MemoryFileSystem):
    """Keys are the file names with their leading slash; one that ends with a slash is a directory's marker."""

    capabilities = Capabilities(
        atomic_rename=False,
        atomic_delete=False,
        directories=False,
        permissions=False,
        times=False,
        conditional_put=True,
        parallel=4,
    )

    def put(self, *paths: str) -> None:
        for path in paths:
            self.files[path] = b"x"

    def tree(self) -> list[str]:
        return sorted(self.files)

    def _kind(self, path: str) -> FileKind | None:
        if path in self.files:
            return FileKind.FILE
        return FileKind.DIRECTORY if any(key.startswith(path.rstrip("/") + "/") for key in self.files) else None

    def list(self, path: CanonicalPath, *, start_from: str = "") -> Iterator[Entry]:
        if path.path in self.locked:
            raise PermissionDenied(path=path)
        self.listed.append(path.path)
        prefix = path.path.rstrip("/") + "/"
        inside = [key[len(prefix) :] for key in self.files if key.startswith(prefix)]
        if not inside:
            raise WrongKind(path=path) if path.path in self.files else NotFound(path=path)
        steps = {"".join(key.partition("/")[:2]) for key in inside if key}
        for step in sorted(steps):
            name = step.removesuffix("/")
            if name >= start_from:
                yield Entry(name, FileKind.DIRECTORY if step.endswith("/") else FileKind.FILE)

    def remove_if_empty(self, path: CanonicalPath, *, below: CanonicalPath) -> bool:
        assert path.is_within(below)
        marker = f"{path.path}/"
        is_alone = [key for key in self.files if key.startswith(marker)] == [marker]
        if is_alone:
            del self.files[marker]
        return is_alone
