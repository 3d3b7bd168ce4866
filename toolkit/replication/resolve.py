"""From feeds with sources and targets to the instances that a run pulls."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from math import inf
from typing import TYPE_CHECKING, TypeAlias

from toolkit.actions.model import NoTarget, Problem, TargetPlan
from toolkit.actions.target_resolution import of_route, resolved
from toolkit.actions.validation import FeedValidation
from toolkit.el import format_instant, shift
from toolkit.entities import Hold, OnSourceDelete
from toolkit.entities.not_implemented import Area, not_implemented
from toolkit.linter.overlap import can_overlap
from toolkit.planning.delete_limits import DeleteLimits
from toolkit.planning.due_copies import CopyRecords, DueCopies
from toolkit.planning.replication import NotReplicated, Range, Route, Side
from toolkit.planning.retention import holding
from toolkit.replication.targets import CopyRules, ReplicationDetail, ReplicationTarget, UnitItem
from toolkit.storage import StorageError
from toolkit.transfer.plan import CreateOptions

if TYPE_CHECKING:
    from toolkit.actions.runner import Targets
    from toolkit.el.periods import Span
    from toolkit.entities import Feed
    from toolkit.planning.retention import RetentionClock

Remark: TypeAlias = "TargetPlan[NoTarget, UnitItem, ReplicationDetail]"
ReplicationTargets: TypeAlias = "Targets[ReplicationTarget, UnitItem, ReplicationDetail]"

_MEGABYTE = 1_000_000
_INCOMPLETE = "is validated, so that it is never published incomplete; remove publishIncomplete, or its quality checks"
_TABLE = "is a table; replicate it with hive_replication.py, and compare it by `feedctl table diff`"


@dataclass(frozen=True, kw_only=True, slots=True)
class ReplicationResolver:
    """Resolves routes.

    Attributes:
        nominal: of the run.
        clock: of the target's retention; None: what it would evict is there and wanted.
        records: of the runs of a route (feed, target, source).
        listed: the instances of a side in some periods that have anything there; None: nobody lists.
        wanted: which instances.
        holds: of the repo and the ledger: nothing is removed of an instance that one covers.
        only: the keys that are looked at on a route (feed, target, source); None: all.
        rehash: bytes are compared, see `CopyRules`.
    """

    nominal: datetime
    clock: RetentionClock | None
    wanted: Range
    records: Callable[[str, str, str], CopyRecords] = lambda *_: CopyRecords()
    listed: Callable[[Side, Sequence[Span]], Collection[datetime]] | None = None
    only: Callable[[str, str, str], frozenset[str] | None] = lambda *_: None
    rehash: bool = False
    holds: tuple[Hold, ...] = ()

    def resolve(self, routes: Iterable[Route], *, must_all_work: bool) -> ReplicationTargets:
        """The instances of all routes; arguments and errors as of `resolved`."""
        remarks: list[Remark] = []
        chosen = [(of_route(each, self.nominal), partial(self._targets, each, remarks.append)) for each in routes]
        found: ReplicationTargets = resolved(
            chosen, ReplicationDetail, refusal="not_replicated", must_all_work=must_all_work
        )
        return replace(found, settled=(*found.settled, *remarks))

    def _targets(self, route: Route, remark: Callable[[Remark], None]) -> Iterator[ReplicationTarget]:
        feed = route.feed
        if feed.is_table:
            raise NotReplicated(feed=feed.name, why=_TABLE)
        for value in not_implemented(feed, Area.REPLICATION, route.target.cluster.name):
            raise value.error(where=f"feed {feed.name}")
        rules = replace(rules_of(feed), rehash=self.rehash)
        if rules.publish_incomplete and FeedValidation.on(feed, route.target.cluster):
            raise NotReplicated(feed=feed.name, why=_INCOMPLETE)
        names = (feed.name, route.target.cluster.name, route.source.cluster.name)
        only = self.only(*names)
        for instant in self._found(route, self.records(*names), remark):
            if only is not None and format_instant(instant) not in only:
                continue
            yield self._target(route, instant, rules)

    def _found(self, route: Route, records: CopyRecords, remark: Callable[[Remark], None]) -> tuple[datetime, ...]:
        """Return the instances to look at; of older ones that are not at the source, or not to be found, say so."""
        listed = None if self.listed is None else partial(self.listed, route.source)
        due = DueCopies(
            route=route, nominal=self.nominal, clock=self.clock, wanted=self.wanted, records=records, listed=listed
        )
        plan: Remark = TargetPlan(target=of_route(route, self.nominal), detail=ReplicationDetail())
        try:
            found = due.found()
        except StorageError as error:
            remark(replace(plan, failed=Problem(code=error.code, message=f"older instances cannot be listed: {error}")))
            return replace(due, listed=lambda _: ()).found().instants
        if found.absent and found.recent_from is not None:
            what = f"{found.absent} instances before {format_instant(found.recent_from)} were never copied and are not"
            remark(replace(plan, notes=(f"{what} on {route.source.cluster.name}: each is copied once it is there",)))
        return found.instants

    def _target(self, route: Route, instant: datetime, rules: CopyRules) -> ReplicationTarget:
        feed, source, target = route.feed, route.source, route.target
        here, there = target.at(instant), source.at(instant)
        if here == there or here.is_within(there) or there.is_within(here):
            why = f"would be copied from {there} to {here}, which overlap; give the target a place of its own"
            raise NotReplicated(feed=feed.name, why=why)
        others = [side for side in route.others if instant in side.instances]
        if rules.publish_incomplete and here.in_object_store:
            why = f"goes to {here} file by file, so that it is never published incomplete; remove publishIncomplete"
            raise NotReplicated(feed=feed.name, why=why)
        if feed.availability_flag is None and (here.in_object_store or route.parts or others):
            why = f"has no availability_flag, so that readers of {here} would take half an instance for whole; add one"
            raise NotReplicated(feed=feed.name, why=why)
        for other in others:
            parts = zip(route.parts, (*other.parts, *target.parts), strict=False)
            if all(can_overlap(own, its) for own, its in parts):
                why = (
                    f"would get the same directories from {source.cluster.name} and {other.cluster.name}, which would "
                )
                raise NotReplicated(feed=feed.name, why=f"{why}replace each other's; give each a partition of its own")
        own = feed.max_delete_on(target.cluster.name)
        return ReplicationTarget(
            feed=feed.name,
            cluster=target.cluster.name,
            counterpart=source.cluster.name,
            instance_key=format_instant(instant),
            source=source.read_at(instant),
            target=here,
            target_base=target.base,
            parts=route.parts,
            flag=feed.availability_flag or "",
            others=tuple(side.cluster.name for side in others),
            waits_until=route.waits_until(instant),
            rules=rules,
            removes_dropped=target.on.on_source_delete is OnSourceDelete.DELETE and not self._is_held(target, instant),
            max_delete=DeleteLimits(instances=own.instances, fraction=own.fraction, bytes=own.bytes),
            validation=FeedValidation.on(feed, target.cluster),
            expired_below=source.base_for_reading if route.is_expired_at_source(instant, self.clock) else None,
        )

    def _is_held(self, side: Side, instant: datetime) -> bool:
        holds = [each for each in self.holds if each.concerns(side.feed.name, side.cluster.name)]
        end = shift(instant, side.feed.frequency, 1, side.feed.timezone)
        return holding(instant, end, holds) is not None


def rules_of(feed: Feed) -> CopyRules:
    """Return the copy rules in the properties of a feed."""
    given = feed.properties
    bandwidth, maps = given.get("mapBandwidth"), given.get("maxMaps")
    return CopyRules(
        overwrite=given.get("overwrite") is True,
        remove_deleted=given.get("removeDeletedFiles") is not False,
        permission=given.get("preservePermission") is True,
        owner=given.get("preserveUser") is True,
        group=given.get("preserveGroup") is True,
        acl=given.get("preserveAcl") is True,
        xattrs=given.get("preserveXattr") is True,
        times=given.get("preserveTimes") is True,
        checksum_type=given.get("preserveChecksumType") is True,
        create=CreateOptions(
            block_size=given.get("preserveBlockSize") is True,
            replication=given.get("preserveReplicationNumber") is True,
            raw=given.get("tdeEncryptionEnabled") is True,
        ),
        ignore_errors=given.get("ignoreErrors") is True,
        publish_incomplete=given.get("ignoreErrors") is True and given.get("publishIncomplete") is True,
        or_warn=given.get("preserveOrWarn") is True,
        at_once=maps if isinstance(maps, int) else None,
        bandwidth=inf if bandwidth is None else float(bandwidth) * _MEGABYTE,
        counters=given.get("job.counter") is True,
    )
