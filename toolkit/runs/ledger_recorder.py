"""Runs in the ledger: one transaction for each thing that is written down (DESIGN section 6)."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from itertools import groupby
from typing import TypeVar

from typing_extensions import override

from toolkit.errors import Skipped
from toolkit.ledger import events as happened
from toolkit.ledger import lineage
from toolkit.ledger.database import Ledger, Transaction
from toolkit.ledger.errors import IllegalTransition, LedgerConflict, LedgerUnavailable
from toolkit.ledger.events import Event, NewEvent
from toolkit.ledger.jobs.errors import JobIsSuspended, JobNotRunning
from toolkit.ledger.runs import attempts, items, leases, queries, retries, run_start, status
from toolkit.ledger.runs.errors import ItemNotIntended, LeaseLost, UnknownRun
from toolkit.ledger.runs.items import Item, NewItem, SettledItem
from toolkit.ledger.runs.rows import Run
from toolkit.ledger.runs.run_start import StartRequest
from toolkit.ledger.runs.status import IsGone, Request, never_known
from toolkit.ledger.vocabulary import ItemState, LifeCycle, RunStatus
from toolkit.runs.errors import LeaseExpired, LedgerLost, Stopped
from toolkit.runs.recorder import (
    HeartbeatReply,
    NoRunEnds,
    RecordBatch,
    RecordedRun,
    Recorder,
    RunEnds,
    RunOutcome,
    SettledLeftOver,
    message_text,
    path_of,
    path_text,
)
from toolkit.threads import JoinedCalls

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class LedgerRecorder(Recorder):
    """A `Recorder` on the ledger.

    Attributes:
        ledger: open for writing.
        is_gone: asked about the owner of a run that is in the way.
        ends: receives the ends of runs.
    """

    ledger: Ledger
    is_gone: IsGone = never_known
    ends: RunEnds = field(default_factory=NoRunEnds)
    _is_given_up: threading.Event = field(default_factory=threading.Event, init=False, repr=False)
    _left_over: dict[tuple[LifeCycle, str, str, str], JoinedCalls[list[Item]]] = field(
        default_factory=dict, init=False, repr=False
    )

    @property
    @override
    def place(self) -> str | None:
        return self.ledger.place

    @override
    def start(self, request: StartRequest) -> RecordedRun:
        started = self.ledger.write(lambda tx: run_start.start(tx, request, self.is_gone))
        return replace(_recorded(request, started.run), taken_over=started.taken_over)

    @override
    def start_many(self, requests: Sequence[StartRequest]) -> tuple[RecordedRun | None, ...]:
        started = self.ledger.write(lambda tx: run_start.start_many(tx, requests))
        pairs = zip(requests, started, strict=True)
        return tuple(None if run is None else _recorded(request, run) for request, run in pairs)

    @override
    def skip(self, request: StartRequest, skipped: Skipped) -> RecordedRun:
        reason = message_text(str(skipped))
        run = self.ledger.write(lambda tx: attempts.skip(tx, request.key, request.origin, reason))
        if run.status is not RunStatus.SKIPPED:
            return RecordedRun(key=request.key)
        return RecordedRun(key=request.key, run_id=run.run_id, attempt=run.attempt)

    @override
    def beat(self, runs: Sequence[RecordedRun]) -> HeartbeatReply:
        """Renew nothing while other writers keep the ledger busy: the next beat tries again."""
        with _lost_in_between():
            try:
                return self.ledger.write(lambda tx: _beat(tx, runs))
            except LedgerConflict:
                return HeartbeatReply()

    @override
    def record(self, run: RecordedRun, step: RecordBatch, *, is_repeated: bool = False) -> None:
        if is_repeated and self._read(lambda tx: _is_recorded(tx, run, step)):
            return
        is_lasting = bool(step.intended or step.events or step.writes)
        try:
            self._write(lambda tx: self._record(tx, run, step), is_lasting=is_lasting)
        except LedgerLost:
            raise
        except Stopped:
            if step.settled:
                self._write(lambda tx: self._record(tx, run, step.without_next))
            raise
        if step.intended:
            self.ends.works(run)

    @override
    def let_others_work(self, run: RecordedRun) -> None:
        self._write(lambda tx: status.forget_owner_mark(tx, _id(run)))

    @override
    def left_over(self, run: RecordedRun) -> tuple[Item, ...]:
        key = run.key
        subject = (key.life_cycle, key.entity, key.cluster, key.counterpart)
        read = JoinedCalls(lambda: self._read(lambda tx: items.unsettled(tx, *subject)))
        found = self._left_over.setdefault(subject, read)()
        return tuple(replace(item, path=path_of(item.path)) for item in found)

    @override
    def settle_left_over(self, settled: Sequence[SettledLeftOver]) -> bool:
        by_run = [(run_id, list(each)) for run_id, each in groupby(sorted(settled, key=_run_of), key=_run_of)]

        def work(tx: Transaction) -> None:
            for run_id, each in by_run:
                items.settle(tx, run_id, [one.item for one in each])
            for run_id, each in by_run:
                happened.append(tx, _not_reported_since(tx, each), run_id)

        try:
            with _lost_in_between(taken_over=False):
                self.ledger.write(work)
        except ItemNotIntended:
            return False
        return True

    @override
    def pause(self, run: RecordedRun, request: Request) -> None:

        def work(tx: Transaction) -> None:
            if queries.get(tx, _id(run)).status is RunStatus.RUNNING:
                status.change(tx, _id(run), RunStatus.SUSPENDED, reason=f"suspended by {request.requested_by}")
            status.honour_requests(tx, [request.request_id])

        self._write(work)

    @override
    def go_on(self, run: RecordedRun, request: Request) -> None:

        def work(tx: Transaction) -> None:
            if run.most is not None and queries.get(tx, _id(run)).status is RunStatus.SUSPENDED:
                run_start.refuse_crowd(tx, run.key, run.most, self.is_gone)
            _resume(tx, run)
            status.honour_requests(tx, [request.request_id])

        self._write(work)

    @override
    def finish(self, run: RecordedRun, outcome: RunOutcome) -> None:
        """Do not wait for the disk: a lost outcome leaves a run without an owner and without unfinished items."""
        if self._is_given_up.is_set():
            raise LedgerLost(why=f"the ledger {self.ledger.place} did not come back")
        last = replace(outcome, writes=(*outcome.writes, *self.ends.writes(run, outcome)))
        self._write(lambda tx: _end(tx, run, last), is_lasting=False)
        self.ends.ended(run, outcome)

    @override
    def give_up(self) -> None:
        self._is_given_up.set()

    def _record(self, tx: Transaction, run: RecordedRun, step: RecordBatch) -> None:
        """Events come last, since all that append wait for the end of the transaction."""
        items.settle(tx, _id(run), [_storable(item) for item in step.settled])
        for write in step.writes:
            write(tx, _id(run))
        if step.writes and _has_succeeded(tx, run):
            for write in self.ends.writes(run, RunOutcome(status=RunStatus.SUCCEEDED)):
                write(tx, _id(run))
        if step.intended:
            items.intend(tx, _id(run), [_with_text(item) for item in step.intended])
        for write in step.intended_writes:
            write(tx, _id(run))
        happened.append(tx, step.events, _id(run))

    def _read(self, work: Callable[[Transaction], T]) -> T:
        with _lost_in_between():
            return self.ledger.read(work)

    def _write(self, work: Callable[[Transaction], T], *, is_lasting: bool = True) -> T:
        with _lost_in_between():
            return self.ledger.write(work, is_lasting=is_lasting)


@contextmanager
def _lost_in_between(*, taken_over: bool = True) -> Iterator[None]:
    """Turn errors of the ledger into the errors for which a run stops.

    Args:
        taken_over: whether an item that is no longer open means that another run works in this one's place.
    """
    try:
        yield
    except (LedgerUnavailable, LedgerConflict) as error:
        raise LedgerLost(why=str(error), may_return=True) from error
    except UnknownRun as error:  # another ledger
        raise LedgerLost(why=str(error)) from error
    except (LeaseLost, JobNotRunning, JobIsSuspended) as error:
        raise LeaseExpired(why=str(error)) from error
    except ItemNotIntended as error:
        if not taken_over:
            raise
        raise LeaseExpired(why=f"another run has recorded what became of its work: {error}") from error


def _recorded(request: StartRequest, run: Run) -> RecordedRun:
    seconds = request.lease_seconds if request.leases else None
    most = request.terms.most
    return RecordedRun(key=request.key, run_id=run.run_id, attempt=run.attempt, lease_seconds=seconds, most=most)


def _beat(tx: Transaction, runs: Sequence[RecordedRun]) -> HeartbeatReply:
    """Renew all leases in a few statements: the runs of a process have leases of one length, or none."""
    lost: dict[int, str] = {}
    for seconds in sorted({run.lease_seconds for run in runs if run.lease_seconds is not None}):
        _, errors = leases.renew_many(tx, [_id(run) for run in runs if run.lease_seconds == seconds], seconds)
        lost |= {run_id: str(error) for run_id, error in errors.items()}
    ids = frozenset(map(_id, runs))
    return HeartbeatReply(renewed=ids - lost.keys(), lost=lost, requests=tuple(status.open_requests(tx, ids)))


def _has_succeeded(tx: Transaction, run: RecordedRun) -> bool:
    """Return whether the run is over: the end of its job, which is one of its writes, ends a run of a process."""
    return run.key.life_cycle is LifeCycle.EXECUTION and queries.get(tx, _id(run)).status is RunStatus.SUCCEEDED


def _is_recorded(tx: Transaction, run: RecordedRun, step: RecordBatch) -> bool:
    """Return whether a transaction without an answer was committed: its items are in the states that it gave them."""
    wanted = {each.position: each.state for each in step.settled}
    wanted |= dict.fromkeys((each.position for each in step.intended), ItemState.INTENDED)
    found = items.states_of(tx, _id(run), wanted)
    return bool(wanted) and found == wanted


def _not_reported_since(tx: Transaction, settled: Sequence[SettledLeftOver]) -> list[NewEvent]:
    """Return the events that were not written since the items were intended: a later run may have seen the same."""
    reported = {(each.kind, each.instance_key): each.recorded_at for each in _history(tx, settled)}
    longest_ago = datetime.min.replace(tzinfo=UTC)
    return [
        each.event
        for each in settled
        if each.event is not None
        and reported.get((each.event.kind, each.event.instance_key), longest_ago) < each.left.intended_at
    ]


def _history(tx: Transaction, settled: Sequence[SettledLeftOver]) -> Iterator[Event]:
    for each in settled:
        if each.event is not None:
            yield from happened.of_instance(tx, each.event.feed, each.event.cluster, each.event.instance_key)


def _with_text(item: NewItem) -> NewItem:
    text = path_text(item.path)
    return item if text is item.path else replace(item, path=text)


def _storable(item: SettledItem) -> SettledItem:
    return item if item.message is None else replace(item, message=message_text(item.message))


def _resume(tx: Transaction, run: RecordedRun) -> None:
    if queries.get(tx, _id(run)).status is RunStatus.SUSPENDED:
        status.resume(tx, _id(run))


def _end(tx: Transaction, run: RecordedRun, outcome: RunOutcome) -> None:
    """A run that was taken for dead is over already; one that fails while it is paused is first led back."""
    reason = outcome.reason and message_text(outcome.reason)
    change = partial(status.change, tx, _id(run), outcome.status, reason=reason, exit_code=outcome.exit_code)
    try:
        ended = change()
    except IllegalTransition as refused:  # asked only then: nearly all runs are running
        if refused.old.is_terminal:
            return
        _resume(tx, run)
        ended = change()
    if outcome.retry_at is not None:
        retries.schedule(tx, _id(run), outcome.retry_at)
    for write in outcome.writes:
        write(tx, _id(run))
    if ended.status is RunStatus.SUCCEEDED:
        lineage.record_action(tx, ended)


def _id(run: RecordedRun) -> int:
    if run.run_id is None:
        message = f"{run.key} is not in the ledger"
        raise AssertionError(message)
    return run.run_id


def _run_of(settled: SettledLeftOver) -> int:
    return settled.run_id
