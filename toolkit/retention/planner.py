"""From feeds to a plan: look, select, count; nothing is changed."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import TYPE_CHECKING

from toolkit.entities import LocationType
from toolkit.planning.delete_limits import excess, excess_weight, kept_needed
from toolkit.planning.retention import Candidate
from toolkit.retention.find import OldWalk
from toolkit.retention.findings import HOLD_FILE
from toolkit.retention.newest import YoungWalk
from toolkit.retention.plan import Failure, FeedPlan, RetentionPlan
from toolkit.retention.seen import Seen
from toolkit.retention.weighing import Scales
from toolkit.storage import FileKind, NotFound, StorageError

if TYPE_CHECKING:
    from collections.abc import Callable

    from toolkit.el import CanonicalPath
    from toolkit.planning.delete_limits import DeleteLimits
    from toolkit.retention.targets import FeedTarget, Location
    from toolkit.storage import FileSystem

_LOG = logging.getLogger(__name__)
_HOLD_TEXT = 200


@dataclass(frozen=True, kw_only=True)
class Planner:
    """Makes plans.

    Attributes:
        storage: the store that a path is on.
        check: called before each listing; what it raises ends the planning.
    """

    storage: Callable[[CanonicalPath], FileSystem]
    check: Callable[[], None]

    def plan(self, targets: Iterable[FeedTarget], refused: Iterable[FeedPlan], limits: DeleteLimits) -> RetentionPlan:
        """The plan for all feeds of a run.

        Args:
            targets: the feeds that can be looked at.
            refused: feeds that cannot, to be reported beside the others.
            limits: of the run over all its feeds.
        """
        return self.together([self.plan_feed(target) for target in targets], refused, limits)

    def together(self, planned: Sequence[FeedPlan], refused: Iterable[FeedPlan], limits: DeleteLimits) -> RetentionPlan:
        """The plans of single feeds, weighed as one; the arguments are those of `plan`."""
        feeds = sorted(chain(planned, refused), key=lambda each: (each.feed, each.cluster))
        plan = RetentionPlan(feeds=tuple(feeds))
        by_feed = plan.evicted_by_feed
        kept = self._kept_instances(planned, kept_needed(sum(by_feed.values()), limits))
        too_much = excess(by_feed, kept, limits)
        return replace(plan, excess=too_much) if too_much is not None else self._weighed(plan, limits)

    def _weighed(self, plan: RetentionPlan, limits: DeleteLimits) -> RetentionPlan:
        """A feed of unknown weight is out of the plan, unless no other one is in it."""
        if limits.bytes is None:
            return plan
        found = Scales(storage=self.storage, check=self.check).weighed(plan.feeds, limits.bytes)
        feeds = tuple(_unless_unknown(each, found.unknown.get((each.feed, each.cluster))) for each in plan.feeds)
        if found.excess is None:
            return replace(plan, feeds=feeds)
        return replace(plan, excess=excess_weight(plan.evicted_by_feed, found.excess, limits))

    def plan_feed(self, target: FeedTarget) -> FeedPlan:
        """The plan for one feed; what stops it is a failure of this feed only."""
        empty = FeedPlan(feed=target.feed, cluster=target.cluster, target=target, notes=target.notes)
        try:
            present, absent = self._by_presence(target)
            notes = (*target.notes, *(f"{each.type}: {each.base} does not exist" for each in absent))
            held_by = self._held_by((*(each.base for each in present), *target.neighbour_bases))
            if held_by is not None:
                return replace(empty, notes=(*notes, held_by), is_held=True)
            looked = self._look(target, present)
            return replace(looked, notes=(*notes, *looked.notes))
        except StorageError as error:
            _LOG.warning("event=feed_failed feed=%s cluster=%s code=%s", target.feed, target.cluster, error.code)
            return replace(empty, failure=Failure(code=error.code, message=str(error)))

    def _by_presence(self, target: FeedTarget) -> tuple[list[Location], list[Location]]:
        present: list[Location] = []
        absent: list[Location] = []
        for location in target.locations:
            (present if self._is_present(location.base) else absent).append(location)
        return present, absent

    def _is_present(self, base: CanonicalPath) -> bool:
        """Whether the base exists; where directories are only beginnings of keys, a misspelt bucket must not pass."""
        system = self.storage(base)
        try:
            system.status(base)
        except NotFound:
            if not system.capabilities.directories:
                _require_bucket(system, base.root)
            return False
        return True

    def _held_by(self, bases: Iterable[CanonicalPath]) -> str | None:
        """What a hold file says; one that cannot be read stops the feed, since nobody knows what it holds."""
        for base in dict.fromkeys(bases):
            system, path = self.storage(base), base.child(HOLD_FILE)
            try:
                kind = system.status(path).kind
            except NotFound:
                continue
            # Reading anything but a file may never end; its name is enough of a hold.
            text = _hold_text(system, path) if kind is FileKind.FILE else f"it is a {kind}"
            return f"on hold by {path}" + (f": {text}" if text else "")
        return None

    def _look(self, target: FeedTarget, locations: Iterable[Location]) -> FeedPlan:
        seen = Seen(target=target)
        for location in locations:
            walk = OldWalk(target=target, location=location, system=self.storage(location.base), check=self.check)
            for finding in walk.findings():
                seen.add(finding, location)
            seen.newest.extend(self._newest(target, location))
        return seen.as_plan()

    def _newest(self, target: FeedTarget, location: Location) -> Iterator[Candidate]:
        """The young instances that `keep_last` counts: no more of them than it asks for."""
        if target.policy.keep_last <= 0 or location.type is not LocationType.DATA:
            return
        times = set()
        for candidate in self._young(target, location):
            if candidate.time <= target.policy.nominal_time:
                yield candidate
                times.add(candidate.time)
                if len(times) >= target.policy.keep_last:
                    return

    def _kept_instances(self, plans: Iterable[FeedPlan], needed: int | None) -> int:
        """Kept instances over all feeds, counted no further than needed."""
        if needed is None:
            return 0
        counted: set[CanonicalPath] = set()
        for plan in plans:
            counted.update(kept.candidate.path for kept in plan.kept)
        young = chain.from_iterable(map(self._young_paths, plans))
        while len(counted) < needed and (path := next(young, None)) is not None:
            counted.add(path)
        return len(counted)

    def _young_paths(self, plan: FeedPlan) -> Iterator[CanonicalPath]:
        """Only of feeds that were looked at; one on hold or unreadable takes no part in the run."""
        if plan.target is None or plan.is_held or plan.failure is not None:
            return
        for location in plan.target.locations:
            try:
                for candidate in self._young(plan.target, location):
                    yield candidate.path
            except StorageError:
                # What cannot be listed counts for nothing, which only makes the limit stricter.
                continue

    def _young(self, target: FeedTarget, location: Location) -> Iterator[Candidate]:
        system = self.storage(location.base)
        return YoungWalk(target=target, location=location, system=system, check=self.check).candidates()


def _unless_unknown(plan: FeedPlan, error: StorageError | None) -> FeedPlan:
    if error is None:
        return plan
    told = (
        f"max_delete.bytes in repo.yaml bounds what goes, and the weight of this feed is not known, so all of it stays "
        f"({error}). Run it alone to see its plan, and to approve that"
    )
    return replace(plan, items=(), subtrees=(), failure=Failure(code=error.code, message=told))


def _require_bucket(system: FileSystem, root: CanonicalPath) -> None:
    try:
        system.status(root)
    except NotFound as error:
        raise NotFound(path=root, detail="there is no such bucket; make it, or correct the end point") from error


def _hold_text(system: FileSystem, path: CanonicalPath) -> str:
    with system.read(path) as stream:
        return " ".join(stream.read(_HOLD_TEXT).decode(errors="replace").split())
