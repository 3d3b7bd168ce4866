"""Targets of a process run: one instance of a process on a cluster, and its plan."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from toolkit.actions.model import TargetPlan
from toolkit.actions.result import ActionResult, TargetResult
from toolkit.el import format_instant
from toolkit.entities import Engine, Process, Step, Workflow
from toolkit.ledger.jobs.rows import JobRef
from toolkit.ledger.late_checks import CAUSE
from toolkit.ledger.registry.registration import ONLY_STEP
from toolkit.ledger.runs.leases import Wanted
from toolkit.printable import on_one_line
from toolkit.runs.recorder import path_text

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime
    from pathlib import Path

    from toolkit.el import CanonicalPath
    from toolkit.mirror.diff import MirrorDiff
    from toolkit.planning.process_io import ProcessSite
    from toolkit.process_runner.late_checks import CheckedInstance
    from toolkit.process_runner.resolution import ResolvedInstance

NAME = "process"
STEP, END, PREPARE, CLEAR, PUBLISH, FLAG = "step", "end", "prepare", "clear", "publish", "flag"
"""Kinds of items: see `StepItem`."""


def run_lease(ref: JobRef) -> Wanted:
    """Return the lease for running an instance of a process, or deciding on its outputs."""
    return Wanted(resource=f"run/{ref.process}/{ref.cluster}/{ref.instance_key}")


@dataclass(frozen=True, kw_only=True)
class ProcessTarget:
    """An instance of a process on a cluster.

    Attributes:
        site: the process there.
        nominal_time: of the instance.
        waits_until: from then on it is no longer waited for.
        is_forced: it starts at the first step, whatever succeeded before.
        retries: so many times it was tried again by itself, this time among them.
        replaced_by: the key of a newer instance that runs in its place when both could (order: LAST_ONLY); empty: none.
        may_be_replaced: it was not ordered, and it has not begun: only then a newer one runs in its place.
        is_off_grid: its time is none of the process's frequency, but that of an update of its data.
        late: the check for late data that led to it; the site's process then has the late workflow. None: none did.
        is_silent: its success announces no update, as a backfill may wish.
    """

    site: ProcessSite
    nominal_time: datetime
    waits_until: datetime
    is_forced: bool = False
    retries: int = 0
    replaced_by: str = ""
    may_be_replaced: bool = True
    is_off_grid: bool = False
    late: CheckedInstance | None = None
    is_silent: bool = False

    @property
    def entity(self) -> str:
        """The process."""
        return self.site.process.name

    @property
    def cluster(self) -> str:
        """The cluster that it runs on."""
        return self.site.cluster.name

    @property
    def counterpart(self) -> str:
        """Empty: a process has no other cluster."""
        return ""

    @property
    def instance_key(self) -> str:
        """The key of the instance."""
        return format_instant(self.nominal_time)

    @property
    def cause(self) -> str | None:
        """Why it runs when no person asked for it; None: its time has come, or a person asked."""
        return None if self.late is None else f"{CAUSE}{self.late.cause}"

    @property
    def stands_for_steps(self) -> bool:
        """True if a late workflow runs in the place of several steps: then its success is not that of any one of them.

        Were it kept without the end of the job, the next run would go on behind a step that has not run.
        """
        own = None if self.late is None else self.late.due.site.process.workflow
        return own is not None and bool(own.steps) and own != self.site.process.workflow

    @property
    def ref(self) -> JobRef:
        """Return how run metadata calls it."""
        return JobRef(process=self.entity, cluster=self.cluster, instance_key=self.instance_key)


@dataclass(frozen=True, kw_only=True, slots=True)
class StepItem:
    """A step that is run, or a change of an output by the run itself.

    Attributes:
        name: of the step, or of the output.
        engine: what runs it; None: nothing is run.
        path: of its script or program, as the entity says; of an output, the URI of what is changed.
        args: as the entity says.
        instance_key: of the process instance.
        kind: ``step``; ``end`` when all steps of an earlier attempt had succeeded and only its end is missing; of an
            output, before the first step: ``prepare``: it is removed, ``clear``: what is staged of it is removed; after
            the last one: ``publish``: it is validated and published, ``flag``: its availability flag is written.
    """

    name: str
    engine: Engine | None
    path: str
    instance_key: str
    args: tuple[str, ...] = ()
    kind: str = STEP

    @property
    def uri(self) -> str:
        """The name of the step, by which recovery finds its outcome; of an output, the place that is changed."""
        return self.name if self.kind in {STEP, END} else self.path

    @property
    def identity(self) -> tuple[str, ...]:
        """The whole content of the plan's step."""
        return (self.instance_key, self.kind, self.name, str(self.engine), self.path, *self.args)


