"""Running a process as an action of the kernel: a target is an instance, an item a step (DESIGN sections 7 and 10)."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from toolkit.actions.action import Action, Applied, Batch, Recovery, RunContext, left_over
from toolkit.actions.hold_watch import HoldCheckFailed
from toolkit.actions.model import Problem
from toolkit.actions.output_leases import EVICTION_UNDER_WAY
from toolkit.availability import DATA_ERRORS, DataAccess, no_ingested
from toolkit.el import ElError, is_name
from toolkit.entities import Engine
from toolkit.ledger.jobs.steps import steps_of
from toolkit.ledger.runs.leases import Wanted
from toolkit.ledger.vocabulary import LifeCycle, RunStatus
from toolkit.process_runner.batches import InstanceBatch, NotReached, divided, has_failed
from toolkit.process_runner.calls import Workplace, require_as_read
from toolkit.process_runner.errors import FileChanged, StepLeftBehind
from toolkit.process_runner.mirrors import MirrorEngine, Mirrors
from toolkit.process_runner.output_batches import ClearBatch, PublishBatch
from toolkit.process_runner.output_leases import eviction_in_the_way, output_leases
from toolkit.process_runner.outputs import Made
from toolkit.process_runner.planner import INVALID, ProcessPlanner, blank_plan
from toolkit.process_runner.prepare import PrepareBatch, PrepareRules, prepared_of
from toolkit.process_runner.steps import InitialState, StepBatch, StepRunner
from toolkit.process_runner.targets import (
    CLEAR,
    END,
    NAME,
    PREPARE,
    STEP,
    ProcessDetail,
    ProcessPlan,
    ProcessTarget,
    StepItem,
    files_of,
    run_lease,
)
from toolkit.programs.port import StepEngine, StepMark

if TYPE_CHECKING:
    from toolkit.actions.guard import Condition
    from toolkit.availability import FeedInstances
    from toolkit.catalog.port import Metastore
    from toolkit.clock import Clock
    from toolkit.entities import Cluster, Feed
    from toolkit.ledger.database import Ledger
    from toolkit.ledger.jobs.rows import StepRun
    from toolkit.ledger.runs.items import Item
    from toolkit.planning.dataset_aliases import DatasetAliases
    from toolkit.planning.temporary_feeds import TemporaryFeeds


_DIED = "an earlier run of it died in the middle, and nothing of that runs any more"
_INTERRUPTED = "an earlier run was interrupted while it changed outputs"


@dataclass(frozen=True, kw_only=True)
class ProcessAction(Action[ProcessTarget, StepItem, ProcessDetail]):
    """Runs instances; see `Action`.

    Attributes:
        ledger: tells of earlier attempts; None: a dry run does without.
        clock: tells whether an instance was waited for too long.
        engines: what runs steps.
        workplace: where they run.
        metastores: that of a cluster, for reading.
        ingested: reader of an ingested feed's instances.
        keeps_columns: the column lineage of steps is recorded.
        end_left_over: ends what a step of a dead runner left behind, if anything; says what it could not end.
        mirrors: actions of mirrors, by type.
        prepare: what may stand against removing outputs before the first step.
        aliases: physical URIs of feeds, for outlets; None: no process has outlets.
        temporary: feeds whose instances retention removes once they were read; None: there are none.
    """

    ledger: Ledger | None
    clock: Clock
    engines: Mapping[Engine, StepEngine]
    workplace: Workplace
    metastores: Callable[[Cluster], Metastore]
    end_left_over: Callable[[StepMark, ProcessTarget], frozenset[int]]
    prepare: PrepareRules
    mirrors: Mirrors
    aliases: DatasetAliases | None = None
    temporary: TemporaryFeeds | None = None
    ingested: Callable[[Feed, Cluster], FeedInstances] = no_ingested
    keeps_columns: bool = False
    name: str = field(default=NAME, init=False)
    life_cycle: LifeCycle = field(default=LifeCycle.EXECUTION, init=False)

    def leases(self, target: ProcessTarget) -> tuple[Wanted, ...]:
        """Return the leases of an instance and its outputs: one run at a time, and no import or decision beside it."""
        return (run_lease(target.ref), *output_leases(target))

    def conditions(self, plan: ProcessPlan, work: RunContext) -> tuple[Condition, ...]:
        """Return the holds on what the run removes or a mirror changes; the rest of a workflow no hold can stop."""
        site = plan.target.site
        return (*self.prepare.watch(site, prepared_of(plan), work), *self.mirrors.conditions(site.process, work))

    def blank_plan(self, target: ProcessTarget) -> ProcessPlan:
        """Return the plan of a target that is not looked at."""
        return blank_plan(target)

    def plan(self, target: ProcessTarget, work: RunContext) -> ProcessPlan:
        """Return the plan of an instance; skip it when a workflow file changed since the config repo was read."""
        work.guard.run.check()
        try:
            require_as_read(self.workplace, files_of(target.site.process))
        except FileChanged as error:
            return replace(blank_plan(target), skipped=Problem(code=error.code, message=str(error)))
        plan = ProcessPlanner(data=self._data(work), ledger=self.ledger, clock=self.clock).plan(target)
        if not plan.items or plan.detail.resolved is None:
            return plan
        try:
            problem = self.prepare.checked(plan, plan.detail.resolved, self.metastores)
            if problem is not None:
                return replace(plan, items=(), failed=problem)
            why = eviction_in_the_way(target, plan.detail.resolved.outputs, work, self.metastores)
            held = self.prepare.held(plan, work)
        except (*DATA_ERRORS, HoldCheckFailed) as error:
            return replace(plan, items=(), failed=Problem(code=error.code, message=str(error)))
        except ElError as error:
            return replace(plan, items=(), failed=Problem(code=INVALID, message=str(error)))
        waiting = Problem(code=EVICTION_UNDER_WAY, message=why) if why else held
        return replace(plan, items=(), waiting=waiting) if waiting else self.mirrors.planned(plan, work)

    def recover(self, plan: ProcessPlan, open_items: Sequence[Item], work: RunContext) -> Recovery:
        """End the programs that a dead runner of this instance left, before a step begins."""
        del work
        runs = {left.run_id for left in open_items}
        begun = () if self.ledger is None else self.ledger.read(lambda tx: steps_of(tx, runs))
        last = {(each.run_id, each.step): each for each in begun}
        for each in last.values():
            self._end(plan.target, each)
        done = {key for key, each in last.items() if each.status is RunStatus.SUCCEEDED}
        return Recovery(
            settled=tuple(left_over(left, is_done=(left.run_id, left.path) in done) for left in open_items),
            notes=(_DIED if any(left.kind in {STEP, END} for left in open_items) else _INTERRUPTED,),
        )

    def _end(self, target: ProcessTarget, left: StepRun) -> None:
        """End a step without a terminal any more, whether the process still has it or not.

        Raises:
            StepLeftBehind: something of it cannot be ended.
        """
        if left.status is RunStatus.SUCCEEDED or not is_name(left.step):
            return
        # The instance is the target's, whose lease is held: another place or step that a row names is not ended.
        log = self.workplace.log(target, left.run_id, left.step)
        still = self.end_left_over(StepMark(log=log, application=left.application_id), target)
        if still:
            raise StepLeftBehind(step=left.step, processes=still)

    def batches(self, plan: ProcessPlan, work: RunContext) -> Generator[Batch[StepItem], Applied[StepItem], None]:
        """Make a batch of the outputs that are removed, one of each step, and one of what is published after the last.

        After a failure one batch has the rest, which is not reached.
        """
        if not plan.items or plan.detail.resolved is None:
            return
        runner = StepRunner(
            plan=plan,
            resolved=plan.detail.resolved,
            work=work,
            data=self._data(work),
            engines={**self.engines, Engine.MIRROR: MirrorEngine(mirrors=self.mirrors, plan=plan, work=work)},
            workplace=self.workplace,
            now=self.clock.now,
            aliases=self.aliases,
            temporary=self.temporary,
            keeps_columns=self.keeps_columns,
            mirrored=self.mirrors.datasets(plan.target.site.process),
        )
        initial, made, everything = runner.initial_state(), Made(), range(len(plan.items))
        if isinstance(initial, Problem):
            yield NotReached(plan=plan, positions=everything, work=work, failed=initial)
            return
        for positions in divided(plan.items):
            batch = _batch(runner, positions, initial, made)
            applied = yield batch
            rest = everything[positions.stop :]
            if rest and has_failed(applied.results):
                yield NotReached(plan=plan, positions=rest, work=work)
                return
            made = batch.made or made if isinstance(batch, StepBatch) else made

    def _data(self, work: RunContext) -> DataAccess:
        return DataAccess(stores=work.stores, metastores=self.metastores, ingested=self.ingested)


def _batch(runner: StepRunner, positions: range, initial: InitialState, made: Made) -> InstanceBatch:
    plan, work, staged = runner.plan, runner.work, runner.staged
    kind = plan.items[positions.start].kind
    if kind == PREPARE:
        return PrepareBatch(plan=plan, positions=positions, work=work)
    if kind == CLEAR:
        return ClearBatch(plan=plan, positions=positions, work=work, staged=staged)
    if kind in {STEP, END}:
        return StepBatch(plan=plan, positions=positions, work=work, runner=runner, initial=initial)
    return PublishBatch(
        plan=plan,
        positions=positions,
        work=work,
        staged=staged,
        made=made,
        updates=runner.updates,
        data=runner.data,
    )
