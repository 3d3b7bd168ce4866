"""The plan of a retention run: exactly what a dry run shows and exactly what is then done (DESIGN section 1)."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from toolkit.actions.staged_unit import unit_name
from toolkit.el import format_instant
from toolkit.entities import LocationType
from toolkit.planning.location_index import names_text
from toolkit.retention.quarantine import digest_of

if TYPE_CHECKING:
    from toolkit.actions.hold_file import HoldFile
    from toolkit.actions.model import TargetPlan
    from toolkit.actions.result import ActionResult, TargetResult
    from toolkit.catalog.model import TableName
    from toolkit.el import CanonicalPath
    from toolkit.ingest.port import DataFile
    from toolkit.planning.retention import Candidate, Kept
    from toolkit.retention.targets import FeedTarget, Location


class ItemKind(StrEnum):
    """Kind of an item."""

    INSTANCE = "instance"
    """An instance of the feed: a directory with its content, or a file."""
    PENDING_DELETE = "leftover"
    """Rest of a killed removal; it is not an instance any more."""
    STAGED = "gated"
    """Staged data of an instance that was never published: blocked, or left there; and its manifest."""
    EMPTY_DIRECTORY = "empty_directory"
    """An old directory above instances that nothing is in."""
    PARTITION = "partition"
    """A partition of a table, which the metastore forgets."""
    PARTITION_ENTRY = "partition_entry"
    """A partition that the metastore forgets, and whose data stay: they are where feedctl touches nothing."""
    PARTITION_DATA = "partition_data"
    """The directory of the partitions that stand just before it in the plan; it goes after them."""
    QUARANTINED = "quarantined"
    """An instance in quarantine whose time there is over."""
    RESTORED = "restored"
    """An instance that comes back from quarantine."""
    UNREADABLE = "unreadable"
    """A directory that could not be listed; never part of a plan, only of a result."""


FORGOTTEN = frozenset({ItemKind.PARTITION, ItemKind.PARTITION_ENTRY})
"""Kinds of items that the metastore forgets."""
OF_TABLES = FORGOTTEN | {ItemKind.PARTITION_DATA}
"""Kinds of items that only table feeds have."""


class NamedPartition(NamedTuple):
    """A partition by its name in the metastore, for example ``ds=2026-03-01/region=us``."""

    table: TableName
    name: str

    def __str__(self) -> str:
        """For the ledger: ``catalog:DATABASE:TABLE#NAME``."""
        return f"catalog:{self.table.database}:{self.table.table}#{self.name}"


EVICTED = FORGOTTEN | {ItemKind.INSTANCE}
"""Kinds of items that readers lose."""


