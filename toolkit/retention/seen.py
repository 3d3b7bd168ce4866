"""What was found of one feed, gathered into its plan."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import TYPE_CHECKING

from toolkit.el import format_instant
from toolkit.el.pattern import NOTHING_KNOWN
from toolkit.planning.retention import Candidate, KeepReason, holding, select
from toolkit.retention.find import Finding
from toolkit.retention.findings import HOLD_FILE, EmptyDirectory, Leftover, Stranger, Unreadable
from toolkit.retention.plan import FeedPlan, ItemKind, PlanItem, Strangers

if TYPE_CHECKING:
    from toolkit.el import CanonicalPath
    from toolkit.retention.targets import FeedTarget, Location
    from toolkit.storage import StorageError

_SAMPLE = 10


@dataclass(kw_only=True)
class Seen:
    """What was found of one feed; grows during the walk."""

    target: FeedTarget
    candidates: list[Candidate] = field(default_factory=list)
    newest: list[Candidate] = field(default_factory=list)
    items: list[PlanItem] = field(default_factory=list)
    unreadable: list[tuple[PlanItem, StorageError]] = field(default_factory=list)
    strangers: int = 0
    sample: list[tuple[str, str]] = field(default_factory=list)
    held_leftovers: int = 0

    def add(self, finding: Finding, location: Location) -> None:
        """Take in one finding."""
        match finding:
            case Candidate():
                self.candidates.append(finding)
            case Stranger():
                self._add_stranger(finding, location)
            case Leftover():
                self._add_leftover(finding, location)
            case EmptyDirectory():
                self.items.append(PlanItem.of_directory(ItemKind.EMPTY_DIRECTORY, finding.path, self.target, location))
            case Unreadable():
                item = PlanItem.of_directory(ItemKind.UNREADABLE, finding.path, self.target, location)
                self.unreadable.append((item, finding.error))

    def as_plan(self) -> FeedPlan:
        """The decisions about all that was found."""
        selection = select(self._all(), self.target.policy)
        feed, cluster = self.target.feed, self.target.cluster
        items = [PlanItem.of_instance(candidate, feed, cluster) for candidate in selection.evict] + self.items
        return FeedPlan(
            feed=self.target.feed,
            cluster=self.target.cluster,
            target=self.target,
            items=tuple(sorted(items, key=lambda item: item.sort_key)),
            kept=tuple(kept for kept in selection.keep if kept.reason is not KeepReason.TOO_YOUNG),
            unreadable=tuple(self.unreadable),
            strangers=Strangers(count=self.strangers, sample=tuple(self.sample)),
            notes=self._notes(),
        )

    def _notes(self) -> tuple[str, ...]:
        if not self.held_leftovers:
            return ()
        return (f"{self.held_leftovers} half-removed instances are on hold; end the hold to have them finished",)

    def _all(self) -> Iterable[Candidate]:
        """Both walks can come upon an instance whose period has the horizon in it."""
        return {each.path: each for each in chain(self.candidates, self.newest)}.values()

    def _add_stranger(self, stranger: Stranger, location: Location) -> None:
        self.strangers += 1
        if len(self.sample) < _SAMPLE:
            why = "is a symbolic link" if stranger.is_link else _why_strange(location, stranger.path)
            self.sample.append((str(stranger.path), why))

    def _add_leftover(self, leftover: Leftover, location: Location) -> None:
        period, holds = leftover.period, self.target.policy.holds
        # Which instance a long name stood for is not known, so that any hold of the feed may mean it.
        is_held = bool(holds) if period is None else holding(period.first, period.end, holds) is not None
        if is_held:
            self.held_leftovers += 1
            return
        key = "" if period is None else format_instant(period.first)
        item = PlanItem.of_directory(ItemKind.LEFTOVER, leftover.path, self.target, location)
        self.items.append(replace(item, key=key))


def _why_strange(location: Location, path: CanonicalPath) -> str:
    """The template's own explanation; it knows whole paths, so that a wrong date on the way is found here."""
    template, known = location.template, NOTHING_KNOWN
    if path.name == HOLD_FILE:
        return f"holds nothing here: a hold file counts in {location.base}"
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
