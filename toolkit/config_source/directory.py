"""A plain directory as a snapshot: the one place that opens the files of a config repo.

Nothing below the root is reached through a link, not even one that takes the place of a folder while it is read: each
folder is opened by its name in the open folder above it.
"""

from __future__ import annotations

import errno
import hashlib
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from toolkit.config_source.snapshot import (
    MOST_TEXT,
    MOST_TEXTS,
    FileFilter,
    Snapshot,
    SnapshotId,
    SnapshotKind,
    content_digest,
    is_text,
    no_other_file,
)
from toolkit.entities.problems import ConfigProblem
from toolkit.entities.source_files import folder_problem, is_config_file, is_config_place, own_files

_CHUNK = 1 << 20

_MOST_FOLDERS = 100
"""Deeper than any config repo; each level keeps a folder open."""

_MOST_BYTES = 256 << 20
"""More configuration than any repo has; a file with holes can be as large as the disk."""

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


def from_directory(root: Path, identity: SnapshotId | None = None, keeps: FileFilter = no_other_file) -> Snapshot:
    """Reads a directory as it is now; hidden directories are left out, and links are not followed.

    Args:
        root: the directory; may itself be a link.
        identity: what the snapshot is known by; None: the digest of the content.
        keeps: other files whose content is kept.
    """
    reading = _Reading(keeps)
    reading.read(root)
    return Snapshot(
        root=str(root),
        files=reading.files,
        names=frozenset(reading.names),
        texts=reading.texts,
        id=identity or SnapshotId(kind=SnapshotKind.DIRECTORY, value=content_digest(reading.digests)),
        problems=tuple(reading.problems),
    )


def read_file(path: Path) -> bytes:
    """The content of a file that a repo may hold beside its configuration.

    Args:
        path: the user's own, but for its last name, which may be a committed link.

    Raises:
        OSError: it cannot be read, or is a link, a pipe or a device.
    """
    with _opened(str(path), _FILE) as file:
        if not stat.S_ISREG(os.fstat(file).st_mode):
            raise OSError(errno.EINVAL, "is no file, but a folder, a pipe, a socket or a device")
        return b"".join(iter(lambda: os.read(file, _CHUNK), b""))


