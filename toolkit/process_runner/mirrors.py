"""Mirrors by snapshots as steps of processes: the engine `mirror` works in the run, with its guard and stores."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import inf
from typing import TYPE_CHECKING

from typing_extensions import override

from toolkit.actions.action import copy_counters
from toolkit.actions.file_copies import FileCopies
from toolkit.actions.model import Problem, SkipReason
from toolkit.el import shift
from toolkit.errors import Failed, InvalidInput
from toolkit.mirror.apply import MirrorRun
from toolkit.mirror.changes import MirrorStep
from toolkit.mirror.model import Attribute, KeptSnapshots, MirrorPlan, MirrorRules, MirrorSide
from toolkit.mirror.planner import MirrorPlanner
from toolkit.planning.delete_limits import DeleteLimits, excess
from toolkit.process_runner.planner import INVALID
from toolkit.process_runner.targets import STEP
from toolkit.programs.port import StepCall, StepEnd, StepEngine, StepMark
from toolkit.storage import StorageError

if TYPE_CHECKING:
    from datetime import datetime

    from toolkit.actions.action import RunContext
    from toolkit.el import CanonicalPath
    from toolkit.entities import Cluster
    from toolkit.entities.mirror_work import SnapshotMirror, SnapshotRetention
    from toolkit.process_runner.targets import ProcessPlan, ProcessTarget
    from toolkit.storage.snapshots import SnapshotStore

_MEGABYTE = 1024 * 1024


class MirrorRemovesTooMuch(StorageError, Failed):  # noqa: N818 - the family of toolkit.errors is named for what happened
    """A run of a mirror would remove more at the target than ``max_delete`` allows; nothing was changed there."""

    code = SkipReason.REFUSED.value
    text = "nothing was changed"


@dataclass(frozen=True, kw_only=True)
class SnapshotMirrors:
    """Mirrors of a run, by the settings of their processes.

    Attributes:
        cluster: the cluster of a name; raises InvalidInput for one that is not there, or not of the environment.
        snapshots: opens the snapshots of the store that a directory of a cluster is on: for reading only without a
            hook, which is called before each change.
        limits: of what one run of a mirror removes at its target.
        now: the wall-clock time, UTC.
        is_dry_run: planning an instance plans all changes; else the run does, from the snapshot that it makes.
    """

    cluster: Callable[[str], Cluster]
    snapshots: Callable[[Cluster, CanonicalPath, Callable[[], None] | None], SnapshotStore]
    limits: DeleteLimits
    now: Callable[[], datetime]
    is_dry_run: bool = False

    def planned(self, plan: ProcessPlan, work: RunContext) -> ProcessPlan:
        """Return the plan of an instance, with the changes of its mirror in a dry run, or why it must not run."""
        if snapshot_mirror(plan.target) is None or not any(each.kind == STEP for each in plan.items):
            return plan
        try:
            return self._planned(plan, work)
        except StorageError as error:
            return replace(plan, items=(), failed=Problem(code=error.code, message=str(error)))
        except InvalidInput as error:
            return replace(plan, items=(), failed=Problem(code=INVALID, message=str(error)))

    def _planned(self, plan: ProcessPlan, work: RunContext) -> ProcessPlan:
        planner = self.planner(plan.target, work, None)
        state = planner.state(planner.rules.snapshot(plan.target.instance_key))
        if state.problem is not None:
            return replace(plan, items=(), failed=state.problem)
        if not self.is_dry_run:
            return plan
        mirror = planner.plan(state, live=True)
        shown = replace(plan, detail=replace(plan.detail, mirror=mirror))
        try:
            self.refuse(planner, mirror)
        except MirrorRemovesTooMuch as error:
            return replace(shown, refused=Problem(code=error.code, message=str(error)))
        return shown

    def planner(self, target: ProcessTarget, work: RunContext, hook: Callable[[], None] | None) -> MirrorPlanner:
        """Return the planner of an instance's mirror; raises InvalidInput when a side cannot be opened."""
        settings = snapshot_mirror(target)
        assert settings is not None  # noqa: S101 - the callers have looked
        source, into = settings.directories()
        return MirrorPlanner(
            source=self._side(settings.source_cluster, source, work, hook),
            target=self._side(settings.target_cluster, into, work, hook),
            rules=MirrorRules(
                name=target.entity,
                preserve=frozenset(map(Attribute, settings.preserve)),
                on_missing=settings.on_missing,
            ),
            check=work.guard.run.check,
            pool=work.copying.pool,
        )

    def _side(self, name: str, directory: str, work: RunContext, hook: Callable[[], None] | None) -> MirrorSide:
        cluster = self.cluster(name)
        root = cluster.place(directory)
        return MirrorSide(root=root, system=work.stores(root), snapshots=self.snapshots(cluster, root, hook))

    def refuse(self, planner: MirrorPlanner, plan: MirrorPlan) -> None:
        """Return when a plan is within the limits.

        Raises:
            MirrorRemovesTooMuch: it is not.
        """
        if not plan.removed:
            return
        found, limits = planner.removal(plan), self.limits
        exceeded = excess({planner.rules.name: found.paths}, found.kept, limits)
        limit, allowed = ("", "") if exceeded is None else (exceeded.limit, exceeded.allowed)
        if limits.bytes is not None and found.size > limits.bytes:
            limit, allowed = "max_delete.bytes", f"{limits.bytes:,}"
        if limit:
            detail = (
                f"the mirror would remove {found.paths:,} of {found.paths + found.kept:,} files and directories "
                f"({found.size:,} bytes), and {limit} in repo.yaml allows {allowed}; look at --dry-run, then raise the "
                "limit for this run"
            )
            raise MirrorRemovesTooMuch(path=planner.target.root, detail=detail)

    def kept(self, retention: SnapshotRetention) -> KeptSnapshots:
        """Return the snapshots that one side keeps now."""
        return KeptSnapshots(older_than=shift(self.now(), retention.limit, -1, "UTC"), number=retention.number)


