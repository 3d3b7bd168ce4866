"""What was found of one feed, gathered into its plan."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import permutations
from typing import TYPE_CHECKING

from toolkit.el import format_instant
from toolkit.el.pattern import NOTHING_KNOWN
from toolkit.planning.retention import Candidate, KeepReason, holding
from toolkit.retention.deciding import Decisions, in_order
from toolkit.retention.find import Finding
from toolkit.retention.findings import HOLD_FILE, EmptyDirectory, Leftover, Stranger, Unreadable, WholeDirectory
from toolkit.retention.plan import FeedPlan, ItemKind, PlanItem, Strangers
from toolkit.retention.subtrees import WholeRange, subtrees

if TYPE_CHECKING:
    from toolkit.el import CanonicalPath
    from toolkit.retention.targets import FeedTarget, Location
    from toolkit.storage import StorageError

_SAMPLE = 10


@dataclass(kw_only=True)
class Seen:
    """What was found of one feed; grows during the walk."""

    target: FeedTarget
    found: list[Candidate | PlanItem] = field(default_factory=list)
    wholes: list[WholeRange] = field(default_factory=list)
    newest: list[Candidate] = field(default_factory=list)
    unreadable: list[tuple[PlanItem, StorageError]] = field(default_factory=list)
    strangers: int = 0
    sample: list[tuple[str, str]] = field(default_factory=list)
    held_leftovers: int = 0
    misplaced_hold: str | None = None

    def add(self, finding: Finding, location: Location) -> None:
        """Take in one finding."""
        match finding:
            case Candidate():
                self.found.append(finding)
            case WholeDirectory():
                end = len(self.found)
                self.wholes.append(WholeRange(finding.path, location.type, end - finding.instances, end))
            case Stranger():
                self._add_stranger(finding, location)
            case Leftover():
                self._add_leftover(finding, location)
            case EmptyDirectory():
                self.found.append(PlanItem.of_directory(ItemKind.EMPTY_DIRECTORY, finding.path, self.target, location))
            case Unreadable():
                item = PlanItem.of_directory(ItemKind.UNREADABLE, finding.path, self.target, location)
                self.unreadable.append((item, finding.error))

    def as_plan(self) -> FeedPlan:
        """The decisions about all that was found, which is forgotten here to make room for them."""
        if self.misplaced_hold is not None:
            feed, cluster = self.target.feed, self.target.cluster
            return FeedPlan(feed=feed, cluster=cluster, target=self.target, notes=(self.misplaced_hold,), is_held=True)
        decided = Decisions.of(self.target, self.found, self.newest, is_shared=_share_places(self.target.locations))
        items = in_order(self._bounded(decided.items) if decided.is_shared else decided.items)
        return FeedPlan(
            feed=self.target.feed,
            cluster=self.target.cluster,
            target=self.target,
            items=items,
            subtrees=() if decided.is_shared else subtrees(self.wholes, decided.stays, items),
            kept=tuple(kept for kept in decided.kept if kept.reason is not KeepReason.TOO_YOUNG),
            unreadable=tuple(self.unreadable),
            strangers=Strangers(count=self.strangers, sample=tuple(self.sample)),
            notes=self._notes(),
        )

    def _bounded(self, items: Sequence[PlanItem]) -> list[PlanItem]:
        """Items with the nearest base around them: that of a location inside another one stays as well."""
        bases = [location.base for location in self.target.locations]
        return [replace(item, base=max(_around(item.path, bases), key=lambda base: len(base.path))) for item in items]

    def _notes(self) -> tuple[str, ...]:
        if not self.held_leftovers:
            return ()
        return (f"{self.held_leftovers} half-removed instances are on hold; end the hold to have them finished",)

    def _add_stranger(self, stranger: Stranger, location: Location) -> None:
        if stranger.path.name == HOLD_FILE and self.misplaced_hold is None:
            # Nobody knows how much it was meant to hold; and deleting that cannot be undone.
            self.misplaced_hold = (
                f"on hold by {stranger.path}: a hold file below the base holds the whole feed, too; but only one in "
                f"{location.base} also stops a run that is already deleting"
            )
        self.strangers += 1
        if len(self.sample) < _SAMPLE:
            self.sample.append((str(stranger.path), _why_strange(location, stranger)))

    def _add_leftover(self, leftover: Leftover, location: Location) -> None:
        period, holds = leftover.period, self.target.policy.holds
        # Which instance a long name stood for is not known, so that any hold of the feed may mean it.
        is_held = bool(holds) if period is None else holding(period.first, period.end, holds) is not None
        if is_held:
            self.held_leftovers += 1
            return
        key = "" if period is None else format_instant(period.first)
        item = PlanItem.of_directory(ItemKind.LEFTOVER, leftover.path, self.target, location)
        self.found.append(replace(item, key=key))


def _share_places(locations: Sequence[Location]) -> bool:
    """Whether one location may be inside another: then a directory of the one can hold what is of the other."""
    bases = [location.base for location in locations]
    return any(one == other or one.is_within(other) for one, other in permutations(bases, 2))


def _around(path: CanonicalPath, bases: Iterable[CanonicalPath]) -> list[CanonicalPath]:
    return [base for base in bases if path.is_within(base)]


def _why_strange(location: Location, stranger: Stranger) -> str:
    """The template's own explanation; it knows whole paths, so that a wrong date on the way is found here."""
    path = stranger.path
    if stranger.is_unnameable:
        return "holds a key with '//', '/./' or '/../', which no path can name"
    if stranger.is_link:
        return "is a symbolic link"
    return _why_not(location, path)


def _why_not(location: Location, path: CanonicalPath) -> str:
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
