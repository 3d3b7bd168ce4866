"""A bucket in memory behind the few calls that a bulk removal makes, with a log of what was asked."""

from __future__ import annotations

import threading
from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from toolkit.el import CanonicalPath
from toolkit.storage.flat import MOST_KEYS, Page, StoredObject
from toolkit.storage.s3.errors import KeyProblem

_MOMENT = datetime(2026, 1, 1, tzinfo=UTC)


@dataclass
class FakeKeys:
    """See `Keys`; safe for threads.

    Attributes:
        keys: what is stored.
        root: of the bucket.
        page_size: so many keys are in a page at most.
        denied: keys that may not be removed.
        before: called before each request with its name (`page`, `remove`); raises what the store is to raise.
        pages: how each listing was asked: prefix and start.
        removals: the keys of each removal, in order.
        most_listed: the most keys that were listed and not yet asked to be removed.
    """

    keys: set[str]
    page_size: int = MOST_KEYS
    root: CanonicalPath = CanonicalPath("s3", "bucket", "/")  # noqa: RUF009 - it cannot change
    denied: set[str] = field(default_factory=set)
    before: Callable[[str], None] = lambda _: None
    pages: list[tuple[str, str]] = field(default_factory=list)
    removals: list[list[str]] = field(default_factory=list)
    most_listed: int = 0
    _listed: set[str] = field(default_factory=set)
    _sorted: list[str] | None = None
    _lock: threading.RLock = field(default_factory=threading.RLock)

    @classmethod
    def of(cls, keys: Iterable[str], page_size: int = MOST_KEYS) -> FakeKeys:
        """A bucket with these keys."""
        return cls(keys=set(keys), page_size=page_size)

    def page(
        self, prefix: str, *, after: str = "", token: str = "", delimiter: str = "", most: int = MOST_KEYS
    ) -> Page:
        """See `Keys.page`; as some real stores do, it lists nothing from a start that lacks the prefix."""
        assert not delimiter
        assert not token
        assert not after or after.startswith(prefix)
        self.before("page")
        with self._lock:
            self.pages.append((prefix, after))
            if self._sorted is None:
                self._sorted = sorted(self.keys)
            # What is removed meanwhile may still be shown.
            start = max(bisect_right(self._sorted, after), bisect_right(self._sorted, prefix) - 1 if prefix else 0)
            window = self._sorted[start : start + most + 2]
            found = [key for key in window if key.startswith(prefix) and key > after]
            size = min(most, self.page_size)
            shown = found[:size]
            self._listed.update(shown)
            self.most_listed = max(self.most_listed, len(self._listed))
            return Page([StoredObject(key, 1, _MOMENT) for key in shown], (), "more" if found[size:] else "")

    def remove(self, keys: Sequence[str]) -> dict[str, KeyProblem]:
        assert 0 < len(keys) <= MOST_KEYS
        assert len(set(keys)) == len(keys)
        self.before("remove")
        with self._lock:
            self.removals.append(list(keys))
            self.keys.difference_update(set(keys).difference(self.denied))
            self._listed.difference_update(keys)
            return {key: KeyProblem("AccessDenied", "no") for key in keys if key in self.denied}
