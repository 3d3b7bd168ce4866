"""The whole history of a process and the records that decide give the same due instances, on both databases."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from itertools import product
from random import Random

import sqlalchemy as sa

from tests.contract.ledger_jobs.plans import executed, scans
from tests.unit.process_runner.queues import MIDNIGHT, site
from toolkit.el import Frequency, format_instant
from toolkit.entities import Order
from toolkit.entities.trigger import Trigger, TriggerCondition, TriggerEntry
from toolkit.entities.trigger_vocabulary import ScheduleMode
from toolkit.ledger.database import Ledger
from toolkit.ledger.runs.history import RecordedRuns
from toolkit.ledger.runs.instances import newest_attempts, open_attempts
from toolkit.ledger.runs.queries import InstanceSpan
from toolkit.ledger.tables import run
from toolkit.ledger.vocabulary import LifeCycle, RunStatus
from toolkit.planning.process_io import ProcessSite
from toolkit.process_runner.due import Known, queue_of_due
from toolkit.process_runner.history import due_history, subject_of

MINUTE = timedelta(minutes=1)
NOMINAL = MIDNIGHT + timedelta(hours=30)
NOW = NOMINAL + timedelta(minutes=20)
_LAST = [*RunStatus, RunStatus.SUCCEEDED, RunStatus.SUCCEEDED, RunStatus.SKIPPED]
_EARLIER = [RunStatus.FAILED, RunStatus.SUCCEEDED, RunStatus.SKIPPED, RunStatus.KILLED]
_NOT_BEGUN = {RunStatus.WAITING, RunStatus.READY, RunStatus.SKIPPED}


def row(instant: datetime, attempt: int, status: RunStatus, **more: object) -> dict[str, object]:
    """An attempt at an instance of the process, or with other values."""
    values: dict[str, object] = {
        "life_cycle": LifeCycle.EXECUTION,
        "entity": site().process.name,
        "cluster": site().cluster.name,
        "counterpart": "",
        "instance_key": format_instant(instant),
        "attempt": attempt,
        "status": status,
        "is_forced": False,
        "who": "ada",
        "created_at": NOMINAL,
        "started_at": None if status in _NOT_BEGUN else NOMINAL,
        "retry_at": None,
    }
    return {**values, **more}


def store(ledger: Ledger, rows: list[dict[str, object]]) -> None:
    """Write attempts, and some of another cluster, source and life cycle that are none of the process's."""
    foreign = [{**rows[0], **other} for other in ({"cluster": "x"}, {"counterpart": "x"}, {"life_cycle": "eviction"})]
    ledger.write(lambda tx: tx.execute(sa.insert(run), [*rows, *foreign]))


def history(random: Random) -> list[dict[str, object]]:
    """One to three attempts at some instances, also at times that the frequency does not have."""
    rows = []
    for number in range(34 * 4):
        if random.random() < (0.15 if number % 4 else 0.8):
            attempts = random.choice((1, 1, 2, 3))
            instant = MIDNIGHT + number * 15 * MINUTE
            rows += [row(instant, each, random.choice(_EARLIER)) for each in range(1, attempts)]
            last = random.choice(_LAST)
            waits = last in {RunStatus.FAILED, RunStatus.TIMED_OUT} and random.random() < 0.5
            retry = NOW + random.choice((-1, 0, 1)) * MINUTE if waits else None
            rows.append(row(instant, attempts, last, retry_at=retry))
    return rows


def due_by_all(ledger: Ledger, of: ProcessSite) -> object:
    """The queue, by the newest attempt of each instance; of a process with a trigger also of later open ones."""
    span = InstanceSpan(subject=subject_of(of), start_key="", end_key=f"{format_instant(NOMINAL)}~")
    opened: Known = opened_of(ledger, of) if of.process.trigger else {}
    known = {**opened, **ledger.read(lambda tx: newest_attempts(tx, span))}
    return queue_of_due(of, NOMINAL, known, NOW)


def due_by_history(ledger: Ledger, of: ProcessSite) -> object:
    opened = opened_of(ledger, of)
    with executed(ledger) as statements:
        found = ledger.read(lambda tx: due_history(tx, of, NOMINAL, opened))
    assert scans(ledger, statements) == []
    return queue_of_due(of, NOMINAL, found.known, NOW, unrecorded=found.unrecorded)


def opened_of(ledger: Ledger, of: ProcessSite) -> Known:
    return ledger.read(lambda tx: open_attempts(tx, LifeCycle.EXECUTION, of.cluster.name, NOW)).get(of.process.name, {})


def test_the_same_instances_are_due_as_by_the_newest_attempt_of_each(ledger: Ledger) -> None:
    trigger = Trigger(condition=TriggerCondition(any=(TriggerEntry(feed="clicks"),)))
    for order, schedule, seed in product(Order, ScheduleMode, range(3)):
        is_triggered = schedule is not ScheduleMode.ONLY
        of = site(order=order, schedule=schedule, trigger=trigger if is_triggered else None)
        store(ledger, history(seeded(f"{order} {schedule} {seed}")))
        assert due_by_history(ledger, of) == due_by_all(ledger, of), (order, schedule, seed)
        ledger.write(lambda tx: tx.execute(sa.delete(run)))


def seeded(seed: str) -> Random:
    return Random(seed)  # noqa: S311 - no secret


def minutely(of: ProcessSite) -> ProcessSite:
    return replace(of, process=replace(of.process, frequency=Frequency.parse("minutes(5)")))


def test_of_a_long_history_the_gap_the_failure_to_retry_and_the_newest_are_due(ledger: Ledger) -> None:
    of, nominal = minutely(site()), MIDNIGHT + 9_000 * 5 * MINUTE
    instants = [MIDNIGHT + number * 5 * MINUTE for number in range(9_000)]
    rows = [row(each, 1, RunStatus.SUCCEEDED) for each in instants if each != instants[4_321]]
    rows[77].update(status=RunStatus.FAILED, retry_at=NOW)
    rows += [row(each + MINUTE, 1, RunStatus.SUCCEEDED) for each in instants[4_300:4_400]]
    rows += [row(instants[99], 2, RunStatus.READY)]
    store(ledger, rows)
    opened = opened_of(ledger, of)
    with executed(ledger) as statements:
        found = ledger.read(lambda tx: due_history(tx, of, nominal, opened))
    line = queue_of_due(of, nominal, found.known, NOW, unrecorded=found.unrecorded)
    assert [each.target.nominal_time for each in line.candidates] == [
        *(instants[77], instants[99], instants[4_321], nominal)
    ]
    assert scans(ledger, statements) == []
    assert len(found.known) == 2


def test_an_instance_with_three_attempts_counts_once(ledger: Ledger) -> None:
    of = site()
    store(ledger, [row(MIDNIGHT, attempt, RunStatus.FAILED) for attempt in (1, 2, 3)])
    first, end = format_instant(MIDNIGHT), format_instant(NOMINAL)
    recorded = ledger.read(lambda tx: RecordedRuns(tx=tx, subject=subject_of(of)).count(first, end, ("00",)))
    assert recorded == 1