@dataclass(kw_only=True)
class MirrorReport:
    """Report of the run of a mirror, which its action fills.

    Attributes:
        log: of the step; None: nothing is written.
        is_unchanged: the target was equal before, so that no update is announced.
    """

    log: Path | None = None
    is_unchanged: bool = False

    def say(self, text: str) -> None:
        """Write a line to the log of the step."""
        if self.log is not None:
            with self.log.open("a", encoding="utf-8", errors="backslashreplace") as file:
                file.write(f"feedctl: {on_one_line(text)}\n")


@dataclass(frozen=True, kw_only=True, slots=True)
class ProcessDetail:
    """Further content of an instance's plan.

    Attributes:
        resolved: what it reads and makes; None: it was not looked at.
        resumed: an earlier attempt had succeeded in the steps that are not planned.
        made: what those steps had written, see `AttemptChain.made`.
        attempts: the numbers of the attempts that this one continues, see `AttemptChain.attempts`.
        starts_over: what succeeded earlier does not count, see `AttemptChain.starts_over`.
        may_hide: an earlier attempt may have written what the steps of this one find and report as unchanged; a person
            who orders all steps to run again answers for what is there.
        mirror: what a dry run of a mirror would change; None: it is no mirror, or no dry run.
        counters: filled while a mirror runs: ``TIMETAKEN`` (milliseconds), ``COPY`` (files), ``BYTESCOPIED``,
            ``COPYREUSED``, ``BYTESREUSED``, ``RENAMES``, ``DELETES`` and ``SNAPSHOTSPRUNED``.
        report: filled while a mirror runs.
    """

    resolved: ResolvedInstance | None = None
    resumed: bool = False
    made: Mapping[str, str] = field(default_factory=dict)
    attempts: frozenset[int] = frozenset()
    starts_over: bool = False
    may_hide: bool = False
    mirror: MirrorDiff | None = None
    counters: Counter[str] = field(default_factory=Counter)
    report: MirrorReport = field(default_factory=MirrorReport)


def output_item(target: ProcessTarget, kind: str, name: str, place: CanonicalPath) -> StepItem:
    """Return a change of an output as an item of a plan."""
    return StepItem(name=name, engine=None, path=path_text(str(place)), instance_key=target.instance_key, kind=kind)


ProcessPlan: TypeAlias = TargetPlan[ProcessTarget, StepItem, ProcessDetail]
ProcessResult: TypeAlias = ActionResult[ProcessTarget, StepItem, ProcessDetail]
InstanceResult: TypeAlias = TargetResult[ProcessTarget, StepItem, ProcessDetail]


def steps_of(workflow: Workflow) -> tuple[Step, ...]:
    """The steps of a workflow; one that has none is a step itself, as the ledger knows it.

    Raises:
        ValueError: it has neither, which the loader refuses.
    """
    if workflow.steps:
        return workflow.steps
    if workflow.mirror is not None:
        return (Step(name=ONLY_STEP, engine=Engine.MIRROR, path=""),)
    if workflow.engine is None or workflow.path is None:
        message = "a workflow has steps, or an engine with its path"
        raise ValueError(message)
    return (Step(name=ONLY_STEP, engine=workflow.engine, path=workflow.path, args=workflow.args),)


def libraries_of(workflow: Workflow) -> tuple[str, ...]:
    """Return the files that the steps of a workflow need beside their scripts, as the entity names them."""
    jar = workflow.spark.jar if workflow.spark else None
    return (*workflow.lib, *([jar] if jar else []))


def files_of(process: Process) -> tuple[str, ...]:
    """Return the files that the workflows of a process name, those for late data too."""
    late = process.late_process.inputs.values() if process.late_process else ()
    return (*(each.path for each in steps_of(process.workflow) if each.path), *libraries_of(process.workflow), *late)


def items_of(target: ProcessTarget) -> tuple[StepItem, ...]:
    """Return the steps of an instance as items of a plan."""
    return tuple(
        StepItem(name=each.name, engine=each.engine, path=each.path, args=each.args, instance_key=target.instance_key)
        for each in steps_of(target.site.process.workflow)
    )
