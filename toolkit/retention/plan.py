"""The plan of a retention run: exactly what a dry run shows and exactly what is then done (DESIGN section 1)."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property
from typing import TYPE_CHECKING

from toolkit.el import format_instant

if TYPE_CHECKING:
    from collections.abc import Mapping

    from toolkit.el import CanonicalPath
    from toolkit.entities import LocationType
    from toolkit.planning.delete_limits import Excess
    from toolkit.planning.retention import Candidate, Kept
    from toolkit.retention.targets import FeedTarget, Location
    from toolkit.storage import StorageError


class ItemKind(StrEnum):
    """What an item is about."""

    INSTANCE = "instance"
    """An instance of the feed: a directory with its content, or a file."""
    LEFTOVER = "leftover"
    """What a killed removal left aside; it is not an instance any more."""
    EMPTY_DIRECTORY = "empty_directory"
    """An old directory above instances that nothing is in."""
    UNREADABLE = "unreadable"
    """A directory that could not be listed; never part of a plan, only of a result."""


@dataclass(frozen=True, kw_only=True, slots=True)
class PlanItem:
    """One thing to remove.

    Attributes:
        key: the instance's canonical time; empty where there is none.
        base: nothing at, beside or above it is touched.
    """

    kind: ItemKind
    feed: str
    cluster: str
    location: LocationType
    key: str
    path: CanonicalPath
    base: CanonicalPath

    @classmethod
    def of_instance(cls, candidate: Candidate, feed: str, cluster: str) -> PlanItem:
        """The item of an instance that was found."""
        return cls(
            kind=ItemKind.INSTANCE,
            feed=feed,
            cluster=cluster,
            location=candidate.location,
            key=format_instant(candidate.time),
            path=candidate.path,
            base=candidate.base,
        )

    @classmethod
    def of_directory(cls, kind: ItemKind, path: CanonicalPath, target: FeedTarget, location: Location) -> PlanItem:
        """An item that has no instance time."""
        return cls(
            kind=kind,
            feed=target.feed,
            cluster=target.cluster,
            location=location.type,
            key="",
            path=path,
            base=location.base,
        )

    def about_parent(self, parent: CanonicalPath) -> PlanItem:
        """An item for a directory that this one was in."""
        return replace(self, kind=ItemKind.EMPTY_DIRECTORY, key="", path=parent)

    @property
    def sort_key(self) -> tuple[str, str, str, str]:
        """By feed and location, then by the names of the path, so that what shares a directory stands together."""
        return (self.feed, self.cluster, self.location, names_text(self.path))


def names_text(path: CanonicalPath) -> str:
    """A text that sorts as the path's names do one by one: no name has a NUL in it, which sorts before all else."""
    return str(path).replace("/", "\0")


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
class Strangers:
    """Names that do not conform: how many were seen, and some of them with the reason."""

    count: int = 0
    sample: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Failure:
    """Why a feed could not be looked at, was refused, or was skipped; `code` is stable."""

    code: str
    message: str


@dataclass(frozen=True, kw_only=True, slots=True)
class FeedPlan:
    """What will happen to one feed.

    Attributes:
        target: None when the feed was refused before it could be resolved.
        items: what goes, sorted.
        subtrees: in the order of the items, none inside another.
        kept: instances that are old enough and stay all the same.
        unreadable: directories whose content stays because they could not be listed.
        is_held: a hold file in the feed's base keeps everything; then nothing was looked at.
        failure: why nothing of this feed is planned.
        skipped: why it is none of this run's business now: suspended, or another run is at it.
    """

    feed: str
    cluster: str
    target: FeedTarget | None = None
    items: tuple[PlanItem, ...] = ()
    subtrees: tuple[Subtree, ...] = ()
    kept: tuple[Kept, ...] = ()
    unreadable: tuple[tuple[PlanItem, StorageError], ...] = ()
    strangers: Strangers = Strangers()
    notes: tuple[str, ...] = ()
    is_held: bool = False
    failure: Failure | None = None
    skipped: Failure | None = None

    @property
    def label(self) -> str:
        """How messages name it."""
        return f"{self.feed} on {self.cluster}" if self.cluster else self.feed

    @property
    def evicted(self) -> int:
        """How many instances go; leftovers and empty directories are none."""
        return sum(item.kind is ItemKind.INSTANCE for item in self.items)


@dataclass(frozen=True, kw_only=True)
class RetentionPlan:
    """What will happen to all feeds of the run.

    Attributes:
        excess: the safety limit that the plan exceeds, if any.
    """

    feeds: tuple[FeedPlan, ...]
    excess: Excess | None = None

    @property
    def items(self) -> tuple[PlanItem, ...]:
        """All items in the order in which they are done."""
        return tuple(item for feed in self.feeds for item in feed.items)

    @property
    def evicted_by_feed(self) -> Mapping[str, int]:
        """Instances that go, for each feed and cluster."""
        return {feed.label: feed.evicted for feed in self.feeds if feed.evicted}

    @cached_property
    def digest(self) -> str:
        """Names this plan: SHA-256, in hexadecimal, over its nominal time and its sorted items.

        So an approval that somebody left in a schedule is not good for the same instances on another day.
        """
        digest = hashlib.sha256()
        for feed in self.feeds:
            if feed.target is not None and feed.items:
                digest.update(f"{format_instant(feed.target.policy.nominal_time)}\n".encode())
            for item in feed.items:
                line = "\t".join((item.kind, item.feed, item.cluster, item.location, item.key, str(item.path)))
                digest.update(f"{line}\n".encode(errors="surrogateescape"))
        return digest.hexdigest()
