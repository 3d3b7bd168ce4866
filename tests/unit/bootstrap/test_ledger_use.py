"""Holds that were added since a run read them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

import pytest

from toolkit.actions.hold_file import HoldFile
from toolkit.bootstrap.ledger_use import LedgerUse
from toolkit.el import CanonicalPath
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


_FILE = HoldFile(CanonicalPath.parse("file:///data/clicks/.feedctl-hold"), "case 12")


def _seen(ledger: Ledger) -> list[tuple[str, str, str]]:
    return [(each.feed, each.path, each.reason) for each in ledger.read(holds.seen_files)]


def test_a_hold_file_is_remembered_until_a_run_misses_it(sqlite_ledger: Ledger) -> None:
    LedgerUse(ledger=sqlite_ledger).holds().note_file("clicks", "primary", _FILE)
    (first,) = sqlite_ledger.read(holds.seen_files)
    later = LedgerUse(ledger=sqlite_ledger).holds()
    later.note_file("clicks", "primary", _FILE)
    (again,) = sqlite_ledger.read(holds.seen_files)
    assert _seen(sqlite_ledger) == [("clicks", str(_FILE.path), "case 12")]
    assert (again.first_seen_at, again.last_seen_at > first.last_seen_at) == (first.first_seen_at, True)
    later.note_file("clicks", "backup", None)
    assert len(_seen(sqlite_ledger)) == 1
    LedgerUse(ledger=sqlite_ledger).holds().note_file("clicks", "primary", None)
    assert _seen(sqlite_ledger) == []


class _Away(Ledger):
    """Can be read and not be written, as when it is asked at a bad moment."""

    def __init__(self, ledger: Ledger) -> None:
        super().__init__(engine=ledger.engine, place=ledger.place)

    def write(self, work: Callable[[Transaction], T], *, is_lasting: bool = True) -> T:
        del work, is_lasting
        raise LedgerUnavailable(place=self.place, why="it is being restarted")


def test_no_run_fails_since_a_hold_file_cannot_be_remembered(
    sqlite_ledger: Ledger, caplog: pytest.LogCaptureFixture
) -> None:
    LedgerUse(ledger=_Away(sqlite_ledger)).holds().note_file("clicks", "primary", _FILE)
    assert "event=hold_file_not_recorded feed=clicks cluster=primary" in caplog.text
    assert _seen(sqlite_ledger) == []


def test_a_feed_that_nobody_holds_costs_no_write(sqlite_ledger: Ledger, caplog: pytest.LogCaptureFixture) -> None:
    LedgerUse(ledger=_Away(sqlite_ledger)).holds().note_file("clicks", "primary", None)
    assert caplog.text == ""
