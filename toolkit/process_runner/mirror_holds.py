"""Holds on feeds that stop mirrors: what a mirror replaces or takes away may be data of feeds."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from toolkit.actions.hold_watch import HOLD_FILE, HoldCheckFailed, HoldWatch, NewHolds, NoNewHolds
from toolkit.actions.model import Problem, SkipReason
from toolkit.entities.mirror_work import HiveMirror
from toolkit.errors import Unavailable
from toolkit.ledger.errors import LedgerUnavailable
from toolkit.planning.instance_storage import FeedStorage, on_clusters, tables_on_clusters

if TYPE_CHECKING:
    from toolkit.actions.action import RunContext
    from toolkit.el import CanonicalPath
    from toolkit.entities import Hold, Process, Repository
    from toolkit.entities.mirror_work import CopyWork


class MetFeed(NamedTuple):
    """Feed that has data where a mirror writes.

    Attributes:
        feed: name.
        cluster: name.
        target: of the mirror, in words.
        base: directory of the feed, which may have a hold file; None: it is a table.
    """

    feed: str
    cluster: str
    target: str
    base: CanonicalPath | None


@dataclass(frozen=True, kw_only=True)
class MirrorHolds:
    """Holds of a run; a hold on some instances of a feed stops a mirror too, which knows no instances.

    Attributes:
        repository: has all feeds.
        place: of a directory on the cluster of a name; raises InvalidInput for one that is not there.
        holds: of the repo and the ledger, as they are now; raises Unavailable when the ledger cannot be read.
        new_holds: added since the run read the holds.
    """

    repository: Repository
    place: Callable[[str, str], CanonicalPath]
    holds: Callable[[], Sequence[Hold]]
    new_holds: NewHolds = field(default_factory=NoNewHolds)

    def watch(self, process: Process, work: RunContext) -> tuple[HoldWatch, ...]:
        """Return the condition of a mirror: a hold that is set while it runs stops it before it publishes.

        Raises:
            InvalidInput: the cluster of its target is not there.
        """
        met = self._all_met(process)
        if not met:
            return ()
        bases = tuple(dict.fromkeys(each.base for each in met if each.base is not None))
        pairs = tuple(dict.fromkeys((each.feed, each.cluster) for each in met))
        return (HoldWatch(bases=bases, pairs=pairs, storage=work.stores, new_holds=self.new_holds),)

    def problem(self, process: Process, work: RunContext) -> Problem | None:
        """Return which hold a mirror waits for.

        Raises:
            InvalidInput: the cluster of its target is not there.
            Unreachable: a store does not answer.
            HoldCheckFailed: a hold file cannot be looked for, or the ledger cannot be read.
        """
        met = self._all_met(process)
        try:
            holds = self.holds() if met else ()
        except Unavailable as error:
            raise HoldCheckFailed(code=LedgerUnavailable.code, why=str(error)) from error
        for feed, cluster, target, base in met:
            hold = next((each for each in holds if each.concerns(feed, cluster)), None)
            has_file = base is not None and HoldWatch(bases=(base,), pairs=(), storage=work.stores).holds(
                base, must_look=True
            )
            if hold is not None or has_file:
                why = f"a hold ({hold.reason})" if hold is not None else f"{HOLD_FILE} in {base}"
                message = f"{why} keeps the feed {feed} on {cluster}, and {target} has data of it"
                return Problem(code=SkipReason.HELD, message=f"{message}; run again when the hold is lifted")
        return None

    def _all_met(self, process: Process) -> Sequence[MetFeed]:
        mirror = process.workflow.mirror
        return [each for one in mirror.given().values() for each in self._met(one)] if mirror else []

    def _met(self, work: CopyWork) -> Iterator[MetFeed]:
        """Yield the feeds whose data is in, at or around the target of a mirror."""
        if isinstance(work, HiveMirror):
            databases = {each.lower() for each in work.source_databases}
            tables = {each.lower() for each in work.source_tables}
            for feed, cluster, table in tables_on_clusters(
                self.repository.feeds.values(), self.repository.clusters.values()
            ):
                is_in = table.database.lower() in databases and (not tables or table.table.lower() in tables)
                if cluster.name == work.target_cluster and is_in:
                    yield MetFeed(feed.name, cluster.name, f"{table.database}.{table.table}", None)
            return
        target = self.place(work.target_cluster, work.directories()[1])
        yield from (each._replace(target=str(target)) for each in self._based if each.base and each.base.meets(target))

    @cached_property
    def _based(self) -> Sequence[MetFeed]:
        """The directories of all feeds."""
        pairs = on_clusters(self.repository.feeds.values(), self.repository.clusters.values())
        return tuple(
            MetFeed(feed.name, cluster.name, "", cluster.place(base))
            for feed, cluster in pairs
            for base in dict.fromkeys(each.base for each in FeedStorage.of(feed, cluster).templates.values())
        )
