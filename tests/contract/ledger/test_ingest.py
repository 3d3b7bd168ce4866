"""Batches, transactions and slots of streaming ingest in the ledger."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from toolkit.ledger import ingest
from toolkit.ledger.database import Ledger
from toolkit.ledger.ingest import CommitSlot, IntendedTransaction, OpenedBatch
from toolkit.ledger.vocabulary import IngestTransactionState as State

pytestmark = pytest.mark.both_databases

TABLE = "feedctl.web.clicks"
MINUTE = timedelta(minutes=1)


def _open(ledger: Ledger, count: int = 2, timeout: timedelta = MINUTE) -> OpenedBatch:
    return ledger.write(lambda tx: ingest.open_batch(tx, TABLE, "web-1", count, timeout))


def _intend(ledger: Ledger, *ids: int, fence: int = 1) -> frozenset[int]:
    content = [
        IntendedTransaction(transaction_id=each, partitions=(("2026",),), rows=1, bytes=2, files=1) for each in ids
    ]
    return ledger.write(lambda tx: ingest.intend(tx, content, fence))


def _slot(ledger: Ledger, process: str, gone: Collection[str] = ()) -> CommitSlot:
    return ledger.write(lambda tx: ingest.acquire_slot(tx, TABLE, process, gone))


def _later(ledger: Ledger, by: timedelta) -> Ledger:
    return replace(ledger, clock=lambda connection: ledger.clock(connection) + by)


def test_a_batch_has_as_many_ids_as_asked_for_and_no_other_batch_has_them(ledger: Ledger) -> None:
    first, second = _open(ledger, 3), _open(ledger, 3)
    assert len({*first.transactions, *second.transactions}) == 6


def test_a_transaction_is_intended_once_and_settled_once(ledger: Ledger) -> None:
    one, other = _open(ledger).transactions
    assert _intend(ledger, one, other) == {one, other}
    assert _intend(ledger, one) == {one}  # the answer to the first was lost
    assert _intend(ledger, one, fence=2) == frozenset()
    assert [each.partitions for each in ledger.read(lambda tx: ingest.undecided(tx, TABLE))] == [(("2026",),)] * 2
    assert ledger.write(lambda tx: ingest.settle(tx, [one], State.COMMITTED)) == {one}
    assert ledger.write(lambda tx: ingest.settle(tx, [one], State.ABORTED)) == frozenset()
    assert ledger.read(lambda tx: ingest.states(tx, [one, other])) == {one: State.COMMITTED, other: State.INTENDED}
    assert ledger.read(lambda tx: ingest.oldest_intention(tx, TABLE)) is not None
    ledger.write(lambda tx: ingest.settle(tx, [other], State.ABORTED))
    assert ledger.read(lambda tx: ingest.oldest_intention(tx, TABLE)) is None


def test_a_heartbeat_prolongs_a_batch_and_a_lapsed_one_stays_lapsed(ledger: Ledger) -> None:
    batch = _open(ledger)
    soon, late = _later(ledger, MINUTE * 0.9), _later(ledger, MINUTE * 2)
    assert soon.write(lambda tx: ingest.heartbeat(tx, batch.batch_id, MINUTE))
    assert not late.write(lambda tx: ingest.heartbeat(tx, batch.batch_id, MINUTE))
    assert _intend(late, batch.transactions[0]) == frozenset()


def test_anybody_aborts_a_lapsed_batch_but_what_is_intended_stays_undecided(ledger: Ledger) -> None:
    batch = _open(ledger)
    one, other = batch.transactions
    _intend(ledger, one)
    assert ledger.write(lambda tx: ingest.abort_lapsed(tx, TABLE)) == []
    assert _later(ledger, MINUTE * 2).write(lambda tx: ingest.abort_lapsed(tx, TABLE)) == [batch.batch_id]
    assert ledger.read(lambda tx: ingest.states(tx, [one, other])) == {one: State.INTENDED, other: State.ABORTED}
    assert _intend(ledger, other) == frozenset()


def test_a_closed_batch_commits_nothing_more(ledger: Ledger) -> None:
    batch = _open(ledger)
    ledger.write(lambda tx: ingest.close_batch(tx, batch.batch_id))
    assert _intend(ledger, *batch.transactions) == frozenset()


def test_the_process_that_waits_gets_the_slot_before_the_one_that_gave_it_back(ledger: Ledger) -> None:
    first = _slot(ledger, "a")
    assert first.fence == 1
    assert _slot(ledger, "b") == CommitSlot(fence=None, holder="a")
    assert _slot(ledger, "c") == CommitSlot(fence=None, holder="a")
    ledger.write(lambda tx: ingest.release_slot(tx, TABLE, "a", 1))
    assert _slot(ledger, "a").fence is None
    assert _slot(ledger, "b").fence == 2


def test_the_slot_of_a_dead_or_a_silent_process_is_taken_with_a_higher_fence(ledger: Ledger) -> None:
    _slot(ledger, "a")
    assert _slot(ledger, "b", gone={"a"}).fence == 2
    assert _slot(_later(ledger, ingest.SLOT_TIME * 2), "c").fence == 3
    ledger.write(lambda tx: ingest.release_slot(tx, TABLE, "b", 2))
    assert _slot(ledger, "d").fence is None


def test_times_are_those_of_the_database(ledger: Ledger) -> None:
    _intend(ledger, *_open(ledger).transactions)
    found = ledger.read(lambda tx: ingest.oldest_intention(tx, TABLE))
    assert found is not None
    assert abs(datetime.now(UTC) - found) < MINUTE


def test_a_process_that_waits_asks_when_it_may_get_something(ledger: Ledger) -> None:
    def is_worth_asking(process: str, of: Ledger = ledger, gone: Collection[str] = ()) -> bool:
        return of.read(lambda tx: ingest.view_slot(tx, TABLE, process, gone)).is_worth_asking

    assert is_worth_asking("a")
    _slot(ledger, "a")
    assert is_worth_asking("b")  # the place after its holder
    _slot(ledger, "b")
    assert [is_worth_asking(each) for each in "bc"] == [False, False]
    assert is_worth_asking("b", gone={"a"})
    assert not is_worth_asking("c", gone={"a"})
    later = _later(ledger, ingest.WAITING * 0.75)
    assert [is_worth_asking(each, later) for each in "bc"] == [True, False]  # its place lapses soon
    assert is_worth_asking("c", _later(ledger, ingest.WAITING * 2))
    ledger.write(lambda tx: ingest.release_slot(tx, TABLE, "a", 1))
    assert [is_worth_asking(each) for each in "bc"] == [True, False]
