"""Facts of a run for events about it, on both databases."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from tests.contract.ledger.samples import begun, key
from tests.contract.ledger.test_validations import BLOCKED, FOUND
from toolkit.ledger import column_lineage, fingerprints, validations
from toolkit.ledger.database import Ledger
from toolkit.ledger.fingerprints import Fingerprint, ListedFile, ReadInput
from toolkit.ledger.lineage_reports import run_report
from toolkit.ledger.runs.errors import UnknownRun
from toolkit.ledger.runs.rows import Run
from toolkit.ledger.tables import lineage_edge
from toolkit.ledger.vocabulary import LifeCycle, LineageDirection, LineageRelationKind, RunStatus
from toolkit.lineage.columns import Schemas
from toolkit.lineage.statements import statement_lineage

pytestmark = pytest.mark.both_databases
NOON = "2026-03-01T12:00Z"
AT = datetime(2026, 3, 1, 12, 30, tzinfo=UTC)
SCHEMAS = Schemas(columns={"web.clicks": ("user", "amount"), "web.daily": ("total",)})
SQL = "INSERT INTO web.daily SELECT sum(amount) FROM web.clicks WHERE user > 0"


@pytest.fixture
def run(ledger: Ledger) -> Run:
    return begun(ledger, key(NOON, entity="p", life_cycle=LifeCycle.EXECUTION))


def read_input(ledger: Ledger, run: Run) -> str:
    print_of = Fingerprint.of([ListedFile("part-0", 10, AT)])
    read = ReadInput(
        input="in",
        feed="clicks",
        cluster="primary",
        instance_key=NOON,
        uri="file:/c",
        looked_at=AT,
        fingerprint=print_of,
    )
    ledger.write(lambda tx: fingerprints.write(tx, run.run_id, [read]))
    return print_of.digest


def test_a_run_at_work_has_the_inputs_that_it_looked_at(ledger: Ledger, run: Run) -> None:
    digest = read_input(ledger, run)
    found = ledger.read(lambda tx: run_report(tx, run.run_id))
    (read,) = found.reads
    assert (found.status, found.writes, found.findings, found.columns) == (RunStatus.RUNNING, [], {}, [])
    assert (read.instance, read.name, read.uri, read.fingerprint, read.direction, read.at) == (
        ("clicks", "primary", NOON),
        "in",
        "file:/c",
        digest,
        LineageDirection.INPUT,
        AT,
    )


def test_edges_of_a_success_take_the_place_of_what_was_looked_at(ledger: Ledger, run: Run) -> None:
    read_input(ledger, run)
    for direction, feed in ((LineageDirection.INPUT, "views"), (LineageDirection.OUTPUT, "daily")):
        names = {"feed": feed, "cluster": "primary", "instance_key": NOON, "name": "", "at": AT}
        ledger.write(
            lambda tx, names=names, direction=direction: tx.execute(  # type: ignore[misc]
                lineage_edge.insert(), {"run_id": run.run_id, "direction": direction, **names}
            )
        )
    found = ledger.read(lambda tx: run_report(tx, run.run_id))
    assert [each.feed for each in found.reads] == ["views"]
    assert [each.feed for each in found.writes] == ["daily"]


def test_findings_are_those_of_the_runs_own_validations(ledger: Ledger, run: Run) -> None:
    other = begun(ledger, key("2026-03-01T13:00Z", entity="p", life_cycle=LifeCycle.EXECUTION))
    for number, column in ((run.run_id, "own"), (other.run_id, "other")):
        result, finding = replace(BLOCKED, run_id=number), replace(FOUND, column_name=column)
        ledger.write(lambda tx, result=result, finding=finding: validations.record(tx, result, [finding]))  # type: ignore[misc]
    found = ledger.read(lambda tx: run_report(tx, run.run_id))
    assert {pair: [each.column_name for each in of_pair] for pair, of_pair in found.findings.items()} == {
        ("clicks", "primary"): ["own"]
    }


def test_columns_are_those_of_the_statements_of_the_run(ledger: Ledger, run: Run) -> None:
    statements = statement_lineage(SQL, SCHEMAS)
    ledger.write(lambda tx: column_lineage.record(tx, statements, run.run_id, "s"))
    found = ledger.read(lambda tx: run_report(tx, run.run_id)).columns
    assert ("web.clicks", "amount", "web.daily", "total", LineageRelationKind.AGGREGATE) in found
    assert ("web.clicks", "user", "web.daily", "", LineageRelationKind.CONDITION) in found
    assert len(found) == len(set(found))


def test_a_run_that_is_in_no_ledger_is_unknown(ledger: Ledger) -> None:
    with pytest.raises(UnknownRun):
        ledger.read(lambda tx: run_report(tx, 12345))
