"""What a fault proxy does to which requests."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import StrEnum


class Effect(StrEnum):
    """What happens to a request."""

    SLOW_DOWN = "slow_down"
    """S3's answer to too many requests: 503 with the code SlowDown. The store never sees the request."""
    DELAY = "delay"
    """It is passed on after a while."""
    CUT_BEFORE = "cut_before"
    """The connection is reset before anything is passed on."""
    CUT_AFTER = "cut_after"
    """The store does what it was asked, and the connection is reset before the answer."""
    CUT_INSIDE = "cut_inside"
    """The connection is reset in the middle of the answer's body."""
    DRIP = "drip"
    """The answer's body comes in small pieces, with a pause before each."""
    DRIP_WHOLE = "drip_whole"
    """So comes the whole answer, from its first byte on."""
    SIP = "sip"
    """So is the request's body taken."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Seen:
    """A request that arrived.

    Args:
        method: GET, PUT and so on.
        path: as it was sent, with percent signs.
        query: as it was sent, without the question mark.
        effect: which fault it met, None when it was passed on as it was.
    """

    method: str
    path: str
    query: str
    effect: Effect | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Fault:
    """A fault for the requests that match.

    Args:
        effect: what happens to them.
        method: only to those with this method; empty: to all.
        path: only where this regular expression is found in the path.
        query: only where this one is found in the query.
        times: to so many of them, None: to all, until the fault is taken away.
        share: of those, to this part, evenly spread; 0.25 is every fourth.
        seconds: how long a `DELAY` is, or a pause between pieces.
        piece: bytes of one.
    """

    effect: Effect
    method: str = ""
    path: str = ""
    query: str = ""
    times: int | None = None
    share: float = 1.0
    seconds: float = 0.0
    piece: int = 1

    def matches(self, seen: Seen) -> bool:
        """Return whether the fault is for this request."""
        return (
            self.method in {"", seen.method}
            and re.search(self.path, seen.path) is not None
            and re.search(self.query, seen.query) is not None
        )


@dataclass(kw_only=True, slots=True)
class _Planned:
    fault: Fault
    matched: int = 0
    done: int = 0

    def takes(self, seen: Seen) -> bool:
        """Return whether the request meets the fault; count it."""
        if self.done == self.fault.times or not self.fault.matches(seen):
            return False
        before, self.matched = self.matched, self.matched + 1
        if int(self.matched * self.fault.share) == int(before * self.fault.share):
            return False
        self.done += 1
        return True


@dataclass(slots=True)
class Script:
    """The faults to come and the requests that were; for many threads."""

    _planned: list[_Planned] = field(default_factory=list)
    _seen: list[Seen] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def add(self, fault: Fault) -> None:
        """From now on; of several that match a request, the first added that still has times left meets it."""
        with self._lock:
            self._planned.append(_Planned(fault=fault))

    @contextmanager
    def during(self, fault: Fault) -> Iterator[None]:
        """While the block runs."""
        planned = _Planned(fault=fault)
        with self._lock:
            self._planned.append(planned)
        try:
            yield
        finally:
            with self._lock:
                self._planned = [each for each in self._planned if each is not planned]

    def clear(self) -> None:
        """Take all faults away and forget the requests."""
        with self._lock:
            self._planned, self._seen = [], []

    def meet(self, seen: Seen) -> Fault | None:
        """The fault that a request meets; notes the request."""
        with self._lock:
            fault = next((each.fault for each in self._planned if each.takes(seen)), None)
            effect = fault.effect if fault else None
            self._seen.append(Seen(method=seen.method, path=seen.path, query=seen.query, effect=effect))
            return fault

    def seen(self, *, method: str = "", path: str = "", query: str = "") -> list[Seen]:
        """The requests so far, in the order of their arrival; the arguments are those of `Fault`."""
        wanted = Fault(effect=Effect.DELAY, method=method, path=path, query=query)
        with self._lock:
            return [each for each in self._seen if wanted.matches(each)]
