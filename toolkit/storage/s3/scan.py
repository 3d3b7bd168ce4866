"""State of a bulk removal for each path, and the listings that are left."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from os.path import commonprefix
from typing import NamedTuple

from toolkit.el import CanonicalPath
from toolkit.storage.errors import NotFound, StorageError
from toolkit.storage.port import Deleted
from toolkit.storage.s3.bucket import Keys, Span, just_before


@dataclass(kw_only=True, slots=True)
class DeleteTarget:
    """Keeps the keys of a path back until its availability flag is confirmed to be gone.

    Attributes:
        path: what is to go.
        key: the key of an object at the path.
        flag: the key that goes before all others; empty: they may go in any order.
    """

    path: CanonicalPath
    key: str
    flag: str
    error: StorageError | None = None
    _unread: int = 2
    _going: int = 0
    _is_seen: bool = False
    _is_flag_requested: bool = False
    _is_flag_gone: bool = False
    _counted: int = 0
    _held: list[str] = field(default_factory=list)

    def found(self, keys: Sequence[str], closed: int) -> Sequence[str]:
        """Take what a page showed of the path, and give the keys that may go now.

        Args:
            keys: that the page showed.
            closed: of the path's two spans (the object itself, what is below), so many were read to their end now.
        """
        self._unread -= closed
        self._is_seen = self._is_seen or bool(keys)
        if self.error is not None:
            return ()
        if not self.flag:
            return self._sent(keys)
        if self._is_flag_requested:
            self._held.extend(key for key in keys if key != self.flag)
            return self._released() if self._is_flag_gone else ()
        self._held.extend(keys)
        return self._request_flag()

    def _request_flag(self) -> Sequence[str]:
        if self.flag in self._held:
            self._held.remove(self.flag)
        elif not self._unread:
            self._is_flag_requested = self._is_flag_gone = True
            return self._released()
        elif self._held in ([], [self.key]):
            return ()
        # Else there are more keys than one page has. Asking for a flag that may not be there costs less than to keep
        # all keys back until it is reached.
        self._is_flag_requested = True
        return self._sent([self.flag])

    def gone(self, key: str) -> Sequence[str]:
        """Take that a key is confirmed to be gone, and give the keys that may go because of it."""
        self._going -= 1
        if key != self.flag or not self._is_flag_requested or self._is_flag_gone:
            return ()
        self._is_flag_gone = True
        return self._released() if self.error is None else ()

    def stayed(self, error: StorageError) -> None:
        """Take that a key could not be removed."""
        self._going -= 1
        self.fail(error)

    def dropped(self) -> None:
        """Take that a key was not asked for any more, because the path failed."""
        self._going -= 1

    def fail(self, error: StorageError) -> None:
        """Nothing more of the path goes; the first error stands."""
        self.error = self.error or error
        self._held.clear()

    def unread(self, closed: int) -> None:
        """Take that spans are not going to be read, because the path failed."""
        self._unread -= closed

    def counted_anew(self) -> int:
        """By how many the keys in memory have changed since the last call."""
        before, self._counted = self._counted, self._going + len(self._held)
        return self._counted - before

    @property
    def outcome(self) -> Deleted | None:
        """The outcome of the path; None: it is still open."""
        if self._unread or self._going or self._held:
            return None
        missing = None if self._is_seen else NotFound(path=self.path)
        return Deleted(self.path, self.error or missing)

    def _released(self) -> Sequence[str]:
        keys, self._held = self._held, []
        return self._sent(keys)

    def _sent(self, keys: Sequence[str]) -> Sequence[str]:
        self._going += len(keys)
        return keys


class Scan(NamedTuple):
    """Spans that are still to be read: sorted, none overlaps another; up to `behind` everything was read."""

    spans: Sequence[Span]
    behind: str = ""


class PageContent(NamedTuple):
    """Content of one page.

    Attributes:
        found: keys with the span they are in, sorted.
        closed: spans that were read to their end.
        rest: what is still to be read; more than one where a single page helped little, so that they are read at once.
    """

    found: Sequence[tuple[Span, str]]
    closed: Sequence[Span]
    rest: Sequence[Scan]


def step(keys: Keys, scan: Scan) -> PageContent:
    """Read one page, from the first span on.

    Paths that lie side by side share pages; where strangers lie between, the next page begins at the next span.
    """
    first = scan.spans[0].first
    prefix = commonprefix([first, scan.spans[-1].first])  # noqa: RUF071 - of keys, not of paths
    page = keys.page(prefix, after=_start(scan.behind, first, prefix))
    listed = [each.key for each in page.objects]
    found, position = _matched(listed, scan.spans)
    if not page.token:
        return PageContent(found, scan.spans, ())
    position += _is_read(scan.spans[position:], listed[-1])
    rest = Scan(scan.spans[position:], listed[-1])
    return PageContent(found, scan.spans[:position], _split(rest, is_dense=2 * len(found) >= len(listed)))


def _start(behind: str, first: str, prefix: str) -> str:
    """Return the start of the page: as far on as is known; nothing where the prefix says as much."""
    if behind >= first:
        return behind
    # A start that does not begin with the prefix lies before all that do; some stores would list nothing from it.
    start = max(behind, just_before(first))
    return start if start.startswith(prefix) else ""


def _matched(listed: Sequence[str], spans: Sequence[Span]) -> tuple[list[tuple[Span, str]], int]:
    """The keys that lie in a span, and how many spans end before the last key."""
    found: list[tuple[Span, str]] = []
    position = 0
    for key in listed:
        while position < len(spans) and spans[position].end <= key:
            position += 1
        if position == len(spans):
            break
        if spans[position].first <= key:
            found.append((spans[position], key))
    return found, position


def _is_read(spans: Sequence[Span], last: str) -> bool:
    """Return whether the first span ends with the last key, as that of a single object does."""
    return bool(spans) and spans[0].end == f"{last}\0"


def _split(rest: Scan, *, is_dense: bool) -> Sequence[Scan]:
    if not rest.spans:
        return ()
    if is_dense or len(rest.spans) == 1:
        return (rest,)
    middle = len(rest.spans) // 2
    return (Scan(rest.spans[:middle], rest.behind), Scan(rest.spans[middle:]))
