"""Tests of what is asked often is looked up in an index, so that it takes no longer in an old ledger."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
import sqlalchemy as sa

from tests.contract.ledger.samples import key
from tests.databases.ledgers import START
from toolkit.ledger import alerts, events, metrics, monitored, polls
from toolkit.ledger.alert_rows import AlertChanges, AlertKey, NewAlert
from toolkit.ledger.database import Ledger, Transaction
from toolkit.ledger.polls import PolledChange
from toolkit.ledger.runs import items, queries, recent, status
from toolkit.ledger.runs.queries import RunFilter, RunOrder, Subject
from toolkit.ledger.vocabulary import AlertKind, AlertLevel, LifeCycle
from toolkit.planning.polls import PollState

pytestmark = pytest.mark.both_databases

_MONTH = RunFilter(entity="clicks", clusters=("primary",), start_key="2026-03-01T00:00Z", end_key="2026-04-01T00:00Z")
_SUBJECT = Subject(entity="clicks", life_cycle=LifeCycle.EVICTION, cluster="primary")
_INSTANCE = monitored.AlertSubject(entity="clicks", cluster="primary", instance_key="2026-03-01T00:00Z")
_INSTANCES = [_INSTANCE, _INSTANCE._replace(instance_key="2026-03-02T00:00Z")]
_ALERTS = tuple(
    NewAlert(key=AlertKey(kind=AlertKind.SLA, **each._asdict()), level=AlertLevel.LOW, opened_at=START, message="late")
    for each in _INSTANCES
)
_POLLED = [
    PolledChange(dataset=each, uri=each, before=PollState(), after=PollState(seen_at=START))
    for each in ("s3://bucket/one", "s3://bucket/two")
]
_RANGE = "entity=? AND instance_key>? AND instance_key<?"
_ONE_KEY = "entity=? AND instance_key=? AND life_cycle=? AND cluster=? AND counterpart=?"
_BOTH_ENDS = "'2026-03-01T00:00Z'::text) AND ((instance_key)::text <"

PLANS: list[tuple[str, Callable[[Transaction], object], str, str]] = [
    ("a range of instances", lambda tx: queries.find(tx, _MONTH), _RANGE, _BOTH_ENDS),
    ("their newest attempts", lambda tx: queries.find(tx, _MONTH), _ONE_KEY, "Only Scan Backward using uq_run_run_key"),
    ("a count of a range", lambda tx: queries.summary(tx, _MONTH), _RANGE, _BOTH_ENDS),
    ("the newest attempt", lambda tx: queries.newest(tx, key()), _ONE_KEY, "Scan Backward using uq_run_run_key"),
    ("active runs", queries.active, "ix_run_open", "uq_run_active"),
    (
        "the last success",
        lambda tx: queries.last_success(tx, [_SUBJECT]),
        "ix_run_succeeded (entity=? AND life_cycle=? AND cluster=? AND counterpart=?)",
        "Scan Backward using ix_run_succeeded",
    ),
    (
        "open items",
        lambda tx: items.unsettled(tx, LifeCycle.EVICTION, "clicks", "primary"),
        "item USING INDEX ix_item_intended",
        "using ix_item_intended",
    ),
    (
        "failures of a day",
        lambda tx: recent.failures_by_site(tx, START),
        "ix_run_failed_at (ended_at>?)",
        "ix_run_failed_at",
    ),
    ("open requests", lambda tx: status.open_requests(tx, [1, 2]), "ix_request_open (run_id=?)", "ix_request_open"),
    ("new events", lambda tx: events.after(tx, 7), "PRIMARY KEY (rowid>?)", "using pk_event"),
    (
        "events of an instance",
        lambda tx: events.of_instance(tx, "clicks", "primary", "2026-03-01T00:00Z"),
        "ix_event_instance (feed=? AND cluster=? AND instance_key=?)",
        "ix_event_instance",
    ),
    (
        "successes, counted",
        lambda tx: list(metrics.last_runs(tx)),
        "SCAN run USING COVERING INDEX ix_run_succeeded",
        "Index Only Scan using ix_run_succeeded on run",
    ),
    (
        "skipped runs, counted",
        lambda tx: list(metrics.run_counts(tx)),
        "SCAN run USING COVERING INDEX ix_run_skipped",
        "Index Only Scan using ix_run_skipped on run",
    ),
    (
        "failed runs, counted",
        lambda tx: list(metrics.run_counts(tx)),
        "USING INDEX ix_run_failed",
        "using ix_run_failed",
    ),
    ("open runs, counted", lambda tx: list(metrics.run_counts(tx)), "USING INDEX ix_run_open", "using ix_run_open"),
    (
        "waits for leases",
        lambda tx: list(metrics.lease_waits(tx)),
        "SCAN run USING INDEX ix_run_skipped",
        "using ix_run_skipped on run",
    ),
    (
        "the newest validated data",
        lambda tx: list(metrics.validated(tx, [("clicks", "primary")])),
        "ix_verdict_instance (feed=? AND cluster=?)",
        "Scan Backward using ix_verdict_instance",
    ),
    (
        "evicted instances",
        lambda tx: metrics.evicted(tx, [1, 2]),
        "sqlite_autoindex_item_1 (run_id=?)",
        "using pk_item",
    ),
    (
        "open alerts",
        lambda tx: list(metrics.alert_counts(tx)),
        "ix_alert_closed (closed_at=?)",
        "uq_alert_open | ix_alert_remind",  # both have the open alerts alone, and cost the same
    ),
    ("messages that wait", lambda tx: list(metrics.channels(tx)), "ix_outbox_waiting", "ix_outbox_waiting"),
]


@pytest.mark.parametrize(("what", "work", "on_sqlite", "on_postgresql"), PLANS, ids=[each[0] for each in PLANS])
def test_an_index_is_used_for(
    ledger: Ledger, what: str, work: Callable[[Transaction], object], on_sqlite: str, on_postgresql: str
) -> None:
    is_sqlite = ledger.engine.dialect.name == "sqlite"
    plan = _plan(ledger, work)
    expected = [on_sqlite] if is_sqlite else on_postgresql.split(" | ")
    assert any(each in plan for each in expected), f"{what}:\n{plan}"


NAMED: list[tuple[str, Callable[[Transaction], object], str, str]] = [
    (
        "run",
        lambda tx: queries.newest_of(tx, [key(), key("2026-03-02T00:00Z")]),
        f"sqlite_autoindex_run_1 ({_ONE_KEY})",
        "uq_run_run_key",
    ),
    (
        "run",
        lambda tx: monitored.attempts(tx, _INSTANCES),
        "sqlite_autoindex_run_1 (entity=? AND instance_key=?)",
        "uq_run_run_key",
    ),
    (
        "verdict",
        lambda tx: monitored.validations(tx, _INSTANCES, START),
        "ix_verdict_instance (feed=? AND cluster=? AND instance_key=?)",
        "ix_verdict_instance",
    ),
    (
        "poll",
        lambda tx: polls.record(tx, _POLLED),
        "sqlite_autoindex_poll_1 (dataset=? AND instance_key=?)",
        "pk_poll",
    ),
    (
        "alert",
        lambda tx: [alerts.record(tx, AlertChanges(opened=_ALERTS), START) for _ in range(2)],
        "USING INDEX",
        "uq_alert",
    ),
]


@pytest.mark.parametrize(("table", "work", "on_sqlite", "on_postgresql"), NAMED)
def test_each_of_several_names_is_looked_up(
    ledger: Ledger, table: str, work: Callable[[Transaction], object], on_sqlite: str, on_postgresql: str
) -> None:
    plan = _plan(ledger, work, bitmaps=True)
    if ledger.engine.dialect.name == "sqlite":
        assert on_sqlite in plan, plan
        assert f"SCAN {table}" not in plan, plan
    else:
        assert on_postgresql in plan, plan
        assert "Index Cond" in plan, plan
        assert "Values Scan" not in plan, f"a join, whose plan goes by statistics: {plan}"


def test_a_month_sorted_by_instance_is_read_in_the_order_of_the_index(postgres_ledger: Ledger) -> None:
    newest_first = RunFilter(entity="clicks", descending=True, limit=10)
    assert "Sort" not in _plan(postgres_ledger, lambda tx: queries.find(tx, newest_first))
    by_status = RunFilter(entity="clicks", order_by=RunOrder.STATUS)
    assert "Sort" in _plan(postgres_ledger, lambda tx: queries.find(tx, by_status))


def _plan(ledger: Ledger, work: Callable[[Transaction], object], *, bitmaps: bool = False) -> str:
    """How the database would do the queries of the work; PostgreSQL must not read a whole table since it is small."""
    allowed = "on" if bitmaps else "off"

    def explain(tx: Transaction) -> str:
        is_sqlite = tx.connection.dialect.name == "sqlite"
        if not is_sqlite:
            tx.connection.exec_driver_sql(f"SET LOCAL enable_seqscan = off; SET LOCAL enable_bitmapscan = {allowed}")
        with _statements(tx.connection) as statements:
            work(tx)
        explained = "EXPLAIN QUERY PLAN" if is_sqlite else "EXPLAIN"
        rows = (
            tx.connection.exec_driver_sql(f"{explained} {each}", values).all()
            for each, values in statements
            if not each.startswith(("INSERT", "UPDATE"))
        )
        return "\n".join(row[-1] for each in rows for row in each)

    return ledger.write(explain)


@contextmanager
def _statements(connection: sa.Connection) -> Iterator[list[tuple[str, tuple[object, ...]]]]:
    """The statements that are executed in the body, with their values."""
    seen: list[tuple[str, tuple[object, ...]]] = []

    def note(_connection: object, _cursor: object, statement: str, values: tuple[object, ...], *_: object) -> None:
        seen.append((statement, values))

    sa.event.listen(connection, "before_cursor_execute", note)
    yield seen
    sa.event.remove(connection, "before_cursor_execute", note)
