"""An action from its targets to its result: start, plan, refuse, recover, apply, finish (DESIGN sections 1 and 10)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Generic

from toolkit.actions.approval import PlanApplied, refusal_of
from toolkit.actions.model import D, I, ItemResult, NoTarget, Problem, SkipReason, T, TargetPlan, plan_digest
from toolkit.actions.plan_item import ItemReview, ReviewedAction, no_review
from toolkit.actions.progress import NOTHING, NoProgress, Progress
from toolkit.actions.result import ActionRequest, ActionResult, TargetResult
from toolkit.actions.target_run import TargetRun
from toolkit.ledger.runs.rows import RunKey
from toolkit.ledger.runs.run_start import FREELY, StartRequest, StartTerms
from toolkit.runs.errors import Stopped
from toolkit.runs.run import SkippedRun
from toolkit.threads import WorkerPool

if TYPE_CHECKING:
    from toolkit.actions.action import Action, ExceededLimit, RunContext
    from toolkit.actions.guard import Condition
    from toolkit.actions.plan_file import PlanFile
    from toolkit.errors import Refused
    from toolkit.ledger.runs.rows import Origin
    from toolkit.runs.run import ActiveRun, Envelope
    from toolkit.runs.stop import StopSignal


NOT_IN_FILE = "not_in_plan_file"
"""The code of a target that the plan file does not have, so that nothing of it is done."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Targets(Generic[T, I, D]):
    """Targets of a run.

    Attributes:
        to_do: to be worked on.
        settled: over before they begin, with the reason; reported beside the others.
    """

    to_do: tuple[T, ...]
    settled: tuple[TargetPlan[NoTarget, I, D], ...] = ()


