"""Items: written before an effect, settled after it, once."""

from __future__ import annotations

import pytest
import sqlalchemy as sa

from tests.contract.ledger.racing import Work, racing
from tests.contract.ledger.samples import begun, changed, key
from toolkit.ledger.database import Ledger, Transaction, database_now
from toolkit.ledger.runs import items
from toolkit.ledger.runs.errors import ItemNotIntended, LeaseLost, UnknownRun
from toolkit.ledger.runs.items import Item, NewItem, SettledItem
from toolkit.ledger.runs.rows import Run
from toolkit.ledger.vocabulary import ItemState, LifeCycle, RunStatus

pytestmark = pytest.mark.both_databases


def _intended(ledger: Ledger, run: Run, *positions: int) -> None:
    new = [NewItem(position=each, kind="data", path=f"/data/{each}", instance_key="") for each in positions]
    ledger.write(lambda tx: items.intend(tx, run.run_id, new))


def _settled(ledger: Ledger, run: Run, *positions: int, state: ItemState = ItemState.DONE) -> None:
    settled = [SettledItem(position=each, state=state, code="c", message="m") for each in positions]
    ledger.write(lambda tx: items.settle(tx, run.run_id, settled))


def _of(ledger: Ledger, run: Run) -> dict[int, ItemState]:
    return {each.position: each.state for each in ledger.read(lambda tx: items.of_run(tx, run.run_id))}


def _open(ledger: Ledger, cluster: str = "primary") -> list[Item]:
    return ledger.read(lambda tx: items.unsettled(tx, LifeCycle.EVICTION, "clicks", cluster))


def test_items_are_intended_and_then_settled_in_any_order(ledger: Ledger) -> None:
    run = begun(ledger)
    _intended(ledger, run, 2, 0, 1)
    assert _of(ledger, run) == dict.fromkeys(range(3), ItemState.INTENDED)
    _settled(ledger, run, 1, state=ItemState.FAILED)
    _settled(ledger, run, 2, 0)
    first, second, third = ledger.read(lambda tx: items.of_run(tx, run.run_id))
    assert (first.state, second.state, third.state) == (ItemState.DONE, ItemState.FAILED, ItemState.DONE)
    assert (second.kind, second.path, second.code, second.message) == ("data", "/data/1", "c", "m")
    assert second.intended_at <= (second.settled_at or second.intended_at) <= (third.settled_at or second.intended_at)


def test_many_items_are_written_and_settled_at_once(ledger: Ledger) -> None:
    run = begun(ledger)
    _intended(ledger, run, *range(2500))
    _settled(ledger, run, *range(2500))
    assert ledger.read(lambda tx: items.counts(tx, [run.run_id])) == {run.run_id: {ItemState.DONE: 2500}}


@pytest.mark.parametrize("wrong", [(0,), (1, 7), (2, 2)])
def test_what_is_not_open_cannot_be_settled_and_nothing_changes(ledger: Ledger, wrong: tuple[int, ...]) -> None:
    run = begun(ledger)
    _intended(ledger, run, 0, 1, 2)
    _settled(ledger, run, 0)
    before = _of(ledger, run)
    with pytest.raises(ItemNotIntended, match=f"run {run.run_id} has no open item at {wrong[-1]};") as caught:
        _settled(ledger, run, *wrong)
    assert caught.value.positions == wrong[-1:]
    assert _of(ledger, run) == before


def test_an_item_is_not_settled_as_intended() -> None:
    with pytest.raises(ValueError, match="done, failed or skipped"):
        SettledItem(position=0, state=ItemState.INTENDED)


def test_a_run_that_was_ended_by_others_intends_nothing_more_but_tells_what_it_did(ledger: Ledger) -> None:
    run = begun(ledger)
    _intended(ledger, run, 0)
    changed(ledger, run, RunStatus.KILLED, reason="its lease expired")
    with pytest.raises(LeaseLost, match="is killed: its lease expired"):
        _intended(ledger, run, 1)
    _settled(ledger, run, 0)
    assert _of(ledger, run) == {0: ItemState.DONE}


def test_items_belong_to_a_run(ledger: Ledger) -> None:
    with pytest.raises(UnknownRun):
        ledger.write(lambda tx: items.intend(tx, 77, []))


def test_two_that_settle_the_same_items_from_both_ends_do_not_deadlock(ledger: Ledger, ledger_url: sa.URL) -> None:
    """A late owner, and who took over from it: one settles them, the other is told, and neither has to try twice."""
    run, count = begun(ledger), 1000
    _intended(ledger, run, *range(count))
    done = [SettledItem(position=each, state=ItemState.DONE) for each in range(count)]
    tries: list[str] = []

    def settling(settled: list[SettledItem]) -> Work[None]:
        def work(tx: Transaction) -> None:
            tries.append("one")
            items.settle(tx, run.run_id, settled)

        return work

    with racing(ledger_url, [database_now] * 2) as race:
        outcomes = race([settling(done), settling(done[::-1])])
    assert {type(each) for each in outcomes} == {type(None), ItemNotIntended}
    assert len(tries) == 2


def test_nothing_to_settle_is_nothing_done(ledger: Ledger) -> None:
    run = begun(ledger)
    _settled(ledger, run)
    assert _of(ledger, run) == {}


def test_what_may_have_happened_in_runs_that_are_over_is_found(ledger: Ledger) -> None:
    first, other = begun(ledger), begun(ledger, key(cluster="backup"))
    copied = begun(ledger, key(counterpart="backup"))
    _intended(ledger, first, 0, 1, 2)
    _intended(ledger, other, 0)
    _intended(ledger, copied, 9)
    changed(ledger, copied, RunStatus.KILLED)
    _settled(ledger, first, 1)
    assert _open(ledger) == []
    changed(ledger, first, RunStatus.KILLED)
    second = begun(ledger)
    _intended(ledger, second, 5)
    assert [(each.run_id, each.position) for each in _open(ledger)] == [(first.run_id, 0), (first.run_id, 2)]
    changed(ledger, second, RunStatus.FAILED)
    assert [each.position for each in _open(ledger)] == [0, 2, 5]
    _settled(ledger, first, 0, 2)
    assert [each.position for each in _open(ledger)] == [5]


def test_items_are_counted_for_many_runs_by_state(ledger: Ledger) -> None:
    first, second = begun(ledger), begun(ledger, key("2026-03-21T12:00Z"))
    _intended(ledger, first, 0, 1, 2)
    _settled(ledger, first, 0, 1)
    _intended(ledger, second, 0)
    _settled(ledger, second, 0, state=ItemState.SKIPPED)
    counts = ledger.read(lambda tx: items.counts(tx, [first.run_id, second.run_id, 77]))
    assert counts == {
        first.run_id: {ItemState.DONE: 2, ItemState.INTENDED: 1},
        second.run_id: {ItemState.SKIPPED: 1},
    }
