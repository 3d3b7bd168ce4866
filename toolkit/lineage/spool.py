"""Spool of events: a file that runs append to, a line a write, and that one shipper at a time empties.

The shipper renames the file to `FILE.1`, notes in `FILE.sent` how many of its bytes were sent, and removes it when no
writer has it open any more: each holds a shared lock while it writes.
"""

from __future__ import annotations

import fcntl
import os
import stat
import time
from collections.abc import Generator, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

_OPEN = os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
_OWNER_ONLY = 0o600
_CHUNK = 1 << 20
_MOST_BYTES = 256 << 20
"""A spool of so many bytes takes no more events: its receiver is dead, and the disk has to last."""
_TRIES, _LOOK_SECONDS = 10, 0.005
"""How often a writer asks for its lock; tries and not seconds, as a busy machine may not let it run for long."""


class SpoolUnusable(OSError):  # noqa: N818 - named for what was found
    """A spool cannot be appended to, or another process empties it.

    Args:
        file: of the spool.
        found: in words.
    """

    def __init__(self, *, file: Path, found: str) -> None:
        super().__init__(f"{file} {found}")


@dataclass(frozen=True)
class Spool:
    """A spool that may or may not be there.

    Args:
        file: of the lines.
    """

    file: Path

    def append(self, line: bytes) -> None:
        """Append a line by one call; one that a full disk cuts is ended by the next, and is no event.

        Raises:
            OSError: it cannot be written, or the spool is too large since nothing was sent for long.
        """
        for _ in range(_TRIES):
            with opened(self.file, os.O_WRONLY | os.O_APPEND) as descriptor:
                is_ours = _locked(descriptor, fcntl.LOCK_SH)
                found = os.fstat(descriptor)
                if found.st_size > _MOST_BYTES:
                    raise SpoolUnusable(file=self.file, found=f"has {found.st_size:,} bytes that were not sent")
                if is_ours and found.st_nlink:
                    if os.write(descriptor, b"\n%b\n" % line) != len(line) + 2:
                        raise SpoolUnusable(file=self.file, found="took a part of an event: the disk is full")
                    return
            time.sleep(_LOOK_SECONDS)
        raise SpoolUnusable(file=self.file, found="is locked by a process that does not go on")

    def waiting(self, patience: float = 0.0) -> Generator[bytes, None, None]:
        """Yield the lines that were not sent, oldest first; taking the next one says that the one before was sent.

        Args:
            patience: seconds to wait for another process that sends.

        Raises:
            OSError: the spool cannot be read, or another process sends.
        """
        latest = time.monotonic() + patience
        taken = self.file.with_name(f"{self.file.name}.1")
        with opened(self.file.with_name(f"{self.file.name}.sent"), os.O_RDWR) as note:
            while not _locked(note, fcntl.LOCK_EX):
                if time.monotonic() >= latest:
                    raise SpoolUnusable(file=self.file, found="is being sent by another process")
                time.sleep(_LOOK_SECONDS)
            while self._take(taken):
                with opened(taken, os.O_RDWR) as descriptor:
                    yield from _lines(descriptor, note)
                    if not _emptied(descriptor, note):
                        return
                    taken.unlink()

    def _take(self, taken: Path) -> bool:
        if not taken.exists():
            with suppress(FileNotFoundError):
                self.file.rename(taken)
        return taken.exists()


def _lines(descriptor: int, note: int) -> Iterator[bytes]:
    sent, rest = _sent(note), b""
    sent = sent if sent <= os.fstat(descriptor).st_size else 0
    _note(note, sent)  # a full disk shows before something is sent
    while chunk := os.pread(descriptor, _CHUNK, sent + len(rest)):
        *lines, rest = (rest + chunk).split(b"\n")
        for each in lines:
            if each:
                yield each
            sent += len(each) + 1
            _note(note, sent)


def _emptied(descriptor: int, note: int) -> bool:
    """Return whether all was sent and no writer is left; in this order a kill leaves no note about another file."""
    if not _locked(descriptor, fcntl.LOCK_EX) or b"\n" in os.pread(descriptor, _CHUNK, _sent(note)):
        return False
    os.ftruncate(descriptor, 0)
    _note(note, 0)
    return True


def _sent(note: int) -> int:
    return int(os.pread(note, 20, 0) or 0)


def _note(note: int, sent: int) -> None:
    os.pwrite(note, b"%020d" % sent, 0)


@contextmanager
def opened(path: Path, flags: int) -> Iterator[int]:
    """Open a file for its owner alone, which is made if it is not there; neither a link nor another's file is written.

    Raises:
        OSError: it cannot be opened.
    """
    descriptor = os.open(path, flags | _OPEN, _OWNER_ONLY)
    try:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode) or found.st_uid != os.geteuid() or found.st_nlink > 1:
            raise SpoolUnusable(file=path, found="is no file of this user alone")
        yield descriptor
    finally:
        os.close(descriptor)


def _locked(descriptor: int, how: int) -> bool:
    try:
        fcntl.flock(descriptor, how | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
