"""Mirrors as steps of processes: the engine `mirror` has one action for each type (ADR 0104)."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from math import inf
from typing import TYPE_CHECKING, Protocol

from typing_extensions import override

from toolkit.actions.action import copy_counters
from toolkit.actions.file_copies import FileCopies
from toolkit.actions.guard import CalledOff, Refusal
from toolkit.actions.hold_watch import HoldCheckFailed
from toolkit.actions.model import Problem, SkipReason
from toolkit.entities.mirror_work import HiveMirror
from toolkit.errors import Failed, InvalidInput
from toolkit.mirror.model import Attribute
from toolkit.planning.delete_limits import excess
from toolkit.process_runner.planner import INVALID
from toolkit.process_runner.targets import STEP
from toolkit.programs.port import NOTHING_CHANGED, StepCall, StepEnd, StepEngine, StepMark
from toolkit.programs.step_log import private
from toolkit.storage import StorageError
from toolkit.transfer.plan import CreateOptions

if TYPE_CHECKING:
    from collections import Counter

    from toolkit.actions.action import RunContext
    from toolkit.actions.guard import Condition
    from toolkit.actions.verification import VerifiedInstance
    from toolkit.el import CanonicalPath
    from toolkit.entities import Process
    from toolkit.entities.mirror_work import CopyWork
    from toolkit.mirror.diff import MirrorDiff
    from toolkit.mirror.model import MirrorRemoval
    from toolkit.planning.delete_limits import DeleteLimits
    from toolkit.process_runner.targets import ProcessPlan, ProcessTarget

_MEGABYTE = 1024 * 1024
_HELD = "a hold was set on a feed that has data in the target; run again when the hold is lifted"


class MirrorRemovesTooMuch(StorageError, Failed):  # noqa: N818 - the family of toolkit.errors is named for what happened
    """A run of a mirror would remove more at the target than ``max_delete`` allows; nothing was changed there."""

    code = SkipReason.REFUSED.value
    text = "nothing was changed"


class NoVerification(InvalidInput):
    """A mirror of a type that cannot be verified."""

    def __init__(self, *, name: str) -> None:
        super().__init__(f"{name} is a mirror of a type that cannot be verified; look at what its --dry-run prints")


class MirrorAction(Protocol):
    """Action of the mirrors of one type; its calls raise StorageError, InvalidInput and StopRequested."""

    def planned(self, plan: ProcessPlan, work: RunContext) -> ProcessPlan:
        """Return the plan of an instance that may run; in a dry run with its changes, else or why it must not."""
        ...

    def run(self, plan: ProcessPlan, work: RunContext) -> Counter[str] | Problem:
        """Mirror, under the lease of the run on the target; return the counters, or why nothing could be done.

        Before it publishes anything it asks the guard of the run; then CalledOff ends it, and the next run goes on.
        """
        ...

    def verified(self, target: ProcessTarget, work: RunContext) -> VerifiedInstance:
        """Compare the target with the source; nothing is changed."""
        del work
        raise NoVerification(name=target.entity)


@dataclass(frozen=True, kw_only=True)
class Mirrors:
    """Mirrors of a run.

    Attributes:
        actions: make the action of a type, by the keys of `MirrorSettings.given`; that of a type is made if it is used.
        datasets: canonical URIs of the datasets that the mirror of a process updates.
        held: which hold the mirror of a process waits for; None: none.
        conditions: holds that are set while the mirror of a process runs.
    """

    actions: Mapping[str, Callable[[], MirrorAction]]
    datasets: Callable[[Process], Sequence[str]] = lambda _: ()
    held: Callable[[Process, RunContext], Problem | None] = lambda _, __: None
    conditions: Callable[[Process, RunContext], Sequence[Condition]] = lambda _, __: ()

    def planned(self, plan: ProcessPlan, work: RunContext) -> ProcessPlan:
        """Return the plan of an instance, with the changes of its mirror in a dry run, or why it must not run."""
        if not any(each.kind == STEP for each in plan.items):
            return plan
        try:
            action = self.of(plan.target)
            if action is None:
                return plan
            held = self.held(plan.target.site.process, work)
            return replace(plan, items=(), waiting=held) if held else action.planned(plan, work)
        except (StorageError, HoldCheckFailed) as error:
            return failed(plan, Problem(code=error.code, message=str(error)))
        except InvalidInput as error:
            return failed(plan, Problem(code=INVALID, message=str(error)))

    def verified(self, target: ProcessTarget, work: RunContext) -> VerifiedInstance:
        """Return the verification of a mirror's target; raises NoVerification, and what `check` of the work raises."""
        action = self.of(target)
        if action is None:
            raise NoVerification(name=target.entity)
        return action.verified(target, work)

    def of(self, target: ProcessTarget) -> MirrorAction | None:
        """Return the action of an instance's mirror; None: it has none."""
        mirror = target.site.process.workflow.mirror
        return next((self.actions[name]() for name in mirror.given() if name in self.actions), None) if mirror else None


