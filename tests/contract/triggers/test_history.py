"""History of a trigger's updates: the newest of its datasets, and what became of each."""

from __future__ import annotations

import pytest

from tests.contract.triggers.rules import CLUSTER, DAYS, consumer, decide, newest, update
from toolkit.el.dataset_uri import feed_uri
from toolkit.entities.trigger_vocabulary import Coalesce
from toolkit.ledger import trigger_history
from toolkit.ledger.database import Ledger
from toolkit.ledger.trigger_history import UpdateUse
from toolkit.ledger.vocabulary import EventKind

pytestmark = pytest.mark.both_databases
CLICKS, ORDERS = feed_uri("clicks", CLUSTER), feed_uri("orders", CLUSTER)


def numbers(ledger: Ledger, datasets: list[str] | None, last: int, count: int) -> list[int]:
    found = ledger.read(lambda tx: trigger_history.newest_updates(tx, datasets, last, count))
    return [each.sequence for each in found]


def test_the_newest_updates_of_datasets_come_in_order_of_commit(ledger: Ledger) -> None:
    for feed in ("clicks", "orders", "clicks", "other", "clicks"):
        update(ledger, feed)
    assert numbers(ledger, [CLICKS, ORDERS], 9, 9) == [1, 2, 3, 5]
    assert numbers(ledger, [CLICKS, ORDERS], 4, 2) == [2, 3]
    assert numbers(ledger, None, 9, 2) == [4, 5]
    assert numbers(ledger, [], 9, 9) == []


def test_each_event_has_the_run_that_consumed_it_or_the_reason_why_none_did(ledger: Ledger) -> None:
    report, other = (consumer(name, "clicks", coalesce=Coalesce.LATEST) for name in ("report", "other"))
    update(ledger, "clicks", DAYS[1])
    update(ledger, "clicks", DAYS[2])
    update(ledger, "clicks", DAYS[3])
    update(ledger, "clicks", DAYS[3], kind=EventKind.RETRACTED)
    decide(ledger, report, other)
    key, run_id = report.key(""), newest(ledger, report, DAYS[2]).run_id
    assert ledger.read(lambda tx: trigger_history.uses(tx, report.name, key, [1, 2, 3, 4])) == [
        UpdateUse(sequence=1, process_key=DAYS[1], reason="coalesced"),
        UpdateUse(sequence=2, process_key=DAYS[2], run_id=run_id),
        UpdateUse(sequence=3, process_key=DAYS[3], reason="retracted"),
    ]
    assert ledger.read(lambda tx: trigger_history.uses(tx, report.name, key, [])) == []
