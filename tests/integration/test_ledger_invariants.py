"""Each rule that the ledger is held against finds what breaks it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import sqlalchemy as sa

from tests.contract.ledger.samples import ORIGIN, alone, key, started
from tests.databases.graphs import CLUSTER
from tests.databases.invariants import DELIVERIES, INVARIANTS, violations
from tests.integration.ledger_calls import CALLS
from toolkit.ledger.database import Ledger
from toolkit.ledger.jobs.job_start import init_job
from toolkit.ledger.jobs.rows import JobRef
from toolkit.ledger.jobs.steps import init_step
from toolkit.ledger.runs import status
from toolkit.ledger.vocabulary import RequestKind

pytestmark = pytest.mark.extended

_REPORT = JobRef(process="report", cluster=CLUSTER)
_DONE, _RUNNING, _EVICTION = 1, 2, 3
"""The jobs of clean and of report, and a run with leases: numbers of runs."""

_BREAKS = {
    "a run that has not begun has no times": "UPDATE run SET status = 'ready' WHERE run_id = 2",
    "a running run began and has not ended": "UPDATE run SET ended_at = started_at WHERE run_id = 2",
    "a run that is over has ended, and no other has": "UPDATE run SET ended_at = NULL WHERE run_id = 1",
    "what succeeded or failed had begun": "UPDATE run SET started_at = NULL WHERE run_id = 1",
    "only a suspended run remembers where it goes back to": "UPDATE run SET suspended_from = 'ready' WHERE run_id = 1",
    "attempts are numbered from 1 without gaps": "UPDATE run SET attempt = 2 WHERE run_id = 1",
    "only the newest attempt is open": (
        "UPDATE run SET entity = 'clean', instance_key = (SELECT instance_key FROM run WHERE run_id = 1), attempt = 0"
        " WHERE run_id = 2"
    ),
    "a key has one active run": (
        "DROP INDEX uq_run_active; UPDATE run SET status = 'running', attempt = 0, entity = 'report',"
        " instance_key = (SELECT instance_key FROM run WHERE run_id = 2) WHERE run_id = 1"
    ),
    "a process has one active job on its queue": (
        "DROP INDEX uq_run_queue_job; UPDATE run SET status = 'running', process_id ="
        " (SELECT process_id FROM run WHERE run_id = 2) WHERE run_id = 1"
    ),
    "a job has a process and a mode, and once it has begun a target batch": (
        "UPDATE run SET target_batch_id = NULL WHERE run_id = 1"
    ),
    "no step runs in a run that is over": "UPDATE run SET ended_at = started_at WHERE run_id = 2",
    "a step has ended exactly when it does not run": "UPDATE step_run SET ended_at = NULL WHERE run_id = 1",
    "attempts of a step are numbered from 1 without gaps": "UPDATE step_run SET attempt = 2 WHERE run_id = 1",
    "every step of a job that succeeded has succeeded for its target batch": (
        "UPDATE step_run SET status = 'failed' WHERE run_id = 1 AND step_run_id = 1"
    ),
    "only active runs hold leases": "UPDATE lease SET run_id = 1 WHERE resource = 'a'",
    "who holds a resource alone holds it alone": (
        "INSERT INTO lease SELECT resource, 2, 'shared', fence, acquired_at, expires_at FROM lease WHERE resource = 'a'"
    ),
    "no lease is newer than its resource": "UPDATE lease SET fence = fence + 1 WHERE resource = 'a'",
    "an item is settled exactly when it is no longer intended": (
        "INSERT INTO item (run_id, position, kind, path, instance_key, state, intended_at)"
        " VALUES (3, 0, 'instance', '/d', '', 'done', '')"
    ),
    "nobody is asked for anything in a run that is over": "UPDATE request SET run_id = 1",
    "a row is new exactly when nobody has taken it": "UPDATE queue SET state = 'new'",
    "a row is either queued or archived": "UPDATE queue SET queue_id = (SELECT min(queue_id) FROM archive)",
    "nobody reads a batch that is not published": "UPDATE batch SET state = 'allocated' WHERE batch_id = 1",
    "what is being read belongs to an active job": "UPDATE run SET status = 'killed' WHERE run_id = 2",
    "what was taken belongs to a job": "UPDATE queue SET target_batch_id = 1",
    "what a job that succeeded took is archived, all of it": "UPDATE run SET status = 'succeeded' WHERE run_id = 2",
    "only what a job that succeeded processed is archived": "UPDATE archive SET state = 'failed'",
    "the seed is there, one counter and one safe mode": "DELETE FROM safe_mode",
    "a batch has the time of its publication exactly when it was published": (
        "UPDATE batch SET published_at = NULL WHERE batch_id = 1"
    ),
    "the batch of a job is published exactly when the job has succeeded": (
        "UPDATE batch SET state = 'published' WHERE batch_id = 3"
    ),
    "every target batch exists": "UPDATE run SET target_batch_id = 99 WHERE run_id = 1",
    "events are numbered from 1 without gaps, up to the counter": "DELETE FROM event WHERE sequence = 1",
    "no consumer is ahead of the events": (
        "INSERT INTO consumer_cursor (consumer, sequence, moved_at) VALUES ('mart', 99, '')"
    ),
    "a step has a batch in its queue or archive once": (
        "INSERT INTO queue SELECT 99, source_batch_id, step_id, source_process_id, NULL, 'new', marking, inserted_at,"
        " NULL, NULL FROM archive LIMIT 1"
    ),
    "every step has every published batch of its upstreams": "DELETE FROM queue",
}


@pytest.fixture
def lived_in(sqlite_ledger: Ledger) -> Iterator[sa.Connection]:
    """A transaction, never committed, on a ledger in which one job is done, one is running, and a run holds leases."""
    CALLS["halt-job"].prepare(sqlite_ledger)
    CALLS["halt-job"].make(sqlite_ledger)
    assert sqlite_ledger.write(lambda tx: init_job(tx, _REPORT, ORIGIN)).run.run_id == _RUNNING
    sqlite_ledger.write(lambda tx: init_step(tx, _REPORT, "main"))
    assert started(sqlite_ledger, key(), alone("a", "b")).run.run_id == _EVICTION
    sqlite_ledger.write(lambda tx: status.ask_owner(tx, _EVICTION, RequestKind.KILL, "ada"))
    with sqlite_ledger.engine.connect() as connection:
        connection.connection.cursor().execute("PRAGMA foreign_keys = OFF")
        yield connection


def test_a_ledger_that_was_used_as_intended_keeps_all_rules(lived_in: sa.Connection) -> None:
    assert violations(lived_in, deliveries=True) == []


def test_every_rule_is_broken_here() -> None:
    assert _BREAKS.keys() == (INVARIANTS | DELIVERIES).keys()


@pytest.mark.parametrize("rule", _BREAKS)
def test_what_breaks_a_rule_is_found(rule: str, lived_in: sa.Connection) -> None:
    for statement in _BREAKS[rule].split("; "):
        assert lived_in.exec_driver_sql(statement).rowcount != 0
    assert any(found.startswith(f"{rule}: broken by") for found in violations(lived_in, deliveries=True))
