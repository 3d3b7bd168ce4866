"""A pass of triggers, wired: polls, decides by the events of the ledger, and runs the instances that are ready."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property, partial
from typing import TYPE_CHECKING

from typing_extensions import override

from toolkit.actions.model import NoTarget, Problem, TargetPlan
from toolkit.bootstrap.action_context import ActionContext, ActionOptions, Wired, origin_of, run_action
from toolkit.bootstrap.polling import poll_plans, polled
from toolkit.bootstrap.process import ProcessOptions, ProcessWiring, affected_by
from toolkit.entities.not_implemented import Area
from toolkit.errors import InvalidInput
from toolkit.ledger.runs.instances import open_attempts
from toolkit.ledger.vocabulary import LifeCycle
from toolkit.planning.trigger_rules import TriggerRules
from toolkit.process_runner.due import queue_of_due
from toolkit.process_runner.selection import ProcessSelection, sites, unsupported
from toolkit.process_runner.targets import ProcessDetail, ProcessTarget, StepItem
from toolkit.programs.opening import opened_engines, shared_of
from toolkit.triggers.apply import TriggerDecider
from toolkit.triggers.consumer import TriggerConsumer

if TYPE_CHECKING:
    from toolkit.actions.progress import Progress
    from toolkit.clock import Clock
    from toolkit.entities import Cluster
    from toolkit.ledger.runs.instances import Newest
    from toolkit.planning.process_io import ProcessSite
    from toolkit.process_runner.slots import InstanceQueue
    from toolkit.process_runner.targets import ProcessResult
    from toolkit.runs.stop import StopSignal
    from toolkit.triggers.apply import ConsumerResult, CreatedRun
    from toolkit.triggers.plan import DueRun
    from toolkit.triggers.polling import PollReport

NAME = "trigger"

Settled = TargetPlan[NoTarget, StepItem, ProcessDetail]

_NAMED = 5


class NoTrigger(InvalidInput):
    """A process was named that no updates of data start.

    Args:
        process: its name.
    """

    def __init__(self, *, process: str) -> None:
        self.process = process
        super().__init__(
            f"process {process} has no `trigger`, so updates of data do not start it; "
            f"entrypoints/process.py runs what is due by its frequency"
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class TriggerOptions:
    """Options of a pass of triggers besides those of all actions.

    Attributes:
        selection: which processes.
        decide_only: runs are created and left to a later `process.py --due`.
        poll: data that is polled is looked at first.
    """

    selection: ProcessSelection
    decide_only: bool = False
    poll: bool = False


def run_triggers(
    own: TriggerOptions, options: ActionOptions, clock: Clock, process: StopSignal, progress: Progress
) -> ProcessResult:
    """A pass of triggers, from the options to the result; arguments and errors are those of `run_action`.

    Raises:
        NoTrigger: the named process has none.
        SafeModeIsOn: something is due, and the whole installation rests.
    """
    of_process = ProcessOptions(selection=own.selection, due=True)
    wired: list[TriggerWiring] = []

    with opened_engines() as engines:

        def wire(context: ActionContext) -> Wired[ProcessTarget, StepItem, ProcessDetail]:
            wired.append(TriggerWiring(own=of_process, options=own, context=context, clock=clock, engines=engines))
            return wired[0].wired()

        affected, hosts = partial(affected_by, of_process), shared_of(engines)
        result = run_action(options, clock, process, progress, wire, Area.PROCESS, affected=affected, hosts=hosts)
    return replace(result, action=NAME).with_notes(*(note for each in wired for note in each.notes))


@dataclass(kw_only=True)
class TriggerWiring(ProcessWiring):
    """The wiring of a pass: decisions come first, then the runs that are ready get their turns.

    Attributes:
        options: what the user asked.
    """

    options: TriggerOptions
    _results: Sequence[ConsumerResult] = field(default=(), init=False)
    _poll: PollReport | None = field(default=None, init=False)

    @override
    def wired(self) -> Wired[ProcessTarget, StepItem, ProcessDetail]:
        if self.options.poll:
            self._poll = polled(self.context, self._cluster)
        self._results = self._decide()
        return replace(super().wired(), first_writes=self.first_writes if self.sites else tuple)

    @property
    def notes(self) -> Iterator[str]:
        """Yield notes about the decisions, and about instances that got no slot."""
        if not self._shows_decisions:
            yield from (f"{each}" for result in self._results for each in _created_lines(result))
        for result in self._results:
            plan = result.plan
            if plan.suspension and plan.decision.pending:
                yield f"{_label(result)}: {len(plan.decision.pending)} updates wait, since it is {plan.suspension}"
            yield from (
                f"{_label(result)}: {each.instance_key} is due again ({_events(each)}), and waits for the end of the "
                f"run of it that is not over"
                for each in plan.delayed
            )
            if plan.decision.clock_skew:
                seconds = int(plan.decision.clock_skew.total_seconds())
                yield (
                    f"{_label(result)}: the clocks of this machine and of the writers of events differ by {seconds} s "
                    f"at least, which matters for `valid_for` and `expires` alone"
                )
        yield from self.slots.notes

    @property
    def _shows_decisions(self) -> bool:
        return self.options.decide_only or self.context.options.dry_run

    @cached_property
    def _rules(self) -> TriggerRules:
        return TriggerRules(self.context.repository, self.context.options.nominal_time)

    @cached_property
    def _triggered(self) -> Sequence[ProcessSite]:
        """The chosen processes that have a trigger and can be run.

        Raises:
            NoTrigger: the named process has none.
        """
        name = self.own.selection.name
        found = [each for each in sites(self.context.repository, self.own.selection) if each.process.trigger]
        if name is not None and not found:
            raise NoTrigger(process=name)
        if name is not None and (error := unsupported(found[0])) is not None:
            raise error
        return found if name is not None else [each for each in found if unsupported(each) is None]

    @cached_property
    @override
    def sites(self) -> Sequence[ProcessSite]:
        """The processes of which something is to run now; those without cost nothing more."""
        if self._shows_decisions:
            return []
        return [each for each in self._triggered if each.process.name in self._ready]

    @cached_property
    @override
    def _queues(self) -> Mapping[str, InstanceQueue]:
        may_start = [each for each in self.sites if each.process.name not in self._obstacles]
        return {each.process.name: self.queue(each) for each in may_start}

    @override
    def queue(self, site: ProcessSite) -> InstanceQueue:
        """Return the queue of the instances of a process that are ready, wait, or are to be tried again."""
        nominal, now = self.context.options.nominal_time, self.clock.now()
        return queue_of_due(site, nominal, self._ready[site.process.name], now, by_frequency=False)

    @cached_property
    def _ready(self) -> Mapping[str, Newest]:
        """Attempts of processes of the cluster that may begin, or go on; read once the decisions are written."""
        ledger = self.context.use.ledger
        if ledger is None or not self._triggered:
            return {}
        cluster = self._triggered[0].cluster.name
        return ledger.read(lambda tx: open_attempts(tx, LifeCycle.EXECUTION, cluster, self.clock.now()))

    @property
    @override
    def settled(self) -> Iterator[Settled]:
        if self._poll is not None:
            yield from poll_plans(self._poll, self._cluster)
        for result in self._results:
            yield from (_refused(result, each) for each in result.plan.refused)
            yield from (_killed(result, each) for each in result.plan.killed)
            if self._shows_decisions:
                yield from (_decided(result, each) for each in result.created)
        for site in self.sites:
            if site.process.name in self._obstacles:
                why = self._obstacles[site.process.name]
                target = NoTarget(entity=site.process.name, cluster=site.cluster.name, could_start=True)
                problem = Problem(code="suspended", message=why)
                yield TargetPlan(target=target, detail=ProcessDetail(), skipped=problem)
        if self.own.selection.name is not None and not self.sites and not self._results:
            site = self._triggered[0]
            target = NoTarget(entity=site.process.name, cluster=site.cluster.name)
            yield TargetPlan(target=target, detail=ProcessDetail(), notes=("nothing is due",))

    @property
    def _cluster(self) -> Cluster:
        """The cluster of the pass."""
        return sites(self.context.repository, self.own.selection)[0].cluster

    def _decide(self) -> Sequence[ConsumerResult]:
        ledger, consumers = self.context.use.ledger, [self._consumer(each) for each in self._triggered]
        if ledger is None:
            return ()
        decider = TriggerDecider(ledger=ledger, now=self.clock.now, origin_of=cache(partial(origin_of, self.context)))
        return decider.preview(consumers) if self.context.options.dry_run else decider.decide(consumers)

    def _consumer(self, site: ProcessSite) -> TriggerConsumer:
        process = site.process
        if process.trigger is None:
            raise NoTrigger(process=process.name)
        return TriggerConsumer(
            process=process.name,
            cluster=site.cluster.name,
            trigger=process.trigger,
            schedule=process.schedule,
            compile=partial(self._rules.rule, site, process.trigger),
        )


def _label(result: ConsumerResult) -> str:
    consumer = result.plan.consumer
    return f"{consumer.process} on {consumer.cluster}"


def _events(run: DueRun) -> str:
    """Return the causes of a run in words."""
    numbers = [str(each) for each in run.causes[:_NAMED]]
    more = f" and {len(run.causes) - _NAMED} more" if len(run.causes) > _NAMED else ""
    return f"{'event' if len(run.causes) == 1 else 'events'} {', '.join(numbers)}{more}"


def _what(created: CreatedRun) -> str:
    run = created.due.run
    since = f", for all instances since {run.first_key}" if run.first_key else ""
    state = "is due" if created.run_id is None else f"is ready as run {created.run_id}"
    return f"{state}: {_events(created.due)}{since}"


def _created_lines(result: ConsumerResult) -> Iterator[str]:
    yield from (f"{_label(result)}: {each.due.instance_key} {_what(each)}" for each in result.created)


def _target(result: ConsumerResult, run: DueRun) -> NoTarget:
    consumer = result.plan.consumer
    return NoTarget(entity=consumer.process, cluster=consumer.cluster, instance_key=run.instance_key)


def _decided(result: ConsumerResult, created: CreatedRun) -> Settled:
    return TargetPlan(target=_target(result, created.due), detail=ProcessDetail(), notes=(_what(created),))


def _refused(result: ConsumerResult, run: DueRun) -> Settled:
    most = result.plan.consumer.trigger.max_chain
    message = (
        f"{run.instance_key} is not started by {_events(run)}: it would be triggered run {run.run.chain} in a row, "
        f"and max_chain is {most}; look for processes that update each other's inputs (`feedctl dataset graph`)"
    )
    refused = Problem(code="chain_too_long", message=message)
    return TargetPlan(target=_target(result, run), detail=ProcessDetail(), notes=(message,), refused=refused)


def _killed(result: ConsumerResult, run: DueRun) -> Settled:
    message = (
        f"{run.instance_key} is not started by {_events(run)}, since a person killed it before it began; "
        f"`feedctl instance rerun` orders it again"
    )
    return TargetPlan(target=_target(result, run), detail=ProcessDetail(), notes=(message,))