class _Reading:
    def __init__(self, keeps: FileFilter) -> None:
        self.keeps = keeps
        self.files: dict[str, bytes] = {}
        self.texts: dict[str, bytes] = {}
        self.names: set[str] = set()
        self.digests: list[tuple[bytes, bytes]] = []
        self.problems: list[ConfigProblem] = []
        self.left, self.left_of_texts = _MOST_BYTES, MOST_TEXTS

    def read(self, root: Path) -> None:
        try:
            with _opened(str(root), _FOLDER) as folder:
                self._folder(folder, "", depth=1)
        except OSError as error:
            self._unreadable(".", error, what="folder")

    def _folder(self, folder: int, prefix: str, depth: int) -> None:
        with os.scandir(folder) as entries:
            found = sorted(entries, key=lambda each: each.name)
        for entry in found:
            name = f"{prefix}{entry.name}"
            is_folder = entry.is_dir(follow_symlinks=False)
            if is_folder and entry.name.startswith("."):
                continue
            try:
                if is_folder:
                    self._subfolder(folder, entry.name, name, depth)
                else:
                    self._file(folder, entry.name, name)
            except OSError as error:
                self._unreadable(name, error, what="folder" if is_folder else "file")

    def _subfolder(self, above: int, entry: str, name: str, depth: int) -> None:
        if is_config_file(name):
            self.problems.append(folder_problem(name))
        if depth == _MOST_FOLDERS:
            message = f"found folders more than {_MOST_FOLDERS} levels deep"
            self._problem(name, "unreadable", message, "move the files up")
            return
        with _opened(entry, _FOLDER | os.O_NOFOLLOW, above) as folder:
            self._folder(folder, f"{name}/", depth + 1)

    def _file(self, folder: int, entry: str, name: str) -> None:
        mode = os.stat(entry, dir_fd=folder, follow_symlinks=False).st_mode
        if stat.S_ISLNK(mode):
            self._link(folder, entry, name)
        elif stat.S_ISREG(mode):
            self._content(folder, entry, name)
        else:
            self._special(name)

    def _content(self, folder: int, entry: str, name: str) -> None:
        is_config = is_config_file(name)
        if not is_config:
            self.names.add(name)
        digest = hashlib.sha256()
        with _opened(entry, _FILE, folder) as file:
            found = os.fstat(file)
            if not stat.S_ISREG(found.st_mode):  # it was a file a moment ago
                self._special(name)
                return
            is_small = not is_config and self.keeps(name) and found.st_size <= min(MOST_TEXT, self.left_of_texts)
            parts = []
            while chunk := os.read(file, _CHUNK):
                digest.update(chunk)
                if is_config:
                    self._spend(len(chunk))
                if is_config or is_small:
                    parts.append(chunk)
        self._keep(name, b"".join(parts), is_config=is_config, is_small=is_small)
        self.digests.append((os.fsencode(name), digest.digest()))

    def _keep(self, name: str, content: bytes, *, is_config: bool, is_small: bool) -> None:
        """Keep configuration, and of other files small texts: these take no room from it, whatever comes first."""
        if is_config:
            self.files[name] = content
        elif is_small and is_text(content):
            self.texts[name] = content
            self.left_of_texts -= len(content)

    def _spend(self, size: int) -> None:
        self.left -= size
        if self.left < 0:
            raise OSError(errno.EFBIG, f"the repo has more than {_MOST_BYTES >> 20} MiB of configuration")

    def _special(self, name: str) -> None:
        """A socket, a pipe or a device: reading it may never end."""
        self.names.add(name)
        if is_config_file(name):
            self._problem(name, "unreadable", "found a pipe, a socket or a device, expected a file", "write the file")

    def _link(self, folder: int, entry: str, name: str) -> None:
        """As in a commit, a link is its text; one with a name of feedctl's own is not what it stands for."""
        self.problems.extend(own_files([name]))
        target = os.readlink(entry, dir_fd=folder)
        self.digests.append((os.fsencode(name), hashlib.sha256(os.fsencode(target)).digest()))
        try:
            leads_to_folder = stat.S_ISDIR(os.stat(entry, dir_fd=folder).st_mode)
        except FileNotFoundError:
            message = f"found a broken link to {target}, expected a file"
            self._problem(name, "broken-symlink", message, "mend or remove the link")
            return
        except OSError as error:  # it leads to itself, or to where the user of this run may not look
            if is_config_place(name):
                self._unreadable(name, error, what="file")
                return
            leads_to_folder = False
        self.names.add(name)
        if is_config_place(name) and leads_to_folder:
            self._problem(name, "symlink", "found a link to a directory, expected a directory", "move the files here")
        elif is_config_place(name):
            self._problem(name, "symlink", f"found a link to {target}, expected a file", "put the content itself here")

    def _unreadable(self, name: str, error: OSError, what: str) -> None:
        """A folder that cannot be read may hold configuration and is then a problem."""
        self.digests.append((os.fsencode(name), b"unreadable"))
        if what == "folder" and name != "." and not is_config_place(name):
            self.names.add(name)
        else:
            self._problem(name, "unreadable", f"the {what} cannot be read: {error.strerror}", "check its permissions")

    def _problem(self, name: str, rule: str, message: str, hint: str) -> None:
        self.problems.append(ConfigProblem(file=name, rule=rule, message=message, hint=hint))


@contextmanager
def _opened(name: str, flags: int, folder: int | None = None) -> Iterator[int]:
    try:
        descriptor = os.open(name, flags, dir_fd=folder)
    except OSError as error:
        if error.errno == errno.ELOOP and flags & os.O_NOFOLLOW:
            raise OSError(errno.ELOOP, "is no file, but a link") from error
        raise
    try:
        yield descriptor
    finally:
        os.close(descriptor)
