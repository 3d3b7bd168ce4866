"""From feeds with an import to the instances that a run imports, and their order."""

from __future__ import annotations

from bisect import bisect_right
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

from toolkit.actions.model import Problem
from toolkit.actions.slots import Slot
from toolkit.actions.target_resolution import of_pair, resolved
from toolkit.actions.validation import FeedValidation
from toolkit.catalog.model import TableName
from toolkit.el import parse_instant, shift
from toolkit.entities.errors import UnfitFeed
from toolkit.entities.vocabulary import ExtractType
from toolkit.errors import NotImplementedYet
from toolkit.exchange.import_targets import ImportDetail, ImportItem, ImportMarks, ImportTarget
from toolkit.planning.instance_storage import FeedStorage
from toolkit.planning.replication import Range, Side

if TYPE_CHECKING:
    from toolkit.actions.result import TargetResult
    from toolkit.actions.runner import Targets
    from toolkit.entities import Cluster, Feed
    from toolkit.entities.exchange import Import

ImportTargets: TypeAlias = "Targets[ImportTarget, ImportItem, ImportDetail]"
ImportSlot: TypeAlias = "Slot[ImportTarget, ImportItem, ImportDetail]"
_MINUTE = timedelta(minutes=1)
EARLIER_FAILED = "earlier_failed"
"""Code of an instance that was not begun, since one before it failed."""


class NotImported(UnfitFeed):
    """A feed that cannot be imported as it was asked for."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ImportRequest:
    """Request of a run of imports.

    Attributes:
        nominal: of the run.
        wanted: which instances; none given: those that are due.
        marks: of an instance in the ledger.
        is_whole: all rows are read, also where the settings merge new ones.
    """

    nominal: datetime
    wanted: Range
    marks: Callable[[ImportTarget], ImportMarks]
    is_whole: bool = False

    def resolve(self, pairs: Iterable[tuple[Feed, Cluster]], *, must_all_work: bool) -> ImportTargets:
        """Return the instances of all feeds, each on its cluster; arguments and errors as of `resolved`."""
        chosen = [(of_pair(*pair, self.nominal), partial(self._targets, *pair)) for pair in pairs]
        return resolved(chosen, ImportDetail, refusal="not_imported", must_all_work=must_all_work)

    def _targets(self, feed: Feed, cluster: Cluster) -> Iterator[ImportTarget]:
        """Yield the due instances of a feed, oldest first."""
        side = Side(feed=feed, cluster=cluster, on=feed.cluster(cluster.name))
        settings = side.on.import_
        if settings is None:
            raise NotImported(feed=feed.name, why=f"has no `import` on cluster {cluster.name}; add it to the feed")
        make = partial(self._target, side, settings)
        instances = list(self._due(side, settings, make))
        follows = None
        for at in instances:
            yield make(at, follows=follows, is_last=at == instances[-1])
            follows = at

    def _due(self, side: Side, settings: Import, make: Callable[[datetime], ImportTarget]) -> Iterator[datetime]:
        sequence, extract = side.instances, settings.source.extract
        latest = sequence.positions(sequence.start, self.nominal + _MINUTE)
        is_full = extract.type is ExtractType.FULL

        def due_at(place: int) -> datetime:
            if is_full:
                return sequence[place]
            end = until(side, sequence[place])
            lag = extract.delta_lag
            return end if lag is None else shift(end, lag, 1, side.feed.timezone)

        due = latest[: bisect_right(latest, self.nominal, key=due_at)]
        if self.wanted.first is not None and self.wanted.end is not None:
            named = sequence.positions(self.wanted.first, self.wanted.end)
            yield from (sequence[each] for each in named if each in due)
            return
        if not due:
            return
        last = sequence[due[-1]]
        found = self.marks(make(last))
        if found.own is not None:
            return
        if is_full or found.before is None:
            yield last
            return
        yield from sequence.between(parse_instant(found.before.instance_key) + _MINUTE, last + _MINUTE)

    def _target(
        self, side: Side, settings: Import, at: datetime, follows: datetime | None = None, *, is_last: bool = True
    ) -> ImportTarget:
        feed, cluster = side.feed, side.cluster
        uri = FeedStorage.of(feed, cluster).table
        validation = FeedValidation.on(feed, cluster)
        if uri is not None and validation is not None:
            instead = "remove the quality of the feed, or import into a path feed"
            raise NotImplementedYet(what="quality of an imported table", instead=instead, where=f"feed {feed.name}")
        return ImportTarget(
            feed=feed,
            on=cluster,
            settings=settings,
            instant=at,
            until=until(side, at),
            path=None if uri is not None else side.at(at),
            base=None if uri is not None else side.base,
            table=None if uri is None else TableName(uri.database, uri.table),
            partition={} if uri is None else uri.render(at),
            follows=follows,
            is_last=is_last,
            is_named=self.wanted.is_given,
            is_whole=self.is_whole and settings.source.extract.is_merge,
            validation=validation,
        )


def until(side: Side, at: datetime) -> datetime:
    """Return the time of the next instance, also of the last one."""
    following = side.instances.at_or_after(at + _MINUTE)
    return following or shift(at, side.feed.frequency, 1, side.feed.timezone)


@dataclass(kw_only=True)
class ImportSlots:
    """Slots of instances, one after the other; after one that failed, later ones of its feed are left (`Slots`).

    Attributes:
        targets: oldest first.
    """

    targets: tuple[ImportTarget, ...]
    _todo: deque[ImportTarget] = field(init=False)
    _failed: dict[tuple[str, str], str] = field(default_factory=dict, init=False)
    _left: list[tuple[ImportTarget, Problem]] = field(default_factory=list, init=False)

    def __post_init__(self) -> None:
        self._todo = deque(self.targets)

    @property
    def total(self) -> int:
        """Return the number of instances."""
        return len(self.targets)

    def acquire(self) -> ImportSlot | None:
        """Return the next instance."""
        while self._todo:
            target = self._todo.popleft()
            failed = self._failed.get((target.entity, target.cluster))
            if failed is None:
                return Slot(target=target)
            message = f"the instance {failed} before it was not imported"
            self._left.append((target, Problem(code=EARLIER_FAILED, message=message)))
        return None

    def release(self, slot: ImportSlot, result: TargetResult[ImportTarget, ImportItem, ImportDetail]) -> None:
        """Note an instance that later ones of its feed must not go past."""
        skipped = result.plan.skipped
        is_over = skipped is not None and skipped.is_settled
        if not is_over and not result.is_well:
            self._failed[slot.target.entity, slot.target.cluster] = slot.target.instance_key

    def close(self) -> None:
        """Give no more slots."""
        self._todo.clear()

    @property
    def unstarted(self) -> list[tuple[ImportTarget, Problem]]:
        """Return the instances that were left, with the reason."""
        return self._left