@dataclass(frozen=True, kw_only=True)
class ActionRunner(Generic[T, I, D]):
    """Runs an action over its targets.

    Attributes:
        action: what is done.
        process: the stop signal of the process.
        look: opens what a plan is made with; its argument is asked while stores are waited for, and no effect passes.
        open_context: opens what a plan is applied with; the run and the conditions are asked before each effect.
        origin_of: who works on an entity, and what was read for it.
        progress: told how far the applying is.
        plan_file: only what it says as well is done; None: all that is planned.
        claim: writes down that a plan file is applied, before the first effect; raises `PlanApplied` if it was before.
    """

    action: Action[T, I, D]
    process: StopSignal
    look: Callable[[StopSignal], RunContext]
    open_context: Callable[[ActiveRun, Sequence[Condition]], RunContext]
    origin_of: Callable[[str], Origin]
    progress: Progress = field(default_factory=NoProgress)
    plan_file: PlanFile | None = None
    claim: Callable[[PlanFile], None] = lambda _: None

    def preview(self, request: ActionRequest, targets: Targets[T, I, D]) -> ActionResult[T, I, D]:
        """Plan, and touch nothing."""
        blank: ActionResult[T, I, D] = ActionResult(action=self.action.name, request=request)
        work = self.look(self.process)
        try:
            to_do, left = self._chosen(targets.to_do)
            planned = [self._restricted(self.action.plan(target, work)) for target in to_do]
            plans, exceeded = self._limited(planned, work)
        except Stopped as stopped:
            return replace(blank, stopped=stopped)
        digest = plan_digest(plans)
        results = [TargetResult(plan=plan, items=(*_seen(plan), *plan.unreadable)) for plan in plans]
        refusal = self._refusal(plans, exceeded, request)
        done = replace(blank, digest=digest, refusal=refusal, targets=_in_order((*results, *left), targets.settled))
        return self._with_missing(done)

    def run(self, request: ActionRequest, targets: Targets[T, I, D], envelope: Envelope) -> ActionResult[T, I, D]:
        """Take the leases, plan, and unless that is refused, do exactly what the plan says.

        Raises:
            Unavailable: the ledger cannot be used; nothing was touched.
        """
        blank: ActionResult[T, I, D] = ActionResult(action=self.action.name, request=request)
        try:
            with ExitStack() as stack:
                to_do, left = self._chosen(targets.to_do)
                runs, skipped = self._started(to_do, envelope, stack)
                done = self._done(blank, runs, (*_in_order((*skipped, *left), targets.settled),))
                return self._with_missing(done)
        except Stopped as stopped:
            return replace(blank, stopped=stopped)

    def _started(
        self, targets: Sequence[T], envelope: Envelope, stack: ExitStack
    ) -> tuple[list[TargetRun[T, I, D]], list[TargetResult[T, I, D]]]:
        """A run for each target that nothing stands against; the others are skipped, by name."""
        runs: list[TargetRun[T, I, D]] = []
        skipped: list[TargetResult[T, I, D]] = []
        requests = [self.start_request(target, envelope) for target in targets]
        for target, started in zip(targets, envelope.start_all(requests, stack), strict=True):
            if isinstance(started, SkippedRun):
                problem = Problem(code=started.reason.code, message=str(started.reason))
                plan = replace(self.action.blank_plan(target), skipped=problem)
                skipped.append(TargetResult(plan=plan, run=started.recorded))
                continue
            runs.append(self.target_run(target, started))
        return runs, skipped

    def target_run(self, target: T, started: ActiveRun) -> TargetRun[T, I, D]:
        """The run of a target, which has started in the ledger."""
        return TargetRun(
            action=self.action,
            target=target,
            run=started,
            looking=replace(self.look(started), progress=self.progress),
            open_context=partial(self.open_context, started),
            progress=self.progress,
        )

    def start_request(self, target: T, envelope: Envelope, terms: StartTerms = FREELY) -> StartRequest:
        """Return the request to the ledger to start a run of a target."""
        key = RunKey(
            life_cycle=self.action.life_cycle,
            entity=target.entity,
            cluster=target.cluster,
            counterpart=target.counterpart,
            instance_key=target.instance_key,
        )
        return StartRequest(
            key=key,
            origin=self.origin_of(target.entity),
            leases=self.action.leases(target),
            lease_seconds=envelope.lease_seconds,
            terms=terms,
        )

    def _done(
        self, blank: ActionResult[T, I, D], runs: Sequence[TargetRun[T, I, D]], over: Sequence[TargetResult[T, I, D]]
    ) -> ActionResult[T, I, D]:
        request = blank.request
        _each(runs, lambda run: run.make_plan(), request.parallel)
        in_order = sorted(runs, key=lambda run: run.plan.sort_key)
        for run in in_order:
            run.whole, run.plan = run.plan, self._restricted(run.plan)
        plans, exceeded = self._limited([run.plan for run in in_order], self.look(self.process))
        for run, plan in zip(in_order, plans, strict=True):
            run.plan = plan
        digest = plan_digest(plans)
        refusal = self._refusal(plans, exceeded, request)
        if refusal is None and any(plan.items and plan.refused is None for plan in plans):
            refusal = self._claimed()
        if refusal is None:
            _each(runs, lambda run: run.recover(), request.parallel)
            self._apply(runs, request.parallel)
        for run in runs:
            run.finish(refusal)
        results = _in_order((*over, *(run.result for run in runs)), ())
        return replace(blank, digest=digest, refusal=refusal, stopped=_ending(runs), targets=results)

    def _chosen(self, targets: Sequence[T]) -> tuple[list[T], list[TargetResult[T, I, D]]]:
        """Return the targets that a plan file has, and the results of the others."""
        file, chosen, left = self.plan_file, list[T](), list[TargetResult[T, I, D]]()
        for target in targets:
            blank = self.action.blank_plan(target)
            if file is None or file.has_key(blank.sort_key):
                chosen.append(target)
                continue
            problem = Problem(code=NOT_IN_FILE, message="the plan file does not have it", is_settled=True)
            left.append(TargetResult(plan=replace(blank, skipped=problem)))
        return chosen, left

    def _restricted(self, plan: TargetPlan[T, I, D]) -> TargetPlan[T, I, D]:
        return plan if self.plan_file is None else self.plan_file.restricted(plan, self.action, self.review)

    def review(self, plan: TargetPlan[T, I, D]) -> Sequence[ItemReview]:
        """Return what who reviews a plan is shown of its items, and what a run that applies the file compares.

        Raises:
            Stopped: while the stores were looked at.
        """
        if not isinstance(self.action, ReviewedAction):
            return no_review(plan)
        found: Sequence[ItemReview] = self.action.review(plan, self.look(self.process))
        return found

    def _refusal(
        self, plans: Sequence[TargetPlan[T, I, D]], exceeded: ExceededLimit | None, request: ActionRequest
    ) -> Refused | None:
        """Return why plans must not be applied; what is approved of a plan file is the file's own plan."""
        file = self.plan_file
        if file is None:
            return refusal_of(plan_digest(plans), exceeded, request.approve)
        if plans and all(plan.drifted and not plan.items for plan in plans):
            return file.outdated()
        return refusal_of(file.digest, exceeded, request.approve)

    def _claimed(self) -> Refused | None:
        try:
            if self.plan_file is not None:
                self.claim(self.plan_file)
        except PlanApplied as refused:
            return refused
        return None

    def _with_missing(self, result: ActionResult[T, I, D]) -> ActionResult[T, I, D]:
        """Add notes about the targets of a plan file that the run does not have; without any other it is refused."""
        file = self.plan_file
        if file is None:
            return result
        keys = {each.plan.sort_key for each in result.targets if not isinstance(each.plan.target, NoTarget)}
        missing = file.missing(keys)
        refusal = result.refusal if any(map(file.has_key, keys)) or not missing else file.outdated()
        return replace(result, refusal=refusal, drifted=bool(missing)).with_notes(*missing)

    def _limited(
        self, plans: Sequence[TargetPlan[T, I, D]], work: RunContext
    ) -> tuple[Sequence[TargetPlan[T, I, D]], ExceededLimit | None]:
        """The plan of each target, in the order of the digest; of one over its own limit with the refusal.

        A lone target over its own limit is what the whole run is about, so that its plan is shown and can be approved.

        Raises:
            ValueError: the action left out a plan, which the digest would not name and the run would apply.
        """
        given = sorted(plans, key=lambda plan: plan.sort_key)
        own = [self.action.target_limit(plan, work) for plan in given]
        if len(given) == 1 and own[0] is not None:
            return given, own[0]
        allowed = [plan for plan, exceeded in zip(given, own, strict=True) if exceeded is None]
        refused = [_refused(plan, each) for plan, each in zip(given, own, strict=True) if each is not None]
        limited, exceeded = self.action.limit(allowed, work)
        if [plan.sort_key for plan in limited] != [plan.sort_key for plan in allowed]:
            message = f"Action.limit of {self.action.name} must give back the plan of each target, in their order"
            raise ValueError(message)
        return sorted((*limited, *refused), key=lambda plan: plan.sort_key), exceeded

    def _apply(self, runs: Sequence[TargetRun[T, I, D]], parallel: int) -> None:
        """Each run gives its leases back as soon as it is done."""

        def apply(run: TargetRun[T, I, D]) -> None:
            run.apply()
            run.finish()
            if run.stopped is not None and run.stopped.ends_process:
                for each in runs:
                    each.stop(run.stopped)

        plans = [run.plan for run in runs if run.plan.refused is None]
        self.progress.begin(sum(len(plan.items) for plan in plans), sum((plan.volume for plan in plans), NOTHING))
        try:
            _each(runs, apply, parallel)
        finally:
            self.progress.end()


