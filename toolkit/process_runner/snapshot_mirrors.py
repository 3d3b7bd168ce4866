"""Mirrors by snapshots (`type: hdfs_snapshot`), which work in the run of their process, with its guard and stores."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from typing_extensions import override

from toolkit.actions.verification import TreeVerifier
from toolkit.el import shift
from toolkit.mirror.apply import MirrorRun
from toolkit.mirror.attributes import copy_problem
from toolkit.mirror.model import Attribute, KeptSnapshots, MirrorPlan, MirrorRules, MirrorSide, MirrorWork
from toolkit.mirror.planner import MirrorPlanner
from toolkit.mirror.verify import verify_snapshot_mirror
from toolkit.process_runner.mirrors import MirrorAction, copies_of, failed, refuse_excess, shown

if TYPE_CHECKING:
    from datetime import datetime

    from toolkit.actions.action import RunContext
    from toolkit.actions.model import Problem
    from toolkit.actions.verification import VerifiedInstance
    from toolkit.el import CanonicalPath
    from toolkit.entities import Cluster
    from toolkit.entities.mirror_work import SnapshotMirror, SnapshotRetention
    from toolkit.planning.delete_limits import DeleteLimits
    from toolkit.process_runner.targets import ProcessPlan, ProcessTarget
    from toolkit.storage.snapshots import SnapshotStore


@dataclass(frozen=True, kw_only=True)
class SnapshotMirrors(MirrorAction):
    """Snapshot mirrors of a run, by the settings of their processes.

    Attributes:
        cluster: the cluster of a name; raises InvalidInput for one that is not there, or not of the environment.
        snapshots: opens the snapshots of the store that a directory of a cluster is on: for reading only without a
            hook, which is called before each change.
        limits: of what one run of a mirror removes at its target.
        now: the wall-clock time, UTC.
        approve: digest of a removal that may exceed the limits.
        is_dry_run: planning an instance plans all changes; else the run does, from the snapshot that it makes.
        owner: config repo and environment; other ones may have mirrors of the same names.
    """

    cluster: Callable[[str], Cluster]
    snapshots: Callable[[Cluster, CanonicalPath, Callable[[], None] | None], SnapshotStore]
    limits: DeleteLimits
    now: Callable[[], datetime]
    approve: str | None = None
    is_dry_run: bool = False
    owner: str = ""

    @override
    def planned(self, plan: ProcessPlan, work: RunContext) -> ProcessPlan:
        planner = self.planner(plan.target, work, None)
        settings = snapshot_mirror(plan.target)
        assert settings is not None  # noqa: S101 - the callers have looked
        roots = (planner.source.root, planner.target.root)
        problem = copy_problem(work.stores, roots, planner.rules.preserve, is_raw=settings.tde_encryption_enabled)
        if problem is not None:
            return failed(plan, problem)
        state = planner.state(planner.rules.snapshot(plan.target.instance_key))
        if state.problem is not None:
            return failed(plan, state.problem)
        if not self.is_dry_run:
            return plan
        mirror = planner.plan(state, live=True)
        return shown(plan, mirror, lambda: self.refuse(planner, mirror))

    @override
    def run(self, plan: ProcessPlan, work: RunContext) -> Counter[str] | Problem:
        """Mirror, then prune."""
        target = plan.target
        settings = snapshot_mirror(target)
        assert settings is not None  # noqa: S101 - the callers have looked
        planner = self.planner(target, work, work.guard.check)
        copies = copies_of(settings, work)

        def accept(found: MirrorPlan) -> None:
            self.refuse(planner, found)
            amount = f"{sum(1 for _ in found.changes()):,} changes {found.basis}"
            plan.detail.report.say(f"{planner.target.root} becomes {found.state.snapshot}: {amount}")

        root = planner.target.root
        run = MirrorRun(
            planner=planner, copy=copies.copy, refuse=accept, before_publication=partial(work.guard.require, root)
        )
        plans = run.run(planner.rules.snapshot(target.instance_key))
        problem = plans[-1].state.problem
        if problem is not None:
            return problem
        quiet = {MirrorWork.NOTHING, MirrorWork.BEGIN}
        plan.detail.report.is_unchanged = not any(each.operations or each.state.work not in quiet for each in plans)
        retentions = (settings.source_snapshot_retention, settings.target_snapshot_retention)
        counted = Counter(run.counters)
        refusal = work.guard.refusal(root, must_look=True)  # a hold, or one that cannot be looked for
        work.guard.check()
        pruned = run.prune(*map(self.kept, retentions)) if refusal is None else ()  # the next run prunes
        for path in pruned:
            plan.detail.report.say(f"deleted {path}")
        counted.update(SNAPSHOTSPRUNED=len(pruned))
        return counted

    @override
    def verified(self, target: ProcessTarget, work: RunContext) -> VerifiedInstance:
        """Compare the target as it is with the source's snapshot that it was made from."""
        settings = snapshot_mirror(target)
        assert settings is not None  # noqa: S101 - the callers have looked
        planner = self.planner(target, work, None)
        is_raw = settings.tde_encryption_enabled
        verifier = TreeVerifier(storage=work.stores, check=work.guard.run.check, is_raw=is_raw)
        return verify_snapshot_mirror(planner, settings.clusters(), target.instance_key, verifier)

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
                owner=self.owner,
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
        if plan.removed:
            removal = planner.removal(plan)
            refuse_excess(planner.rules.name, planner.target.root, removal, self.limits, self.approve)

    def kept(self, retention: SnapshotRetention) -> KeptSnapshots:
        """Return the snapshots that one side keeps now."""
        return KeptSnapshots(older_than=shift(self.now(), retention.limit, -1, "UTC"), number=retention.number)


def snapshot_mirror(target: ProcessTarget) -> SnapshotMirror | None:
    """Return the settings of the snapshot mirror of an instance; None: it is none."""
    mirror = target.site.process.workflow.mirror
    return None if mirror is None else mirror.hdfs_snapshot
