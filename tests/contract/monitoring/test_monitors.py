"""Whole passes of monitors that run at the same time, over one ledger."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
import sqlalchemy as sa

from tests.contract.monitoring.sla_world import SLA_OF_AN_HOUR, START, at, event, feed, process, repo
from tests.databases.ledgers import HandClock, open_ledger
from toolkit.actions.approval import FutureTime
from toolkit.availability import DataAccess
from toolkit.ledger.database import Ledger
from toolkit.ledger.tables import outbox
from toolkit.monitoring.ledger_conditions import LedgerConditions
from toolkit.monitoring.monitor import Monitor, MonitorResult

pytestmark = pytest.mark.both_databases

CLICKS = repo(
    feed(more=SLA_OF_AN_HOUR),
    process(),
    settings="monitoring: {to: [a@example.com], mail: {host: localhost, sender: f@example.com, tls: none}}\n",
)


def no_store(series: object) -> DataAccess:
    """Fail the test: events tell of what the repo writes."""
    raise AssertionError(series)


def monitor(ledger: Ledger, minutes: float = 0) -> Monitor:
    """A monitor whose clocks agree."""
    return Monitor(
        ledger=ledger,
        repository=CLICKS,
        data=no_store,
        check=lambda: None,
        wall_clock=lambda: at(minutes),
        sources=(LedgerConditions(repository=CLICKS),),
    )


def at_once(url: sa.URL, monitors: int) -> None:
    """Let monitors pass at the same times; one message is there for each thing that happens."""
    ledgers = [open_ledger(url, HandClock(at(0))) for _ in range(monitors)]
    monitor(ledgers[0]).run(START)
    with ThreadPoolExecutor(monitors) as threads:

        def passes(minutes: int) -> list[MonitorResult]:
            clocked = [replace(each, clock=HandClock(at(minutes))) for each in ledgers]
            return list(threads.map(lambda each: monitor(each, minutes).run(at(minutes)), clocked))

        first = passes(45)
        replace(ledgers[0], clock=HandClock(at(48))).write(event(48, "2026-03-01T00:00Z").do)
        second = passes(50)
    once = [0] * (monitors - 1) + [1]
    assert sorted(len(each.recorded.opened) for each in first) == once
    assert sorted(len(each.recorded.closed) for each in second) == once
    for results in (first, second):
        assert sorted(each.news.messages for each in results) == once
    sent = ledgers[0].read(lambda tx: tx.execute(sa.select(outbox.c.recipient)).scalars().all())
    assert list(sent) == ["a@example.com"] * 2
    for each in ledgers:
        each.close()


def test_of_monitors_at_once_one_opens_and_tells(ledger_url: sa.URL) -> None:
    at_once(ledger_url, 5)


@pytest.mark.extended
def test_of_fifty_monitors_at_once_one_opens_and_tells(postgres_ledger_url: sa.URL) -> None:
    at_once(postgres_ledger_url, 50)


def test_a_machine_whose_clock_is_ahead_neither_alerts_early_nor_keeps_others_from_passing(ledger: Ledger) -> None:
    clocked = replace(ledger, clock=HandClock(at(0)))
    with pytest.raises(FutureTime):
        monitor(clocked, 60).run(at(60))
    assert monitor(clocked).run(at(0)).later is None


def test_a_pass_of_a_time_when_the_clock_of_the_ledger_was_ahead_keeps_no_other_from_passing(ledger: Ledger) -> None:
    ahead = at(60 * 24 * 365)
    monitor(replace(ledger, clock=HandClock(ahead))).run(ahead)
    assert monitor(replace(ledger, clock=HandClock(at(0)))).run(at(0)).later is None


def test_a_clock_that_is_minutes_off_is_said(ledger: Ledger) -> None:
    clocked = replace(ledger, clock=HandClock(at(0)))
    assert monitor(clocked, 0.5).run(at(0)).notes == ()
    ahead = monitor(clocked, 10).run(at(0)).notes
    assert [note[:58] for note in ahead] == ["the clock of this machine is 10 minutes ahead of that of t"]
