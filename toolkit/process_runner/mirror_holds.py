"""Holds on feeds that stop mirrors: what a mirror replaces or takes away may be data of feeds."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from toolkit.actions.hold_watch import HOLD_FILE, HoldWatch
from toolkit.actions.model import Problem, SkipReason
from toolkit.planning.instance_storage import FeedStorage, on_clusters

if TYPE_CHECKING:
    from toolkit.actions.action import RunContext
    from toolkit.el import CanonicalPath
    from toolkit.entities import Hold, Process, Repository


@dataclass(frozen=True, kw_only=True)
class MirrorHolds:
    """Holds of a run; a hold on some instances of a feed stops a mirror too, which knows no instances.

    Attributes:
        repository: has all feeds.
        targets: directories that the mirror of a process writes.
        holds: of the repo and the ledger.
    """

    repository: Repository
    targets: Callable[[Process], Iterable[CanonicalPath]]
    holds: Callable[[], Sequence[Hold]]

    def problem(self, process: Process, work: RunContext) -> Problem | None:
        """Return which hold a mirror waits for.

        Raises:
            Unreachable: a store does not answer.
            HoldCheckFailed: a hold file cannot be looked for.
        """
        for target in self.targets(process):
            met = [each for each in self._bases if each[2].meets(target)]
            holds = self.holds() if met else ()
            for feed, cluster, base in met:
                hold = next((each for each in holds if each.concerns(feed, cluster)), None)
                watch = HoldWatch(bases=(base,), pairs=(), storage=work.stores)
                if hold is not None or watch.holds(base, must_look=True):
                    why = f"a hold ({hold.reason})" if hold is not None else f"{HOLD_FILE} in {base}"
                    message = (
                        f"{why} keeps the feed {feed} on {cluster}, and {target} has data of it; run again when the "
                        "hold is lifted"
                    )
                    return Problem(code=SkipReason.HELD, message=message)
        return None

    @cached_property
    def _bases(self) -> Sequence[tuple[str, str, CanonicalPath]]:
        return tuple(self._all_bases())

    def _all_bases(self) -> Iterator[tuple[str, str, CanonicalPath]]:
        """Yield the directories of all feeds, each with the feed and the cluster."""
        for feed, cluster in on_clusters(self.repository.feeds.values(), self.repository.clusters.values()):
            for base in dict.fromkeys(each.base for each in FeedStorage.of(feed, cluster).templates.values()):
                yield feed.name, cluster.name, cluster.place(base)
