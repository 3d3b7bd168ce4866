"""From entities to what a retention run works on."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from toolkit.entities import LocationType
from toolkit.entities.not_implemented import Area, not_implemented
from toolkit.errors import InvalidInput, NotImplementedYet
from toolkit.planning.instance_storage import FeedStorage
from toolkit.planning.retention import RetentionClock, eviction_policy
from toolkit.retention.errors import NotYetEvictable, UndatedData
from toolkit.retention.neighbours import Neighbour, Neighbourhood, holds_of, place_of
from toolkit.retention.plan import Failure, FeedPlan
from toolkit.retention.targets import FeedTarget, Location

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from datetime import datetime

    from toolkit.el import CanonicalPath, PathTemplate
    from toolkit.entities import Cluster, Feed, Hold, Retention
    from toolkit.storage import FileSystem

NOT_IMPLEMENTED = "not_implemented"
"""The code of a feed that asks for something that does not exist yet."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Resolved:
    """The feeds of a run: those to look at, and those that are over before they begin."""

    targets: tuple[FeedTarget, ...]
    settled: tuple[FeedPlan, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Resolver:
    """Resolves feeds on clusters.

    Attributes:
        nominal_time: of the run.
        keep_beyond_validity: the repo's setting; a feed's cluster may override it.
        holds: of the repo.
        storage: the store that a path is on.
        neighbourhood: where all feeds of the repo are, also those that the run is not about.
    """

    nominal_time: datetime
    keep_beyond_validity: bool
    holds: tuple[Hold, ...]
    storage: Callable[[CanonicalPath], FileSystem]
    neighbourhood: Neighbourhood = field(default_factory=Neighbourhood)

    def resolve(self, pairs: Iterable[tuple[Feed, Cluster]], *, must_all_work: bool) -> Resolved:
        """All feeds of a run.

        Args:
            pairs: feeds with their clusters.
            must_all_work: the user named the feeds; else those that cannot be done are reported beside the others.

        Raises:
            NotImplementedYet: a named feed asks for something that does not exist yet, or no feed can be done.
            InvalidInput: an entity cannot be used.
        """
        targets: list[FeedTarget] = []
        settled: list[FeedPlan] = []
        refused: list[InvalidInput] = []
        for feed, cluster in pairs:
            try:
                self._sort_in(feed, cluster, targets, settled)
            except (NotImplementedYet, NotYetEvictable) as error:
                refused.append(error)
                failure = Failure(code=NOT_IMPLEMENTED, message=str(error))
                settled.append(FeedPlan(feed=feed.name, cluster=cluster.name, failure=failure))
        if refused and (must_all_work or not targets):
            raise _together(refused)
        return Resolved(targets=tuple(targets), settled=tuple(settled))

    def _sort_in(self, feed: Feed, cluster: Cluster, targets: list[FeedTarget], settled: list[FeedPlan]) -> None:
        retention = feed.cluster(cluster.name).retention
        if retention is None:
            note = "no retention on this cluster: nothing is ever evicted"
            settled.append(FeedPlan(feed=feed.name, cluster=cluster.name, notes=(note,)))
            return
        if missing := tuple(_what_is_missing(feed, cluster)):
            raise _together(missing)
        targets.append(self._target(feed, cluster, retention))

    def _target(self, feed: Feed, cluster: Cluster, retention: Retention) -> FeedTarget:
        clock = RetentionClock(nominal_time=self.nominal_time, keep_beyond_validity=self.keep_beyond_validity)
        templates = FeedStorage.of(feed, cluster).templates
        undated = {kind: each for kind, each in templates.items() if not each.dated}
        if LocationType.DATA in undated:
            raise UndatedData(feed=feed.name, cluster=cluster.name, template=undated[LocationType.DATA].text)
        dated = {kind: each for kind, each in templates.items() if each.dated}
        locations = tuple(self._location(kind, each, feed, cluster) for kind, each in dated.items())
        neighbours = self.neighbourhood.of(feed, cluster)
        holds = (*self.holds, *holds_of(neighbours, feed, cluster, self.holds))
        return FeedTarget(
            feed=feed.name,
            cluster=cluster.name,
            limit=retention.limit,
            effective_time=clock.effective_time(feed, cluster.name),
            instances=feed.instances_on(cluster.name),
            policy=eviction_policy(feed, cluster.name, retention, clock, holds),
            locations=locations,
            neighbour_bases=tuple(dict.fromkeys(each.location.base for each in neighbours)),
            neighbours=tuple(sorted({each.pair for each in neighbours})),
            availability_flag=feed.availability_flag or "",
            name_services=cluster.name_services,
            notes=(*_undated_notes(undated), *_open_variable_notes(dated), *_neighbour_notes(neighbours, cluster)),
        )

    def _location(self, kind: LocationType, template: PathTemplate, feed: Feed, cluster: Cluster) -> Location:
        base = cluster.place(template.base)
        try:
            self.storage(base)  # a store without adapter is refused before anything is touched
        except NotImplementedYet as error:
            where = f"feed {feed.name} on {cluster.name}"
            raise NotImplementedYet(what=error.what, instead=error.instead, where=where) from error
        return Location(type=kind, template=template, base=base)


def _undated_notes(undated: Mapping[LocationType, PathTemplate]) -> Iterator[str]:
    for kind, template in undated.items():
        yield f"{kind}: {template.text} has no dates and stays"


def _open_variable_notes(dated: Mapping[LocationType, PathTemplate]) -> Iterator[str]:
    """A misspelt variable must not silently reach over the directories of all its values."""
    for kind, template in dated.items():
        for name in sorted(template.variables):
            yield f"{kind}: ${{{name}}} in {template.text} has no value, so every name in its place is taken"


def _neighbour_notes(neighbours: Iterable[Neighbour], cluster: Cluster) -> Iterator[str]:
    for pair in sorted({each.pair for each in neighbours}):
        name = place_of(pair, cluster.name)
        yield f"feed {name} shares this data and loses what goes here, whatever its own retention; its holds count"


def _what_is_missing(feed: Feed, cluster: Cluster) -> Iterator[NotImplementedYet]:
    """What the schema allows and retention cannot do yet: an archive must never be read as a delete."""
    where = f"feed {feed.name} on {cluster.name}"
    if feed.table_on(cluster.name) is not None:
        yield NotImplementedYet(what="retention of a table", instead="use a path feed", where=where)
    for value in not_implemented(feed, Area.RETENTION, cluster.name):
        yield value.error(where)


def _together(refusals: Sequence[InvalidInput]) -> InvalidInput:
    return refusals[0] if len(refusals) == 1 else NotYetEvictable(refusals=refusals)