@dataclass(frozen=True, kw_only=True)
class MirrorEngine(StepEngine):
    """Runs the mirror of one instance.

    Attributes:
        mirrors: of the run.
        plan: of the instance; its counters are filled.
        work: of the run, which holds the lease on the target.
    """

    mirrors: Mirrors
    plan: ProcessPlan
    work: RunContext

    @override
    def run(self, call: StepCall, started: Callable[[StepMark], None], check: Callable[[], None]) -> StepEnd:
        """Mirror; the guard of the run is asked before each effect, so that the step's own check is not."""
        del started, check
        begin, action, report = time.monotonic(), self.mirrors.of(self.plan.target), self.plan.detail.report
        report.log = private(call.log)
        if action is None:
            return StepEnd(exit_code=None, message="no action does mirrors of this type yet", may_retry=False)
        try:
            counted = action.run(self.plan, self.work)
        except CalledOff as error:
            raise CalledOff(refusal=self._explained(error.refusal)) from error
        except (StorageError, InvalidInput) as error:
            report.say(f"failed: {error}")
            raise
        if isinstance(counted, Problem):
            report.say(f"failed: {counted.message}")
            return StepEnd(exit_code=None, message=counted.message, may_retry=False)
        counted.update(TIMETAKEN=round((time.monotonic() - begin) * 1000))
        self.plan.detail.counters.update(counted)
        self.work.write_ledger(copy_counters(counted))
        report.say(", ".join(f"{name} {number}" for name, number in counted.items()))
        return StepEnd(exit_code=NOTHING_CHANGED if report.is_unchanged else 0)

    def _explained(self, refusal: Refusal) -> Refusal:
        """Return a refusal with the hold that it is about, in the words of a hold at the start."""
        if refusal.code == SkipReason.HELD:
            found = None
            with suppress(StorageError, HoldCheckFailed):  # what has been seen is enough
                found = self.mirrors.held(self.plan.target.site.process, self.work)
            refusal = replace(
                refusal, why=_HELD if found is None else f"{found.message} (it was set while the mirror ran)"
            )
        self.plan.detail.report.say(f"stopped: {refusal.why}")
        return refusal


def failed(plan: ProcessPlan, problem: Problem) -> ProcessPlan:
    """Return the plan of an instance that must not run."""
    return replace(plan, items=(), failed=problem)


def shown(plan: ProcessPlan, diff: MirrorDiff, refuse: Callable[[], None]) -> ProcessPlan:
    """Return the plan of a dry run with the changes of its mirror.

    Args:
        plan: of the instance.
        diff: the changes.
        refuse: raises MirrorRemovesTooMuch if a run would refuse them.
    """
    found = replace(plan, detail=replace(plan.detail, mirror=diff))
    try:
        refuse()
    except MirrorRemovesTooMuch as error:
        return replace(found, refused=Problem(code=error.code, message=str(error)))
    return found


def copies_of(settings: CopyWork, work: RunContext) -> FileCopies:
    """Return what copies the files of a mirror, by its own limits."""
    bandwidth = inf if settings.map_bandwidth is None else float(settings.map_bandwidth) * _MEGABYTE
    preserve = () if isinstance(settings, HiveMirror) else settings.preserve
    create = CreateOptions(
        block_size=Attribute.BLOCK_SIZE in preserve,
        replication=Attribute.REPLICATION in preserve,
        raw=settings.tde_encryption_enabled,
    )
    return FileCopies(work=work, at_once=settings.max_maps, bandwidth=bandwidth, create=create)


def refuse_excess(
    name: str,
    root: CanonicalPath,
    found: MirrorRemoval,
    limits: DeleteLimits,
    approve: str | None = None,
    noun: str = "files and directories",
) -> None:
    """Return when what a plan removes is within the limits.

    Args:
        name: of the mirror.
        root: its target.
        found: what goes.
        limits: of one run.
        approve: digest of what may exceed them.
        noun: what is counted, in words.

    Raises:
        MirrorRemovesTooMuch: it is not.
    """
    exceeded = excess({name: found.paths}, found.kept, limits)
    limit, allowed = ("", "") if exceeded is None else (exceeded.limit, exceeded.allowed)
    if limits.bytes is not None and found.size > limits.bytes:
        limit, allowed = "max_delete.bytes", f"{limits.bytes:,}"
    if limit and not (found.digest and found.digest == approve):
        other = f"; {approve} was approved" if approve and found.digest else ""
        once = f"to do it once, add --approve {found.digest}; or " if found.digest else ""
        detail = (
            f"the mirror would remove {found.paths:,} of {found.paths + found.kept:,} {noun} "
            f"({found.size:,} bytes), and {limit} in repo.yaml allows {allowed}{other}. Look at --dry-run; {once}raise "
            f"{limit} for this run"
        )
        raise MirrorRemovesTooMuch(path=root, detail=detail)