@dataclass(frozen=True, kw_only=True, slots=True)
class PlanItem:
    """A thing to remove; a `WorkItem`.

    Attributes:
        instance_key: the instance's canonical time; empty where there is none.
        base: nothing at, beside or above it is touched.
        archive: where it is copied before it goes; None: it is not.
        quarantine: the feed's folder that it is moved into; of one that is in quarantine what names its place there
            (`QuarantinePlace.named`); None: neither.
        partition: that it is, or whose data it is; of data of several, one of them. None: it is of a path feed.
        files: of a partition of an ingested table, all that it had when the plan was made; of others none.
    """

    type: ItemKind
    feed: str
    cluster: str
    location: LocationType
    instance_key: str
    path: CanonicalPath
    base: CanonicalPath
    archive: CanonicalPath | None = None
    quarantine: CanonicalPath | None = None
    partition: NamedPartition | None = None
    files: tuple[DataFile, ...] = ()

    @classmethod
    def of_instance(cls, candidate: Candidate, target: FeedTarget) -> PlanItem:
        """The item of an instance that was found."""
        return cls(
            type=ItemKind.STAGED if candidate.is_staged else ItemKind.INSTANCE,
            feed=target.feed,
            cluster=target.cluster,
            location=candidate.location,
            instance_key=format_instant(candidate.time),
            path=candidate.path,
            base=candidate.base,
            archive=target.archived(candidate.path),
            quarantine=None if candidate.is_staged else target.quarantine_folder(candidate.base),
        )

    @classmethod
    def of_directory(cls, kind: ItemKind, path: CanonicalPath, target: FeedTarget, location: Location) -> PlanItem:
        """An item that has no instance time."""
        return cls(
            type=kind,
            feed=target.entity,
            cluster=target.cluster,
            location=location.type,
            instance_key="",
            path=path,
            base=location.base,
        )

    def about_parent(self, parent: CanonicalPath) -> PlanItem:
        """An item for a directory that this one was in."""
        nothing = replace(self, archive=None, quarantine=None, partition=None)
        return replace(nothing, type=ItemKind.EMPTY_DIRECTORY, instance_key="", path=parent)

    @property
    def kind(self) -> str:
        """The kind in the ledger, for example ``instance:data``; recovery treats all partitions alike."""
        return f"{ItemKind.PARTITION if self.type in FORGOTTEN else self.type}:{self.location}"

    @property
    def uri(self) -> str:
        """The path; of a partition its address, since the effect is in the metastore."""
        return str(self.partition if self.type in FORGOTTEN else self.path)

    @property
    def identity(self) -> tuple[str, ...]:
        """The item's name: kind, feed, cluster, location, instance, path and files."""
        own = (self.type, self.feed, self.cluster, self.location, self.instance_key, str(self.path))
        further = (str(each) for each in (self.archive, self.quarantine, self.partition) if each is not None)
        return (*own, *further, *(each.uri for each in self.files))

    @property
    def is_waiting(self) -> bool:
        """True if it is staged data, and not a manifest beside it."""
        return self.type is ItemKind.STAGED and unit_name(self.path.name) == self.path.name

    @property
    def is_data_instance(self) -> bool:
        """True if its end is an event."""
        return self.type in EVICTED and self.location is LocationType.DATA

    @property
    def sort_key(self) -> tuple[str, str, str, str]:
        """By feed and location, then by the names of the path, so that what shares a directory stands together."""
        return (self.feed, self.cluster, self.location, names_text(self.path))


@dataclass(frozen=True, kw_only=True, slots=True)
class Subtree:
    """A directory that was seen to hold nothing but instances of the plan, and so may go in one call.

    It is looked at once more before: what came meanwhile stays, and its instances go one by one.

    Attributes:
        root: the directory, strictly below the base.
        begin: position in the plan's items of the first one below it; all items from there on are below it.
        end: the position behind the last one.
    """

    root: CanonicalPath
    begin: int
    end: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Unrecognized:
    """Names that do not conform: how many were seen, and some of them with the reason."""

    count: int = 0
    sample: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class RetentionDetail:
    """Content of a feed's plan besides its items.

    Attributes:
        subtrees: in the order of the items, none inside another.
        kept: instances that are old enough and stay all the same.
        unrecognized: names that do not conform.
        hold_file: keeps everything of the feed; what would go without it is among those that are kept.
        young: partitions of a table that are too young; of a path feed they are counted only when a limit asks.
        base: the directory of a table that was looked at; None: it is a path feed.
        condemned: digests of the paths of instances in quarantine whose data is where it was: the store has no renames,
            or a run was killed before its rename.
    """

    subtrees: tuple[Subtree, ...] = ()
    kept: tuple[Kept, ...] = ()
    unrecognized: Unrecognized = Unrecognized()
    hold_file: HoldFile | None = None
    young: frozenset[str] = frozenset()
    base: CanonicalPath | None = None
    condemned: frozenset[str] = frozenset()

    def has_condemned(self, path: CanonicalPath | None) -> bool:
        """Return whether the data at a path is condemned there."""
        return path is not None and digest_of(path) in self.condemned


FeedPlan: TypeAlias = "TargetPlan[FeedTarget, PlanItem, RetentionDetail]"
"""Plan of one feed."""
RetentionResult: TypeAlias = "ActionResult[FeedTarget, PlanItem, RetentionDetail]"
"""Result of a retention run."""
FeedResult: TypeAlias = "TargetResult[FeedTarget, PlanItem, RetentionDetail]"
"""Result of one feed."""


