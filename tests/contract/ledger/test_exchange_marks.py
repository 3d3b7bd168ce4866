"""Marks of imports, on both databases."""

from __future__ import annotations

import pytest

from tests.contract.ledger.samples import begun
from toolkit.ledger import exchange_marks
from toolkit.ledger.database import Ledger
from toolkit.ledger.exchange_marks import ImportMark, ImportSubject

pytestmark = pytest.mark.both_databases
SUBJECT = ImportSubject(feed="customers", cluster="primary", source='["crm", "customers", "id"]')
OTHER = ImportSubject(feed="customers", cluster="primary", source='["crm", "other", "id"]')


def mark(day: int, high: str) -> ImportMark:
    """The mark of a day."""
    return ImportMark(instance_key=f"2026-03-0{day}T00:00Z", low=None, high=high, snapshot="s", rows=day)


def test_the_newest_mark_before_an_instance_is_found_by_its_source(ledger: Ledger) -> None:
    number = begun(ledger).run_id

    def record(subject: ImportSubject, found: ImportMark) -> None:
        ledger.write(lambda tx: exchange_marks.record(tx, number, subject, found))

    for day in (1, 3):
        record(SUBJECT, mark(day, str(day)))
    record(SUBJECT, mark(3, "30"))

    def latest(subject: ImportSubject, before: str) -> ImportMark | None:
        return ledger.read(lambda tx: exchange_marks.latest(tx, subject, before))

    assert latest(SUBJECT, "2026-03-03T00:00Z") == mark(1, "1")
    assert latest(SUBJECT, "2026-03-09T00:00Z") == mark(3, "30")
    assert latest(SUBJECT, "2026-03-01T00:00Z") is None
    assert latest(OTHER, "2026-03-09T00:00Z") is None
    own = ledger.read(lambda tx: exchange_marks.of_instance(tx, SUBJECT, "2026-03-03T00:00Z"))
    assert own == mark(3, "30")
    assert ledger.read(lambda tx: exchange_marks.of_instance(tx, OTHER, "2026-03-03T00:00Z")) is None
