"""Spool of events: a file beside the ledger that runs append to, and a note of how much of it was sent.

Runs append without a lock, a line a write. One shipper at a time reads: it locks the note, which has the number and the
sent bytes of the spool and of the file that was the spool before.
"""

from __future__ import annotations

import fcntl
import os
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

_OPEN = os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
_OWNER_ONLY = 0o600
_CHUNK = 1 << 20
_ROTATED_BYTES, _MOST_BYTES = 16 << 20, 512 << 20
"""From so many bytes on, a spool that was sent is replaced; beyond so many, a receiver is dead and events are lost."""
_QUIET_SECONDS = 60.0
"""A replaced spool that has not changed for so long has no writer any more."""
_LOOK_SECONDS = 0.05
_NOTE_BYTES = 96


class SpoolUnusable(OSError):  # noqa: N818 - named for what was found
    """An event cannot be appended to a spool.

    Args:
        file: of the spool.
        found: in words.
    """

    def __init__(self, *, file: Path, found: str) -> None:
        super().__init__(f"{file} {found}")


@dataclass(frozen=True, kw_only=True, slots=True)
class SpooledLine:
    """A line of a spool.

    Attributes:
        text: without its end.
        file: number of the file that it is in.
        end: the byte behind it.
    """

    text: bytes
    file: int
    end: int


@dataclass(frozen=True)
class Spool:
    """A spool that may or may not be there.

    Args:
        file: of the lines; `FILE.sent` is the note, and `FILE.1` the file that was the spool before.
    """

    file: Path

    @property
    def earlier(self) -> Path:
        """The file that was the spool before."""
        return self.file.with_name(f"{self.file.name}.1")

    def append(self, line: bytes) -> None:
        """Append a line by one call; one that a full disk cuts is ended by the next, and no shipper takes it.

        Raises:
            OSError: it cannot be written, or the spool has grown too large since nothing was sent for long.
        """
        with suppress(FileNotFoundError):
            if self.file.stat().st_size > _MOST_BYTES:
                raise SpoolUnusable(file=self.file, found=f"has {_MOST_BYTES:,} bytes that were not sent")
        append(self.file, b"\n%b\n" % line)

    @contextmanager
    def shipping(self, patience: float = 0.0) -> Iterator[SentNote | None]:
        """Return the note of what was sent, for this process alone; None: another one sends.

        Args:
            patience: seconds to wait for the other one.

        Raises:
            OSError: the note cannot be opened.
        """
        latest = time.monotonic() + patience
        descriptor = _opened(self.file.with_name(f"{self.file.name}.sent"), os.O_RDWR)
        try:
            while not (is_ours := _locked(descriptor)) and time.monotonic() < latest:
                time.sleep(_LOOK_SECONDS)
            yield SentNote(self, descriptor) if is_ours else None
        finally:
            os.close(descriptor)


class SentNote:
    """Note of how much of a spool was sent, locked while it is open.

    Args:
        spool: of the events.
        descriptor: of the note.
    """

    def __init__(self, spool: Spool, descriptor: int) -> None:
        self._spool, self._descriptor = spool, descriptor
        numbers = [int(each) for each in os.pread(descriptor, _NOTE_BYTES, 0).split() if each.isdigit()]
        self._sent = dict(zip(numbers[::2], numbers[1::2], strict=False))
        self._write()  # a disk that is full shows before something is sent

    def waiting(self) -> Iterator[SpooledLine]:
        """Yield the lines that were not sent, oldest first; without what a full disk cut, or is being written.

        Raises:
            OSError: the spool cannot be read.
        """
        for path in (self._spool.earlier, self._spool.file):
            with suppress(FileNotFoundError):
                yield from self._lines(path)

    def sent(self, line: SpooledLine) -> None:
        """Note that all lines up to this one need not be sent again."""
        self._sent[line.file] = line.end
        self._write()

    def _write(self) -> None:
        known = [self._inode(path) for path in (self._spool.earlier, self._spool.file)]
        self._sent = {each: self._sent.get(each, 0) for each in known}
        text = " ".join(f"{file:020d} {end:020d}" for file, end in self._sent.items()).ljust(_NOTE_BYTES)
        os.pwrite(self._descriptor, text.encode(), 0)

    def tidy(self) -> None:
        """Remove the earlier spool once it was sent and has no writer, and replace a large one that was sent.

        Raises:
            OSError: a file cannot be replaced.
        """
        earlier, now = self._spool.earlier, self._spool.file
        with suppress(FileNotFoundError):
            is_quiet = time.time() - earlier.stat().st_mtime > _QUIET_SECONDS
            if is_quiet and next(self._lines(earlier), None) is None:
                earlier.unlink()
                self._write()  # the next file may get its number
        with suppress(FileNotFoundError):
            if now.stat().st_size > _ROTATED_BYTES and not earlier.exists():
                now.rename(earlier)

    def _lines(self, path: Path) -> Iterator[SpooledLine]:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
        try:
            found = os.fstat(descriptor)
            end = self._sent.get(found.st_ino, 0)
            end = end if end <= found.st_size else 0  # another file, which has the number of one that was removed
            rest = b""
            while chunk := os.pread(descriptor, _CHUNK, end + len(rest)):
                *lines, rest = (rest + chunk).split(b"\n")
                for each in lines:
                    end += len(each) + 1
                    if each:
                        yield SpooledLine(text=each, file=found.st_ino, end=end)
        finally:
            os.close(descriptor)

    @staticmethod
    def _inode(path: Path) -> int:
        try:
            return path.stat().st_ino
        except FileNotFoundError:
            return 0


def append(path: Path, octets: bytes) -> None:
    """Append to a file, which is made if it is not there, by one call.

    Raises:
        OSError: it cannot be written.
    """
    descriptor = _opened(path, os.O_WRONLY | os.O_APPEND)
    try:
        if os.write(descriptor, octets) != len(octets):
            raise SpoolUnusable(file=path, found="took a part of an event: the disk is full")
    finally:
        os.close(descriptor)


def _opened(path: Path, flags: int) -> int:
    """Open a file for its owner alone; neither a link nor another user's file is written."""
    descriptor = os.open(path, flags | _OPEN, _OWNER_ONLY)
    found = os.fstat(descriptor)
    if stat.S_ISREG(found.st_mode) and found.st_uid == os.geteuid() and found.st_nlink == 1:
        return descriptor
    os.close(descriptor)
    raise SpoolUnusable(file=path, found="is no file of this user alone")


def _locked(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
