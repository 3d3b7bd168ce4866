"""Kills a call on the ledger at its points, one after the other, and looks at what is left each time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import pytest
import sqlalchemy as sa

from tests.databases.contents import Contents, changed, contents, restore
from tests.databases.forking import Forks
from tests.databases.invariants import violations
from tests.databases.kill_points import KillPoints, is_committed, listed
from tests.databases.ledgers import open_ledger
from tests.integration.ledger_calls import CALLS, Call
from toolkit.ledger.database import Ledger

Choice = Callable[[Sequence[str]], Sequence[int]]
"""At which of these points to kill, by number."""


def every(points: Sequence[str]) -> Sequence[int]:
    """Return all of them."""
    return range(len(points))


def some(points: Sequence[str]) -> Sequence[int]:
    """In the middle, and right after the COMMIT."""
    return len(points) // 2, len(points) - 1


def make(name: str, url: str, kill_at: int) -> str:
    """Return what the child does: make the call, and die at that point."""
    ledger = open_ledger(sa.make_url(url))
    KillPoints(ledger.engine, kill_at)
    CALLS[name].make(ledger)
    return "it lived"


@dataclass(frozen=True, kw_only=True)
class Killing:
    """A call on a ledger, and the processes that make it and die."""

    name: str
    url: sa.URL
    ledger: Ledger
    forks: Forks

    @property
    def call(self) -> Call:
        """The call."""
        return CALLS[self.name]

    def explore(self, choice: Choice) -> int:
        """Kill it at the chosen points; how many these were."""
        self.call.prepare(self.ledger)
        before = self._contents()
        points = self._points()
        assert changed(before, self._contents()), f"{self.name} does nothing"
        chosen = choice(points)
        for number in chosen:
            restore(self.ledger.engine, before)
            self._kill(number, points, before)
        return len(chosen)

    def _points(self) -> list[str]:
        other = open_ledger(self.url)
        points = listed(other.engine, lambda: self.call.make(other))
        other.close()
        assert not self._violations()
        return points

    def _kill(self, number: int, points: list[str], before: Contents) -> None:
        where = f"{self.name} killed at point {number} of {len(points)}: {points[number]}"
        ended = self.forks.call(make, self.name, str(self.url), number)
        assert ended.was_killed, f"{where}: {ended.output}"
        assert not (found := self._violations()), f"{where}: {found}"
        is_done = is_committed(points, number)
        assert bool(changed(before, self._contents())) is is_done, where
        self._make_again(is_done=is_done)
        assert not self._violations(), f"{where}, made again"

    def _make_again(self, *, is_done: bool) -> None:
        """What was not done is done now; what was done is refused, or harmless."""
        if not is_done or self.call.then is None:
            self.call.make(self.ledger)
            return
        found = self._contents()
        with pytest.raises(self.call.then):
            self.call.make(self.ledger)
        assert not changed(found, self._contents())

    def _contents(self) -> Contents:
        return self.ledger.read(lambda tx: contents(tx.connection))

    def _violations(self) -> list[str]:
        return self.ledger.read(lambda tx: violations(tx.connection))
