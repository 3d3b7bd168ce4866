"""The standard streams of the process, through which every word goes out; no renderer can forget to make it printable.

Results go out by `toolkit.cli.printing`, which does the same for bytes.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
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
        """See `TextIO.write`."""
        self._raw.write(printable(text, at_start=self._at_start))
        _, end, last = text.rpartition("\n")
        self._at_start = (bool(end) or self._at_start) and not last.strip()
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:
        """See `TextIO.writelines`."""
        for line in lines:
            self.write(line)

    @property
    def rich_proxied_file(self) -> _StyledStream:
        """Where rich writes, which looks for this name: its colours stay, and nothing else that drives a terminal."""
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
