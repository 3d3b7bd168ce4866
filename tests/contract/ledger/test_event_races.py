"""Whoever reads events on from a cursor gets all of them, in order, while others write."""

from __future__ import annotations

import random
import threading
from concurrent.futures import ThreadPoolExecutor, wait

import pytest
import sqlalchemy as sa

from tests.databases.ledgers import open_ledger
from toolkit.ledger import events
from toolkit.ledger.batches.updates import JobUpdates, OutletUpdate, announce
from toolkit.ledger.database import Ledger, Transaction
from toolkit.ledger.events import Event, NewEvent
from toolkit.ledger.vocabulary import EventKind

WRITERS = 4
APPENDS = 20
_SECONDS = 30


def _new(writer: int, number: int) -> NewEvent:
    return NewEvent(kind=EventKind.AVAILABLE, feed=f"feed-{writer}", cluster="primary", instance_key=f"{number:04}")


class _Wrong(Exception):  # noqa: N818 - only of this test
    pass


def _write(url: sa.URL, writer: int) -> int:
    """Append events in parts of one to three, now and then in a transaction that fails; returns how many there are."""
    chance = random.Random(writer)  # noqa: S311 - no secret
    ledger = open_ledger(url)
    number = 0
    for _ in range(APPENDS):
        part = [_new(writer, number + each) for each in range(chance.randint(1, 3))]
        fails = chance.random() < 0.2

        def append(tx: Transaction, part: list[NewEvent] = part, *, fails: bool = fails) -> None:
            events.append(tx, part)
            if fails:
                raise _Wrong

        try:
            ledger.write(append)
        except _Wrong:
            continue
        number += len(part)
    ledger.close()
    return number


def _read_all(ledger: Ledger, finished: threading.Event) -> list[Event]:
    """Read on from the cursor until the writers have finished and nothing is left."""
    seen: list[Event] = []

    def read(tx: Transaction) -> list[Event]:
        part = events.after(tx, events.cursor(tx, "reader"), limit=7)
        if part:
            events.advance(tx, "reader", part[-1].sequence)
        return part

    while True:
        is_last = finished.is_set()
        part = ledger.write(read)
        seen += part
        if is_last and not part:
            return seen


def test_a_consumer_skips_no_event_while_many_write(ledger: Ledger, ledger_url: sa.URL) -> None:
    finished = threading.Event()
    with ThreadPoolExecutor(WRITERS + 1) as threads:
        reader = threads.submit(_read_all, ledger, finished)
        writers = [threads.submit(_write, ledger_url, writer) for writer in range(WRITERS)]
        wait(writers, _SECONDS)
        finished.set()
        seen = reader.result(_SECONDS)
    written = {f"feed-{writer}": each.result() for writer, each in enumerate(writers)}
    assert [event.sequence for event in seen] == list(range(1, sum(written.values()) + 1))
    for feed, count in written.items():
        assert [event.instance_key for event in seen if event.feed == feed] == [f"{each:04}" for each in range(count)]


def test_a_later_event_waits_for_the_earlier_ones_transaction(ledger: Ledger, ledger_url: sa.URL) -> None:
    """Numbers must become visible in their order: else a consumer at 2 would never see 1."""
    has_number, may_commit = threading.Event(), threading.Event()
    first, second = open_ledger(ledger_url), open_ledger(ledger_url)

    def slow(tx: Transaction) -> None:
        events.append(tx, [_new(1, 1)])
        has_number.set()
        may_commit.wait(_SECONDS)

    with ThreadPoolExecutor(2) as threads:
        slowly = threads.submit(first.write, slow)
        assert has_number.wait(_SECONDS)
        quickly = threads.submit(second.write, lambda tx: events.append(tx, [_new(2, 1)]))
        assert wait([quickly], 0.3).not_done
        assert ledger.read(lambda tx: events.after(tx, 0)) == []
        may_commit.set()
        slowly.result(_SECONDS)
        assert quickly.result(_SECONDS) == range(2, 3)
    assert [each.feed for each in ledger.read(lambda tx: events.after(tx, 0))] == ["feed-1", "feed-2"]
    first.close()
    second.close()


@pytest.mark.both_databases
def test_of_two_first_updates_at_once_one_is_available_and_the_other_updated(
    ledger: Ledger, ledger_url: sa.URL
) -> None:
    has_number, may_commit = threading.Event(), threading.Event()
    first, second = open_ledger(ledger_url), open_ledger(ledger_url)
    updates = JobUpdates(outlets=[OutletUpdate(dataset="s3://bucket/a", instance_key="2026-03-01T00:00Z")])

    def slow(tx: Transaction) -> None:
        announce(tx, [], None, updates)
        has_number.set()
        may_commit.wait(_SECONDS)

    with ThreadPoolExecutor(2) as threads:
        slowly = threads.submit(first.write, slow)
        assert has_number.wait(_SECONDS)
        quickly = threads.submit(second.write, lambda tx: announce(tx, [], None, updates))
        assert wait([quickly], 0.3).not_done
        may_commit.set()
        slowly.result(_SECONDS)
        quickly.result(_SECONDS)
    found = ledger.read(lambda tx: events.after(tx, 0))
    assert [each.kind for each in found] == [EventKind.AVAILABLE, EventKind.UPDATED]
    first.close()
    second.close()
