"""From what was found of one feed to its plan: what goes, what stays and why."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, pairwise, permutations
from typing import TYPE_CHECKING

from toolkit.actions.hold_file import HoldFile
from toolkit.actions.hold_watch import HOLD_FILE
from toolkit.actions.model import ItemResult, TargetPlan
from toolkit.el import format_instant
from toolkit.el.pattern import NOTHING_KNOWN
from toolkit.planning.retention import Candidate, KeepReason, Kept, holding, keep_last_from, kept_by
from toolkit.retention.plan import (
    FeedPlan,
    ItemKind,
    PlanItem,
    RetentionDetail,
    Unrecognized,
    WholeRange,
    subtrees,
)
from toolkit.retention.protection import ProtectedInstances
from toolkit.retention.walk import EmptyDirectory, Finding, PendingDelete, Unreadable, UnrecognizedName, WholeDirectory

if TYPE_CHECKING:
    from datetime import datetime

    from toolkit.el import CanonicalPath
    from toolkit.retention.targets import FeedTarget, Location
    from toolkit.storage import StorageError


@dataclass(kw_only=True, slots=True)
class Decisions:
    """Decisions about a feed: the items to remove, and those that stay.

    Attributes:
        items: what goes, in the order in which it was found.
        kept: what stays.
        stays: positions of what stays among all that was found.
        is_shared: whether locations of the feed can be inside one another.
        hold_file: keeps what would go, too.
        notes: what no protection keeps any more.
    """

    items: list[PlanItem] = field(default_factory=list)
    kept: list[Kept] = field(default_factory=list)
    stays: list[int] = field(default_factory=list)
    is_shared: bool = False
    hold_file: HoldFile | None = None
    notes: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        target: FeedTarget,
        found: list[Candidate | PlanItem],
        newest: Iterable[Candidate],
        *,
        is_shared: bool,
        hold_file: HoldFile | None = None,
    ) -> Decisions:
        """Decide about everything.

        Args:
            target: the feed.
            found: old instances, and items that nothing is to be decided about; emptied on the way.
            newest: young instances that count for `keep_last`; an instance can be among both.
            is_shared: an instance can have been found in several locations.
            hold_file: keeps everything.
        """
        kept_from = keep_last_from(chain(_candidates(found), newest), target.policy)
        decided = cls(is_shared=is_shared, hold_file=hold_file)
        decided._decide(target, found, kept_from, decided._protected(target, found, kept_from))
        horizon_ones = {each.candidate.path for each in decided.kept}
        young = (each for each in newest if each.path not in horizon_ones)
        decided.kept.extend(kept for each in young if (kept := kept_by(target.policy, each, kept_from)) is not None)
        return decided

    def _protected(
        self, target: FeedTarget, found: list[Candidate | PlanItem], kept_from: datetime
    ) -> Mapping[CanonicalPath, Kept]:
        """Return what protections keep of all that would go; looked for at once, since each look costs a query."""
        policy = target.policy
        has_bound = policy.late_window is not None and policy.late_window.max_age is not None
        if self.hold_file is not None or not (target.protectors or has_bound):
            return {}
        going = {each.path: each for each in _candidates(found) if kept_by(policy, each, kept_from) is None}
        protected = ProtectedInstances.among(going, policy, target.protectors)
        self.notes = tuple(protected.notes)
        return protected.kept

    def _decide(
        self,
        target: FeedTarget,
        found: list[Candidate | PlanItem],
        kept_from: datetime,
        protected: Mapping[CanonicalPath, Kept],
    ) -> None:
        seen: set[CanonicalPath] = set()
        found.reverse()
        for position in range(len(found)):
            each = found.pop()
            if isinstance(each, PlanItem):
                self.items.append(each)
                continue
            if self.is_shared:
                if each.path in seen:
                    continue
                seen.add(each.path)
            kept = kept_by(target.policy, each, kept_from)
            if kept is None and self.hold_file is not None:
                kept = Kept(candidate=each, reason=KeepReason.HOLD, detail=self.hold_file.as_reason)
            if kept is None:
                kept = protected.get(each.path)
            if kept is None:
                self.items.append(PlanItem.of_instance(each, target))
            else:
                self.kept.append(kept)
                self.stays.append(position)


def in_order(items: list[PlanItem]) -> tuple[PlanItem, ...]:
    """The items in the order of their sort keys, in which a walk nearly always finds them."""
    if any(one > other for one, other in pairwise(item.sort_key for item in items)):
        items.sort(key=lambda item: item.sort_key)
    return tuple(items)


def _candidates(found: Iterable[Candidate | PlanItem]) -> Iterator[Candidate]:
    return (each for each in found if isinstance(each, Candidate))


_SAMPLE = 10


@dataclass(kw_only=True)
class ScanResult:
    """Result of the scan of one feed; grows during the walk, which may find a hold file."""

    target: FeedTarget
    hold_file: HoldFile | None = None
    found: list[Candidate | PlanItem] = field(default_factory=list)
    wholes: list[WholeRange] = field(default_factory=list)
    newest: list[Candidate] = field(default_factory=list)
    unreadable: list[tuple[PlanItem, StorageError]] = field(default_factory=list)
    unrecognized: int = 0
    sample: list[tuple[str, str]] = field(default_factory=list)
    held_pending_deletes: int = 0

    def add(self, finding: Finding, location: Location) -> None:
        """Take in one finding."""
        match finding:
            case Candidate():
                self.found.append(finding)
            case WholeDirectory():
                end = len(self.found)
                self.wholes.append(WholeRange(finding.path, location.type, end - finding.instances, end))
            case UnrecognizedName():
                self._add_unrecognized(finding, location)
            case PendingDelete():
                self._add_pending_delete(finding, location)
            case EmptyDirectory():
                self.found.append(PlanItem.of_directory(ItemKind.EMPTY_DIRECTORY, finding.path, self.target, location))
            case Unreadable():
                item = PlanItem.of_directory(ItemKind.UNREADABLE, finding.path, self.target, location)
                self.unreadable.append((item, finding.error))

    @property
    def kept_from(self) -> datetime:
        """Return the `keep_last_from` of all that was found; to be asked before `as_plan`."""
        return keep_last_from(chain(_candidates(self.found), self.newest), self.target.policy)

    def as_plan(self) -> FeedPlan:
        """The decisions about all that was found, which is forgotten here to make room for them."""
        is_shared = _share_places(self.target.locations)
        decided = Decisions.of(self.target, self.found, self.newest, is_shared=is_shared, hold_file=self.hold_file)
        if self.hold_file is not None:
            return self._held_plan(decided, self.hold_file)
        items = in_order(self._bounded(decided.items) if decided.is_shared else decided.items)
        detail = RetentionDetail(
            subtrees=() if self._goes_one_by_one(decided) else subtrees(self.wholes, decided.stays, items),
            kept=_shown(decided.kept),
            unrecognized=Unrecognized(count=self.unrecognized, sample=tuple(self.sample)),
        )
        notes = (*decided.notes, *self._notes())
        unreadable = tuple(ItemResult.failed(item, error.code, str(error)) for item, error in self.unreadable)
        return TargetPlan(target=self.target, detail=detail, items=items, unreadable=unreadable, notes=notes)

    def _goes_one_by_one(self, decided: Decisions) -> bool:
        """A directory does not go as a whole when each instance in it is archived, or can be restored, by itself."""
        return decided.is_shared or self.target.archive is not None or self.target.quarantine is not None

    def _held_plan(self, decided: Decisions, hold_file: HoldFile) -> FeedPlan:
        """Nothing goes, and how much that is stays in sight: a forgotten hold file fills the disk."""
        kept = _shown(decided.kept)
        number = sum(each.detail == hold_file.as_reason for each in kept)
        return TargetPlan(
            target=self.target,
            detail=RetentionDetail(kept=kept, hold_file=hold_file),
            notes=(hold_file.note(number, is_complete=not self.unreadable),),
        )

    def _bounded(self, items: Sequence[PlanItem]) -> list[PlanItem]:
        """Items with the nearest base around them: that of a location inside another one stays as well."""
        bases = [location.base for location in self.target.locations]
        return [replace(item, base=max(_around(item.path, bases), key=lambda base: len(base.path))) for item in items]

    def _notes(self) -> tuple[str, ...]:
        if not self.held_pending_deletes:
            return ()
        return (f"{self.held_pending_deletes} half-removed instances are on hold; end the hold to have them finished",)

    def _add_unrecognized(self, unrecognized_name: UnrecognizedName, location: Location) -> None:
        if unrecognized_name.path.name == HOLD_FILE and self.hold_file is None:
            # Its intended extent is unknown; and deleting that cannot be undone.
            about = f"a hold file below the base holds the whole feed, too; but only one in {location.base} also stops "
            self.hold_file = HoldFile(unrecognized_name.path, f"{about}a run that is already deleting")
        self.unrecognized += 1
        if len(self.sample) < _SAMPLE:
            self.sample.append((str(unrecognized_name.path), _why_unrecognized(location, unrecognized_name)))

    def _add_pending_delete(self, pending_delete: PendingDelete, location: Location) -> None:
        period, holds = pending_delete.period, self.target.policy.holds
        # Which instance a long name stood for is not known, so that any hold of the feed may mean it.
        is_held = bool(holds) if period is None else holding(period.first, period.end, holds) is not None
        if is_held:
            self.held_pending_deletes += 1
            return
        key = "" if period is None else format_instant(period.first)
        item = PlanItem.of_directory(ItemKind.PENDING_DELETE, pending_delete.path, self.target, location)
        self.found.append(replace(item, instance_key=key))


def _shown(kept: Iterable[Kept]) -> tuple[Kept, ...]:
    """Return those that are old enough to go but stay."""
    return tuple(each for each in kept if each.reason is not KeepReason.TOO_YOUNG)


def _share_places(locations: Sequence[Location]) -> bool:
    """Return whether one location may be inside another: then a directory of the one can hold what is of the other."""
    bases = [location.base for location in locations]
    return any(one == other or one.is_within(other) for one, other in permutations(bases, 2))


def _around(path: CanonicalPath, bases: Iterable[CanonicalPath]) -> list[CanonicalPath]:
    return [base for base in bases if path.is_within(base)]


def _why_unrecognized(location: Location, unrecognized_name: UnrecognizedName) -> str:
    """The template's own explanation; it knows whole paths, so that a wrong date on the way is found here."""
    path = unrecognized_name.path
    if unrecognized_name.is_unnameable:
        return "holds a key with '//', '/./' or '/../', which no path can name"
    if unrecognized_name.is_link:
        return "is a symbolic link"
    return why_not(location, path)


def why_not(location: Location, path: CanonicalPath) -> str:
    """Why a path below the base of a location is no instance of it."""
    template, known = location.template, NOTHING_KNOWN
    names = path.relative_to(location.base).split("/")
    for position, name in enumerate(names):
        following = template.step(known, template.base_depth + position, name)
        if following is None:
            return template.explain(location.written(path))
        if template.reach(following) == ():
            return f"'{'/'.join(names[: position + 1])}' names a date that does not exist in {template.timezone}"
        known = following
    is_complete = template.parse(location.written(path)) is not None
    return "is neither a directory nor a file" if is_complete else template.explain(location.written(path))
