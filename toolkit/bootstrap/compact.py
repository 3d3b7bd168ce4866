"""A run of the maintenance of ingested tables, wired."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from toolkit.actions.hold_watch import NoNewHolds
from toolkit.actions.model import NoTarget
from toolkit.actions.target_resolution import resolved
from toolkit.bootstrap.action_context import ActionContext, ActionOptions, Wired, run_action
from toolkit.bootstrap.ingest import NotIngested, held, instances_of
from toolkit.bootstrap.ingest_setup import configured
from toolkit.compaction.action import CompactAction
from toolkit.compaction.targets import CompactDetail, CompactItem, CompactTarget
from toolkit.el import format_instant
from toolkit.entities.not_implemented import Area

if TYPE_CHECKING:
    from toolkit.actions.progress import Progress
    from toolkit.actions.runner import Targets
    from toolkit.clock import Clock
    from toolkit.compaction.targets import CompactResult
    from toolkit.entities import Cluster, Feed
    from toolkit.runs.stop import StopSignal


def compact(options: ActionOptions, clock: Clock, process: StopSignal, progress: Progress) -> CompactResult:
    """A run of the maintenance, from the options to the result; arguments and errors are those of `run_action`."""
    wire = partial(_wire, clock)
    return run_action(options, clock, process, progress, wire, Area.IMPORT, affected=lambda context: context.pairs)


def _wire(clock: Clock, context: ActionContext) -> Wired[CompactTarget, CompactItem, CompactDetail]:
    options = context.options
    target = partial(_target, clock, context)
    chosen = [(_blank(feed, cluster, options), partial(target, feed, cluster)) for feed, cluster in context.pairs]
    targets: Targets[CompactTarget, CompactItem, CompactDetail] = resolved(
        chosen, CompactDetail, refusal="not_ingested", must_all_work=bool(options.selection.names)
    )
    action = CompactAction(
        nominal=options.nominal_time,
        now=clock.now,
        ledger=context.use.ledger,
        new_holds=NoNewHolds() if options.dry_run else context.holds,
    )
    return Wired(action=action, targets=targets)


def _blank(feed: Feed, cluster: Cluster, options: ActionOptions) -> NoTarget:
    return NoTarget(entity=feed.name, cluster=cluster.name, instance_key=format_instant(options.nominal_time))


def _target(clock: Clock, context: ActionContext, feed: Feed, cluster: Cluster) -> Iterator[CompactTarget]:
    found = configured(context, clock, feed, cluster)
    if found is None:
        if context.options.selection.names:
            raise NotIngested(feed=feed.name, why=f"has no `ingest` on cluster {cluster.name}; add it to the feed")
        return
    yield CompactTarget(
        entity=feed.name,
        cluster=cluster.name,
        instance_key=format_instant(context.options.nominal_time),
        base=found.directory or cluster.place(cluster.locations.working or "/"),
        name=found.table.name,
        open_table=found.table.opened,
        instances=instances_of(feed, cluster, found.event_time),
        rules=found.compaction,
        held=held(context, feed, cluster),
    )
