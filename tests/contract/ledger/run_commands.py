"""The same commands as `RunModel` has, given to a real ledger, with outcomes that can be compared."""

from __future__ import annotations

from datetime import datetime

import sqlalchemy as sa

from tests.contract.ledger.run_model import SECONDS, Name, Wanted
from tests.contract.ledger.samples import ORIGIN, key
from tests.databases.ledgers import START, HandClock
from toolkit.ledger import events
from toolkit.ledger.database import Ledger, Transaction
from toolkit.ledger.events import NewEvent
from toolkit.ledger.runs import attempts, leases, queries, run_start, status
from toolkit.ledger.runs.queries import RunFilter
from toolkit.ledger.runs.rows import Run
from toolkit.ledger.runs.run_start import StartRequest
from toolkit.ledger.state import start_check
from toolkit.ledger.tables import lease
from toolkit.ledger.vocabulary import EventKind, RequestKind, RunStatus

_EVENT = NewEvent(kind=EventKind.UPDATED, feed="clicks", cluster="primary", instance_key="2026-03-20T12:00Z")


class RunCommands:
    """A ledger behind the commands of `RunModel`.

    Args:
        ledger: whose clock is `clock`.
        clock: of the database.
    """

    def __init__(self, ledger: Ledger, clock: HandClock) -> None:
        self._ledger, self._clock = ledger, clock

    def forward(self, seconds: float) -> object:
        self._clock.forward(seconds)
        return None

    def switch(self, *, on: bool) -> object:
        return self._ledger.write(lambda tx: start_check.switch_safe_mode(tx, on=on, who="ada", reason=None))

    def suspend_entity(self, *, on: bool) -> object:
        call = start_check.suspend if on else start_check.resume
        return self._ledger.write(lambda tx: call(tx, "clicks", None, "ada", None))

    def start(self, instance: str, wanted: Wanted) -> object:
        request = StartRequest(key=key(instance), origin=ORIGIN, leases=_leases(wanted), lease_seconds=SECONDS)
        start = self._ledger.write(lambda tx: run_start.start(tx, request))
        return _seen(start.run), sorted(_name(each) for each in start.taken_over), _seconds(start.expires_at)

    def change(self, name: Name, to: RunStatus) -> object:
        return _seen(self._ledger.write(lambda tx: status.change(tx, _id(tx, name), to)))

    def resume(self, name: Name) -> object:
        return _seen(self._ledger.write(lambda tx: status.resume(tx, _id(tx, name))))

    def queue_again(self, instance: str, *, is_forced: bool) -> object:
        return _seen(
            self._ledger.write(lambda tx: attempts.queue_again(tx, key(instance), ORIGIN, is_forced=is_forced))
        )

    def skip(self, instance: str) -> object:
        return _seen(self._ledger.write(lambda tx: attempts.skip(tx, key(instance), ORIGIN, "said so")))

    def suspend_ahead(self, instance: str) -> object:
        return _seen(self._ledger.write(lambda tx: attempts.suspend_ahead(tx, key(instance), ORIGIN)))

    def take(self, name: Name, wanted: Wanted) -> object:
        return _seconds(self._ledger.write(lambda tx: leases.take(tx, _id(tx, name), _leases(wanted), SECONDS)))

    def renew(self, name: Name) -> object:
        return _seconds(self._ledger.write(lambda tx: leases.renew(tx, _id(tx, name), SECONDS)))

    def release(self, name: Name) -> object:
        self._ledger.write(lambda tx: leases.release(tx, _id(tx, name)))
        return None

    def is_owned(self, name: Name) -> object:
        return self._ledger.read(lambda tx: leases.is_owned(tx, _id(tx, name)))

    def ask(self, name: Name, kind: RequestKind) -> object:
        return self._ledger.write(lambda tx: status.ask_owner(tx, _id(tx, name), kind, "bob")).kind.value

    def append(self, count: int) -> object:
        return list(self._ledger.write(lambda tx: events.append(tx, [_EVENT] * count)))

    def advance(self, to: int) -> object:
        self._ledger.write(lambda tx: events.advance(tx, "machine", to))
        return self._ledger.read(lambda tx: events.cursor(tx, "machine"))

    def contents(self) -> object:
        return self._ledger.read(_contents)


def _contents(tx: Transaction) -> object:
    runs = queries.find(tx, RunFilter(entity="clicks", all_attempts=True))
    names = {run.run_id: _name(run) for run in runs}
    columns = (lease.c.resource, lease.c.run_id, lease.c.mode, lease.c.expires_at)
    held = sorted(
        (row.resource, *names[row.run_id], row.mode.value, _seconds(row.expires_at))
        for row in tx.execute(sa.select(*columns))
    )
    requested = sorted((*names[each.run_id], each.kind.value) for each in status.open_requests(tx, list(names)))
    return sorted(_seen(run) for run in runs), held, requested, events.newest(tx), events.cursor(tx, "machine")


def _id(tx: Transaction, name: Name) -> int:
    found = queries.find(tx, RunFilter(entity="clicks", start_key=name[0], all_attempts=True))
    return next(run.run_id for run in found if _name(run) == name)


def _name(run: Run) -> Name:
    return run.instance_key, run.attempt


def _seen(run: Run) -> tuple[object, ...]:
    came_from = run.suspended_from and run.suspended_from.value
    return (*_name(run), run.status.value, came_from, run.is_forced, run.started_at is not None)


def _seconds(instant: datetime) -> float:
    return (instant - START).total_seconds()


def _leases(wanted: Wanted) -> tuple[leases.Wanted, ...]:
    return tuple(leases.Wanted(resource=resource, mode=mode) for resource, mode in wanted)
