"""The audit file: it is beside the ledger and does not need it, so that what was deleted is known when that is lost.

What its lines say is in `toolkit.runs.audit_lines`.
"""

from __future__ import annotations

import errno
import json
import os
import re
import stat
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from json.encoder import encode_basestring_ascii as _quoted
from pathlib import Path
from typing import Protocol

from typing_extensions import override

from toolkit.clock import Clock
from toolkit.ledger.runs.rows import Origin
from toolkit.runs.audit_lines import AuditLine
from toolkit.runs.errors import AuditLost, AuditUnusable

_APPENDING = os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOFOLLOW
"""Without O_NONBLOCK a pipe in the file's place would hold the run for ever."""
_FOLDER = os.O_DIRECTORY | os.O_CLOEXEC | getattr(os, "O_PATH", os.O_RDONLY)
"""O_PATH, where the system has it, opens a folder that may not be listed."""
_LINE = re.compile(rb'\{"at": "\d{4}-\d\d-\d\dT[\d:.]+Z", "who": "')
"""Start of each line of an audit file, also of a line that a full disk cut."""
_ENOUGH = 64
"""So many bytes hold what `_LINE` matches."""
_OWNER_ONLY = 0o600
_FOLDER_OWNER_ONLY = 0o700


@dataclass(frozen=True, kw_only=True, slots=True)
class AuditPlace:
    """Place of the audit file.

    Attributes:
        file: absolute.
        below: the config repo, when the file is in it: others write there, so that no link below it is followed.
            None: the file is elsewhere, where the folders are the operator's.
    """

    file: Path
    below: Path | None = None


class AuditTrail(Protocol):
    """Takes lines that are on the disk when the call returns."""

    def write(self, lines: Iterable[AuditLine]) -> None:
        """Append lines, all by one call of the operating system.

        Raises:
            AuditLost: they cannot be written.
        """
        ...


@dataclass(frozen=True, kw_only=True)
class AuditFile(AuditTrail):
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

    @override
    def write(self, lines: Iterable[AuditLine]) -> None:
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
def opened_audit(place: AuditPlace, origin: Origin, clock: Clock, first: AuditLine) -> Iterator[AuditFile]:
    """The audit file with a first line about this process, so that nothing starts when it cannot be written.

    A line has text that the config repo chooses. So nothing is appended to a link, to another user's file, to one with
    a second name, or to one that does not begin as an audit file: a shell's start file would run it.

    Args:
        place: made when it is not there, with its folders, for its owner alone.
        origin: whose lines these are.
        clock: tells the time of a line.
        first: the line that says what begins.

    Raises:
        AuditUnusable: it cannot be opened or written.
    """
    try:
        descriptor = _opened(place, make=True)
    except OSError as error:
        raise AuditUnusable(place=str(place.file), why=why_not(error)) from error
    try:
        file = AuditFile(place=place.file, descriptor=descriptor, origin=origin, clock=clock)
        _begin(file, first)
        yield file
    finally:
        os.close(descriptor)


def require_appendable(place: AuditPlace) -> None:
    """Open a file that is there as `opened_audit` does, and close it; nothing is made or written.

    Raises:
        OSError: it cannot be opened, or must not be appended to; `why_not` says it in words.
    """
    os.close(_opened(place, make=False))


def why_not(error: OSError) -> str:
    """Why a file was not opened, in words."""
    if error.errno in {errno.ELOOP, errno.EMLINK}:
        return "it is a link"
    return error.strerror or str(error)


def _opened(place: AuditPlace, *, make: bool) -> int:
    folder = _folder(place, make=make)
    try:
        descriptor, is_new = _opened_in(folder, place.file.name, make=make)
        with ExitStack() as unless_good:
            unless_good.callback(os.close, descriptor)
            _refuse_untrusted(os.fstat(descriptor))
            _refuse_other_file(descriptor, folder, place.file.name)
            if is_new:
                _keep_name(folder)
            unless_good.pop_all()
    finally:
        os.close(folder)
    return descriptor


def _folder(place: AuditPlace, *, make: bool) -> int:
    """The file's folder; below the config repo step by step, without links."""
    if place.below is None:
        if make:
            place.file.parent.mkdir(mode=_FOLDER_OWNER_ONLY, parents=True, exist_ok=True)
        return os.open(place.file.parent, _FOLDER)
    folder = os.open(place.below, _FOLDER)
    for part in place.file.parent.relative_to(place.below).parts:
        try:
            following = _step_into(folder, part, make=make)
        finally:
            os.close(folder)
        folder = following
    return folder


def _step_into(folder: int, name: str, *, make: bool) -> int:
    if make:
        with suppress(FileExistsError):
            os.mkdir(name, _FOLDER_OWNER_ONLY, dir_fd=folder)
    try:
        return os.open(name, _FOLDER | os.O_NOFOLLOW, dir_fd=folder)
    except NotADirectoryError as error:
        message = f"{name} on the way to it is a link, or no folder"
        raise OSError(message) from error


def _opened_in(folder: int, name: str, *, make: bool) -> tuple[int, bool]:
    """The file open for appending, and whether it was made just now."""
    if make:
        with suppress(FileExistsError):
            return os.open(name, _APPENDING | os.O_CREAT | os.O_EXCL, _OWNER_ONLY, dir_fd=folder), True
    return os.open(name, _APPENDING, dir_fd=folder), False


def _refuse_untrusted(found: os.stat_result) -> None:
    message = None
    if not stat.S_ISREG(found.st_mode):
        message = "it is no regular file"
    elif found.st_nlink > 1:
        message = f"the file has {found.st_nlink} names, and could be another program's"
    elif found.st_uid not in {os.geteuid(), 0}:
        message = f"it belongs to user {found.st_uid}, and neither to this user nor to root"
    if message is not None:
        raise OSError(message)


def _refuse_other_file(descriptor: int, folder: int, name: str) -> None:
    """Refuse a file that does not begin as an audit file; an empty or unreadable one is accepted."""
    try:
        reading = os.open(name, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOFOLLOW, dir_fd=folder)
    except PermissionError:
        return
    try:
        begin = os.read(reading, _ENOUGH)
        is_same = os.path.samestat(os.fstat(reading), os.fstat(descriptor))
    finally:
        os.close(reading)
    if not is_same or (begin and not _LINE.match(begin)):
        message = "its first line is no line of an audit file" if is_same else "it was just replaced"
        raise OSError(message)


def _keep_name(folder: int) -> None:
    """A file's name is in its folder, which is written to the disk by itself; not one that may not be listed."""
    try:
        descriptor = os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=folder)
    except PermissionError:
        return
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
    """A file that may only be appended to, and not read, counts as whole."""
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
    sentences = [
        f', "{name}": {_quoted(value) if isinstance(value, str) else _not_text(value)}'
        for name, value in line.items()
        if value is not None
    ]
    return f"{head}{''.join(sentences)}}}\n"


def _not_text(value: object) -> str:
    """Nearly always the number of a run or of an item."""
    return str(value) if type(value) is int else json.dumps(value)


def _append(descriptor: int, data: bytes) -> None:
    """Append the bytes; a short write means a nearly full disk: the rest is tried, and may fail."""
    written = os.write(descriptor, data)
    while written < len(data):
        written += os.write(descriptor, data[written:])
