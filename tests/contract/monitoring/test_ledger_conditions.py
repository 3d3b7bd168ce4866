"""Alerts about runs, validations, copies and retention, from what the ledger has, on both databases."""

from __future__ import annotations

import json
import random
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from typing import Any

import pytest
import sqlalchemy as sa

from tests.contract.ledger_jobs.plans import executed, scans
from tests.databases.ledgers import START, open_ledger
from tests.unit.entities.config_repo import CLUSTER, FEED, PROCESS, repository
from toolkit.entities import Repository
from toolkit.ledger import alerts
from toolkit.ledger.alert_rows import Alert
from toolkit.ledger.database import Ledger, Transaction
from toolkit.ledger.tables import event, event_counter, run, verdict
from toolkit.ledger.vocabulary import AlertKind, EventKind, LifeCycle, RunStatus, ValidationState
from toolkit.monitoring.ledger_conditions import LedgerConditions
from toolkit.monitoring.monitor import Monitor
from toolkit.result import ExitCode
from toolkit.runs.errors import LeaseExpired

KEY = "2026-03-20T12:00Z"
VALID = "validity: {start: 2026-01-01T00:00Z, end: 2099-01-01T00:00Z}"
COPIED = f"""\
kind: feed
name: clicks
frequency: hours(1)
locations: {{data: "/data/clicks/${{YEAR}}/${{MONTH}}/${{DAY}}/${{HOUR}}"}}
clusters:
  - {{name: primary, type: source, {VALID}, retention: {{limit: days(10)}}}}
  - {{name: backup, type: target, {VALID}, retention: {{limit: days(10)}}}}
"""


def at(hours: float) -> datetime:
    return START + timedelta(hours=hours)


def repo(settings: str = "", feed: str = FEED) -> Repository:
    texts = {"repo.yaml": f"name: web\nmonitoring:\n  storm_limit: 5\n{settings}", "feeds/clicks.yaml": feed}
    backup = CLUSTER.replace("primary", "backup")
    return repository({**texts, "clusters/backup.yaml": backup, "processes/clicks_hourly.yaml": PROCESS})


@dataclass
class Watch:
    """Passes of a monitor, one after the other."""

    ledger: Ledger
    repository: Repository = field(default_factory=repo)
    since: datetime | None = None

    def look(self, hours: float) -> None:
        def work(tx: Transaction) -> None:
            changes = LedgerConditions(repository=self.repository).changes(tx, at(hours), self.since)
            alerts.record(tx, changes, at(hours))

        self.ledger.write(work)
        self.since = at(hours)

    @property
    def found(self) -> list[Alert]:
        """All alerts, oldest first."""
        return sorted(self.ledger.read(alerts.history), key=lambda each: (each.opened_at, each.key))

    @property
    def spans(self) -> list[tuple[AlertKind, str, str, datetime, datetime | None]]:
        return [
            (each.key.kind, each.key.entity, each.key.instance_key, each.opened_at, each.closed_at)
            for each in self.found
        ]


def ran(
    ledger: Ledger,
    ended: float | None,
    status: RunStatus = RunStatus.FAILED,
    *,
    attempt: int = 1,
    key: str = KEY,
    entity: str = "clicks_hourly",
    cluster: str = "primary",
    life_cycle: LifeCycle = LifeCycle.EXECUTION,
    **values: object,
) -> None:
    """Record an attempt that ended so many hours after the start."""
    facts = {
        "life_cycle": life_cycle,
        "entity": entity,
        "cluster": cluster,
        "counterpart": values.pop("counterpart", ""),
        "instance_key": key,
        "attempt": attempt,
        "status": status,
        "is_forced": False,
        "who": "ada",
        "created_at": START,
        "started_at": START,
        "ended_at": None if ended is None else at(ended),
        **values,
    }
    ledger.write(lambda tx: tx.execute(sa.insert(run).values(**facts)))


@pytest.fixture
def watch(ledger: Ledger) -> Watch:
    """A monitor that has looked once, at the start."""
    found = Watch(ledger)
    found.look(0)
    return found


def test_an_instance_that_failed_is_an_alert_until_it_succeeds(watch: Watch) -> None:
    ran(watch.ledger, 1.5, reason="boom", log_location="/logs/1")
    watch.look(2)
    watch.look(3)
    (alert,) = watch.found
    assert (alert.key.kind, alert.opened_at, alert.is_open) == (AlertKind.FAILED, at(1.5), True)
    assert "failed in attempt 1: boom" in alert.message
    assert (alert.facts["error"], alert.facts["log"]) == ("boom", "/logs/1")
    ran(watch.ledger, 4.5, RunStatus.SUCCEEDED, attempt=2)
    watch.look(5)
    watch.look(6)
    assert watch.spans == [(AlertKind.FAILED, "clicks_hourly", KEY, at(1.5), at(4.5))]


