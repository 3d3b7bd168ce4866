"""How runs are named."""

from __future__ import annotations

from dataclasses import fields

from tests.unit.ledger.runs.samples import a_run
from toolkit.ledger.runs.rows import JobFacts, Origin, Run, RunKey
from toolkit.ledger.tables import run
from toolkit.ledger.vocabulary import LifeCycle


def test_a_key_says_what_runs_where_and_for_when() -> None:
    key = RunKey(life_cycle=LifeCycle.EVICTION, entity="clicks", cluster="primary", instance_key="2026-03-20T12:00Z")
    assert str(key) == "eviction of clicks on primary for 2026-03-20T12:00Z"


def test_the_key_of_a_copy_names_the_other_cluster_too() -> None:
    found = str(a_run(counterpart="backup").key)
    assert found == "eviction of clicks on primary with backup for 2026-03-20T12:00Z"


def test_a_run_is_named_by_its_number_key_and_attempt() -> None:
    assert str(a_run()) == "run 12 (eviction of clicks on primary for 2026-03-20T12:00Z, attempt 2)"


def test_a_run_has_a_field_for_each_column_and_its_parts_have_no_others() -> None:
    columns = {column.name for column in run.columns}
    assert {field.name for field in fields(Run)} == columns
    for part in (RunKey, Origin, JobFacts):
        assert {field.name for field in fields(part)} <= columns
