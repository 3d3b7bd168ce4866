"""Suspensions, safe mode, holds and the record of commands: everything can be said twice."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from tests.databases.ledgers import START, HandClock
from toolkit.entities import Hold
from toolkit.ledger.database import Ledger
from toolkit.ledger.state import commands, holds, start_check
from toolkit.ledger.state.holds import LedgerHold, NewHold, UnknownHold
from toolkit.ledger.state.start_check import SafeMode, Suspension

WHOLE = NewHold(feed="clicks", reason="lawsuit 12", owner="legal")
ONE_DAY = NewHold(
    feed="clicks",
    cluster="primary",
    start_key="2026-03-01T00:00Z",
    end_key="2026-03-02T00:00Z",
    reason="lawsuit 12",
    owner="legal",
)


def _suspend(ledger: Ledger, cluster: str | None, reason: str = "bad data", entity: str = "clicks") -> bool:
    return ledger.write(lambda tx: start_check.suspend(tx, entity, cluster, "bob", reason))


def _resume(ledger: Ledger, cluster: str | None) -> bool:
    return ledger.write(lambda tx: start_check.resume(tx, "clicks", cluster, "ada"))


def _of(ledger: Ledger, cluster: str) -> Suspension | None:
    return ledger.read(lambda tx: start_check.suspension_of(tx, "clicks", cluster))


def _add(ledger: Ledger, new: NewHold) -> tuple[LedgerHold, bool]:
    return ledger.write(lambda tx: holds.add(tx, new, "bob"))


def _remove(ledger: Ledger, hold_id: int) -> bool:
    return ledger.write(lambda tx: holds.remove(tx, hold_id, "ada"))


def test_an_entity_is_suspended_on_one_cluster_until_it_is_resumed(
    clocked_ledger: Ledger, hand_clock: HandClock
) -> None:
    assert _suspend(clocked_ledger, "primary")
    reported = Suspension(entity="clicks", cluster="primary", reason="bad data", changed_by="bob", changed_at=START)
    assert (_of(clocked_ledger, "primary"), _of(clocked_ledger, "backup")) == (reported, None)
    hand_clock.forward(60)
    assert not _suspend(clocked_ledger, "primary", "another reason")
    assert _of(clocked_ledger, "primary") == reported
    assert _resume(clocked_ledger, "primary")
    assert not _resume(clocked_ledger, "primary")
    assert _of(clocked_ledger, "primary") is None
    assert _suspend(clocked_ledger, "primary", "again")


def test_an_entity_suspended_everywhere_stays_so_when_it_is_resumed_on_one_cluster(ledger: Ledger) -> None:
    assert _suspend(ledger, None)
    assert not _resume(ledger, "primary")
    found = _of(ledger, "primary")
    assert found is not None
    assert found.cluster == start_check.EVERYWHERE


def test_resuming_everywhere_ends_all_suspensions_of_the_entity(ledger: Ledger) -> None:
    for cluster in (None, "primary", "backup"):
        assert _suspend(ledger, cluster)
    _suspend(ledger, None, entity="orders")
    all_of = ledger.read(start_check.suspensions)
    assert [(each.entity, each.cluster) for each in all_of] == [
        ("clicks", ""),
        ("clicks", "backup"),
        ("clicks", "primary"),
        ("orders", ""),
    ]
    assert _resume(ledger, None)
    assert not _resume(ledger, None)
    assert [each.entity for each in ledger.read(start_check.suspensions)] == ["orders"]


def test_a_touch_is_remembered_and_suspends_nothing(clocked_ledger: Ledger, hand_clock: HandClock) -> None:
    assert clocked_ledger.read(lambda tx: start_check.touched_at(tx, "clicks")) is None
    _suspend(clocked_ledger, "primary")
    for _ in range(2):
        hand_clock.forward(60)
        touched = clocked_ledger.write(lambda tx: start_check.touch(tx, "clicks", "ada"))
        assert touched == hand_clock.now
        assert clocked_ledger.read(lambda tx: start_check.touched_at(tx, "clicks")) == hand_clock.now
    assert [each.cluster for each in clocked_ledger.read(start_check.suspensions)] == ["primary"]


def test_a_touch_leaves_a_suspension_as_it_is(clocked_ledger: Ledger, hand_clock: HandClock) -> None:
    _suspend(clocked_ledger, None)
    before = _of(clocked_ledger, "primary")
    hand_clock.forward(60)
    clocked_ledger.write(lambda tx: start_check.touch(tx, "clicks", "ada"))
    assert _of(clocked_ledger, "primary") == before is not None


def test_safe_mode_is_off_until_it_is_switched_on(clocked_ledger: Ledger, hand_clock: HandClock) -> None:
    def switch(*, on: bool, who: str) -> bool:
        return clocked_ledger.write(lambda tx: start_check.switch_safe_mode(tx, on=on, who=who, reason=f"said {who}"))

    never = SafeMode(is_on=False, reason=None, changed_by=None, changed_at=None)
    assert not switch(on=False, who="eve")
    assert clocked_ledger.read(start_check.current_safe_mode) == never
    assert switch(on=True, who="bob")
    reported = SafeMode(is_on=True, reason="said bob", changed_by="bob", changed_at=START)
    assert clocked_ledger.read(start_check.current_safe_mode) == reported
    hand_clock.forward(60)
    assert not switch(on=True, who="eve")
    assert clocked_ledger.read(start_check.current_safe_mode) == reported
    assert switch(on=False, who="ada")
    assert clocked_ledger.read(start_check.current_safe_mode).changed_by == "ada"


def test_a_hold_that_says_the_same_is_added_once(ledger: Ledger) -> None:
    first, is_new = _add(ledger, ONE_DAY)
    assert is_new
    assert (first.feed, first.cluster, first.reason, first.owner) == ("clicks", "primary", "lawsuit 12", "legal")
    assert (first.added_by, first.removed_by, first.removed_at) == ("bob", None, None)
    assert _add(ledger, ONE_DAY) == (first, False)
    assert _add(ledger, WHOLE)[1]
    assert _add(ledger, WHOLE)[1] is False
    assert ledger.read(holds.active) == [first, _add(ledger, WHOLE)[0]]


def test_a_hold_for_another_reason_is_another_hold(ledger: Ledger) -> None:
    first, _ = _add(ledger, WHOLE)
    second, is_new = _add(ledger, NewHold(feed="clicks", reason="lawsuit 13", owner="legal"))
    assert is_new
    _remove(ledger, first.hold_id)
    assert ledger.read(holds.active) == [second]


def test_a_hold_is_removed_once_and_can_be_added_anew(ledger: Ledger) -> None:
    first, _ = _add(ledger, WHOLE)
    assert _remove(ledger, first.hold_id)
    assert not _remove(ledger, first.hold_id)
    assert ledger.read(holds.active) == []
    second, is_new = _add(ledger, WHOLE)
    assert is_new
    assert second.hold_id > first.hold_id


def test_a_hold_that_is_not_there_cannot_be_removed(ledger: Ledger) -> None:
    with pytest.raises(UnknownHold, match="no hold 77; `feedctl hold list`"):
        _remove(ledger, 77)


def test_the_holds_of_one_feed_can_be_read_alone(ledger: Ledger) -> None:
    _add(ledger, WHOLE)
    other, _ = _add(ledger, NewHold(feed="orders", reason="audit"))
    assert ledger.read(lambda tx: holds.active(tx, "orders")) == [other]


def test_a_hold_reads_like_one_of_the_config_repo(ledger: Ledger) -> None:
    day = holds.as_entity_hold(_add(ledger, ONE_DAY)[0])
    assert day == Hold(
        feed="clicks",
        cluster="primary",
        start=datetime(2026, 3, 1, tzinfo=UTC),
        end=datetime(2026, 3, 2, tzinfo=UTC),
        reason="lawsuit 12",
        owner="legal",
    )
    assert holds.as_entity_hold(_add(ledger, WHOLE)[0]) == Hold(feed="clicks", reason="lawsuit 12", owner="legal")


def test_commands_are_recorded_with_who_gave_them_the_newest_first(ledger: Ledger) -> None:
    def record(name: str) -> None:
        ledger.write(lambda tx: commands.record(tx, name, "clicks", "bob", changed=False, detail="all of it"))

    for number in range(3):
        record(f"hold {number}")
    second, first = ledger.read(lambda tx: commands.recent(tx, 2))
    assert (second.command, first.command) == ("hold 2", "hold 1")
    assert (first.subject, first.who, first.has_changed, first.detail) == ("clicks", "bob", False, "all of it")