def test_a_failure_with_a_retry_is_no_alert_before_the_last_one(watch: Watch) -> None:
    ran(watch.ledger, 1, retry_at=at(1.2))
    watch.look(1.1)
    assert not watch.found
    watch.ledger.write(lambda tx: tx.execute(sa.update(run).values(retry_at=None)))
    ran(watch.ledger, None, RunStatus.RUNNING, attempt=2, retry=1)
    watch.look(1.5)
    assert not watch.found
    end = {"status": RunStatus.FAILED, "ended_at": at(2)}
    watch.ledger.write(lambda tx: tx.execute(sa.update(run).where(run.c.attempt == 2).values(**end)))
    watch.look(3)
    assert [each.opened_at for each in watch.found] == [at(2)]


def test_a_retry_that_nothing_starts_is_an_alert_until_it_begins(watch: Watch) -> None:
    ran(watch.ledger, 1, retry_at=at(1.5))
    for hours in (2, 2.4):
        watch.look(hours)
        assert not watch.found
    watch.look(2.5)
    watch.look(9)
    (alert,) = watch.found
    assert (alert.key.kind, alert.opened_at, alert.is_open) == (AlertKind.FAILED, at(2.5), True)
    assert "its retry was due at" in alert.message
    watch.ledger.write(lambda tx: tx.execute(sa.update(run).values(retry_at=None)))
    ran(watch.ledger, None, RunStatus.RUNNING, attempt=2, retry=1)
    watch.look(10)
    (alert,) = watch.found
    assert (alert.closed_at, alert.closed_because) == (at(10), "a retry has begun, or the config repo has changed")


@pytest.mark.parametrize(
    ("status", "values", "kind"),
    [
        (RunStatus.FAILED, {}, AlertKind.FAILED),
        (RunStatus.TIMED_OUT, {}, AlertKind.FAILED),
        (RunStatus.FAILED, {"exit_code": ExitCode.REFUSED.value}, AlertKind.LIMIT),
        (
            RunStatus.KILLED,
            {"reason": "its lease expired at 12:00"},
            AlertKind.LEASE_LOST,
        ),
        (RunStatus.KILLED, {"reason": "its process 12 on edge1 is gone"}, AlertKind.LEASE_LOST),
        (RunStatus.FAILED, {"reason": LeaseExpired(why="paused").reason}, AlertKind.LEASE_LOST),
        (RunStatus.KILLED, {"reason": "killed by ann"}, None),
        (RunStatus.SKIPPED, {}, None),
        (RunStatus.SUCCEEDED, {}, None),
    ],
)
def test_the_end_of_a_run_decides_the_kind(
    watch: Watch, status: RunStatus, values: dict[str, Any], kind: AlertKind | None
) -> None:
    ran(watch.ledger, 1, status, **values)
    watch.look(2)
    assert [each.key.kind for each in watch.found] == ([] if kind is None else [kind])


def test_failures_of_retention_are_one_alert_until_a_later_run_succeeds(watch: Watch) -> None:
    for hours in (1, 2, 3):
        ran(watch.ledger, hours, key=f"k{hours}", entity="clicks", life_cycle=LifeCycle.EVICTION)
        watch.look(hours + 0.1)
    ran(watch.ledger, 4, RunStatus.SUCCEEDED, key="k4", entity="clicks", life_cycle=LifeCycle.EVICTION)
    watch.look(5)
    assert watch.spans == [(AlertKind.FAILED, "clicks", "", at(1), at(4))]


@pytest.mark.parametrize(("import_ends", "export_ends"), [(3, 5), (5, 3)])
def test_two_actions_on_one_instance_are_over_when_both_are(watch: Watch, import_ends: int, export_ends: int) -> None:
    for life_cycle, ends in ((LifeCycle.IMPORT, import_ends), (LifeCycle.EXPORT, export_ends)):
        ran(watch.ledger, 1, entity="clicks", life_cycle=life_cycle)
        watch.look(1.5)
        ran(watch.ledger, ends, RunStatus.SUCCEEDED, attempt=2, entity="clicks", life_cycle=life_cycle)
    watch.look(4)
    assert [each.is_open for each in watch.found] == [True]
    watch.look(6)
    assert watch.spans == [(AlertKind.FAILED, "clicks", KEY, at(1), at(5))]


