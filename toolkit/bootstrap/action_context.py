"""Context of any action's run: repo, ledger, stores, executors, envelope (DESIGN section 10)."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from functools import cache, cached_property, partial
from typing import TYPE_CHECKING, Generic

from toolkit.actions.action import Action, RunContext
from toolkit.actions.approval import refuse_future
from toolkit.actions.guard import Guard
from toolkit.actions.model import D, I, T
from toolkit.actions.progress import NoProgress
from toolkit.actions.result import ActionRequest, ActionResult
from toolkit.actions.runner import ActionRunner, Targets
from toolkit.actions.selection import EntitySelection, EntitySelector
from toolkit.actions.slots import SlotRunner, Slots
from toolkit.actions.validation import NoValidator, Validator
from toolkit.bootstrap.config import RepoRequest, load_entities, open_config
from toolkit.bootstrap.envelopes import Enveloped, opened_envelope
from toolkit.bootstrap.ledger_use import FirstWrite, LedgerHolds, LedgerUse, ledger_in_use
from toolkit.bootstrap.ledgers import audit_place
from toolkit.bootstrap.lineage_events import LineageEvents
from toolkit.bootstrap.messages import MessageContent, Messages
from toolkit.bootstrap.plan_files import NO_PLAN_FILES, PlanOptions
from toolkit.bootstrap.quality import suite_validator
from toolkit.bootstrap.storages import StoreChoice
from toolkit.config_source import Snapshot, require_age
from toolkit.el.zones import ZONE_DATA
from toolkit.entities.not_implemented import Area, not_implemented
from toolkit.entities.repository import Repository
from toolkit.entities.source_files import REPO_FILE
from toolkit.ledger.registry.registration import entity_digest
from toolkit.planning.retention import RetentionClock
from toolkit.quality.validator import Author
from toolkit.runs.owner import ProcessTable
from toolkit.runs.recorder import RecordBatch, RecordedRun, origin_here
from toolkit.runs.run import ActiveRun, Envelope
from toolkit.runs.spark_submit import gateway_port
from toolkit.runs.stop import StopSignal
from toolkit.storage.bound import SharedStores
from toolkit.transfer.executors import Executors, executors
from toolkit.transfer.spread_copy import SharedCopying
from toolkit.variables import Variables

if TYPE_CHECKING:
    from datetime import datetime

    from toolkit.actions.guard import Condition
    from toolkit.actions.progress import Progress
    from toolkit.clock import Clock
    from toolkit.el import CanonicalPath
    from toolkit.entities import Cluster, Feed
    from toolkit.ledger.runs.rows import Origin
    from toolkit.programs.shared_sql import SharedSqlEngine
    from toolkit.storage import FileSystem
    from toolkit.transfer.port import ExecutorPool


@dataclass(frozen=True, kw_only=True, slots=True)
class ActionOptions:
    """Options of a run that all actions share.

    Attributes:
        selection: which feeds on which cluster.
        repo: the config repo, and the variables of the process.
        nominal_time: for which the run acts.
        dry_run: plan only, with storage and ledger opened for reading.
        approve: digest of a plan that may exceed the limits.
        allow_dirty: act on a checkout with uncommitted changes.
        no_ledger: act without the ledger.
        parallel: so many targets are at work at once; None: as many as suit the action.
        plan: files of plans.
    """

    selection: EntitySelection
    repo: RepoRequest
    nominal_time: datetime
    dry_run: bool
    approve: str | None = None
    allow_dirty: bool
    no_ledger: bool = False
    parallel: int | None = None
    plan: PlanOptions = NO_PLAN_FILES


@dataclass(frozen=True, kw_only=True, slots=True)
class Wired(Generic[T, I, D]):
    """An action, and what its run is about.

    Attributes:
        parallel: so many targets are at work at once, unless the user says another number.
        content: what messages about its runs say about data; None: nothing.
        slots: whose turn it is, when each target is worked on for itself; None: all are planned first.
        first_writes: tells what the ledger gets before the first run; asked and written once the envelope is open.
    """

    action: Action[T, I, D]
    targets: Targets[T, I, D]
    parallel: int = 1
    content: MessageContent[T] | None = None
    slots: Slots[T, I, D] | None = None
    first_writes: Callable[[], Iterable[FirstWrite]] = tuple


@dataclass(frozen=True, kw_only=True)
class ActionContext:
    """Context from which an action is wired.

    Attributes:
        options: what the user asked.
        snapshot: the config repo as it was read.
        repository: its entities.
        process: the stop signal of the process.
        use: the ledger.
        executors: those of this process; None: it is a dry run.
        affected: the feeds that have a say in how stores are reached, each on the clusters where it does.
        hosts: the applications that steps of SQL share; None: the action runs no steps.
    """

    options: ActionOptions
    snapshot: Snapshot
    repository: Repository
    process: StopSignal
    use: LedgerUse
    executors: Executors | None
    affected: Callable[[ActionContext], Iterable[tuple[Feed, Cluster]]]
    hosts: SharedSqlEngine | None = None

    @property
    def variables(self) -> Variables:
        """The environment variables of the process."""
        return self.options.repo.variables

    @cached_property
    def pairs(self) -> tuple[tuple[Feed, Cluster], ...]:
        """The feeds that the user chose, each with its cluster."""
        found = self.repository
        selector = EntitySelector(feeds=found.feeds, clusters=found.clusters, environment=found.environment)
        return selector.choose(self.options.selection)

    @cached_property
    def holds(self) -> LedgerHolds:
        """Return the holds that were added by command, as they are now."""
        return self.use.holds()

    @cached_property
    def choice(self) -> StoreChoice:
        """The clusters and feeds whose settings say how stores are reached."""
        environment, clusters = self.repository.environment, self.repository.clusters.values()
        affected = list(self.affected(self))
        return StoreChoice(
            clusters=tuple({cluster.name: cluster for _, cluster in (*self.pairs, *affected)}.values()),
            others=[each for each in clusters if environment is None or environment.allows(each.name)],
            pairs=affected,
            trusted_links=self.repository.settings.trusted_links,
        )

    @property
    def retention_clock(self) -> RetentionClock:
        """The clock from which the repo's retention counts back."""
        keep = self.repository.settings.keep_instances_beyond_validity
        return RetentionClock(nominal_time=self.options.nominal_time, keep_beyond_validity=keep)

    @cached_property
    def stores(self) -> SharedStores:
        """The state of the stores that all runs share."""
        return self.choice.shared(self.repository.settings.delete_rate)

    @cached_property
    def copying(self) -> SharedCopying:
        """The threads and executors that all runs share."""
        return SharedCopying(spec_of=self.choice.spec_of)

    def look(self, run: StopSignal) -> RunContext:
        """Open what is looked at with, by a run or by none; no effect passes, so that there are no conditions."""
        return self._opened(run, Guard(run=run, conditions=()), read_only=True)

    def open(self, run: ActiveRun, conditions: Sequence[Condition]) -> RunContext:
        """Open what a run changes data with."""
        return self._opened(run, Guard(run=run, conditions=conditions), read_only=False)

    def _opened(self, run: StopSignal, guard: Guard, *, read_only: bool) -> RunContext:
        bound = self.stores.bound(guard.check, read_only=read_only)
        context = RunContext(
            stores=bound.of,
            guard=guard,
            pool=bound.pool,
            copying=self.copying,
            rate=self.stores.rate_of,
            wait_for_rate=bound.wait_for_rate,
            close=bound.close,
        )
        if not isinstance(run, ActiveRun):
            return context
        return replace(
            context,
            executors=self._open_executors,
            seconds_left=run.deadline.seconds_left,
            check_remote=run.check_without_rest,
            let_others_work=run.let_others_work,
            run_name=str(run.recorded.run_id or secrets.token_hex(8)),
            validator=self._validator(run.recorded, bound.of),
            outputs=self.use.outputs,
            patiently=run.patiently,
            write_ledger=lambda write: run.record(RecordBatch(writes=[write])),
        )

    def _validator(self, run: RecordedRun, stores: Callable[[CanonicalPath], FileSystem]) -> Validator:
        """Return the validator; without suites there is none, so that entities are not read for their `quality`."""
        if not self.repository.suites:
            return NoValidator()
        by = Author(entity=run.key.entity, run_id=run.run_id, life_cycle=run.key.life_cycle)
        return suite_validator(self.snapshot, self.repository, self.use.ledger, stores, by, self.variables, self.hosts)

    @property
    def _open_executors(self) -> Callable[[], ExecutorPool] | None:
        """A driver that spark-submit did not start has no executors."""
        return None if self.executors is None or gateway_port(self.variables) is None else self.executors.open


