"""A check for late data, wired: what is due is looked at, and what has changed becomes a process run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING

from typing_extensions import override

from toolkit.actions.model import NoTarget, Problem, TargetPlan
from toolkit.availability import DATA_ERRORS, DataError
from toolkit.bootstrap.action_context import ActionContext, ActionOptions, Wired, run_action
from toolkit.bootstrap.ingested_data import data_access
from toolkit.bootstrap.process import ProcessOptions, ProcessWiring, affected_by
from toolkit.entities.not_implemented import Area
from toolkit.ledger import late_checks
from toolkit.ledger.runs.instances import newest_attempts
from toolkit.ledger.runs.queries import InstanceSpan, Subject
from toolkit.ledger.vocabulary import LateCheckResult, LifeCycle, RunStatus
from toolkit.process_runner.late_checks import CheckedInstance, DueCheck, DueChecks, LateChecker, look
from toolkit.process_runner.late_runs import late_line
from toolkit.process_runner.selection import ProcessSelection
from toolkit.process_runner.targets import ProcessDetail, ProcessTarget, StepItem
from toolkit.programs.opening import opened_engines, shared_of
from toolkit.threads import WorkerPool

if TYPE_CHECKING:
    from toolkit.actions.progress import Progress
    from toolkit.availability import DataAccess
    from toolkit.bootstrap.ledger_use import FirstWrite
    from toolkit.clock import Clock
    from toolkit.ledger.database import Ledger
    from toolkit.ledger.fingerprints import ReadInput
    from toolkit.ledger.late_checks import MadeCheck
    from toolkit.planning.process_io import ProcessSite
    from toolkit.process_runner.due import Known
    from toolkit.process_runner.slots import InstanceQueue
    from toolkit.process_runner.targets import ProcessResult
    from toolkit.runs.stop import StopSignal

NAME = "late_check"
_LOOKS_AT_ONCE = 8

Settled = TargetPlan[NoTarget, StepItem, ProcessDetail]


@dataclass(frozen=True, kw_only=True, slots=True)
class LateCheckOptions:
    """Options of a late check besides those of all actions.

    Attributes:
        selection: which processes.
        due: all instances whose check is due by the nominal time; else the instance of that time, due or not.
    """

    selection: ProcessSelection
    due: bool = False


def check_late(
    own: LateCheckOptions, options: ActionOptions, clock: Clock, process: StopSignal, progress: Progress
) -> ProcessResult:
    """A check for late data, from the options to the result; arguments and errors are those of `run_action`."""
    of_process = ProcessOptions(selection=own.selection, due=own.due)
    with opened_engines() as engines:

        def wire(context: ActionContext) -> Wired[ProcessTarget, StepItem, ProcessDetail]:
            return LateWiring(own=of_process, context=context, clock=clock, engines=engines).wired()

        affected, hosts = partial(affected_by, of_process), shared_of(engines)
        result = run_action(options, clock, process, progress, wire, Area.PROCESS, affected=affected, hosts=hosts)
    return replace(result, action=NAME)


@dataclass(frozen=True, kw_only=True, slots=True)
class Looked:
    """Results of the checks of one process.

    Attributes:
        site: the process on its cluster.
        known: the newest attempt of each instance, from before the first look.
        checked: what could be looked at, oldest first.
        failed: what could not, with the reason; its check stays due.
        not_expected: checks that are over without a look.
    """

    site: ProcessSite
    known: Known
    checked: Sequence[CheckedInstance] = ()
    failed: Sequence[tuple[DueCheck, DataError]] = ()
    not_expected: Sequence[MadeCheck] = ()

    def found(self, verdict: LateCheckResult) -> list[CheckedInstance]:
        """The instances of which a check found this."""
        return [each for each in self.checked if each.verdict is verdict]

    @property
    def to_run(self) -> list[CheckedInstance]:
        """The instances of which data came late, and which run again."""
        return [each for each in self.found(LateCheckResult.LATE) if not each.is_given_up]

    @property
    def given_up(self) -> list[CheckedInstance]:
        """The instances of which data came late, and whose runs for this check were killed too often."""
        return [each for each in self.checked if each.is_given_up]

    @property
    def failures(self) -> Iterator[Settled]:
        """Yield the failures that need a person."""
        for each in self.found(LateCheckResult.GONE):
            key = each.due.instance_key
            message = f"{key} cannot run again, since what it has read is not there any more: {each.cause}"
            yield _settled(self.site, key, failed=Problem(code="input_gone", message=message))
        for each in self.given_up:
            key, killed = each.due.instance_key, each.due.killed
            message = f"{key} is not run again for this check, since {killed} runs were killed: {each.cause}"
            hint = f"entrypoints/process.py --process {self.site.process.name} --time {key} --force runs it"
            yield _settled(self.site, key, failed=Problem(code="late_run_killed", message=f"{message}; {hint}"))
        for due, error in self.failed:
            problem = Problem(code=error.code, message=f"{due.instance_key} could not be looked at: {error}")
            yield _settled(self.site, due.instance_key, failed=problem)

    @property
    def made(self) -> Iterator[MadeCheck]:
        """The checks that lead to no run; the others are noted with what became of their run."""
        yield from self.not_expected
        over = (*self.found(LateCheckResult.UNCHANGED), *self.found(LateCheckResult.GONE), *self.given_up)
        yield from (check for each in over for check in each.made())

    @property
    def note(self) -> str:
        """Why nothing of it runs again."""
        if not self.checked:
            return "no check is due"
        return f"no late data has come (instances looked at: {len(self.checked)})"


@dataclass(kw_only=True)
class LateWiring(ProcessWiring):
    """The wiring of a check: looks, and puts the runs of the instances with late data together."""

    _looked: dict[str, Looked] = field(default_factory=dict, init=False)

    @override
    def queue(self, site: ProcessSite) -> InstanceQueue:
        """Return the queue of the instances whose inputs got late data."""
        looked = self._of(site)
        return replace(late_line(site, looked.to_run, looked.known, self.clock.now()), is_named=not self.own.due)

    @property
    @override
    def settled(self) -> Iterator[Settled]:
        """Replace the entry of a process by its failures, if it has any."""
        plans = list(super().settled)
        failures = [plan for each in self._looked.values() for plan in each.failures]
        failing = {plan.target.entity for plan in failures}
        yield from (plan for plan in plans if plan.target.entity not in failing)
        yield from failures

    @override
    def nothing(self, site: ProcessSite) -> str:
        return self._of(site).note

    @override
    def first_writes(self) -> Iterator[FirstWrite]:
        yield from super().first_writes()
        made = [check for each in self._looked.values() for check in each.made]
        if made:
            yield lambda tx: late_checks.record(tx, made)

    def _of(self, site: ProcessSite) -> Looked:
        """Return the results of a process, which is checked once."""
        name = site.process.name
        if name not in self._looked:
            self._looked[name] = self._look(site)
        return self._looked[name]

    def _look(self, site: ProcessSite) -> Looked:
        ledger, is_named = self.context.use.ledger, self.own.selection.name is not None
        if ledger is None or (site.process.late_process is None and not is_named):
            return Looked(site=site, known={})
        checker = LateChecker(ledger=ledger)
        due = self._due(site, checker)
        known = _known(ledger, site, due.checks)
        checks = [each for each in due.checks if _is_current(each, known)]
        looked = self._looks(site, known, checks, checker.read_by(checks))
        return replace(looked, not_expected=due.not_expected)

    def _due(self, site: ProcessSite, checker: LateChecker) -> DueChecks:
        nominal = self.context.options.nominal_time
        if self.own.due:
            return checker.due(site, nominal)
        return DueChecks(checks=(checker.of_instance(site, nominal, self.clock.now()),))

    def _looks(
        self, site: ProcessSite, known: Known, checks: Sequence[DueCheck], read: dict[int, list[ReadInput]]
    ) -> Looked:
        """Look at several instances at once; a store that fails for one says nothing of the others."""
        pool = WorkerPool(_LOOKS_AT_ONCE, "feedctl-look")
        work = self.context.look(self.context.process)
        data = data_access(work.stores, self.context.variables)
        try:
            found = list(pool.map(lambda due: (due, _looked(due, read.get(due.run_id, []), data)), checks))
        finally:
            pool.shutdown()
            work.close()
        return Looked(
            site=site,
            known=known,
            checked=[each for _, each in found if isinstance(each, CheckedInstance)],
            failed=[(due, each) for due, each in found if isinstance(each, DATA_ERRORS)],
        )


def _known(ledger: Ledger, site: ProcessSite, checks: Sequence[DueCheck]) -> Known:
    """The newest attempts of the instances, and of those between them."""
    if not checks:
        return {}
    subject = Subject(entity=site.process.name, life_cycle=LifeCycle.EXECUTION, cluster=site.cluster.name)
    span = InstanceSpan(subject=subject, start_key=checks[0].instance_key, end_key=f"{checks[-1].instance_key}~")
    return ledger.read(lambda tx: newest_attempts(tx, span))


def _is_current(due: DueCheck, known: Known) -> bool:
    """Return whether the instance has not run since; a newer run is checked the next time."""
    newest = known.get(due.instance_key)
    return newest is None or newest.run_id == due.run_id or newest.status is not RunStatus.SUCCEEDED


def _looked(due: DueCheck, read: Sequence[ReadInput], data: DataAccess) -> CheckedInstance | DataError:
    try:
        return look(due, read, data)
    except DATA_ERRORS as error:
        return error


def _settled(site: ProcessSite, instance_key: str, failed: Problem) -> Settled:
    target = NoTarget(entity=site.process.name, cluster=site.cluster.name, instance_key=instance_key)
    return TargetPlan(target=target, detail=ProcessDetail(), failed=failed)
