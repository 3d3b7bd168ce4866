"""Mirrors that compare both sides (`type: hdfs`), on any store (ADR 0105)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from typing_extensions import override

from toolkit.actions.verification import TreeVerifier
from toolkit.mirror.tree_planner import TreePlan, TreePlanner
from toolkit.mirror.tree_run import TreeRun
from toolkit.mirror.verify import verify_tree_mirror
from toolkit.process_runner.mirrors import MirrorAction, copies_of, failed, refuse_excess, shown

if TYPE_CHECKING:
    from toolkit.actions.action import RunContext
    from toolkit.actions.model import Problem
    from toolkit.actions.verification import VerifiedInstance
    from toolkit.entities import Cluster
    from toolkit.planning.delete_limits import DeleteLimits
    from toolkit.process_runner.targets import ProcessPlan, ProcessTarget


@dataclass(frozen=True, kw_only=True)
class TreeMirrors(MirrorAction):
    """Mirrors of a run that compare both sides.

    Attributes:
        cluster: the cluster of a name; raises InvalidInput for one that is not there, or not of the environment.
        limits: of what one run of a mirror removes at its target.
        approve: digest of a removal that may exceed the limits.
        is_dry_run: planning an instance plans all changes; else the run does, under its lease.
        owner: config repo and environment; other ones may have mirrors of the same names.
    """

    cluster: Callable[[str], Cluster]
    limits: DeleteLimits
    approve: str | None = None
    is_dry_run: bool = False
    owner: str = ""

    @override
    def planned(self, plan: ProcessPlan, work: RunContext) -> ProcessPlan:
        planner = self.planner(plan.target, work)
        problem = planner.problem()
        if problem is not None or not self.is_dry_run:
            return plan if problem is None else failed(plan, problem)
        found = planner.plan()
        return shown(plan, found, lambda: self.refuse(planner, found))

    @override
    def run(self, plan: ProcessPlan, work: RunContext) -> Counter[str] | Problem:
        planner = self.planner(plan.target, work)

        def accept(found: TreePlan) -> None:
            self.refuse(planner, found)
            amount = f"{sum(1 for _ in found.changes()):,} changes {found.basis}"
            plan.detail.report.say(f"{planner.target} becomes what {planner.source} is: {amount}")

        run = TreeRun(
            planner=planner,
            copy=copies_of(planner.settings, work).copy,
            refuse=accept,
            run_name=work.run_name,
            completing=work.guard.completing,
            before_publication=partial(work.guard.require, planner.target),
        )
        done = run.run()
        plan.detail.report.is_unchanged = done.is_nothing
        size = sum(done.copied[path].size for path in run.reused)
        return Counter(
            COPY=len(done.copied) - len(run.reused),
            BYTESCOPIED=done.bytes - size,
            COPYREUSED=len(run.reused),
            BYTESREUSED=size,
            DELETES=len(done.leaving),
        )

    @override
    def verified(self, target: ProcessTarget, work: RunContext) -> VerifiedInstance:
        planner = self.planner(target, work)
        is_raw = planner.settings.tde_encryption_enabled
        verifier = TreeVerifier(storage=work.stores, check=work.guard.run.check, is_raw=is_raw)
        return verify_tree_mirror(planner, target.instance_key, verifier)

    def planner(self, target: ProcessTarget, work: RunContext) -> TreePlanner:
        """Return the planner of an instance's mirror; raises InvalidInput when a side cannot be opened."""
        mirror = target.site.process.workflow.mirror
        assert mirror is not None  # noqa: S101 - the callers have looked
        assert mirror.hdfs is not None  # noqa: S101
        source, into = mirror.hdfs.directories()
        return TreePlanner(
            name=target.entity,
            settings=mirror.hdfs,
            source=self.cluster(mirror.hdfs.source_cluster).place(source),
            target=self.cluster(mirror.hdfs.target_cluster).place(into),
            stores=work.stores,
            check=work.guard.run.check,
            pool=work.copying.pool,
            owner=self.owner,
        )

    def refuse(self, planner: TreePlanner, plan: TreePlan) -> None:
        """Return when a plan is within the limits.

        Raises:
            MirrorRemovesTooMuch: it is not.
        """
        if plan.leaving:
            refuse_excess(planner.name, planner.target, plan.removal, self.limits, self.approve)