def run_action(
    options: ActionOptions,
    clock: Clock,
    process: StopSignal,
    progress: Progress,
    wire: Callable[[ActionContext], Wired[T, I, D]],
    area: Area,
    affected: Callable[[ActionContext], Iterable[tuple[Feed, Cluster]]],
    hosts: SharedSqlEngine | None = None,
) -> ActionResult[T, I, D]:
    """The run of an action, from the options to the result.

    `wire` puts the action and its targets together, `area` has the settings that it must understand, `process` is asked
    before each effect, `progress` is told how far the work is; `affected` and `hosts` are those of `ActionContext`.

    Raises:
        InvalidInput: a future time, an unusable config repo, unknown names, values that do not exist yet, no ledger.
        Unavailable: the ledger or the audit file cannot be used.
    """
    with ExitStack() as stack:
        context = replace(opened_context(options, clock, process, area, stack, affected), hosts=hosts)
        wired = wire(context)
        runner = ActionRunner(
            action=wired.action,
            process=process,
            look=context.look,
            open_context=context.open,
            origin_of=cache(partial(origin_of, context)),  # the instances of a feed may be a target each
            progress=progress,
        )
        request = _request(context, wired.parallel)
        runner = options.plan.applied_by(runner, request, context.pairs, context.use.ledger)
        if options.dry_run:
            return options.plan.kept(runner.preview(request, wired.targets), runner, clock)
        messages = stack.enter_context(closing(_messages(wired, context, clock)))
        enveloped = Enveloped(
            name=wired.action.name,
            ledger=context.use.ledger,
            audit=audit_place(context.snapshot, context.repository.settings, options.repo.variables),
            process=process,
            clock=clock,
            variables=options.repo.variables,
            ends=messages,
        )
        envelope = stack.enter_context(opened_envelope(enveloped))
        context.use.write_first(wired.first_writes())
        result = _ran(runner, wired, request, envelope)
        return result.with_notes(*context.copying.notes(), *messages.close())


