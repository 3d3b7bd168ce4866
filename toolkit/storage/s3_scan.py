"""Finding the keys of many paths with few listings: one page at a time, jumping over what is nobody's."""

from __future__ import annotations

from collections.abc import Sequence
from os.path import commonprefix
from typing import NamedTuple

from toolkit.storage.s3_bucket import Keys
from toolkit.storage.s3_keys import Span, just_before


class Scan(NamedTuple):
    """Spans that are still to be read: sorted, none overlaps another; up to `behind` everything was read."""

    spans: Sequence[Span]
    behind: str = ""


class Step(NamedTuple):
    """What one page showed.

    Attributes:
        found: keys with the span they are in, sorted.
        closed: spans that were read to their end.
        rest: what is still to be read; more than one where a single page helped little, so that they are read at once.
    """

    found: Sequence[tuple[Span, str]]
    closed: Sequence[Span]
    rest: Sequence[Scan]


def step(keys: Keys, scan: Scan) -> Step:
    """Read one page, from the first span on.

    Paths that lie side by side share pages; where strangers lie between, the next page begins at the next span.
    """
    first = scan.spans[0].first
    prefix = commonprefix([first, scan.spans[-1].first])  # noqa: RUF071 - of keys, not of paths
    page = keys.page(prefix, after=_start(scan.behind, first, prefix))
    listed = [each.key for each in page.objects]
    found, position = _matched(listed, scan.spans)
    if not page.token:
        return Step(found, scan.spans, ())
    position += _is_read(scan.spans[position:], listed[-1])
    rest = Scan(scan.spans[position:], listed[-1])
    return Step(found, scan.spans[:position], _split(rest, is_dense=2 * len(found) >= len(listed)))


def _start(behind: str, first: str, prefix: str) -> str:
    """Where the page begins: as far on as is known; nothing where the prefix says as much."""
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
    """Whether the first span ends with the last key, as that of a single object does."""
    return bool(spans) and spans[0].end == f"{last}\0"


def _split(rest: Scan, *, is_dense: bool) -> Sequence[Scan]:
    if not rest.spans:
        return ()
    if is_dense or len(rest.spans) == 1:
        return (rest,)
    middle = len(rest.spans) // 2
    return (Scan(rest.spans[:middle], rest.behind), Scan(rest.spans[middle:]))
