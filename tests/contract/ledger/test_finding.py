"""Runs are found as a plain loop over all of them would find them."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta
from operator import attrgetter

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.contract.ledger.samples import key
from tests.contract.ledger.stored_runs import CLUSTERS, ENTITIES, LIFE_CYCLES, assorted, instance, store
from tests.databases.ledgers import START
from toolkit.ledger.database import Ledger
from toolkit.ledger.runs import queries
from toolkit.ledger.runs.errors import UnknownRun
from toolkit.ledger.runs.queries import RunFilter, RunOrder, StatusCount, Subject
from toolkit.ledger.runs.rows import Run, RunKey
from toolkit.ledger.vocabulary import LifeCycle, RunStatus

RUNS = assorted()
_LONG_AGO = START - timedelta(days=1)

FILTERS = st.builds(
    RunFilter,
    entity=st.sampled_from(ENTITIES),
    life_cycle=st.sampled_from([None, *LIFE_CYCLES, LifeCycle.IMPORT]),
    clusters=st.sets(st.sampled_from([*CLUSTERS, "nowhere"])),
    start_key=st.none() | st.integers(-1, 13).map(instance),
    end_key=st.none() | st.integers(-1, 13).map(instance),
    statuses=st.sets(st.sampled_from(RunStatus), max_size=3),
    started_after=st.none() | st.integers(0, 100).map(lambda seconds: START + timedelta(seconds=seconds)),
    all_attempts=st.booleans(),
    order_by=st.sampled_from(RunOrder),
    descending=st.booleans(),
    offset=st.integers(0, 5),
    limit=st.none() | st.integers(0, 30),
)

_SORTED_BY = {
    RunOrder.INSTANCE: "instance_key",
    RunOrder.STATUS: "status",
    RunOrder.START: "started_at",
    RunOrder.END: "ended_at",
    RunOrder.CLUSTER: "cluster",
}


def _lets_through(wanted: RunFilter, run: Run) -> bool:
    return (
        run.entity == wanted.entity
        and wanted.life_cycle in (None, run.life_cycle)
        and (not wanted.clusters or run.cluster in wanted.clusters)
        and (wanted.start_key or "") <= run.instance_key < (wanted.end_key or "9999")
        and (not wanted.statuses or run.status in wanted.statuses)
        and (wanted.started_after is None or (run.started_at or _LONG_AGO) >= wanted.started_after)
        and (wanted.all_attempts or run.attempt == max(each.attempt for each in RUNS if each.key == run.key))
    )


def _expected(wanted: RunFilter) -> list[Run]:
    """Python's sort is stable, so the last key is sorted by first."""
    runs = [run for run in RUNS if _lets_through(wanted, run)]
    first = _SORTED_BY[wanted.order_by]
    for name in ("attempt", "counterpart", "cluster", "life_cycle", "instance_key"):
        runs.sort(key=attrgetter(name), reverse=wanted.descending)
    known = [run for run in runs if getattr(run, first) is not None]
    ordered = sorted(known, key=attrgetter(first), reverse=wanted.descending)
    ordered += [run for run in runs if getattr(run, first) is None]
    end = None if wanted.limit is None else wanted.offset + wanted.limit
    return ordered[wanted.offset : end]


@pytest.fixture
def full(ledger: Ledger) -> Ledger:
    """A ledger with assorted runs."""
    store(ledger, RUNS)
    return ledger


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(wanted=FILTERS)
def test_every_filter_finds_what_a_loop_finds(full: Ledger, wanted: RunFilter) -> None:
    assert full.read(lambda tx: queries.find(tx, wanted)) == _expected(wanted)


@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(wanted=FILTERS)
def test_a_summary_counts_what_the_filter_finds(full: Ledger, wanted: RunFilter) -> None:
    counted = Counter((run.cluster, run.status) for run in RUNS if _lets_through(wanted, run))
    expected = [StatusCount(cluster=at, status=status, count=n) for (at, status), n in sorted(counted.items())]
    assert full.read(lambda tx: queries.summary(tx, wanted)) == expected


def test_the_last_success_of_many_is_found_at_once(full: Ledger) -> None:
    subjects = [
        Subject(entity=entity, life_cycle=life_cycle, cluster=cluster)
        for entity in (*ENTITIES, *(f"unknown-{number}" for number in range(500)))
        for life_cycle in LIFE_CYCLES
        for cluster in CLUSTERS
    ]
    expected = {}
    for run in sorted(RUNS, key=lambda run: run.ended_at or START):
        if run.status is RunStatus.SUCCEEDED:
            expected[Subject(entity=run.entity, life_cycle=run.life_cycle, cluster=run.cluster)] = run.ended_at
    found = full.read(lambda tx: queries.last_success(tx, subjects))
    assert {subject: run.ended_at for subject, run in found.items()} == expected
    assert len(found) == len(ENTITIES) * len(LIFE_CYCLES) * len(CLUSTERS)
    assert full.read(lambda tx: queries.last_success(tx, [])) == {}


def test_active_runs_are_found_of_one_entity_or_of_all(full: Ledger) -> None:
    active = [run for run in RUNS if run.status in (RunStatus.RUNNING, RunStatus.SUSPENDED)]
    assert full.read(queries.active) == active
    of_clicks = full.read(lambda tx: queries.active(tx, "clicks"))
    assert of_clicks == [run for run in active if run.entity == "clicks"]
    assert full.read(lambda tx: queries.active(tx, "unknown")) == []


def test_the_newest_attempt_of_a_key_is_found(full: Ledger) -> None:
    def newest(of: RunKey) -> Run | None:
        return full.read(lambda tx: queries.newest(tx, of))

    for run in RUNS[::7]:
        assert newest(run.key) == max((each for each in RUNS if each.key == run.key), key=attrgetter("attempt"))
    assert newest(key(entity="unknown")) is None


def test_a_run_is_found_by_its_number(full: Ledger) -> None:
    assert full.read(lambda tx: queries.get(tx, RUNS[3].run_id)) == RUNS[3]
    with pytest.raises(UnknownRun, match="no run 999999"):
        full.read(lambda tx: queries.get(tx, 999_999))
