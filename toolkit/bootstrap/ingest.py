"""An ingest run, wired."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

from toolkit.actions.hold_watch import NoNewHolds
from toolkit.actions.model import NoTarget
from toolkit.actions.target_resolution import resolved
from toolkit.bootstrap.action_context import ActionContext, ActionOptions, Wired, run_action
from toolkit.compaction.targets import CompactRules
from toolkit.el import format_instant
from toolkit.entities.not_implemented import Area
from toolkit.errors import InvalidInput
from toolkit.ingest_job.action import IngestAction
from toolkit.ingest_job.directory import DirectorySource
from toolkit.ingest_job.instances import IngestInstances, PartitionFiller, closed_before
from toolkit.ingest_job.stdin import StandardInput
from toolkit.ingest_job.targets import CommitLimits, IngestDetail, IngestItem, IngestTarget, RejectRules
from toolkit.planning.instance_storage import FeedStorage
from toolkit.runs.spark_submit import gateway_port

if TYPE_CHECKING:
    from toolkit.actions.progress import Progress
    from toolkit.actions.runner import Targets
    from toolkit.clock import Clock
    from toolkit.el import CanonicalPath
    from toolkit.entities import Cluster, Feed, Hold
    from toolkit.ingest.port import TableState
    from toolkit.ingest.remote_transaction import FillRows
    from toolkit.ingest_job.sink import IngestedTable
    from toolkit.ingest_job.source import IngestSource, Stores
    from toolkit.ingest_job.stdin import InputStream
    from toolkit.ingest_job.targets import IngestResult
    from toolkit.runs.stop import StopSignal


class NotIngested(InvalidInput):
    """A feed cannot be ingested on a cluster.

    Args:
        feed: its name; empty: it is about no feed.
        why: what is wrong, and what to do.
    """

    def __init__(self, *, feed: str, why: str) -> None:
        self.feed, self.why = feed, why
        super().__init__(f"feed {feed} {why}" if feed else why)


@dataclass(frozen=True, kw_only=True, slots=True)
class IngestOptions:
    """Options of an ingest besides those of all actions.

    Attributes:
        max_seconds: so long transactions begin; None: until all is read.
        stdin: read instead of the feed's source; None: that is read.
        stdin_name: names the input, so that a rerun with the same one goes on; empty: it cannot.
        accepts_table: a table that lacks commits which the ledger knows is taken as it is.
        on_executors: Spark's executors read the source, which is a directory, and write the data files.
    """

    max_seconds: float | None = None
    stdin: InputStream | None = None
    stdin_name: str = ""
    accepts_table: bool = False
    on_executors: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class FeedIngest:
    """Settings of a feed's `ingest` on a cluster, with its table.

    Attributes:
        table: records are committed to it.
        event_time: column of the event time.
        source: kind and opener of the source.
        directory: of a source that is one; None: it is another.
        settle: what changed so long before a look at the source is found by it.
        limits: of a commit.
        rejects_bad: bad records are rejected; else one is an error.
        max_rejects: so many of a run; None: any number.
        after: what becomes of files that are committed.
        compaction: rules of the maintenance of the table.
    """

    table: IngestedTable
    event_time: str
    source: tuple[str, Callable[[Stores], IngestSource]]
    directory: CanonicalPath | None = None
    settle: timedelta = timedelta()
    limits: CommitLimits = field(default_factory=CommitLimits)
    rejects_bad: bool = False
    max_rejects: int | None = None
    after: str = "keep"
    compaction: CompactRules = field(default_factory=CompactRules)


Setup: TypeAlias = "Callable[[ActionContext, Clock, Feed, Cluster], FeedIngest | None]"
"""The settings of a feed on a cluster; None: it has no `ingest` there."""


def ingest(
    own: IngestOptions,
    options: ActionOptions,
    clock: Clock,
    process: StopSignal,
    progress: Progress,
    *,
    setup: Setup,
) -> IngestResult:
    """An ingest run, from the options to the result; arguments and errors are those of `run_action`."""
    wire = partial(_wire, own, clock, setup)
    return run_action(options, clock, process, progress, wire, Area.IMPORT, affected=lambda context: context.pairs)


def _wire(
    own: IngestOptions, clock: Clock, setup: Setup, context: ActionContext
) -> Wired[IngestTarget, IngestItem, IngestDetail]:
    options = context.options
    if own.stdin is not None and gateway_port(context.variables) is not None:
        raise NotIngested(feed="", why="cannot read standard input under spark-submit; start it with python")
    if own.on_executors and gateway_port(context.variables) is None:
        raise NotIngested(feed="", why="--engine spark needs spark-submit; start it so, or leave the option out")
    target = partial(_target, own, clock, setup, context)
    chosen = [(_blank(feed, cluster, options), partial(target, feed, cluster)) for feed, cluster in context.pairs]
    targets: Targets[IngestTarget, IngestItem, IngestDetail] = resolved(
        chosen, IngestDetail, refusal="not_ingested", must_all_work=bool(options.selection.names)
    )
    if own.stdin is not None and len(targets.to_do) != 1:
        raise NotIngested(feed="", why=f"--stdin is for one feed on one cluster, and {len(targets.to_do)} were chosen")
    action = IngestAction(
        nominal=options.nominal_time,
        filler=partial(_filler, clock),
        max_seconds=own.max_seconds,
        accepts_table=own.accepts_table,
        new_holds=NoNewHolds() if options.dry_run else context.holds,
    )
    return Wired(action=action, targets=targets)


def _blank(feed: Feed, cluster: Cluster, options: ActionOptions) -> NoTarget:
    return NoTarget(entity=feed.name, cluster=cluster.name, instance_key=format_instant(options.nominal_time))


def _filler(clock: Clock, target: IngestTarget, state: TableState | None) -> FillRows:
    return PartitionFiller(instances=target.instances, closed_before=closed_before(state), now=clock.now)


def _target(
    own: IngestOptions, clock: Clock, setup: Setup, context: ActionContext, feed: Feed, cluster: Cluster
) -> Iterator[IngestTarget]:
    found = setup(context, clock, feed, cluster)
    if found is None:
        if context.options.selection.names:
            raise NotIngested(feed=feed.name, why=f"has no `ingest` on cluster {cluster.name}; add it to the feed")
        return
    kind, opener = found.source
    if own.on_executors and found.directory is None:
        why = f"has no directory as its source on cluster {cluster.name}; leave out --engine spark, which needs one"
        raise NotIngested(feed=feed.name, why=why)
    name, after, base = f"{feed.name}.{kind}", found.after, found.directory
    looked = (clock.now() - found.settle).replace(second=0, microsecond=0)
    watermark = looked if found.compaction.has_source else None
    if own.stdin is not None:
        name, after, base = f"{feed.name}.stdin.{own.stdin_name}" if own.stdin_name else "", "keep", None
        watermark = None
        opener = partial(_standard_input, own.stdin, found.limits.bytes)
    working = cluster.locations.working
    if found.rejects_bad and working is None:
        why = f"has on_bad_record: reject, and cluster {cluster.name} has no locations.working for the rejects; add it"
        raise NotIngested(feed=feed.name, why=why)
    work = cluster.place(working or "/")
    rejects = work.child("rejects").child(feed.name) if found.rejects_bad else None
    yield IngestTarget(
        entity=feed.name,
        cluster=cluster.name,
        instance_key=format_instant(context.options.nominal_time),
        base=base or work,
        open_source=opener,
        progress_name=name,
        table=found.table,
        instances=instances_of(feed, cluster, found.event_time),
        limits=found.limits,
        rejects=RejectRules(directory=rejects, most=found.max_rejects),
        after=after,
        held=held(context, feed, cluster),
        watermark=watermark,
        close_after=found.compaction.close_after,
        is_spread=own.on_executors,
    )


def _standard_input(stream: InputStream, most_bytes: int, stores: Stores) -> IngestSource:
    del stores
    return StandardInput(stream=stream, most_bytes=most_bytes)


def directory_source(
    directory: CanonicalPath,
    pattern: str,
    settle: timedelta,
    clock: Clock,
    *,
    after: str,
    archive: CanonicalPath | None,
    most_bytes: int,
) -> tuple[str, Callable[[Stores], IngestSource]]:
    """Return the source of a feed that is a directory; arguments are those of `DirectorySource`."""

    def opened(stores: Stores) -> IngestSource:
        return DirectorySource(
            directory=directory,
            pattern=pattern,
            settle=settle,
            now=clock.now(),
            stores=stores,
            after=after,
            archive=archive,
            most_bytes=most_bytes,
        )

    return "directory", opened


def instances_of(feed: Feed, cluster: Cluster, event_time: str) -> IngestInstances:
    """Return the instances of a feed on a cluster.

    Raises:
        NotIngested: it has no table.
    """
    table = FeedStorage.of(feed, cluster).table
    if table is None:
        raise NotIngested(feed=feed.name, why="has paths; an ingest needs `table: catalog:DB:TABLE#COLUMN=...`")
    return IngestInstances(
        feed=feed.name,
        cluster=cluster.name,
        sequence=feed.instances_on(cluster.name),
        table=table,
        event_time=event_time,
        cut_off=None if feed.late_arrival is None else feed.late_arrival.cut_off,
        timezone=feed.timezone,
    )


def held(context: ActionContext, feed: Feed, cluster: Cluster) -> str:
    """Return why a hold blocks the ingest; empty: none covers the nominal time."""
    holds: Iterable[Hold] = (*context.repository.holds, *context.holds.as_entities)
    nominal = context.options.nominal_time
    held = (each for each in holds if each.concerns(feed.name, cluster.name) and each.covers(nominal))
    return next((f"held: {each.reason}" for each in held), "")
