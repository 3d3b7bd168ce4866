"""Calls on the ledger, each one transaction, with what has to be there before: for tests that kill them anywhere."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

import sqlalchemy as sa

from tests.contract.ledger.samples import LEASE_SECONDS, ORIGIN, alone, begun, beside, key, started
from tests.databases.graphs import CLUSTER, FEED, SERVER, chain, process, registration
from toolkit.errors import FeedctlError
from toolkit.ledger import events
from toolkit.ledger.batches.files import enqueue, register_file
from toolkit.ledger.batches.rows import FeedInstance, NewFile
from toolkit.ledger.database import Ledger, Transaction
from toolkit.ledger.errors import IllegalTransition
from toolkit.ledger.events import NewEvent
from toolkit.ledger.jobs.errors import JobIsRunning, JobNotRunning, StepIsRunning, StepNotRunning
from toolkit.ledger.jobs.job_end import abort_job, halt_job, term_job
from toolkit.ledger.jobs.job_start import init_job
from toolkit.ledger.jobs.rows import JobRef
from toolkit.ledger.jobs.steps import halt_step, init_step, term_step
from toolkit.ledger.registry.sync import sync
from toolkit.ledger.runs import attempts, items, leases, run_start, status
from toolkit.ledger.runs.errors import ItemNotIntended, LeaseHeld, NotTerminal
from toolkit.ledger.runs.items import NewItem, SettledItem
from toolkit.ledger.runs.run_start import StartRequest
from toolkit.ledger.state import commands, holds, start_check
from toolkit.ledger.state.holds import NewHold
from toolkit.ledger.vocabulary import EventKind, ItemState, RequestKind, RunStatus

T = TypeVar("T")

RUN = 1
"""The number of the first run."""
BATCH = 1
"""The number of the first batch that is no seed."""
KEY = "2026-03-20T12:00Z"
CLEAN = JobRef(process="clean", cluster=CLUSTER)
CLEAN_AT = JobRef(process="clean", cluster=CLUSTER, instance_key=KEY)
INSTANCE = FeedInstance(feed=FEED.name, cluster=CLUSTER, instance_key=KEY, uri="/data/clicks/1")


@dataclass(frozen=True, kw_only=True, slots=True)
class Call:
    """One call.

    Args:
        work: the call, in its transaction.
        prepare: brings a new ledger to where the call is right.
        then: what the same call is refused with when it has been made already; None: it does nothing more, or
            again what it did.
    """

    work: Callable[[Transaction], object]
    prepare: Callable[[Ledger], object] = lambda _: None
    then: type[FeedctlError | sa.exc.DBAPIError] | None = None

    def make(self, ledger: Ledger) -> None:
        """Make the call."""
        ledger.write(self.work)


def _file(name: str = "a") -> NewFile:
    return NewFile(server=SERVER, path=f"/in/{name}", size=7)


def _in_order(*works: Callable[[Transaction], object]) -> Callable[[Ledger], None]:
    def prepare(ledger: Ledger) -> None:
        for work in works:
            ledger.write(work)

    return prepare


def _sync(tx: Transaction) -> object:
    return sync(tx, chain(), "ada")


def _sync_other(tx: Transaction) -> object:
    """A process is new, one is changed, and one is gone."""
    return sync(tx, registration(process("clean", read=(FEED.name,)), process("other", main=("clean",))), "ada")


def _enqueue(tx: Transaction) -> object:
    return enqueue(tx, FEED, _file(), instance=INSTANCE)


def _enqueue_more(tx: Transaction) -> object:
    return enqueue(tx, FEED, _file("b"), batch_id=BATCH, marking=KEY)


def _init_clean(tx: Transaction) -> object:
    return init_job(tx, CLEAN, ORIGIN, max_batches=1)


def _step(name: str) -> tuple[Callable[[Transaction], object], Callable[[Transaction], object]]:
    return (lambda tx: init_step(tx, CLEAN, name)), (lambda tx: halt_step(tx, CLEAN, name))


def _fail(tx: Transaction) -> object:
    return term_job(tx, CLEAN, reason="it failed")


def _halt(tx: Transaction) -> object:
    return halt_job(tx, CLEAN, outputs=[FeedInstance(feed="cleaned", cluster=CLUSTER, instance_key=KEY)])


def _start(tx: Transaction) -> object:
    request = StartRequest(
        key=key(KEY),
        origin=ORIGIN,
        leases=(*alone("evict/clicks/primary"), *beside("read/clicks")),
        lease_seconds=LEASE_SECONDS,
    )
    return run_start.start(tx, request)


def _dead_owner(ledger: Ledger) -> None:
    """Holds what `_start` wants, and its lease has expired."""
    run = started(ledger, key("2026-03-19T12:00Z"), alone("evict/clicks/primary", "other")).run
    ledger.write(lambda tx: status.ask_owner(tx, run.run_id, RequestKind.SUSPEND, "ada"))
    ledger.write(lambda tx: leases.renew(tx, run.run_id, -1))


def _intend(tx: Transaction) -> None:
    items.intend(tx, RUN, [NewItem(position=n, kind="instance", path=f"/d/{n}", instance_key=KEY) for n in range(3)])


def _record(tx: Transaction) -> None:
    """As a run does between two batches of effects: outcomes, what comes next, events."""
    items.settle(tx, RUN, [SettledItem(position=n, state=ItemState.DONE) for n in range(3)])
    items.intend(tx, RUN, [NewItem(position=3, kind="instance", path="/d/3", instance_key=KEY)])
    events.append(tx, [_event(), _event()], RUN)


def _event() -> NewEvent:
    return NewEvent(kind=EventKind.EVICTED, feed=FEED.name, cluster=CLUSTER, instance_key=KEY)


def _suspend(tx: Transaction) -> None:
    changed = start_check.suspend(tx, "clicks", None, "ada", "why")
    commands.record(tx, "entity suspend", "clicks", "ada", changed=changed)


def _resume(tx: Transaction) -> object:
    return start_check.resume(tx, "clicks", None, "ada")


def _hold(tx: Transaction) -> object:
    return holds.add(tx, NewHold(feed="clicks", reason="audit"), "ada")


def _safe_mode(tx: Transaction) -> object:
    return start_check.switch_safe_mode(tx, on=True, who="ada", reason="upgrade")


_registered = _in_order(_sync, _enqueue)
_running = _in_order(_sync, _enqueue, _init_clean)
_reading = _in_order(_sync, _enqueue, _init_clean, _step("read")[0])
_all_read = _in_order(_sync, _enqueue, _init_clean, *_step("read"), *_step("write"))
_failed = _in_order(
    *(_sync, _enqueue, _init_clean, *_step("read")),
    *(_step("write")[0], lambda tx: term_step(tx, CLEAN, "write"), _fail),
)
_succeeded = _in_order(_sync, _enqueue, _init_clean, *_step("read"), *_step("write"), _halt)

CALLS: dict[str, Call] = {
    "start": Call(work=_start, prepare=_dead_owner, then=LeaseHeld),
    "take": Call(work=lambda tx: leases.take(tx, RUN, [*alone("b", "a"), *beside("c")], 60), prepare=begun),
    "renew": Call(work=lambda tx: leases.renew(tx, RUN, 60), prepare=started),
    "release": Call(work=lambda tx: leases.release(tx, RUN), prepare=started),
    "intend": Call(work=_intend, prepare=started, then=sa.exc.IntegrityError),
    "settle": Call(work=_record, prepare=_in_order(_start, _intend), then=ItemNotIntended),
    "finish": Call(
        work=lambda tx: status.change(tx, RUN, RunStatus.SUCCEEDED), prepare=_in_order(_start), then=IllegalTransition
    ),
    "skip": Call(work=lambda tx: attempts.skip(tx, key(KEY), ORIGIN, "safe mode")),
    "suspend ahead": Call(work=lambda tx: attempts.suspend_ahead(tx, key(KEY), ORIGIN)),
    "rerun": Call(
        work=lambda tx: attempts.queue_again(tx, key(KEY), ORIGIN, is_forced=True),
        prepare=_in_order(_start, lambda tx: status.change(tx, RUN, RunStatus.FAILED)),
        then=NotTerminal,
    ),
    "ask": Call(work=lambda tx: status.ask_owner(tx, RUN, RequestKind.KILL, "ada"), prepare=started),
    "kill": Call(
        work=lambda tx: status.change(tx, RUN, RunStatus.KILLED, reason="killed by ada"),
        prepare=_in_order(_start, lambda tx: status.ask_owner(tx, RUN, RequestKind.KILL, "ada")),
        then=IllegalTransition,
    ),
    "init-job": Call(work=_init_clean, prepare=_registered, then=JobIsRunning),
    "init-job, a rerun": Call(work=_init_clean, prepare=_failed, then=JobIsRunning),
    "init-job, an instance": Call(
        work=lambda tx: init_job(tx, CLEAN_AT, ORIGIN, inputs=[INSTANCE]), prepare=_succeeded, then=JobIsRunning
    ),
    "init-step": Call(work=_step("read")[0], prepare=_running, then=StepIsRunning),
    "halt-step": Call(work=_step("read")[1], prepare=_reading, then=StepNotRunning),
    "term-step": Call(work=lambda tx: term_step(tx, CLEAN, "read"), prepare=_reading, then=StepNotRunning),
    "halt-job": Call(work=_halt, prepare=_all_read, then=JobNotRunning),
    "term-job": Call(work=_fail, prepare=_running, then=JobNotRunning),
    "abort-job": Call(work=lambda tx: abort_job(tx, RUN, reason="dead"), prepare=_reading, then=IllegalTransition),
    "enqueue": Call(work=_enqueue, prepare=_in_order(_sync)),
    "enqueue again": Call(work=_enqueue_more, prepare=_registered),
    "register-file": Call(work=lambda tx: register_file(tx, _file("b"), batch_id=BATCH), prepare=_registered),
    "sync": Call(work=_sync),
    "sync again": Call(work=_sync_other, prepare=_succeeded),
    "suspend": Call(work=_suspend),
    "resume": Call(work=_resume, prepare=_in_order(_suspend)),
    "touch": Call(work=lambda tx: start_check.touch(tx, "clicks", "ada"), prepare=_in_order(_suspend)),
    "hold add": Call(work=_hold),
    "hold remove": Call(work=lambda tx: holds.remove(tx, 1, "ada"), prepare=_in_order(_hold)),
    "safe-mode": Call(work=_safe_mode),
    "append": Call(work=lambda tx: events.append(tx, [_event(), _event()])),
    "advance": Call(
        work=lambda tx: events.advance(tx, "mart", 2),
        prepare=_in_order(lambda tx: events.append(tx, [_event(), _event()])),
    ),
}
