"""Runs that need attention now, and alerts that are open, on both databases."""

from __future__ import annotations

from datetime import timedelta

import pytest
import sqlalchemy as sa

from tests.contract.ledger.samples import begun, changed, key
from toolkit.ledger.database import Ledger, Transaction
from toolkit.ledger.open_alerts import open_alerts
from toolkit.ledger.runs import items, retries
from toolkit.ledger.runs.items import NewItem, SettledItem
from toolkit.ledger.runs.recent import (
    RunProgress,
    failures_by_site,
    newest_failures,
    open_runs,
    progress_of,
    to_retry,
)
from toolkit.ledger.tables import alert, run
from toolkit.ledger.vocabulary import AlertKind, AlertLevel, ItemState, RunStatus

pytestmark = pytest.mark.both_databases

DAY = timedelta(hours=24)


def add_alert(tx: Transaction, entity: str, level: AlertLevel, hours: int, *, is_closed: bool = False) -> int:
    """Add an alert that opened so many hours ago."""
    now = tx.now()
    return tx.insert(
        alert,
        kind=AlertKind.SLA,
        entity=entity,
        cluster="primary",
        instance_key=f"2026-03-20T{hours:02}:00Z",
        level=level,
        opened_at=now - timedelta(hours=hours),
        closed_at=now if is_closed else None,
        message=f"{entity} is late",
        facts="{}",
        recorded_at=now,
    )


def test_failures_of_the_last_day_are_counted_by_entity_and_cluster_and_listed_last_first(ledger: Ledger) -> None:
    old = changed(ledger, begun(ledger, key("2026-03-18T12:00Z")), RunStatus.FAILED)
    first = changed(ledger, begun(ledger, key("2026-03-19T12:00Z")), RunStatus.FAILED, reason="disk full")
    recovered = key("2026-03-20T12:00Z")
    changed(ledger, begun(ledger, recovered), RunStatus.FAILED)
    changed(ledger, begun(ledger, recovered), RunStatus.SUCCEEDED)
    last = changed(ledger, begun(ledger, key("2026-03-20T13:00Z", entity="orders")), RunStatus.KILLED)
    ago = sa.update(run).where(run.c.run_id == old.run_id)
    ledger.write(lambda tx: tx.execute(ago.values(ended_at=tx.now() - DAY - timedelta(minutes=1))))

    def read(tx: Transaction) -> tuple[object, ...]:
        since = tx.now() - DAY
        listed = [each.run_id for each in newest_failures(tx, since, 10)]
        of_clicks = [each.run_id for each in newest_failures(tx, since, 10, {"clicks"})]
        return failures_by_site(tx, since), listed, of_clicks, len(newest_failures(tx, since, 1))

    counts, listed, of_clicks, limited = ledger.read(read)
    assert counts == {("clicks", "primary"): 1, ("orders", "primary"): 1}
    assert (listed, of_clicks, limited) == ([last.run_id, first.run_id], [first.run_id], 1)


def test_open_runs_and_retries_are_listed(ledger: Ledger) -> None:
    running = begun(ledger, key("2026-03-20T12:00Z"))
    changed(ledger, begun(ledger, key("2026-03-20T13:00Z")), RunStatus.SUCCEEDED)
    failed = changed(ledger, begun(ledger, key("2026-03-20T14:00Z")), RunStatus.FAILED)
    ledger.write(lambda tx: retries.schedule(tx, failed.run_id, tx.now()))
    assert [each.run_id for each in ledger.read(open_runs)] == [running.run_id]
    assert [each.run_id for each in ledger.read(to_retry)] == [failed.run_id]


def test_progress_counts_items_by_outcome(ledger: Ledger) -> None:
    one, other = begun(ledger, key("2026-03-20T12:00Z")), begun(ledger, key("2026-03-20T13:00Z"))

    def work(tx: Transaction) -> None:
        planned = [NewItem(position=at, kind="path", path=f"/{at}", instance_key="") for at in range(5)]
        items.intend(tx, one.run_id, planned)
        states = (ItemState.DONE, ItemState.SKIPPED, ItemState.FAILED)
        items.settle(tx, one.run_id, [SettledItem(position=at, state=state) for at, state in enumerate(states)])

    ledger.write(work)
    found = ledger.read(lambda tx: progress_of(tx, [one.run_id, other.run_id]))
    assert found == {one.run_id: RunProgress(done=2, failed=1, begun=2)}


def test_open_alerts_are_listed_high_ones_first_then_the_oldest(ledger: Ledger) -> None:
    def work(tx: Transaction) -> list[int]:
        add_alert(tx, "clicks", AlertLevel.HIGH, 9, is_closed=True)
        return [
            add_alert(tx, "clicks", AlertLevel.LOW, 5),
            add_alert(tx, "clicks", AlertLevel.HIGH, 1),
            add_alert(tx, "orders", AlertLevel.HIGH, 2),
        ]

    low, newer, older = ledger.write(work)
    numbers = ledger.read(lambda tx: [each.alert_id for each in open_alerts(tx)])
    assert numbers == [older, newer, low]
    assert ledger.read(lambda tx: [each.alert_id for each in open_alerts(tx, 1, {"clicks"})]) == [newer]
