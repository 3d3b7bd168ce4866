"""The standard streams of the process: every word goes out through them, so none is left that is not printable."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from enum import Enum, auto
from typing import TextIO

from toolkit.printable import printable, styled


class PrintableStream:
    """A stream that writes texts of others as they may stand on a terminal or in a log.

    Args:
        raw: where to.
    """

    def __init__(self, raw: TextIO) -> None:
        self._raw = raw
        self._at_start = True

    def write(self, text: str) -> int:
        """Write a text, with escapes for characters that control a terminal."""
        self._raw.write(printable(text, at_start=self._at_start))
        _, end, last = text.rpartition("\n")
        self._at_start = (bool(end) or self._at_start) and not last.strip()
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:
        """Write texts one after the other."""
        for line in lines:
            self.write(line)

    @property
    def rich_proxied_file(self) -> _StyledStream:
        """The file that rich writes to, under the name it looks for: colours stay, other terminal controls do not."""
        return _StyledStream(self._raw)

    def __getattr__(self, name: str) -> object:
        """Whatever else the stream has."""
        return getattr(self._raw, name)


class _StyledStream:
    """A stream for text with the colours of rich."""

    def __init__(self, raw: TextIO) -> None:
        self._raw = raw

    def write(self, text: str) -> int:
        self._raw.write(styled(text))
        return len(text)

    def __getattr__(self, name: str) -> object:
        return getattr(self._raw, name)


@contextmanager
def printable_streams() -> Iterator[None]:
    """Let standard output and standard error write printable text only, until the end."""
    before = {name: getattr(sys, name) for name in ("stdout", "stderr")}
    try:
        for name, stream in before.items():
            setattr(sys, name, PrintableStream(stream))
        yield
    finally:
        for name, stream in before.items():
            setattr(sys, name, stream)


_LOG = logging.getLogger(__name__)


class Keeps(Enum):
    """Control characters that stay in a result, and are removed from texts of others."""

    NOTHING = auto()
    """Text, markdown, JSON."""
    STYLES = auto()
    """Colours, in which rich has set the words."""
    COMMANDS = auto()
    """Workflow commands of GitHub, which are the result."""


def encoded(text: str, keeps: Keeps = Keeps.NOTHING) -> bytes:
    """UTF-8; what is not printable, or no Unicode, stands as an escape, which JSON understands as well."""
    shown = styled(text) if keeps is Keeps.STYLES else printable(text, commands=keeps is Keeps.COMMANDS)
    return shown.encode("utf-8", "backslashreplace")


def print_result(pieces: str | Iterable[str], keeps: Keeps = Keeps.NOTHING) -> None:
    """Print whole lines to standard output; an output that is not read any more must not hide what the run did."""
    try:
        sys.stdout.flush()
        for piece in [pieces] if isinstance(pieces, str) else pieces:
            sys.stdout.buffer.write(encoded(piece, keeps))
        sys.stdout.buffer.flush()
    except OSError as error:
        _LOG.warning("event=result_not_printed reason=%s", error)
        silence(1)


def stand_in_for_closed_streams() -> None:
    """Let streams that this process was started without (`>&-`, `2>&-`) go nowhere; Python has None for them.

    Their descriptors are taken as well: the next file that is opened, such as the audit file, would get one of them,
    and with it what other programs write there.
    """
    for descriptor, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            if not _is_open(descriptor):
                silence(descriptor)
            stream = open(os.devnull, "w" if descriptor else "r", encoding="utf-8")  # noqa: SIM115, PTH123 - until the end
            setattr(sys, name, stream)


def say(message: str) -> None:
    """Write a message to standard error; a closed standard error is ignored."""
    try:
        sys.stderr.write(message + "\n")
        sys.stderr.flush()
    except (BrokenPipeError, ValueError):
        silence(2)
    except UnicodeEncodeError:
        sys.stderr.write(message.encode("ascii", "backslashreplace").decode() + "\n")


def silence(descriptor: int) -> None:
    """Let a standard stream without readers go nowhere, so that Python's own flush at the end does not fail."""
    with suppress(OSError):
        nowhere = os.open(os.devnull, os.O_RDWR)
        if nowhere == descriptor:  # it was free
            os.set_inheritable(descriptor, True)
            return
        os.dup2(nowhere, descriptor)
        os.close(nowhere)


def _is_open(descriptor: int) -> bool:
    try:
        os.fstat(descriptor)
    except OSError:
        return False
    return True
