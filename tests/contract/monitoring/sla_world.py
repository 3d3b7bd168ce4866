"""A config repo with SLAs, what happens to its data at which times, and passes that watch it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

import sqlalchemy as sa

from tests.databases.ledgers import HandClock
from tests.unit.entities.config_repo import repository
from toolkit.el import parse_instant
from toolkit.entities.repository import Repository
from toolkit.ledger import alerts, events, sla
from toolkit.ledger.database import Ledger, Transaction
from toolkit.ledger.events import NewEvent
from toolkit.ledger.state import start_check
from toolkit.ledger.tables import alert, run, sla_instance
from toolkit.ledger.vocabulary import EventKind, LifeCycle, RunStatus
from toolkit.monitoring.evidence import InstanceLook, Looks
from toolkit.monitoring.series import FeedSeries, WatchedSeries, watched_series
from toolkit.monitoring.sla_pass import SlaChanges, decide_slas, record_slas, sla_alert_changes

START = parse_instant("2026-03-01T00:00Z")
SLA_OF_AN_HOUR = "sla: {low: minutes(20), high: minutes(40)}"
VALID = "validity: {start: 2026-01-01T00:00Z, end: 2099-01-01T00:00Z}"


def at(minutes: float) -> datetime:
    """A time in minutes after the start."""
    return START + timedelta(minutes=minutes)


def feed(name: str = "clicks", *, more: str = "", frequency: str = "hours(1)", on: str = VALID) -> dict[str, str]:
    """A file with a feed that a process of the same name writes."""
    text = f"""\
kind: feed
name: {name}
frequency: {frequency}
locations: {{data: "/data/{name}/${{YEAR}}/${{MONTH}}/${{DAY}}/${{HOUR}}/${{MINUTE}}"}}
clusters: [{{name: primary, {on}}}]
{more}
"""
    return {f"feeds/{name}.yaml": text}


def process(name: str = "make_clicks", *, output: str = "clicks", more: str = "") -> dict[str, str]:
    """A file with a process that writes a feed."""
    text = f"""\
