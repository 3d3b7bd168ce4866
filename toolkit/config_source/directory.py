"""A plain directory as a snapshot."""

import hashlib
import os
import stat
from collections.abc import Iterator
from pathlib import Path

from toolkit.config_source.snapshot import Snapshot, SnapshotId, SnapshotKind, content_digest
from toolkit.entities.problems import Problem
from toolkit.entities.source_files import folder_problem, is_config_file, is_config_place, own_files

_CHUNK = 1 << 20


def from_directory(root: Path, identity: SnapshotId | None = None) -> Snapshot:
    """Reads a directory as it is now; hidden directories are left out.

    Args:
        root: the directory.
        identity: what the snapshot is known by; None: the digest of the content.
    """
    reading = _Reading(root)
    reading.read()
    return Snapshot(
        root=str(root),
        files=reading.files,
        names=frozenset(reading.names),
        id=identity or SnapshotId(kind=SnapshotKind.DIRECTORY, value=content_digest(reading.digests)),
        problems=tuple(reading.problems),
    )


class _Reading:
    def __init__(self, root: Path) -> None:
        self.root = root
        self.files: dict[str, bytes] = {}
        self.names: set[str] = set()
        self.digests: list[tuple[bytes, bytes]] = []
        self.problems: list[Problem] = []

    def read(self) -> None:
        for path in self._walk(self.root):
            name = path.relative_to(self.root).as_posix()
            if path.is_symlink():  # a file of that name may be a hold of the operator, or feedctl's own
                self.problems.extend(own_files([name]))
            try:
                self._file(path, name)
            except OSError as error:
                self._unreadable(path, name, error)

    def _walk(self, directory: Path) -> Iterator[Path]:
        for entry in self._entries(directory):
            if entry.is_dir(follow_symlinks=False):
                if not entry.name.startswith("."):
                    self._check_folder(Path(entry.path).relative_to(self.root).as_posix())
                    yield from self._walk(Path(entry.path))
            else:
                yield Path(entry.path)

    def _entries(self, directory: Path) -> list[os.DirEntry[str]]:
        """What is in a directory; one that cannot be read may hold configuration and is then a problem."""
        try:
            return sorted(os.scandir(directory), key=lambda each: each.name)
        except OSError as error:
            self._unreadable(directory, directory.relative_to(self.root).as_posix(), error, what="folder")
            return []

    def _file(self, path: Path, name: str) -> None:
        mode = path.stat().st_mode
        if stat.S_ISDIR(mode):
            self._linked_directory(name)
        elif stat.S_ISREG(mode):
            self._content(path, name)
        else:
            self._special(name)

    def _check_folder(self, name: str) -> None:
        if is_config_file(name):
            self.problems.append(folder_problem(name))

    def _special(self, name: str) -> None:
        """A socket, a pipe or a device, or a link to one: reading it may never end."""
        self.names.add(name)
        if is_config_file(name):
            self._problem(name, "unreadable", "found a pipe, a socket or a device, expected a file", "write the file")

    def _content(self, path: Path, name: str) -> None:
        if is_config_file(name):
            self.files[name] = path.read_bytes()
            digest = hashlib.sha256(self.files[name]).digest()
        else:
            self.names.add(name)
            digest = _digest(path)
        self.digests.append((os.fsencode(name), digest))

    def _linked_directory(self, name: str) -> None:
        if is_config_place(name):
            self._problem(name, "symlink", "found a link to a directory, expected a directory", "move the files here")

    def _unreadable(self, path: Path, name: str, error: OSError, what: str = "file") -> None:
        self.digests.append((os.fsencode(name), b"unreadable"))
        if path.is_symlink() and isinstance(error, FileNotFoundError):
            message = f"found a broken link to {path.readlink()}, expected a file"
            self._problem(name, "broken-symlink", message, "mend or remove the link")
        elif (path.is_symlink() or what == "folder") and not is_config_place(name):
            self.names.add(name)
        else:
            self._problem(name, "unreadable", f"the {what} cannot be read: {error.strerror}", "check its permissions")

    def _problem(self, name: str, rule: str, message: str, hint: str) -> None:
        self.problems.append(Problem(file=name, rule=rule, message=message, hint=hint))


def _digest(path: Path) -> bytes:
    digest = hashlib.sha256()
    with path.open("rb") as stream:
        while chunk := stream.read(_CHUNK):
            digest.update(chunk)
    return digest.digest()