def _seen(plan: TargetPlan[T, I, D]) -> Iterator[ItemResult[I]]:
    """Yield the results of a plan's items in a dry run."""
    for item in plan.items:
        yield ItemResult.planned(item) if plan.refused is None else ItemResult.skipped(item, SkipReason.REFUSED)


def _refused(plan: TargetPlan[T, I, D], exceeded: ExceededLimit) -> TargetPlan[T, I, D]:
    """The plan of a target over its own limit; the digest is that of a run over this target alone."""
    message = str(exceeded.refusal(plan_digest([plan])))
    return replace(plan, refused=Problem(code=SkipReason.REFUSED, message=message))


def _each(runs: Sequence[TargetRun[T, I, D]], work: Callable[[TargetRun[T, I, D]], None], parallel: int) -> None:
    """Work on the targets one after the other, or several at once."""
    pool = WorkerPool(parallel, "feedctl-target")
    with ExitStack() as unfinished:
        unfinished.callback(pool.shutdown)
        unfinished.callback(_stop, runs)
        pool.run_all(work, runs, on_interrupt=partial(_stop, runs))
        unfinished.pop_all()
    pool.shutdown()


def _stop(runs: Iterable[TargetRun[T, I, D]]) -> None:
    """Stop all targets after an internal error, or after a second Ctrl-C: nothing may begin any more."""
    for run in runs:
        run.stop(Stopped(reason="interrupted", interrupted=True))


def _in_order(
    results: Iterable[TargetResult[T, I, D]], settled: Iterable[TargetPlan[NoTarget, I, D]]
) -> tuple[TargetResult[T, I, D], ...]:
    over: list[TargetResult[T, I, D]] = [TargetResult(plan=plan) for plan in settled]
    return tuple(sorted((*over, *results), key=lambda each: each.plan.sort_key))


def _ending(runs: Sequence[TargetRun[T, I, D]]) -> Stopped | None:
    """Return the stop of the whole run: the process was told to stop, or every single run was."""
    stops = [run.stopped for run in runs if run.stopped is not None]
    for stopped in stops:
        if stopped.ends_process:
            return stopped
    return stops[0] if stops and len(stops) == len(runs) else None