def test_an_entity_that_leaves_the_repo_closes_its_alerts(watch: Watch) -> None:
    ran(watch.ledger, 1)
    watch.look(2)
    watch.repository = repository({"processes/clicks_hourly.yaml": None})
    watch.look(3)
    (alert,) = watch.found
    assert (alert.closed_at, alert.closed_because) == (at(3), "a retry has begun, or the config repo has changed")


def test_a_first_pass_tells_of_no_old_failures(ledger: Ledger) -> None:
    ran(ledger, -25)
    ran(ledger, -23, key="2026-03-20T13:00Z")
    watch = Watch(ledger)
    watch.look(0)
    assert [each.opened_at for each in watch.found] == [at(-23)]


def checked(ledger: Ledger, hours: float, state: ValidationState, decided: float | None = None) -> None:
    values = {
        "entity": "clicks_hourly",
        "feed": "clicks",
        "cluster": "primary",
        "instance_key": KEY,
        "unit": "u",
        "counterpart": "",
        "data_digest": "d",
        "layout_digest": "l",
        "suites_digest": "s",
        "suites": json.dumps(["a"]),
        "state": state,
        "is_by_hand": False,
        "files": 1,
        "bytes": 1,
        "place": "/x",
        "seconds": 1.0,
        "reason": "user_id is null",
        "recorded_at": at(hours),
        "decided_at": None if decided is None else at(decided),
        "decided_by": None if decided is None else "ann",
    }
    ledger.write(lambda tx: tx.execute(sa.insert(verdict).values(**values)))


def test_blocked_data_is_an_alert_until_a_person_decides(watch: Watch) -> None:
    checked(watch.ledger, 1, ValidationState.BLOCKED)
    watch.look(2)
    assert [(each.key.kind, each.key.entity, each.is_open) for each in watch.found] == [
        (AlertKind.QUALITY, "clicks", True)
    ]
    decided = {"state": ValidationState.RELEASED, "decided_at": at(3), "decided_by": "ann"}
    watch.ledger.write(lambda tx: tx.execute(sa.update(verdict).values(**decided)))
    watch.look(4)
    (alert,) = watch.found
    assert (alert.opened_at, alert.closed_at, alert.closed_because) == (at(1), at(3), "ann released it")


def test_blocked_data_is_over_when_better_data_is_validated(watch: Watch) -> None:
    for hours, state in ((1, ValidationState.BLOCKED), (2, ValidationState.BLOCKED), (3, ValidationState.PASSED)):
        checked(watch.ledger, hours, state)
    watch.look(4)
    assert watch.spans == [(AlertKind.QUALITY, "clicks", KEY, at(1), at(3))]


def test_retention_is_overdue_when_it_has_not_succeeded_for_three_periods(watch: Watch) -> None:
    ran(watch.ledger, 1, RunStatus.SUCCEEDED, key="a", entity="clicks", life_cycle=LifeCycle.EVICTION)
    watch.look(72)
    assert not watch.found
    watch.look(73)
    watch.look(73.5)  # looks at retention once an hour
    watch.look(100)
    assert watch.spans == [(AlertKind.RETENTION_OVERDUE, "clicks", "", at(73), None)]
    ran(watch.ledger, 101, RunStatus.SUCCEEDED, key="b", entity="clicks", life_cycle=LifeCycle.EVICTION)
    watch.look(110)
    assert watch.spans == [(AlertKind.RETENTION_OVERDUE, "clicks", "", at(73), at(101))]


def came(ledger: Ledger, hours: float, key: str = KEY) -> None:
    """Announce an instance on the source."""

    def work(tx: Transaction) -> None:
        number = tx.execute(sa.select(event_counter.c.last_sequence)).scalar_one() + 1
        values = {"kind": EventKind.AVAILABLE, "feed": "clicks", "cluster": "primary", "instance_key": key}
        row = {"sequence": number, "dataset": "feedctl:feed/clicks?cluster=primary", "recorded_at": at(hours), **values}
        tx.execute(sa.insert(event).values(**row))
        tx.execute(sa.update(event_counter).values(last_sequence=number))

    ledger.write(work)


def copied(ledger: Ledger, hours: float, key: str = KEY, status: RunStatus = RunStatus.SUCCEEDED) -> None:
    copy = LifeCycle.REPLICATION
    ran(ledger, hours, status, key=key, entity="clicks", cluster="backup", life_cycle=copy, counterpart="primary")


