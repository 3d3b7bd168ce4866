"""Lineage of copies: a replication, an export and an import of a table read the same instance where it came from."""

from __future__ import annotations

import pytest
import sqlalchemy as sa

from tests.contract.ledger.samples import begun, key
from tests.unit.entities.config_repo import repository
from toolkit.ledger.database import Ledger
from toolkit.ledger.events import NewEvent
from toolkit.ledger.runs.items import NewItem, SettledItem
from toolkit.ledger.tables import lineage_edge
from toolkit.ledger.vocabulary import EventKind, ItemState, LifeCycle
from toolkit.lineage.instance_lineage import InstanceId, instance_graph
from toolkit.runs.ledger_recorder import LedgerRecorder
from toolkit.runs.outcome import SUCCEEDED, outcome_of
from toolkit.runs.recorder import RecordBatch, RecordedRun

pytestmark = pytest.mark.both_databases

KEY = "2026-03-20T12:00Z"
HERE, THERE = (
    InstanceId(feed="clicks", cluster="primary", key=KEY),
    InstanceId(feed="clicks", cluster="backup", key=KEY),
)


def ran(
    ledger: Ledger,
    life_cycle: LifeCycle,
    cluster: str,
    *,
    counterpart: str = "",
    kind: str = "add",
    announced: bool = True,
    fails: bool = False,
) -> int:
    """Run an action of one item for an instance of clicks."""
    of = key(KEY, cluster=cluster, life_cycle=life_cycle, counterpart=counterpart)
    run_id = begun(ledger, of).run_id
    recorder, recorded = LedgerRecorder(ledger=ledger), RecordedRun(key=of, run_id=run_id, attempt=1)
    intended = NewItem(position=0, kind=kind, path="/x", instance_key=KEY)
    recorder.record(recorded, RecordBatch(intended=(intended,)))
    new = NewEvent(kind=EventKind.AVAILABLE, feed="clicks", cluster=cluster, instance_key=KEY, uri="/x")
    done = RecordBatch(settled=(SettledItem(position=0, state=ItemState.DONE),), events=(new,) if announced else ())
    recorder.record(recorded, done)
    recorder.finish(recorded, outcome_of(OSError("no room")) if fails else SUCCEEDED)
    return run_id


def edges(ledger: Ledger, run_id: int) -> set[tuple[str, str, str]]:
    """Return direction, cluster and instance of the edges of a run."""
    columns = (lineage_edge.c.direction, lineage_edge.c.cluster, lineage_edge.c.instance_key)
    wanted = sa.select(*columns).where(lineage_edge.c.run_id == run_id)
    return {tuple(row) for row in ledger.read(lambda tx: tx.execute(wanted).all())}


@pytest.mark.parametrize("announced", [True, False])
def test_a_replication_reads_its_counterpart_also_when_another_run_announces_the_instance(
    ledger: Ledger, *, announced: bool
) -> None:
    run_id = ran(ledger, LifeCycle.REPLICATION, "backup", counterpart="primary", kind="copy", announced=announced)
    assert edges(ledger, run_id) == {("input", "primary", KEY), ("output", "backup", KEY)}


def test_an_import_reads_the_newest_export_of_the_instance(ledger: Ledger) -> None:
    exported = ran(ledger, LifeCycle.EXPORT, "primary", kind="export", announced=False)
    imported = ran(ledger, LifeCycle.IMPORT, "backup")
    assert edges(ledger, exported) == {("input", "primary", KEY)}
    assert edges(ledger, imported) == {("input", "primary", KEY), ("output", "backup", KEY)}
    graph = ledger.read(lambda tx: instance_graph(tx, repository(), HERE, up=False))
    assert {HERE.vertex_id, THERE.vertex_id, f"run:{exported}", f"run:{imported}"} == set(graph.vertices)


def test_an_import_without_an_export_in_the_ledger_has_no_source(ledger: Ledger) -> None:
    assert edges(ledger, ran(ledger, LifeCycle.IMPORT, "backup")) == {("output", "backup", KEY)}


def test_a_copy_that_failed_has_no_edge(ledger: Ledger) -> None:
    run_id = ran(ledger, LifeCycle.REPLICATION, "backup", counterpart="primary", kind="copy", fails=True)
    assert edges(ledger, run_id) == set()


def test_an_eviction_has_no_edge(ledger: Ledger) -> None:
    assert edges(ledger, ran(ledger, LifeCycle.EVICTION, "primary")) == set()
