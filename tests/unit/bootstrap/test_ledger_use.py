"""Holds that were added since a run read them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

import pytest

from toolkit.bootstrap.ledger_use import LedgerUse
from toolkit.ledger.database import Ledger, Transaction
from toolkit.ledger.errors import LedgerUnavailable
from toolkit.ledger.state import holds
from toolkit.ledger.state.holds import NewHold

T = TypeVar("T")
_PAIRS = (("clicks", "primary"),)


def _add(ledger: Ledger, feed: str, cluster: str | None) -> None:
    ledger.write(lambda tx: holds.add(tx, NewHold(feed=feed, cluster=cluster, reason="audit"), "bob"))


@pytest.mark.parametrize(
    ("feed", "cluster", "is_on"),
    [("clicks", None, True), ("clicks", "primary", True), ("clicks", "backup", False), ("impressions", None, False)],
)
def test_a_hold_counts_when_it_is_on_the_feed_and_its_cluster(
    sqlite_ledger: Ledger, feed: str, cluster: str | None, *, is_on: bool
) -> None:
    read = LedgerUse(ledger=sqlite_ledger).holds()
    _add(sqlite_ledger, feed, cluster)
    assert read.are_on(_PAIRS) is is_on


class _Restarting(Ledger):
    """Cannot be read for a few times."""

    def __init__(self, ledger: Ledger, times: int) -> None:
        super().__init__(engine=ledger.engine, place=ledger.place)
        self.__dict__["left"] = times

    def read(self, work: Callable[[Transaction], T]) -> T:
        self.__dict__["left"] -= 1
        if self.__dict__["left"] >= 0:
            raise LedgerUnavailable(place=self.place, why="it is being restarted")
        return super().read(work)


def test_a_ledger_that_is_being_restarted_is_asked_again(sqlite_ledger: Ledger) -> None:
    read = LedgerUse(ledger=sqlite_ledger).holds()
    _add(sqlite_ledger, "clicks", None)
    assert replace(read, ledger=_Restarting(sqlite_ledger, 1)).are_on(_PAIRS)


def test_a_ledger_that_stays_away_is_an_error(sqlite_ledger: Ledger) -> None:
    read = LedgerUse(ledger=sqlite_ledger).holds()
    with pytest.raises(LedgerUnavailable, match="restarted"):
        replace(read, ledger=_Restarting(sqlite_ledger, 1), patience=0).are_on(_PAIRS)


def test_a_hold_that_was_read_already_is_not_new(sqlite_ledger: Ledger) -> None:
    _add(sqlite_ledger, "clicks", None)
    read = LedgerUse(ledger=sqlite_ledger).holds()
    assert not read.are_on(_PAIRS)
    assert [each.feed for each in read.as_entities] == ["clicks"]
