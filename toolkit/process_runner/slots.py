"""Queues of process instances: slots, order, waiting for inputs, retries."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import cached_property, partial
from typing import TYPE_CHECKING

from toolkit.actions.model import TIMED_OUT, Problem
from toolkit.actions.slots import Slot
from toolkit.ledger.runs.errors import LeaseHeld, RunIsActive, RunMeanwhile, TooManyRun
from toolkit.ledger.runs.run_start import StartTerms
from toolkit.process_runner.late_checks import noted_if_killed
from toolkit.process_runner.retries import retry_at
from toolkit.process_runner.targets import ProcessDetail, ProcessTarget, StepItem

if TYPE_CHECKING:
    from toolkit.clock import Clock
    from toolkit.process_runner.targets import InstanceResult

ProcessSlot = Slot[ProcessTarget, StepItem, ProcessDetail]

POLL = timedelta(seconds=30)
"""So often is looked whether what an instance waits for has come."""
_LOOK_SECONDS = 0.2
_BY_OTHERS = {LeaseHeld.code, RunIsActive.code, RunMeanwhile.code}


@dataclass(frozen=True, kw_only=True, slots=True)
class QueuedInstance:
    """An instance that is to run.

    Attributes:
        target: the instance.
        seen: see `StartTerms.seen`.
    """

    target: ProcessTarget
    seen: int | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class InstanceQueue:
    """Instances of one process on one cluster.

    Attributes:
        candidates: in the order in which they run.
        at_once: so many of them run at once.
        keeps_going: also after one failed.
        is_last_only: once one has run, older ones that could run, too, are skipped.
        is_named: a person named the instances, so that one without a slot is reported; else the next `--due` takes it.
    """

    candidates: tuple[QueuedInstance, ...]
    at_once: int
    keeps_going: bool = True
    is_last_only: bool = False
    is_named: bool = False


@dataclass(kw_only=True)
class _QueueState:
    """A line as far as it has come.

    Attributes:
        todo: whose turn comes next.
        parked: whose turn comes at a certain time.
        at_work: so many were taken and not given back.
        full_until: until then others run as many as may be, as far as is known; None: there is room.
        left: so many are not begun, since one failed.
    """

    queue: InstanceQueue
    todo: deque[QueuedInstance]
    parked: list[tuple[datetime, QueuedInstance]] = field(default_factory=list)
    at_work: int = 0
    full_until: datetime | None = None
    left: int = 0

    @property
    def at_once(self) -> int:
        """The number of slots; one while a newer instance may still replace others (order: LAST_ONLY)."""
        is_open = self.queue.is_last_only and any(_may_be_replaced(each.target) for each in self.todo)
        return 1 if is_open else self.queue.at_once

    @cached_property
    def _places(self) -> dict[datetime, int]:
        return {each.target.nominal_time: place for place, each in enumerate(self.queue.candidates)}

    def place(self, candidate: QueuedInstance) -> int:
        """Return the position of an instance in the order in which they run."""
        return self._places[candidate.target.nominal_time]

    def has(self, target: ProcessTarget) -> bool:
        """Return whether an instance is in the queue."""
        first = next((each.target for each in self.queue.candidates), None)
        return first is not None and (first.entity, first.cluster) == (target.entity, target.cluster)

    def replace_older(self, ran: ProcessTarget) -> None:
        """Skip older instances, waiting ones too, since a newer one has run."""
        self.todo = deque(_behind(each, ran) for each in self.todo)
        self.parked = [(at, _behind(each, ran)) for at, each in self.parked]

    @property
    def left_to_others(self) -> tuple[QueuedInstance, ...]:
        """Candidates that found no slot, as far as is known."""
        return () if self.full_until is None else tuple(self.todo)

    @property
    def is_free(self) -> bool:
        """True if the next instance of the queue may start."""
        return bool(self.todo) and self.full_until is None and self.at_work < self.at_once


@dataclass(kw_only=True)
class InstanceSlots:
    """Gives instances their turns; see `Slots`.

    Attributes:
        queues: of the processes.
        clock: tells the wall-clock time.
        check: raises `Stopped` when the process must not go on.
        waits: what is not there, or is to be tried again, or has no place, is waited for.
        poll: so often.
    """

    queues: Sequence[InstanceQueue]
    clock: Clock
    check: Callable[[], None]
    waits: bool = False
    poll: timedelta = POLL
    _states: list[_QueueState] = field(init=False)
    _changed: threading.Condition = field(default_factory=threading.Condition, init=False, repr=False)
    _is_closed: bool = field(default=False, init=False)

    def __post_init__(self) -> None:
        self._states = [_QueueState(queue=each, todo=deque(each.candidates)) for each in self.queues]

    @property
    def total(self) -> int:
        """The number of candidates of all queues."""
        return sum(len(queue.candidates) for queue in self.queues)

    @property
    def at_once(self) -> int:
        """Return the largest number of instances that run at the same time."""
        return sum(min(queue.at_once, len(queue.candidates)) for queue in self.queues)

    def acquire(self) -> ProcessSlot | None:
        """Wait for a free slot, and return the next instance; None: all queues are empty."""
        while True:
            self.check()
            with self._changed:
                self._call_parked()
                state = next((each for each in self._states if each.is_free), None)
                if self._is_closed or (state is None and self._is_over):
                    return None
                if state is not None:
                    state.at_work += 1
                    return self._slot(state.todo.popleft())
                self._changed.wait(_LOOK_SECONDS)

    def release(self, slot: ProcessSlot, result: InstanceResult) -> None:
        """Release the slot of an instance, and queue it again if it waits or is to be retried."""
        candidate = QueuedInstance(target=slot.target, seen=slot.terms.seen)
        with self._changed:
            state = next(each for each in self._states if each.has(slot.target))
            state.at_work -= 1
            self._place(state, candidate, result)
            self._changed.notify_all()

    def close(self) -> None:
        """Let `acquire` return None from now on."""
        with self._changed:
            self._is_closed = True
            self._changed.notify_all()

    @property
    def notes(self) -> Iterator[str]:
        """Yield notes about instances that got no slot."""
        for state in self._states:
            about = state.queue.candidates[0].target if state.queue.candidates else None
            if about is not None and state.left_to_others and not state.queue.is_named:
                what = f"{len(state.todo)} instances of {about.entity} on {about.cluster} are left to others"
                yield f"{what}, who run as many as may be at once (parallel: {about.site.process.parallel})"
            if about is not None and state.left:
                what = f"{state.left} instances of {about.entity} on {about.cluster} were not begun"
                yield f"{what}, since one failed; --keep-going begins them"

    @property
    def unstarted(self) -> Iterator[tuple[ProcessTarget, Problem]]:
        """Yield the instances that a person named and that found no slot, and why."""
        for target in (each.target for state in self._states if state.queue.is_named for each in state.left_to_others):
            most = target.site.process.parallel
            full = f"as many instances of {target.entity} run as may be at once (parallel: {most})"
            message = f"{full}; run it again when one has ended, or with --wait"
            yield target, Problem(code=TooManyRun.code, message=message)

    @property
    def _is_over(self) -> bool:
        """Nothing is under way, and nothing more will come by itself."""
        if any(state.at_work or state.parked for state in self._states):
            return False
        return not any(state.todo for state in self._states) if self.waits else True

    def _call_parked(self) -> None:
        now = self.clock.now()
        for state in self._states:
            called = [candidate for at, candidate in state.parked if at <= now]
            if called:
                state.parked = [each for each in state.parked if each[0] > now]
                state.todo = deque(sorted((*called, *state.todo), key=state.place))
            if self.waits and state.full_until is not None and state.full_until <= now:
                state.full_until = None

    def _slot(self, candidate: QueuedInstance) -> ProcessSlot:
        target = candidate.target
        terms = StartTerms(
            most=target.site.process.parallel,
            seen=candidate.seen,
            is_forced=target.is_forced,
            retry=target.retries or None,
            cause=target.cause,
        )
        stop_writes = partial(noted_if_killed, target.late)
        return Slot(target=target, terms=terms, retry_at=partial(self._retry_at, target), stop_writes=stop_writes)

    def _retry_at(self, target: ProcessTarget, result: InstanceResult) -> datetime | None:
        return retry_at(target.site.process, target.retries, result, self.clock.now())

    def _place(self, state: _QueueState, candidate: QueuedInstance, result: InstanceResult) -> None:
        """Return the new position of an instance."""
        plan, target = result.plan, candidate.target
        skipped = "" if plan.skipped is None else plan.skipped.code
        if skipped == TooManyRun.code:  # its turn comes when one of our own is over, or after a while
            state.todo.appendleft(candidate)
            state.full_until = self.clock.now() + self.poll
            return
        if not skipped:
            state.full_until = None
        if plan.waiting is not None:
            if self.waits:
                state.parked.append((self.clock.now() + self.poll, candidate))
            return
        has_run = not skipped and (plan.failed is None or plan.failed.code != TIMED_OUT)
        if state.queue.is_last_only and (has_run or skipped in _BY_OTHERS):
            state.replace_older(target)
        if skipped or result.is_well:
            return
        at = self._retry_at(target, result)
        if at is not None and self.waits:
            seen = None if result.run is None else result.run.run_id
            again = replace(target, retries=target.retries + 1, is_forced=False, may_be_replaced=False)
            state.parked.append((at, QueuedInstance(target=again, seen=seen)))
        elif not state.queue.keeps_going:
            state.left += len(state.todo)
            state.todo.clear()


def _behind(candidate: QueuedInstance, ran: ProcessTarget) -> QueuedInstance:
    """An instance, once another one of its line has run."""
    target = candidate.target
    if not _may_be_replaced(target) or target.nominal_time > ran.nominal_time:
        return candidate
    return replace(candidate, target=replace(target, replaced_by=ran.instance_key))


def _may_be_replaced(target: ProcessTarget) -> bool:
    return target.may_be_replaced and not target.replaced_by