kind: process
name: {name}
frequency: hours(1)
clusters: [{{name: primary, {VALID}}}]
outputs: {{out: {{feed: {output}, instance: "now(0,0)"}}}}
workflow: {{engine: spark_sql, path: workflows/{name}.sql}}
{more}
"""
    return {f"processes/{name}.yaml": text}


def repo(*files: Mapping[str, str], settings: str = "") -> Repository:
    """A config repo of these files."""
    texts: dict[str, str | bytes | None] = {"processes/clicks_hourly.yaml": None, "feeds/clicks.yaml": None}
    for each in files:
        texts |= each
    texts["repo.yaml"] = f"name: web-feeds\n{settings}"
    return repository(texts)


@dataclass(frozen=True, order=True)
class TimedAction:
    """Something that happens to data, a run or an entity at a time."""

    time: datetime
    number: int
    do: Callable[[Transaction], object]


def event(
    minutes: float, instance: str, kind: str = "available", name: str = "clicks", extra: str | None = None
) -> TimedAction:
    """An event of an instance of a feed."""
    new = NewEvent(kind=EventKind(kind), feed=name, cluster="primary", instance_key=instance, extra=extra)
    return TimedAction(at(minutes), 0, lambda tx: events.append(tx, [new]))


def update(minutes: float, uri: str) -> TimedAction:
    """An update of a dataset."""
    return TimedAction(at(minutes), 0, lambda tx: events.append(tx, [NewEvent(kind=EventKind.UPDATED, dataset=uri)]))


def started(minutes: float, instance: str, name: str = "make_clicks") -> TimedAction:
    """The start of an attempt of a process."""
    values = {
        "life_cycle": LifeCycle.EXECUTION,
        "entity": name,
        "cluster": "primary",
        "counterpart": "",
        "instance_key": instance,
        "attempt": 1,
        "status": RunStatus.RUNNING,
        "is_forced": False,
        "who": "ada",
        "created_at": at(minutes),
        "started_at": at(minutes),
    }
    return TimedAction(at(minutes), 1, lambda tx: tx.insert(run, **values))


def ended(minutes: float, instance: str, name: str = "make_clicks", status: str = "succeeded") -> TimedAction:
    """The end of the attempt."""
    of_it = sa.update(run).where(run.c.entity == name, run.c.instance_key == instance)
    return TimedAction(
        at(minutes), 2, lambda tx: tx.execute(of_it.values(status=RunStatus(status), ended_at=at(minutes)))
    )


def suspended(minutes: float, name: str = "clicks") -> TimedAction:
    """A suspension."""
    return TimedAction(at(minutes), 3, lambda tx: start_check.suspend(tx, name, None, "ada", "repair"))


def resumed(minutes: float, name: str = "clicks") -> TimedAction:
    """The end of a suspension."""
    return TimedAction(at(minutes), 4, lambda tx: start_check.resume(tx, name, None, "ada"))


Store = Mapping[str, InstanceLook]
"""Content of the storage, by instance key; other instances are absent."""


class World:
    """A ledger whose clock is moved by hand, and passes over it."""

    def __init__(self, ledger: Ledger, actions: Iterable[TimedAction] = ()) -> None:
        self.clock = HandClock(START)
        self.ledger = replace(ledger, clock=self.clock)
        self.actions = sorted(actions, key=lambda each: (each.time, each.number))
        self.store: Callable[[datetime], Store] = lambda _: {}
        self.last: SlaChanges | None = None

    def watch(self, found: Repository | WatchedSeries, *times: datetime) -> World:
        """Pass at each of the times, after what happened by then."""
        watched = watched_series(found) if isinstance(found, Repository) else found
        for time in times:
            self._happen(time)
            self.last = self._pass(watched, time)
        return self

    def _pass(self, watched: WatchedSeries, time: datetime) -> SlaChanges:
        may_look = any(isinstance(each, FeedSeries) and each.may_look for each in watched.by_key.values())
        wanted = self.ledger.read(lambda tx: decide_slas(tx, watched, time, {}).looks) if may_look else ()
        looks = {
            (series.key, key): self.store(time).get(key, InstanceLook())
            for series, instants in wanted
            for key in map(_text, instants)
        }
        return self.ledger.write(lambda tx: _pass(tx, watched, time, looks))

    def _happen(self, until: datetime) -> None:
        while self.actions and self.actions[0].time <= until:
            action = self.actions.pop(0)
            self.clock.now = action.time
            self.ledger.write(action.do)
        self.clock.now = until

    def alerts(self) -> list[str]:
        """Return all alerts as lines, the oldest first."""
        rows = self.ledger.read(lambda tx: tx.execute(sa.select(alert)).mappings().all())
        return sorted(_line(each) for each in rows)

    def states(self) -> dict[str, str]:
        """Return the states of the instances that are expected, by entity and instance."""
        rows = self.ledger.read(lambda tx: tx.execute(sa.select(sla_instance)).mappings().all())
        return {f"{each['entity']} {each['instance_key']}".strip(): str(each["state"]) for each in rows}


def _pass(tx: Transaction, watched: WatchedSeries, time: datetime, looks: Looks) -> SlaChanges:
    sla.lock_position(tx, time)
    changes = decide_slas(tx, watched, time, looks)
    record_slas(tx, changes, time)
    alerts.record(tx, sla_alert_changes(changes, time), time)
    return changes


def _text(instant: datetime) -> str:
    return f"{instant:%Y-%m-%dT%H:%MZ}"


def _line(row: sa.RowMapping) -> str:
    times = [row["opened_at"], row["escalated_at"], row["closed_at"]]
    opened, risen, closed = ("-" if each is None else f"{each:%d %H:%M:%S}" for each in times)
    return (
        f"{opened} {row['kind']} {row['level']} {row['entity']} {row['instance_key']} "
        f"high {risen} closed {closed} {row['closed_because'] or ''}"
    ).strip()


def minutes_of(first: float, last: float, step: float) -> Sequence[datetime]:
    """Times of passes."""
    return [at(first + step * number) for number in range(int((last - first) / step) + 1)]