def evicted(plan: FeedPlan) -> int:
    """Return how many instances go, of a table how many partitions; pending deletes and empty directories are none.

    Staged data of an instance counts as one, since it is data as well; its manifest does not.
    """
    return sum(item.type in EVICTED or item.is_waiting for item in plan.items)


class StayReason(StrEnum):
    """Why an item was left on purpose, besides what keeps those of any action (`SkipReason`)."""

    ALREADY_GONE = "already_gone"
    """Another program removed it since the plan was made."""
    NOT_EMPTY = "not_empty"
    """Something was put into the directory since the plan was made, or it is gone."""
    MOVED = "moved"
    """The partition has got another location since the plan was made, so that it is not what was planned."""
    PARTITION_STAYS = "partition_stays"
    """A partition that these are the data of is still there, or one stays that it shares its directory with."""
    FILES_CHANGED = "files_changed"
    """Since the plan was made, rows came to the partition of an ingested table, or its files were merged."""
    WRITTEN_AGAIN = "written_again"
    """An instance that was condemned on an object store was written again, so that it is not purged."""


FEWEST, MOST = 2, 5_000
"""So many instances go with one directory: one goes by itself as well, and too many hide the progress."""


@dataclass(frozen=True, slots=True)
class WholeRange:
    """A directory that was seen to hold nothing but the instances from `begin` to before `end`, as they were found."""

    root: CanonicalPath
    location: LocationType
    begin: int
    end: int


def subtrees(wholes: Sequence[WholeRange], stays: Sequence[int], items: Sequence[PlanItem]) -> tuple[Subtree, ...]:
    """The topmost directories all of whose instances go, in the order of the items.

    Args:
        wholes: directories in the order in which a walk leaves them: what is inside one comes before it.
        stays: positions of the found instances that stay, rising.
        items: of the plan of one feed, sorted.
    """
    found = (_subtree(whole, items) for whole in _topmost(wholes, stays))
    return tuple(sorted((each for each in found if each is not None), key=lambda each: each.begin))


def _topmost(wholes: Sequence[WholeRange], stays: Sequence[int]) -> Iterator[WholeRange]:
    """Backwards, a directory comes before what is inside it, and that is passed over once the directory is taken."""
    taken_from: int | None = None
    for whole in reversed(wholes):
        if taken_from is not None and whole.begin >= taken_from:
            continue
        do_all_go = bisect_left(stays, whole.begin) == bisect_left(stays, whole.end)
        if do_all_go and FEWEST <= whole.end - whole.begin <= MOST:
            taken_from = whole.begin
            yield whole


def _subtree(whole: WholeRange, items: Sequence[PlanItem]) -> Subtree | None:
    """Return the span of the directory's instances among the items; None when something else of the plan is in it."""
    first_inside = (whole.location, f"{names_text(whole.root)}\0")
    begin = bisect_left(items, first_inside, key=lambda item: (item.location, names_text(item.path)))
    end = begin + whole.end - whole.begin
    inside = [0 <= at < len(items) and items[at].path.is_within(whole.root) for at in (begin - 1, begin, end - 1, end)]
    return Subtree(root=whole.root, begin=begin, end=end) if inside == [False, True, True, False] else None


def part_of(plan: FeedPlan, positions: frozenset[int]) -> FeedPlan:
    """Return a plan with the items at some positions, as far as they may go without the others.

    The partitions of one directory stand before its data: without one of them, the others and the data stay as well.
    """
    kept: list[int] = []
    group: list[int] = []
    for at, item in enumerate(plan.items):
        group.append(at)
        if item.type is not ItemKind.PARTITION or item.files:
            kept.extend(group if all(each in positions for each in group) else ())
            group = []
    return replace(plan, items=tuple(plan.items[at] for at in kept), detail=_with_subtrees(plan.detail, kept))


def _with_subtrees(detail: RetentionDetail, kept: Sequence[int]) -> RetentionDetail:
    """Keep the directories all of whose items are kept, at the items' new positions."""
    found = ((each, bisect_left(kept, each.begin), bisect_left(kept, each.end)) for each in detail.subtrees)
    whole = (replace(each, begin=begin, end=end) for each, begin, end in found if end - begin == each.end - each.begin)
    return replace(detail, subtrees=tuple(whole))
