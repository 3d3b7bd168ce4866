"""From feeds to a plan: look, select, count; nothing is changed."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, TypeAlias

from toolkit.actions.hold_file import HoldFile, hold_file_in
from toolkit.actions.model import Problem, TargetPlan
from toolkit.catalog.errors import CatalogError
from toolkit.entities import LocationType
from toolkit.errors import Refused
from toolkit.planning.delete_limits import excess, excess_weight, kept_needed
from toolkit.planning.retention import Candidate
from toolkit.retention.decide import ScanResult
from toolkit.retention.expired_scan import ExpiredScan
from toolkit.retention.plan import FeedPlan, RetentionDetail, evicted
from toolkit.retention.quarantine_scan import QuarantineScan
from toolkit.retention.recent_scan import RecentScan
from toolkit.retention.sizes import SizeCheck
from toolkit.retention.tables.evictable import UnreadableLocations
from toolkit.retention.tables.iceberg_planner import IcebergPlanner
from toolkit.retention.tables.planner import TablePlanner
from toolkit.retention.tables.quarantine import with_purges
from toolkit.storage import NotFound, StorageError, find_status

if TYPE_CHECKING:
    from toolkit.catalog.model import TableName
    from toolkit.el import CanonicalPath
    from toolkit.planning.delete_limits import DeleteLimits, Excess
    from toolkit.retention.targets import FeedTable, FeedTarget, Location
    from toolkit.storage import FileSystem


_Partition: TypeAlias = "tuple[CanonicalPath, TableName, str]"
"""One partition for all feeds on its table: tables of one name in two metastores have two directories."""
_LOG = logging.getLogger(__name__)
_NAMED = 10


class TooMuchToDelete(Refused):
    """The plan exceeds a safety limit of `repo.yaml`; nothing was touched.

    Args:
        excess: the limit, its value and what was found.
        digest: of the plan, for `--approve`.
    """

    def __init__(self, *, excess: Excess, digest: str) -> None:
        self.excess, self.digest = excess, digest
        super().__init__(
            f"the plan deletes {excess.found} ({_by_feed(excess.by_feed)}), but {excess.limit} in repo.yaml allows "
            f"{excess.allowed}; nothing was touched. Look at the plan with --dry-run. If it is right, run again with "
            f"--approve {digest} (accepts exactly this plan), or raise {excess.limit}"
        )


class TooMuchOfFeed(Refused):
    """The plan for one feed exceeds a safety limit of its own; nothing of it was touched.

    Args:
        excess: the limit, its value and what was found.
        place: where the limit is written, as ``file:line``.
        target: the feed on its cluster.
        digest: of the plan for it alone, for `--approve`.
    """

    def __init__(self, *, excess: Excess, place: str, target: FeedTarget, digest: str) -> None:
        self.excess, self.place, self.digest = excess, place, digest
        alone = f"--feed {target.feed} --cluster {target.cluster} --time {target.instance_key}"
        others = ", ".join(f"{feed} on {cluster}" for feed, cluster in target.neighbours)
        shared = f" by its own retention, but {others} shares its data and has a limit of its own" if others else ""
        super().__init__(
            f"the plan for {target.feed} on {target.cluster} deletes {excess.found}, but {excess.limit} ({place}) "
            f"allows {excess.allowed}; nothing of this feed was touched{shared}. Look at its plan with {alone} "
            f"--dry-run. If it is right, run again with {alone} --approve {digest} (accepts exactly this plan), or "
            f"raise {excess.limit}"
        )


@dataclass(frozen=True, kw_only=True)
class RetentionPlanner:
    """Makes plans.

    Attributes:
        storage: the store that a path is on.
        check: called before each listing; what it raises ends the planning.
    """

    storage: Callable[[CanonicalPath], FileSystem]
    check: Callable[[], None]

    def limited(self, plans: Sequence[FeedPlan], limits: DeleteLimits) -> tuple[tuple[FeedPlan, ...], Excess | None]:
        """The plans of all feeds of a run, and the limit that they exceed together.

        A feed of unknown size is out of its plan, unless no other one is in any.
        """
        by_feed = {label: number for label, number in _evicted(plans) if number}
        kept = self._kept_instances(plans, kept_needed(sum(by_feed.values()), limits))
        found = excess(by_feed, kept, limits)
        if found is not None or limits.bytes is None:
            return tuple(plans), found
        sizes = SizeCheck(storage=self.storage, check=self.check).of(plans, limits.bytes)
        if sizes.excess is not None:
            return tuple(plans), excess_weight(by_feed, sizes.excess, limits)
        return tuple(_unless_unknown(plan, sizes.unknown.get(plan.label)) for plan in plans), None

    def plan(self, target: FeedTarget) -> FeedPlan:
        """The plan for one feed; what stops it is a failure of this feed only."""
        empty = blank_plan(target)
        try:
            self._require_archive(target)
            if target.table is not None:
                return self._of_table(target, target.table)
            present, absent = self._by_presence(target)
            notes = (*target.notes, *(f"{each.type}: {each.base} does not exist" for each in absent))
            hold_file = hold_file_in((*(each.base for each in present), *target.neighbour_bases), self.storage)
            looked = self._look(target, present) if hold_file is None else self._kept_back(target, present, hold_file)
            return replace(looked, notes=(*notes, *looked.notes))
        except StorageError as error:
            _LOG.warning("event=feed_failed feed=%s cluster=%s code=%s", target.feed, target.cluster, error.code)
            return replace(empty, failed=Problem(code=error.code, message=str(error)))

    def _of_table(self, target: FeedTarget, table: FeedTable) -> FeedPlan:
        look, check = partial(hold_file_in, storage=self.storage), self.check
        if table.iceberg is not None:
            return IcebergPlanner(check=check, hold_file=look).plan(target, table, table.iceberg)
        tables = TablePlanner(check=check, storage=self.storage, hold_file=look, is_present=self._is_present)
        plan = tables.plan(target, table)
        try:
            return with_purges(plan, table, self.storage, check)
        except (CatalogError, UnreadableLocations) as error:
            return replace(blank_plan(target), failed=Problem(code=error.code, message=str(error)))

    def _require_archive(self, target: FeedTarget) -> None:
        """An archive that is not mounted, or misspelt, looks as if it were only still to be made."""
        for location in target.archive.locations.values() if target.archive is not None else ():
            if not self._is_present(location.base) and self.storage(location.base).capabilities.directories:
                detail = "the archive is not there; mount it, correct its location, or make this directory once"
                raise NotFound(path=location.base, detail=detail)

    def _by_presence(self, target: FeedTarget) -> tuple[list[Location], list[Location]]:
        present: list[Location] = []
        absent: list[Location] = []
        for location in target.locations:
            (present if self._is_present(location.base) else absent).append(location)
        return present, absent

    def _is_present(self, base: CanonicalPath) -> bool:
        """Return whether the base exists; where directories are prefixes of keys, a misspelt bucket must not pass."""
        system = self.storage(base)
        is_present = find_status(system, base) is not None
        if not (is_present or system.capabilities.directories or find_status(system, base.root)):
            raise NotFound(path=base.root, detail="there is no such bucket; make it, or correct the end point")
        return is_present

    def _kept_back(self, target: FeedTarget, locations: Iterable[Location], hold_file: HoldFile) -> FeedPlan:
        """Nothing goes; a feed that is on hold does not fail for what cannot be counted."""
        try:
            return self._look(target, locations, hold_file)
        except StorageError as error:
            note = f"{hold_file.note(0)}; what it keeps cannot be counted ({error})"
            return replace(blank_plan(target), notes=(note,), detail=RetentionDetail(hold_file=hold_file))

    def _look(self, target: FeedTarget, locations: Iterable[Location], hold_file: HoldFile | None = None) -> FeedPlan:
        seen, present = ScanResult(target=target, hold_file=hold_file), tuple(locations)
        quarantine = QuarantineScan(target=target, storage=self.storage, check=self.check)
        quarantine.look(location.base for location in present)
        for location in present:
            walk = ExpiredScan(target=target, location=location, system=self.storage(location.base), check=self.check)
            for finding in walk.findings():
                seen.add(finding, location)
            seen.newest.extend(self._newest(target, location))
        seen.found = quarantine.without_condemned(seen.found)
        seen.newest = quarantine.without_condemned(seen.newest)
        kept_from = seen.kept_from
        return quarantine.added_to(seen.as_plan(), kept_from)

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

    def _kept_instances(self, plans: Sequence[FeedPlan], needed: int | None) -> int:
        """Kept instances over all feeds, counted no further than needed; what goes for another feed is not kept."""
        if needed is None:
            return 0
        counted: set[CanonicalPath] = set()
        partitions = len(set().union(*map(_staying, plans)).difference(*map(_going, plans)))
        for plan in plans:
            if plan.target.table is None and plan.detail.hold_file is None:
                counted.update(kept.candidate.path for kept in plan.detail.kept)
        young = chain.from_iterable(map(self._young_paths, plans))
        while len(counted) + partitions < needed and (path := next(young, None)) is not None:
            counted.add(path)
        return len(counted) + partitions

    def _young_paths(self, plan: FeedPlan) -> Iterator[CanonicalPath]:
        """Only of feeds that were looked at; one on hold or unreadable takes no part in the run."""
        if plan.detail.hold_file is not None or plan.failed is not None:
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
        return RecentScan(target=target, location=location, system=system, check=self.check).candidates()


def blank_plan(target: FeedTarget) -> FeedPlan:
    """The plan of a feed that was not looked at."""
    return TargetPlan(target=target, detail=RetentionDetail(), notes=target.notes)


def _evicted(plans: Iterable[FeedPlan]) -> Iterator[tuple[str, int]]:
    """Yield how much of each feed goes; a partition of several counts for the first of them."""
    seen: set[_Partition] = set()
    for plan in plans:
        going = _going(plan)
        unpublished = sum(item.is_waiting for item in plan.items)
        yield plan.label, evicted(plan) if plan.target.table is None else len(going - seen) + unpublished
        seen |= going


def _going(plan: FeedPlan) -> set[_Partition]:
    return _partitions(plan, (item.partition.name for item in plan.items if item.partition is not None))


def _staying(plan: FeedPlan) -> set[_Partition]:
    """Return the partitions that stay, of a feed that is not on hold as a whole."""
    kept = () if plan.detail.hold_file is not None else plan.detail.kept
    young = () if plan.detail.hold_file is not None else plan.detail.young
    return _partitions(plan, chain(young, (each.candidate.partition for each in kept)))


def _partitions(plan: FeedPlan, names: Iterable[str]) -> set[_Partition]:
    table, base = plan.target.table, plan.detail.base
    return set() if table is None or base is None else {(base, table.name, name) for name in names}


def _unless_unknown(plan: FeedPlan, error: StorageError | None) -> FeedPlan:
    if error is None:
        return plan
    message = (
        f"max_delete.bytes in repo.yaml bounds what goes, and the weight of this feed is not known, so all of it stays "
        f"({error}). Run it alone to see its plan, and to approve that"
    )
    detail = replace(plan.detail, subtrees=())
    return replace(plan, items=(), detail=detail, failed=Problem(code=error.code, message=message))


def _by_feed(evicted: Mapping[str, int]) -> str:
    largest = sorted(evicted.items(), key=lambda each: (-each[1], each[0]))
    named = ", ".join(f"{label}: {number:,}" for label, number in largest[:_NAMED])
    rest = len(largest) - _NAMED
    return f"{named} and {rest} more feeds" if rest > 0 else named
