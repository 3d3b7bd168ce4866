"""Explanation why one instance is deleted or kept, and by which rule, read off the plan that a run would make."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING

from toolkit.el import format_instant
from toolkit.planning.retention import KeepReason, time_within
from toolkit.retention.decide import why_not
from toolkit.retention.plan import EVICTED, ItemKind
from toolkit.retention.protection import PROTECTED
from toolkit.retention.targets import FeedTarget
from toolkit.storage import FileKind

if TYPE_CHECKING:
    from datetime import datetime

    from toolkit.actions.result import AnyPlan
    from toolkit.el import CanonicalPath, PathPeriod
    from toolkit.planning.retention import Kept
    from toolkit.retention.plan import FeedPlan, PlanItem, RetentionDetail
    from toolkit.retention.targets import Location


class RetentionDecision(StrEnum):
    """Decision of a run about a path."""

    GOES = "goes"
    """The plan has it."""
    STAYS = "stays"
    """A rule keeps it."""
    ABSENT = "absent"
    """Nothing is there."""
    UNKNOWN = "unknown"
    """It cannot be looked at."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Explanation:
    """Decision of a run about one path or instance of a feed, with the reason.

    Attributes:
        reason: stable, for programs: ``old``, a `KeepReason`, or what else decided.
        why: the rule, with its numbers and where it is written.
        path: None: it is about an instance that no path was found of.
        instance: its time; empty for what is no instance.
        notes: what else the run would say of the feed.
    """

    feed: str
    cluster: str
    decision: RetentionDecision
    reason: str
    why: str
    path: CanonicalPath | None = None
    instance: str = ""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Explainer:
    """Explains what the plan for one feed on a cluster does.

    Attributes:
        plan: of a run; the answer is what this says.
        place_of: where a key of the feed is written, as ``file:line``.
        kind_at: what is at a path; None: nothing.
        refusal: the limit of its own that the plan exceeds, in words; None: none.
    """

    plan: FeedPlan
    place_of: Callable[[FeedTarget, str], str]
    kind_at: Callable[[CanonicalPath], FileKind | None]
    refusal: str | None = None

    def of_path(self, path: CanonicalPath) -> Explanation:
        """Return the decision about a path: an instance, a path inside one, or another one.

        Raises:
            StorageError: the store does not say what is there.
        """
        whole = self._of_feed()
        if whole is not None:
            return replace(whole, path=path)
        location = self._location_of(path)
        if location is None:
            return self._stays("undated", "it is in a location without dates, which retention leaves alone", path)
        instance = _cut(path, location)
        planned = next((item for item in self.plan.items if item.path in (instance, path)), None)
        if planned is not None:
            return self._goes(planned)
        kept = next((each for each in self.plan.detail.kept if each.candidate.path == instance), None)
        if kept is not None:
            return self._kept(kept)
        return self._of_other(path, instance, location)

    def of_instance(self, instant: datetime) -> Iterator[Explanation]:
        """Yield the decision about each path of an instance; one without a path when there is none.

        Raises:
            NotAnInstance: the feed has no such instance.
        """
        target, key = self.plan.target, format_instant(instant)
        target.instances.index(instant)
        whole = self._of_feed()
        if whole is not None:
            yield replace(whole, instance=key)
            return
        found = [self._goes(item) for item in self.plan.items if self._has(item, instant)]
        found += [self._kept(kept) for kept in self.plan.detail.kept if _covers(kept, instant)]
        if found:
            yield from found
        elif instant >= target.policy.horizon:
            yield replace(self._stays(KeepReason.TOO_YOUNG, self._age(instant)), instance=key)
        elif self.plan.unreadable:
            unreadable = self.plan.unreadable[0]
            yield replace(self._answer(RetentionDecision.UNKNOWN, unreadable.code, unreadable.message), instance=key)
        else:
            bases = ", ".join(str(location.base) for location in target.locations)
            where = f"below {bases}" if target.table is None else f"among the partitions of {target.table.name}"
            why = f"no run comes upon it {where}; {self._age(instant)}"
            yield replace(self._answer(RetentionDecision.ABSENT, "absent", why), instance=key)

    def _of_feed(self) -> Explanation | None:
        """Return the decision about the whole feed; None: each instance has one of its own."""
        plan = self.plan
        if plan.failed is not None:
            return self._answer(RetentionDecision.UNKNOWN, plan.failed.code, plan.failed.message)
        hold_file = plan.detail.hold_file
        if hold_file is not None:
            others = tuple(note for note in plan.notes if str(hold_file) not in note)
            return replace(self._stays("hold_file", f"on hold by {hold_file}"), notes=others)
        return None

    def _location_of(self, path: CanonicalPath) -> Location | None:
        around = [location for location in self.plan.target.locations if _is_in(path, location.base)]
        return max(around, key=lambda location: len(location.base.path), default=None)

    def _of_other(self, path: CanonicalPath, instance: CanonicalPath, location: Location) -> Explanation:
        """Return the decision about a path that the plan does not name: too young, no instance, or missing."""
        kind = self.kind_at(instance)
        if kind is None:
            return self._answer(RetentionDecision.ABSENT, "absent", "nothing is there", path)
        unreadable = next((each for each in self.plan.unreadable if path.is_within(each.item.path)), None)
        if unreadable is not None:
            return self._answer(RetentionDecision.UNKNOWN, unreadable.code, unreadable.message, path)
        whole = next((each for each in self.plan.detail.subtrees if _is_in(path, each.root)), None)
        if whole is not None:
            why = f"{whole.root} goes as a whole, with the {whole.end - whole.begin:,} instances that are all it has"
            return self._unless_refused(self._answer(RetentionDecision.GOES, "whole_directory", why, path))
        period = location.template.parse(location.written(instance)) if instance != location.base else None
        if period is None:
            inside = sum(item.path.is_within(path) for item in self.plan.items if item.type is ItemKind.INSTANCE)
            more = f"; {inside:,} instances in it go" if inside else ""
            why = "is the base of the feed"
            if instance != location.base:
                why, more = (
                    why_not(location, instance),
                    f"{more}, and it with them if that leaves it empty" if more else "",
                )
            return self._stays("not_conforming", f"it is no instance of {location.template.text}: {why}{more}", path)
        time = time_within(period.spans, self.plan.target.instances)
        if kind not in {FileKind.DIRECTORY, FileKind.FILE}:
            return self._stays("not_conforming", f"it is a {kind}, and no directory or file", path)
        found = self._stays(KeepReason.TOO_YOUNG, self._age(time), path)
        return replace(found, path=instance, instance=format_instant(time))

    def _has(self, item: PlanItem, instant: datetime) -> bool:
        """Return whether an item is of the instance; a path may stand for more instances than the one it names."""
        if item.type not in EVICTED:
            return False
        if item.instance_key == format_instant(instant):
            return True
        period = self._period_of(item)
        return period is not None and instant in period

    def _period_of(self, item: PlanItem) -> PathPeriod | None:
        """Return the period that the item stands for."""
        table = self.plan.target.table
        if table is not None:
            return None if item.partition is None else table.period_of(item.partition.name)
        location = next(each for each in self.plan.target.locations if each.type is item.location)
        return location.template.parse(location.written(item.path))

    def _goes(self, item: PlanItem) -> Explanation:
        reasons = {
            ItemKind.PENDING_DELETE: "a killed run had begun to remove it",
            ItemKind.STAGED: "it is staged data, and its instance is old enough to go",
            ItemKind.EMPTY_DIRECTORY: "it is an old directory that nothing is in",
        }
        why = reasons.get(item.type) or self._age(self._time_of(item))
        found = self._answer(RetentionDecision.GOES, "old" if item.type in EVICTED else item.type.value, why, item.path)
        to = () if item.archive is None else (f"it is copied to {item.archive} before it goes",)
        return self._unless_refused(replace(found, instance=item.instance_key, notes=(*to, *found.notes)))

    def _unless_refused(self, found: Explanation) -> Explanation:
        refused = () if self.refusal is None else (f"the run would be refused: {self.refusal}",)
        return replace(found, notes=(*refused, *found.notes))

    def _time_of(self, item: PlanItem) -> datetime:
        period, target = self._period_of(item), self.plan.target
        return target.policy.horizon if period is None else time_within(period.spans, target.instances)

    def _kept(self, kept: Kept) -> Explanation:
        target, age = self.plan.target, self._age(kept.candidate.time)
        rules = {
            KeepReason.HOLD: f"on hold: {kept.detail} (holds.yaml, or `feedctl hold list`)",
            KeepReason.KEEP_LAST: f"among {kept.detail} (keep_last, {self.place_of(target, 'keep_last')})",
            KeepReason.LATE_WINDOW: (
                f"late data may still come: {kept.detail} (late_arrival, "
                f"{self.place_of(target, 'late_arrival.cut_off')})"
            ),
            **dict.fromkeys(PROTECTED, f"{kept.detail} ({kept.reason}, {self.place_of(target, 'protect')})"),
            KeepReason.SHARED_LOCATION: f"its data are not its own alone: {kept.detail}",
        }
        found = self._stays(kept.reason, f"{rules[kept.reason]}; but for that it would go: {age}", kept.candidate.path)
        return replace(found, instance=format_instant(kept.candidate.time))

    def _age(self, time: datetime) -> str:
        """The rule of age, with its numbers."""
        target = self.plan.target
        before = "before" if time < target.policy.horizon else "not before"
        ended = " (the end of the validity)" if target.effective_time < target.policy.nominal_time else ""
        return (
            f"its time {format_instant(time)} is {before} the horizon {format_instant(target.policy.horizon)}, which "
            f"is {format_instant(target.effective_time)}{ended} less the limit {target.limit} "
            f"({self.place_of(target, 'limit')})"
        )

    def _stays(self, reason: str, why: str, path: CanonicalPath | None = None) -> Explanation:
        """By the rules of this feed; only a hold is one for all that share the data."""
        found = self._answer(RetentionDecision.STAYS, reason, why, path)
        others = ", ".join(sorted({feed for feed, _ in self.plan.target.neighbours}))
        if not others or reason in {KeepReason.HOLD, "hold_file"}:
            return found
        note = (
            f"retention of {others}, which shares this data, may remove it all the same; of a path, each feed is told"
        )
        return replace(found, notes=(*found.notes, note))

    def _answer(
        self, decision: RetentionDecision, reason: str, why: str, path: CanonicalPath | None = None
    ) -> Explanation:
        return Explanation(
            feed=self.plan.target.feed,
            cluster=self.plan.target.cluster,
            decision=decision,
            reason=str(reason),
            why=why,
            path=path,
            notes=self.plan.notes,
        )


def of_settled(plan: AnyPlan[FeedTarget, PlanItem, RetentionDetail]) -> Explanation:
    """Return the explanation for a feed that has no retention on a cluster."""
    target, failed = plan.target, plan.failed
    reason, why = ("no_retention", "; ".join(plan.notes)) if failed is None else (failed.code, failed.message)
    return Explanation(
        feed=target.entity, cluster=target.cluster, decision=RetentionDecision.STAYS, reason=reason, why=why
    )


def _cut(path: CanonicalPath, location: Location) -> CanonicalPath:
    """The path, or the one above it that is as deep as instances are."""
    instance = location.base
    names = path.relative_to(location.base).split("/") if path.is_within(location.base) else []
    for name in names[: location.last_depth + 1 - location.template.base_depth]:
        instance = instance.child(name)
    return instance


def _is_in(path: CanonicalPath, base: CanonicalPath) -> bool:
    return path == base or path.is_within(base)


def _covers(kept: Kept, instant: datetime) -> bool:
    candidate = kept.candidate
    return candidate.time == instant or candidate.first <= instant < candidate.end
