"""The answer to LISTSTATUS, entry by entry: a directory may have millions, and a server may send them without end."""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterable, Iterator

_MOST_ENTRIES = 6_400_000
"""The most that a NameNode lets a directory have, whatever `dfs.namenode.fs-limits.max-directory-items` says."""

_MOST_BYTES = 1 << 30
"""Size of about three million entries."""

_LONGEST = 64 << 10
"""So many characters an entry may have, or what stands around them."""

_BEGIN = re.compile(r'\s*+\{\s*+"FileStatuses"\s*+:\s*+\{\s*+"FileStatus"\s*+:\s*+\[\s*+(?:(?P<end>\])|(?=\{))')
_BETWEEN = re.compile(r"\s*+(?:(?P<end>\])|,\s*+(?=\{))")
_END = re.compile(r"\s*+\}\s*+\}")
_DECODER = json.JSONDecoder()


def statuses_of(pieces: Iterable[bytes]) -> Iterator[object]:
    """Parse the statuses in the body of an answer to LISTSTATUS, in the order in which they come.

    Raises:
        ValueError: the body is none of such an answer, was cut, or is longer than any.
    """
    text = _Text(pieces)
    found = text.taken(_BEGIN)
    for _ in range(_MOST_ENTRIES):
        if found["end"]:
            text.taken(_END)
            text.finish()
            return
        yield text.value()
        found = text.taken(_BETWEEN)
    message = f"it has more than {_MOST_ENTRIES} entries"
    raise ValueError(message)


class _Text:
    """The text of a body, of which only what is not taken yet is held.

    Args:
        pieces: of the body.
    """

    def __init__(self, pieces: Iterable[bytes]) -> None:
        self._pieces = codecs.iterdecode(pieces, "utf-8")
        self._text, self._at, self._length = "", 0, 0

    def taken(self, pattern: re.Pattern[str]) -> re.Match[str]:
        """Take what matches at the begin of the rest."""
        while (found := pattern.match(self._text, self._at)) is None:
            self._extend()
        self._at = found.end()
        return found

    def value(self) -> object:
        """Take one object."""
        while True:
            try:
                value, self._at = _DECODER.raw_decode(self._text, self._at)
            except json.JSONDecodeError:
                self._extend()
            except RecursionError as error:
                message = "its values are nested too deep"
                raise ValueError(message) from error
            else:
                return value

    def finish(self) -> None:
        """Take the end of the body, so that its connection can be used again."""
        next(self._pieces, None)

    def _extend(self) -> None:
        piece = next(self._pieces, None)
        if piece is None or len(self._text) - self._at > _LONGEST:
            message = "it was cut" if piece is None else f"an entry has more than {_LONGEST:,} characters"
            raise ValueError(message)
        self._length += len(piece)
        if self._length > _MOST_BYTES:
            message = f"it has more than {_MOST_BYTES >> 20} MiB; list this directory by hdfs: instead"
            raise ValueError(message)
        self._text, self._at = self._text[self._at :] + piece, 0