@dataclass(frozen=True, kw_only=True)
class MirrorEngine(StepEngine):
    """Runs the mirror of one instance.

    Attributes:
        mirrors: of the run.
        plan: of the instance; its counters are filled.
        work: of the run, which holds the lease on the target directory.
    """

    mirrors: SnapshotMirrors
    plan: ProcessPlan
    work: RunContext

    @override
    def run(self, call: StepCall, started: Callable[[StepMark], None], check: Callable[[], None]) -> StepEnd:
        """Mirror, then prune; the guard of the run is asked before each effect, so that the step's own check is not."""
        del call, started, check
        target, work, begin = self.plan.target, self.work, time.monotonic()
        settings = snapshot_mirror(target)
        if settings is None:
            return StepEnd(exit_code=None, message="no action does mirrors of this type yet", may_retry=False)
        planner = self.mirrors.planner(target, work, work.guard.check)
        bandwidth = inf if settings.map_bandwidth is None else float(settings.map_bandwidth) * _MEGABYTE
        copies = FileCopies(work=work, at_once=settings.max_maps, bandwidth=bandwidth)
        run = MirrorRun(planner=planner, copy=copies.copy, refuse=lambda plan: self.mirrors.refuse(planner, plan))
        plans = run.run(planner.rules.snapshot(target.instance_key))
        problem = plans[-1].state.problem
        if problem is not None:
            return StepEnd(exit_code=None, message=problem.message, may_retry=False)
        retentions = (settings.source_snapshot_retention, settings.target_snapshot_retention)
        pruned = run.prune(*map(self.mirrors.kept, retentions))
        counted = counted_in(plans)
        counted.update(TIMETAKEN=round((time.monotonic() - begin) * 1000), SNAPSHOTSPRUNED=len(pruned))
        self.plan.detail.counters.update(counted)
        work.write_ledger(copy_counters(counted))
        return StepEnd(exit_code=0)


def counted_in(plans: Sequence[MirrorPlan]) -> Counter[str]:
    """Return the counters of plans."""
    return Counter(
        COPY=sum(each.count(MirrorStep.COPY) for each in plans),
        BYTESCOPIED=sum(each.bytes for each in plans),
        RENAMES=sum(each.count(MirrorStep.MOVE) for each in plans),
        DELETES=sum(len(each.removed - each.placed) for each in plans),
    )


def snapshot_mirror(target: ProcessTarget) -> SnapshotMirror | None:
    """Return the settings of the snapshot mirror of an instance; None: it is none."""
    mirror = target.site.process.workflow.mirror
    return None if mirror is None else mirror.hdfs_snapshot
