"""Holds and safe mode, on both databases."""

from __future__ import annotations

import pytest

from tests.contract.ledger_management.commands import last_commands
from toolkit.actions.hold_file import HoldFile
from toolkit.bootstrap.ledger_use import LedgerUse
from toolkit.el import CanonicalPath, parse_instant
from toolkit.entities import Hold
from toolkit.ledger.database import Ledger
from toolkit.ledger.state.holds import UnknownHold, miss_file, see_file
from toolkit.ledger.state.start_check import SafeModeIsOn
from toolkit.management.entities import safe_mode_state, switch_safe_mode
from toolkit.management.errors import AdminsOnly, EmptyRange
from toolkit.management.holds import add_hold, hold_range, known_holds, remove_hold

HOLD = Hold(feed="clicks", cluster="primary", start=parse_instant("2026-03-01T00:00Z"), reason="audit", owner="law")
OF_FILE = Hold(feed="counts", reason="incident")


def rest(ledger: Ledger) -> None:
    switch_safe_mode(ledger, on=True, who="ops", reason="upgrade", admins=())


def test_a_hold_is_added_once_and_removed_once(ledger: Ledger) -> None:
    first, again = add_hold(ledger, HOLD, "ada"), add_hold(ledger, HOLD, "bob")
    assert (first.is_changed, again.is_changed) == (True, False)
    assert first.hold == again.hold
    assert remove_hold(ledger, first.hold.hold_id, "bob")
    assert not remove_hold(ledger, first.hold.hold_id, "bob")
    assert known_holds(ledger, ()) == ()


def test_holds_of_the_file_and_of_the_ledger_are_listed_together(ledger: Ledger) -> None:
    add_hold(ledger, HOLD, "ada")
    assert [(each.hold, each.recorded is None) for each in known_holds(ledger, [OF_FILE])] == [
        (OF_FILE, True),
        (HOLD, False),
    ]
    assert [each.hold for each in known_holds(ledger, [OF_FILE], "clicks")] == [HOLD]


def test_an_unknown_hold_is_not_removed(ledger: Ledger) -> None:
    with pytest.raises(UnknownHold):
        remove_hold(ledger, 99, "ada")


def test_a_hold_of_nothing_is_refused() -> None:
    with pytest.raises(EmptyRange):
        hold_range("2026-03-02T00:00Z", "2026-03-02T00:00Z")
    assert hold_range(None, "2026-03-02T00:00Z") == (None, parse_instant("2026-03-02T00:00Z"))


def test_changes_of_holds_are_recorded(ledger: Ledger) -> None:
    number = add_hold(ledger, HOLD, "ada").hold.hold_id
    add_hold(ledger, HOLD, "ada")
    remove_hold(ledger, number, "bob")
    assert last_commands(ledger, 3)[::-1] == [
        ("hold add", f"hold {number} on clicks", "ada", True, "audit"),
        ("hold add", f"hold {number} on clicks", "ada", False, "audit"),
        ("hold remove", f"hold {number}", "bob", True, None),
    ]


def test_safe_mode_allows_to_hold_but_not_to_let_go(ledger: Ledger) -> None:
    rest(ledger)
    number = add_hold(ledger, HOLD, "ada").hold.hold_id
    with pytest.raises(SafeModeIsOn):
        remove_hold(ledger, number, "ada")
    assert len(known_holds(ledger, ())) == 1


def test_safe_mode_is_switched_once(ledger: Ledger) -> None:
    assert not safe_mode_state(ledger).is_on
    first = switch_safe_mode(ledger, on=True, who="ops", reason="upgrade", admins=("ops",))
    again = switch_safe_mode(ledger, on=True, who="ops", reason="other", admins=("ops",))
    assert (first.is_changed, again.is_changed, again.state.reason) == (True, False, "upgrade")
    assert switch_safe_mode(ledger, on=False, who="ops", reason=None, admins=("ops",)).is_changed
    assert not safe_mode_state(ledger).is_on


def test_only_admins_switch_safe_mode_when_there_are_some(ledger: Ledger) -> None:
    with pytest.raises(AdminsOnly, match=r"ada may not switch safe mode; `admins` in repo\.yaml are etl, ops"):
        switch_safe_mode(ledger, on=True, who="ada", reason="fun", admins=("ops", "etl"))
    assert not safe_mode_state(ledger).is_on
    assert last_commands(ledger) == [("admin safe-mode on", "safe mode", "ada", False, "refused: not an admin")]


def test_a_hold_file_counts_as_the_last_run_met_it(ledger: Ledger) -> None:
    ledger.write(lambda tx: see_file(tx, "clicks", "primary", path="/data/.feedctl-hold", reason="case 12"))
    ledger.write(lambda tx: see_file(tx, "clicks", "primary", path="/data/2026/.feedctl-hold", reason="case 13"))
    (found,) = known_holds(ledger, (), "clicks")
    assert found.hold == Hold(feed="clicks", cluster="primary", reason="case 13")
    assert found.file is not None
    assert (found.file.path, found.since) == ("/data/2026/.feedctl-hold", found.file.first_seen_at)
    assert known_holds(ledger, (), "counts") == ()
    ledger.write(lambda tx: miss_file(tx, "clicks", "backup"))
    assert len(known_holds(ledger, ())) == 1
    ledger.write(lambda tx: miss_file(tx, "clicks", "primary"))
    assert known_holds(ledger, ()) == ()


def test_a_hold_file_in_the_encoding_of_windows_stops_no_run(ledger: Ledger) -> None:
    file = HoldFile(
        CanonicalPath.parse("file:///data/clicks/.feedctl-hold"), "case 12".encode("utf-16").decode("utf-8", "replace")
    )
    LedgerUse(ledger=ledger).holds().note_file("clicks", "primary", file)
    assert [each.hold.reason.count("\\x00") for each in known_holds(ledger, ())] == [7]