def _ran(
    runner: ActionRunner[T, I, D], wired: Wired[T, I, D], request: ActionRequest, envelope: Envelope
) -> ActionResult[T, I, D]:
    if wired.slots is None:
        return runner.run(request, wired.targets, envelope)
    alone = replace(runner, progress=NoProgress())  # told by the turns: a bar for each of them at once is none
    slots = SlotRunner(runner=alone, envelope=envelope, slots=wired.slots, progress=runner.progress)
    return slots.run(request, wired.targets.settled)


def _messages(wired: Wired[T, I, D], context: ActionContext, clock: Clock) -> LineageEvents:
    messages = Messages(
        repository=context.repository,
        ledger=context.use.ledger,
        content=wired.content,
        targets=wired.targets.to_do,
        clock=clock,
        variables=context.variables,
    )
    return LineageEvents(action=wired.action.name, snapshot=context.snapshot, messages=messages)


def opened_context(
    options: ActionOptions,
    clock: Clock,
    process: StopSignal,
    area: Area,
    stack: ExitStack,
    affected: Callable[[ActionContext], Iterable[tuple[Feed, Cluster]]],
) -> ActionContext:
    """Everything that has to be right before any store is asked; `stack` closes it. Errors as `run_action`."""
    refuse_future(options.nominal_time, clock.now())
    mutates = not options.dry_run
    snapshot = open_config(options.repo, for_mutation=mutates, allow_dirty=options.allow_dirty)
    repository = load_entities(snapshot, options.repo)
    settings = repository.settings
    for value in not_implemented(settings, area):
        raise value.error(where=REPO_FILE)
    if mutates:
        require_age(snapshot.id, settings.max_age, clock.now())
    machines = stack.enter_context(executors(options.repo.variables, check=process.check))
    use = stack.enter_context(
        ledger_in_use(snapshot, settings, options.repo.variables, for_mutation=mutates, no_ledger=options.no_ledger)
    )
    return ActionContext(
        options=options,
        snapshot=snapshot,
        repository=repository,
        process=process,
        use=use,
        executors=machines if mutates else None,
        affected=affected,
    )


def origin_of(context: ActionContext, entity: str) -> Origin:
    """Return the origin of a run about an entity here."""
    digest = entity_digest(context.repository, entity)
    here = origin_here(context.variables, snapshot=str(context.snapshot.id), digest=digest)
    return replace(here, owner_mark=ProcessTable().own_mark())


def _request(context: ActionContext, parallel: int) -> ActionRequest:
    environment, options = context.repository.environment, context.options
    return ActionRequest(
        nominal_time=options.nominal_time,
        dry_run=options.dry_run,
        approve=options.approve,
        environment=None if environment is None else environment.name,
        snapshot=context.snapshot.id,
        tzdata=ZONE_DATA,
        ledger=context.use.place,
        notes=context.use.notes,
        parallel=options.parallel or parallel,
    )