def test_a_copy_that_does_not_come_in_time_is_an_alert(ledger: Ledger) -> None:
    watch = Watch(ledger, repo("  replication_behind: hours(6)\n", COPIED))
    watch.look(0)
    for hours, key in ((1, "a"), (1, "b"), (2, "c")):
        came(ledger, hours, key)
    copied(ledger, 3, "a")
    watch.look(7.5)
    assert watch.spans == [(AlertKind.REPLICATION_BEHIND, "clicks", "b", at(7), None)]
    assert watch.found[0].key.cluster == "backup"
    copied(ledger, 9, "b")
    copied(ledger, 9.5, "c")
    watch.look(10)
    behind = AlertKind.REPLICATION_BEHIND
    assert watch.spans == [(behind, "clicks", "b", at(7), at(9)), (behind, "clicks", "c", at(8), at(9.5))]


def test_a_repo_that_asks_for_no_alert_about_copies_keeps_no_events(ledger: Ledger) -> None:
    watch = Watch(ledger, repo("  replication_behind: hours(6)\n", COPIED))
    watch.look(0)
    watch.repository = repo(feed=COPIED)
    came(ledger, 1)
    watch.look(20)
    assert not watch.found
    assert ledger.read(lambda tx: tx.execute(sa.text("SELECT count(*) FROM consumer_cursor")).scalar()) == 0


def timeline(seed: int) -> list[tuple[float, str, RunStatus, int]]:
    """Return the ends of attempts of three instances, in hours, with pauses."""
    chance, found = random.Random(seed), []  # noqa: S311
    for key in ("a", "b", "c"):
        hours = 0.0
        for attempt in range(1, chance.randint(2, 7)):
            hours += round(chance.uniform(0.1, 6), 2)
            status = chance.choice([RunStatus.FAILED, RunStatus.FAILED, RunStatus.SUCCEEDED])
            found.append((hours, key, status, attempt))
    return sorted(found)


def replayed(ledger: Ledger, seed: int, passes: Iterable[float]) -> Sequence[object]:
    """The alerts after some passes, each of which sees what had happened by then; then the ledger is empty again."""
    watch, before = Watch(ledger), 0.0
    watch.look(0)
    for until in passes:
        for hours, key, status, attempt in timeline(seed):
            if before < hours <= until:
                ran(ledger, hours, status, attempt=attempt, key=key)
        watch.look(until)
        before = until
    found = list(watch.spans)
    ledger.write(lambda tx: [tx.execute(sa.text(f"DELETE FROM {table}")) for table in ("alert", "run")])  # noqa: S608
    return found


@pytest.mark.parametrize("seed", range(3))
def test_passes_at_any_times_find_the_same_alerts(ledger: Ledger, seed: int) -> None:
    end = 48.0
    expected = replayed(ledger, seed, [end])
    assert expected
    assert replayed(ledger, seed, [n / 2 for n in range(1, int(end * 2) + 1)]) == expected
    times = sorted(random.Random(seed).uniform(0, end) for _ in range(9))  # noqa: S311
    assert replayed(ledger, seed, [*times, end]) == expected


def test_a_pass_reads_no_table_of_runs_as_a_whole(watch: Watch) -> None:
    ran(watch.ledger, 1)
    ran(watch.ledger, 1, key="k", entity="clicks", life_cycle=LifeCycle.EVICTION)
    watch.look(2)
    with executed(watch.ledger) as statements:
        watch.look(3)
    assert not [each for each in scans(watch.ledger, statements) if "run" in str(each) or "verdict" in str(each)]


def test_of_whole_monitors_at_once_one_tells(ledger_url: sa.URL) -> None:
    """Each has a connection of its own, and decides, records and writes messages in one transaction."""
    mail = "  to: [ops@example.com]\n  mail: {host: mail, sender: feedctl@example.com}\n"
    found = repo(mail)

    def watched(ledger: Ledger, hours: float) -> int:
        monitor = Monitor(
            ledger=ledger,
            repository=found,
            data=lambda series: pytest.fail(f"nothing is to be looked at: {series}"),
            check=lambda: None,
            wall_clock=lambda: at(hours),
            sources=(LedgerConditions(repository=found),),
        )
        return monitor.run(at(hours)).news.messages

    ledgers = [open_ledger(ledger_url) for _ in range(8)]
    watched(ledgers[0], 0)
    ran(ledgers[0], 1)
    with ThreadPoolExecutor(len(ledgers)) as threads:
        messages = list(threads.map(partial(watched, hours=2), ledgers))
    assert sorted(messages) == [0] * 7 + [1]
    assert len(ledgers[0].read(alerts.open_alerts)) == 1
    for each in ledgers:
        each.close()
