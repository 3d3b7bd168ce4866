"""The audit file: one line of JSON for everything that a run is about to do and has done (DESIGN section 6).

It is beside the ledger and does not need it: what was deleted is known even when the ledger was lost, or not used.
"""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from json.encoder import encode_basestring_ascii as _quoted
from pathlib import Path
from typing import Protocol

from toolkit.clock import Clock
from toolkit.ledger.runs.rows import Origin
from toolkit.runs.errors import AuditLost, AuditUnusable

AuditLine = Mapping[str, object]
"""What is written, by its names; what is None is left out."""

_APPENDING = os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC | os.O_NONBLOCK
"""Without O_NONBLOCK a pipe in the file's place would hold the run for ever."""


class AuditTrail(Protocol):
    """Takes lines that are on the disk when the call returns."""

    def write(self, lines: Iterable[AuditLine]) -> None:
        """Append lines, all by one call of the operating system.

        Raises:
            AuditLost: they cannot be written.
        """
        ...


@dataclass(frozen=True, kw_only=True)
class AuditFile:
    """A file that is only ever appended to; several processes may share it.

    Attributes:
        place: of the file.
        descriptor: open for appending.
        origin: whose lines these are.
        clock: tells the time of a line.
    """

    place: Path
    descriptor: int
    origin: Origin
    clock: Clock

    def write(self, lines: Iterable[AuditLine]) -> None:
        """See `AuditTrail.write`."""
        at = self.clock.now().isoformat(timespec="milliseconds").replace("+00:00", "Z")
        own = {"at": at, "who": self.origin.who, "host": self.origin.host, "pid": self.origin.pid}
        head = json.dumps(own)[:-1]
        text = "".join(_as_text(head, line) for line in lines)
        try:
            _append(self.descriptor, text.encode())
            os.fsync(self.descriptor)
        except OSError as error:
            raise AuditLost(place=str(self.place), why=error.strerror or str(error)) from error


@contextmanager
def opened_audit(place: Path, origin: Origin, clock: Clock, first: AuditLine) -> Iterator[AuditFile]:
    """The audit file with a first line about this process, so that nothing starts when it cannot be written.

    Args:
        place: made when it is not there, with its folders.
        origin: whose lines these are.
        clock: tells the time of a line.
        first: the line that says what begins.

    Raises:
        AuditUnusable: it cannot be opened or written.
    """
    try:
        descriptor = _opened(place)
    except OSError as error:
        raise AuditUnusable(place=str(place), why=error.strerror or str(error)) from error
    try:
        file = AuditFile(place=place, descriptor=descriptor, origin=origin, clock=clock)
        _begin(file, first)
        yield file
    finally:
        os.close(descriptor)


def require_appendable(place: Path) -> None:
    """Open a file that is there as `opened_audit` does, and close it; nothing is made or written.

    Raises:
        OSError: it cannot be opened, or is no regular file.
    """
    descriptor = os.open(place, _APPENDING)
    try:
        _require_file(descriptor)
    finally:
        os.close(descriptor)


def _opened(place: Path) -> int:
    place.parent.mkdir(parents=True, exist_ok=True)
    is_new = not place.exists()
    descriptor = os.open(place, _APPENDING | os.O_CREAT, 0o640)
    try:
        _require_file(descriptor)
        if is_new:
            _keep_name(place.parent)
    except OSError:
        os.close(descriptor)
        raise
    return descriptor


def _require_file(descriptor: int) -> None:
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        message = "it is no regular file"
        raise OSError(message)


def _keep_name(folder: Path) -> None:
    """A file's name is in its folder, which is written to the disk by itself."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _begin(file: AuditFile, first: AuditLine) -> None:
    try:
        _end_torn_line(file)
        file.write([first])
    except AuditLost as error:
        raise AuditUnusable(place=error.place, why=error.why) from error


def _end_torn_line(file: AuditFile) -> None:
    """A writer that a full disk stopped in mid-line must not swallow the first line of the next one."""
    try:
        if _is_torn(file.place):
            _append(file.descriptor, b"\n")
    except OSError as error:
        raise AuditLost(place=str(file.place), why=error.strerror or str(error)) from error


def _is_torn(place: Path) -> bool:
    """One that may only be appended to, and not read, counts as whole."""
    if not os.access(place, os.R_OK):
        return False
    with place.open("rb") as written:
        size = written.seek(0, os.SEEK_END)
        if not size:
            return False
        written.seek(size - 1)
        return written.read(1) != b"\n"


def _as_text(head: str, line: AuditLine) -> str:
    """Names that are no Unicode stay readable: JSON has an escape for each of their bytes.

    By hand, since it takes half as long as the encoder for the many lines of a run, all of them small and flat.

    Args:
        head: the JSON object of what all lines say, without its end.
        line: what this one says.
    """
    said = [
        f', "{name}": {_quoted(value) if isinstance(value, str) else _not_text(value)}'
        for name, value in line.items()
        if value is not None
    ]
    return f"{head}{''.join(said)}}}\n"


def _not_text(value: object) -> str:
    """Nearly always the number of a run or of an item."""
    return str(value) if type(value) is int else json.dumps(value)


def _append(descriptor: int, data: bytes) -> None:
    """What does not fit in one go means a disk that is nearly full; the rest is tried, and fails if it must."""
    written = os.write(descriptor, data)
    while written < len(data):
        written += os.write(descriptor, data[written:])
