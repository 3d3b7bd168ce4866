"""Targets that are worked on each for itself: started, planned, recovered, applied and finished when its turn comes.

`ActionRunner.run` plans all of its targets before it does any of them, since limits and the digest are about them all.
Where neither is, as with the instances of processes, a target that waits for its turn holds nothing.
"""

from __future__ import annotations

import threading
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Generic, Protocol

from toolkit.actions.model import D, I, NoTarget, Problem, T, TargetPlan
from toolkit.actions.progress import NoProgress, Progress
from toolkit.actions.result import ActionResult, TargetResult
from toolkit.errors import Skipped
from toolkit.ledger.runs.errors import RunMeanwhile, TooManyRun
from toolkit.ledger.runs.run_start import FREELY, StartTerms
from toolkit.runs.errors import Stopped
from toolkit.threads import WorkerPool

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from datetime import datetime

    from toolkit.actions.result import ActionRequest
    from toolkit.actions.runner import ActionRunner
    from toolkit.actions.target_run import TargetRun
    from toolkit.runs.recorder import LedgerWrite
    from toolkit.runs.run import Envelope


@dataclass(frozen=True, kw_only=True)
class Slot(Generic[T, I, D]):
    """A target whose turn it is.

    Attributes:
        target: what is worked on.
        terms: on which its run starts.
        retry_at: when it is to be tried again by itself, if it ends so.
        stop_writes: what else the ledger keeps in the transaction that ends its run, if that is stopped so.
    """

    target: T
    terms: StartTerms = FREELY
    retry_at: Callable[[TargetResult[T, I, D]], datetime | None] = lambda _: None
    stop_writes: Callable[[Stopped], Sequence[LedgerWrite]] = lambda _: ()


class Slots(Protocol[T, I, D]):
    """Says whose turn it is; safe between threads."""

    @property
    def total(self) -> int:
        """Return the number of targets, each counted once however often it gets a slot."""
        ...

    def acquire(self) -> Slot[T, I, D] | None:
        """The next one, which is waited for; None: there will be none any more.

        Raises:
            Stopped: the process must not go on.
        """
        ...

    def release(self, slot: Slot[T, I, D], result: TargetResult[T, I, D]) -> None:
        """Release a turn with the outcome of its target; required for each one taken, unless all ends by an error."""
        ...

    def close(self) -> None:
        """From now on there is none any more; who waits for one is told so."""
        ...

    @property
    def unstarted(self) -> Iterable[tuple[T, Problem]]:
        """Targets that found no slot and that nothing starts by itself, with the reason; asked when all is over."""
        ...


@dataclass(kw_only=True)
class SlotRunner(Generic[T, I, D]):
    """Works on targets when their turns come.

    Attributes:
        runner: of the action.
        envelope: starts runs.
        slots: whose turn it is.
        progress: told how many targets are over; the runner's own would count what each has in it.
    """

    runner: ActionRunner[T, I, D]
    envelope: Envelope
    slots: Slots[T, I, D]
    progress: Progress = field(default_factory=NoProgress)
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False, repr=False)
    _at_work: list[TargetRun[T, I, D]] = field(default_factory=list, init=False)
    _results: dict[tuple[str, ...], TargetResult[T, I, D]] = field(default_factory=dict, init=False)
    _stopped: Stopped | None = field(default=None, init=False)

    def run(self, request: ActionRequest, settled: Iterable[TargetPlan[NoTarget, I, D]] = ()) -> ActionResult[T, I, D]:
        """Take turns until there are none; of a target that had several, the last one is told.

        Args:
            request: what the user asked.
            settled: what was over before it began; reported beside the others.

        Raises:
            Unavailable: the ledger cannot be used; what is under way was stopped.
        """
        pool = WorkerPool(request.parallel, "feedctl-turn")
        self.progress.begin(self.slots.total)
        try:
            pool.run_all(lambda _: self._fill_slots(), range(request.parallel), on_interrupt=self._interrupt)
        finally:
            pool.shutdown()
            self.progress.end()
        for target, why in () if self._stopped else self.slots.unstarted:
            plan = replace(self.runner.action.blank_plan(target), waiting=why)
            self._results.setdefault(plan.sort_key, TargetResult(plan=plan))
        before: list[TargetResult[T, I, D]] = [TargetResult(plan=plan) for plan in settled]
        in_order = tuple(sorted((*before, *self._results.values()), key=lambda each: each.plan.sort_key))
        return ActionResult(
            action=self.runner.action.name, request=request, targets=in_order, stopped=self._stopped or self._ending
        )

    @property
    def _ending(self) -> Stopped | None:
        """Return the stop that ended every single run that was begun."""
        stops = [each.stopped for each in self._results.values() if each.run is not None]
        return stops[0] if stops and all(each is not None for each in stops) else None

    def _fill_slots(self) -> None:
        with ExitStack() as unfinished:
            unfinished.callback(self._interrupt)  # an unforeseen error ends the others too
            try:
                while (slot := self.slots.acquire()) is not None:
                    self._work_on(slot)
            except Stopped as stopped:
                self._stop(stopped)
            unfinished.pop_all()

    def _work_on(self, slot: Slot[T, I, D]) -> None:
        result = self._result(slot)
        if result.plan.skipped is None or result.plan.skipped.code != TooManyRun.code:
            with self._lock:
                is_first = result.plan.sort_key not in self._results
                self._results[result.plan.sort_key] = result
            self.progress.advance(1 if is_first else 0)
        self.slots.release(slot, result)
        if result.stopped is not None and result.stopped.ends_process:
            self._stop(result.stopped)

    def _result(self, slot: Slot[T, I, D]) -> TargetResult[T, I, D]:
        request = self.runner.start_request(slot.target, self.envelope, slot.terms)
        try:
            started = self.envelope.start(request)
        except (TooManyRun, RunMeanwhile) as reason:  # its turn comes again, or it has been: nothing is to be written
            return self._skipped(slot.target, reason)
        except Skipped as reason:
            return replace(self._skipped(slot.target, reason), run=self.envelope.skip(request, reason))
        with started:
            run = self.runner.target_run(slot.target, started)
            run.retry_at, run.stop_writes = slot.retry_at, slot.stop_writes
            with self._lock:
                self._at_work.append(run)
            try:
                self._done(run)
            finally:
                with self._lock:
                    self._at_work.remove(run)
            return run.result

    def _done(self, run: TargetRun[T, I, D]) -> None:
        """From the plan to the end."""
        run.make_plan()
        if run.plan.skipped is None and run.plan.waiting is None:
            run.recover()
            run.apply()
        run.finish()

    def _skipped(self, target: T, reason: Skipped) -> TargetResult[T, I, D]:
        problem = Problem(code=reason.code, message=str(reason))
        return TargetResult(plan=replace(self.runner.action.blank_plan(target), skipped=problem))

    def _stop(self, stopped: Stopped) -> None:
        """End all runs under way, and begin no more."""
        self._stopped = self._stopped or stopped
        self._end(stopped)

    def _interrupt(self) -> None:
        """Do as `_stop` does, after an internal error or a second Ctrl-C."""
        self._end(Stopped(reason="interrupted", interrupted=True))

    def _end(self, why: Stopped) -> None:
        self.slots.close()
        with self._lock:
            at_work = list(self._at_work)
        for run in at_work:
            run.stop(why)
