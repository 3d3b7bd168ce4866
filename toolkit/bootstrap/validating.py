"""Judging an instance by hand, wired: what is there is read, and nothing but the ledger gets anything."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from toolkit.actions.choosing import EntitySelection
from toolkit.actions.gate import Judged, Part, Written
from toolkit.availability import is_ready
from toolkit.bootstrap.action_context import ActionContext, ActionOptions, opened_context
from toolkit.bootstrap.config import RepoRequest
from toolkit.bootstrap.hive import catalog_of
from toolkit.bootstrap.quality import quality_gate
from toolkit.el import format_instant
from toolkit.entities.not_implemented import Area
from toolkit.entities.vocabulary import LocationType
from toolkit.errors import InvalidInput, NotYet
from toolkit.hive.gating import written_of
from toolkit.hive.resolve import instance_address, name_of, uri_of
from toolkit.hive.targets import Standing, TableTarget
from toolkit.hive.waiting import Waiting
from toolkit.hive.ways import Tables
from toolkit.planning.instance_storage import FeedStorage
from toolkit.quality.gate import Author
from toolkit.runs.recorder import path_text

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from toolkit.actions.action import RunContext
    from toolkit.catalog.model import StorageDescriptor, Table
    from toolkit.clock import Clock
    from toolkit.entities import Cluster, Feed
    from toolkit.hive.contents import Part as ComingPart
    from toolkit.quality.exchange import Question
    from toolkit.quality.gate import Judged as JudgedByHand
    from toolkit.quality.gate import QualityGate
    from toolkit.runs.stop import StopSignal


class NoQuality(InvalidInput):
    """A feed that says nothing of what its data must be like.

    Args:
        feed: name.
        cluster: where.
    """

    code = "no_quality"

    def __init__(self, *, feed: str, cluster: str) -> None:
        self.feed, self.cluster = feed, cluster
        super().__init__(f"feed {feed} has no `quality` on {cluster}; add `quality: {{suites: [NAME]}}`")


class InstanceMissing(NotYet):
    """The instance is not there.

    Args:
        feed: name.
        place: where it would be.
    """

    code = "instance_missing"

    def __init__(self, *, feed: str, place: str) -> None:
        self.feed, self.place = feed, place
        super().__init__(f"the instance of {feed} at {place} is not there, or not complete; nothing was judged")


@dataclass(frozen=True, kw_only=True, slots=True)
class ValidateOptions:
    """What the user asked.

    Attributes:
        feed: name.
        cluster: None: there is one alone.
        nominal_time: of the instance.
        repo: the config repo, and the variables of the process.
        dry_run: nothing is judged.
        allow_dirty: judge by a checkout with uncommitted changes.
    """

    feed: str
    cluster: str | None
    nominal_time: datetime
    repo: RepoRequest
    dry_run: bool
    allow_dirty: bool


def judged_by_hand(asked: ValidateOptions, clock: Clock, process: StopSignal) -> JudgedByHand:
    """Judge what is there.

    Raises:
        NoQuality, InstanceMissing: see there.
        InvalidInput: as for `run_action`.
        CatalogError, NoReading: the table cannot be looked at, or not be read.
        Unavailable: the ledger cannot be used.
        StorageError: the instance cannot be listed.
        Stopped: the process was told to end.
    """
    with _opened(asked, clock, process) as (gate, written):
        return gate.judge_by_hand(written, process.check)


def asked_of(asked: ValidateOptions, clock: Clock, process: StopSignal) -> tuple[Question, tuple[str, ...]]:
    """What would be asked of the data, and what would be left out; errors as `judged_by_hand`."""
    with _opened(asked, clock, process) as (gate, written):
        question, left_out = gate.question(written)
        return question, tuple(each.note for each in left_out)


@contextmanager
def _opened(asked: ValidateOptions, clock: Clock, process: StopSignal) -> Iterator[tuple[QualityGate, Written]]:
    with ExitStack() as stack:
        context = opened_context(_options(asked), clock, process, Area.PROCESS, stack, _stakes)
        feed, cluster = context.pairs[0]
        work = context.look(process)  # of no run, so that no effect passes
        stack.callback(work.close)
        feed.instances_on(cluster.name).index(asked.nominal_time)
        written = (_of_table if feed.is_table else _of_path)(_judged(feed, cluster), asked.nominal_time, work)
        author = Author(entity=feed.name)
        gate = quality_gate(
            context.snapshot, context.repository, context.use.ledger, work.stores, author, context.variables
        )
        yield gate, written


def _judged(feed: Feed, cluster: Cluster) -> Judged:
    found = Judged.on(feed, cluster)
    if found is None:
        raise NoQuality(feed=feed.name, cluster=cluster.name)
    return found


def _of_path(judged: Judged, instant: datetime, work: RunContext) -> Written:
    """The instance of that time, where readers find it."""
    feed, cluster = judged.feed, judged.cluster
    place = cluster.place(FeedStorage.of(feed, cluster).at(instant).paths[LocationType.DATA])
    if not is_ready(work.stores(place), place, feed.availability_flag or ""):
        raise InstanceMissing(feed=feed.name, place=str(place))
    return Written(
        feed=feed,
        cluster=cluster,
        instance_key=format_instant(instant),
        unit=path_text(str(place)),
        parts=(Part(place=place, keys={}),),
        quality=judged.quality,
    )


def _of_table(judged: Judged, instant: datetime, work: RunContext) -> Written:
    """All partitions of that time, where readers find them."""
    feed, cluster = judged.feed, judged.cluster
    uri = uri_of(feed, cluster)
    address = instance_address(uri, cluster, instant)
    target = TableTarget(
        feed=feed.name,
        cluster=cluster.name,
        instance_key=format_instant(instant),
        instant=instant,
        table=name_of(uri),
        flag=feed.availability_flag or "",
        judged=judged,
    )
    try:
        contents = Tables(catalog=catalog_of(cluster), uri=lambda _: uri).contents(target, work)
    except Waiting as error:
        raise InstanceMissing(feed=feed.name, place=address) from error
    if contents.broken:
        raise InstanceMissing(feed=feed.name, place=f"{address} ({next(iter(contents.broken.values())).message})")
    lying = [Standing(part=each, place=each.place, storage=_storage(contents.table, each)) for each in contents.parts]
    return written_of(target, judged, address, contents.table, lying)


def _storage(table: Table, part: ComingPart) -> StorageDescriptor:
    return table.storage if part.partition is None else part.partition.storage


def _options(asked: ValidateOptions) -> ActionOptions:
    return ActionOptions(
        selection=EntitySelection(names=(asked.feed,), clusters=(asked.cluster,) if asked.cluster else ()),
        repo=asked.repo,
        nominal_time=asked.nominal_time,
        dry_run=asked.dry_run,
        allow_dirty=asked.allow_dirty,
    )


def _stakes(context: ActionContext) -> Sequence[tuple[Feed, Cluster]]:
    return context.pairs
