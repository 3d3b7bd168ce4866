"""The stores as one run sees them: each opened once, with the run's hook; clients and rates are shared by all runs."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from math import inf
from typing import TYPE_CHECKING

from toolkit.storage.opening import open_file_system
from toolkit.storage.patient import Silence
from toolkit.threads import WorkerPool

if TYPE_CHECKING:
    from toolkit.el import CanonicalPath
    from toolkit.storage.local.bases import Bases
    from toolkit.storage.port import FileSystem, StorageSpec


BURST_SECONDS = 0.05
"""Seconds for which an unused rate stays available, so that calls that come in waves still reach it."""

_PIECE_SECONDS = 0.1


def side_by_side(parallel: int, rate: float) -> int:
    """Return the number of calls at once that are of use; more would only wait, each let through before a new hold.

    Args:
        parallel: so many the store is good for.
        rate: calls a second.
    """
    return max(1, int(min(parallel, rate)))


@dataclass(kw_only=True)
class RateLimiter:
    """Lets so much pass a second, over all threads, in the order in which they came: calls (`delete_rate`), or bytes.

    Attributes:
        rate: calls or bytes a second; more than 0.
        now: seconds of a clock that only goes forward.
        sleep: waits so many seconds.
    """

    rate: float
    now: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False, repr=False)
    _free_at: float = field(default=float("-inf"), init=False)

    def acquire(self, check: Callable[[], None], amount: float = 1) -> None:
        """Return when the call may be made.

        Args:
            check: asked before the call passes, and while it waits; what it raises ends the wait.
            amount: so many calls or bytes pass; those that come next wait for them.
        """
        delay = self._delay(amount)
        while delay > 0:
            check()
            self.sleep(min(delay, _PIECE_SECONDS))
            delay -= _PIECE_SECONDS
        check()

    def _delay(self, amount: float) -> float:
        with self._lock:
            now = self.now()
            free_at = max(self._free_at, now - BURST_SECONDS)
            self._free_at = free_at + amount / self.rate
        return free_at - now


_LOCAL = "file"


@dataclass(kw_only=True)
class SharedStores:
    """State of the stores that all runs of a process share.

    Attributes:
        spec_of: how the store that a path is on is opened.
        rate: so many changes a second each remote store is asked for; inf: any number.
        bases: of the feeds on local disks.
    """

    spec_of: Callable[[CanonicalPath], StorageSpec]
    rate: float = inf
    bases: Bases | None = None
    _limiters: dict[tuple[str, str], RateLimiter] = field(default_factory=dict, init=False)
    _silences: dict[tuple[str, str], Silence] = field(default_factory=dict, init=False)

    def bound(self, check: Callable[[], None], *, read_only: bool = False) -> BoundStores:
        """The stores of a run.

        Args:
            check: the run's: asked before every single change, and while a silent store is waited for.
            read_only: every mutating call fails.
        """
        return BoundStores(shared=self, check=check, read_only=read_only)

    def rate_of(self, path: CanonicalPath) -> float:
        """Return the changes a second that the store of a path gets; a disk of this machine has no limit."""
        return inf if path.scheme == _LOCAL else self.rate

    def silence(self, path: CanonicalPath) -> Silence:
        """Return the silence of a path's store: once a run has given it up, no other run waits for it."""
        return self._silences.setdefault(_store(path), Silence())

    def limiter(self, path: CanonicalPath) -> RateLimiter | None:
        """Return the rate limiter of a path's store; None: its rate is unlimited."""
        rate = self.rate_of(path)
        return None if rate == inf else self._limiters.setdefault(_store(path), RateLimiter(rate=rate))


@dataclass(kw_only=True)
class BoundStores:
    """The stores of one run; see `SharedStores.bound`. Safe between threads."""

    shared: SharedStores
    check: Callable[[], None]
    read_only: bool
    _open: dict[tuple[str, str], FileSystem] = field(default_factory=dict, init=False)
    _pools: dict[tuple[str, str], WorkerPool] = field(default_factory=dict, init=False)

    def of(self, path: CanonicalPath) -> FileSystem:
        """The store that a path is on.

        Raises:
            NotImplementedYet: no adapter for it exists yet.
            InvalidInput: the settings for it cannot be used.
        """
        key = _store(path)
        if key not in self._open:
            limiter = self.shared.limiter(path)
            opened = open_file_system(
                self.shared.spec_of(path),
                read_only=self.read_only,
                before_effect=self.check if limiter is None else partial(limiter.acquire, self.check),
                while_waiting=self.check,
                bases=self.shared.bases if path.scheme == _LOCAL else None,
                silence=self.shared.silence(path),
            )
            self._open.setdefault(key, opened)
        return self._open[key]

    def pool(self, path: CanonicalPath) -> WorkerPool:
        """The run's own threads for the store that a path is on: a run that is paused rests in them."""
        size = side_by_side(self.of(path).capabilities.parallel, self.shared.rate_of(path))
        return self._pools.setdefault(_store(path), WorkerPool(size, f"feedctl-store-{path.scheme}"))

    def close(self) -> None:
        """Begin nothing more in any thread."""
        for pool in self._pools.values():
            pool.shutdown()

    def wait_for_rate(self, path: CanonicalPath) -> None:
        """Return when the rate of the store that a path is on lets one more change pass.

        Raises:
            StopRequested: what `check` raises.
        """
        limiter = self.shared.limiter(path)
        if limiter is not None:
            limiter.acquire(self.check)


def _store(path: CanonicalPath) -> tuple[str, str]:
    return path.scheme, path.authority
