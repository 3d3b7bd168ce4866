"""Temporary data (`scope: run` of an output): from which instance on its consumers have not all read it (AIP-48).

It goes in the order of time: the horizon of its retention moves up to the first instance that a consumer still needs.
A consumer is done with an instance once it has succeeded with the files that are there now, by their fingerprints.
Holds, `keep_last`, the late window, approvals and limits apply as to all data, and without a ledger only the age does.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property, partial
from itertools import islice
from typing import TYPE_CHECKING

from toolkit.availability import DATA_ERRORS, DataState
from toolkit.el import format_instant
from toolkit.el.dataset_uri import feed_uri
from toolkit.ledger import fingerprints
from toolkit.planning.dataset_graph import DatasetNode, LinkKind
from toolkit.planning.dataset_links import dataset_graph
from toolkit.planning.process_io import depends_on_availability
from toolkit.planning.temporary_feeds import TemporaryFeeds
from toolkit.retention.consumers import WINDOW, FeedConsumers, Reader

if TYPE_CHECKING:
    from toolkit.availability import DataAccess
    from toolkit.entities import Cluster, Feed, Repository
    from toolkit.ledger.database import Ledger, Transaction
    from toolkit.ledger.fingerprints import Fingerprint
    from toolkit.planning.retention import EvictionPolicy

MOST = 20_000
"""So many instances behind the horizon are looked at; the next run goes on."""


_Prints = Sequence[Sequence["Fingerprint | None"]]
"""For each input, what the process instances that read an instance of the feed have read; None: they did not succeed
with it."""


@dataclass(frozen=True, kw_only=True)
class TemporaryData:
    """Temporary data of a config repo, and what its consumers have read.

    Attributes:
        repository: all entities.
        ledger: of the runs.
        data: where instances are looked at.
        fingerprint: of an address on a cluster, and the partition of an input, as runs take it of what they read.
    """

    repository: Repository
    ledger: Ledger
    data: DataAccess
    fingerprint: Callable[[Cluster, str, str], Fingerprint]

    def policy(self, feed: Feed, cluster: str, policy: EvictionPolicy) -> EvictionPolicy:
        """Return the policy of a feed, whose horizon is later if the feed is temporary and its consumers are done.

        What cannot be looked at now is still needed.

        Args:
            feed: the feed.
            cluster: name of the cluster.
            policy: by the feed's retention alone.

        Raises:
            ElError: an expression of a consumer that cannot be resolved.
            LedgerUnavailable: the ledger cannot be used.
            Stopped: what the stores let through.
        """
        if not self._feeds.has(feed.name, cluster):
            return policy
        readers = self._readers(feed.name, cluster)
        if not readers:
            return policy
        needed = self._first_needed(feed, cluster, policy, readers)
        return replace(policy, horizon=max(policy.horizon, needed))

    @cached_property
    def _feeds(self) -> TemporaryFeeds:
        return TemporaryFeeds(repository=self.repository)

    @cached_property
    def _consumers(self) -> FeedConsumers:
        return FeedConsumers(repository=self.repository)

    @cached_property
    def _nodes(self) -> Mapping[str, DatasetNode]:
        return dataset_graph(self.repository).nodes

    def _readers(self, feed: str, cluster: str) -> Sequence[Reader]:
        """Return the inputs that read a feed; none if it is unknown what a consumer reads, so that the age decides.

        That is so of a copy to another cluster, of inlets and triggers without an input, and of `latest` and `future`.
        """
        node = self._nodes.get(feed_uri(feed, cluster))
        if node is None or any(each.kind is LinkKind.REPLICATION for each in node.consumers):
            return ()
        found: list[Reader] = []
        for name in sorted({each.process for each in node.consumers}):
            own = list(self._consumers.inputs(name, feed, cluster))
            if not own or any(depends_on_availability(each.site.process.inputs[each.input]) for each in own):
                return ()
            found += own
        return found

    def _first_needed(self, feed: Feed, cluster: str, policy: EvictionPolicy, readers: Sequence[Reader]) -> datetime:
        """Return the first instance behind the horizon that is needed, at most the nominal time."""
        behind = feed.instances_on(cluster).between(policy.horizon, policy.nominal_time)
        for _ in range(MOST // WINDOW):
            window = list(islice(behind, WINDOW))
            if not window:
                return policy.nominal_time
            look_up = partial(_read_by_all, readers=readers, feed=feed.name, window=window)
            read = self.ledger.read(look_up)
            for instant in window:
                if not self._is_done(feed, instant, readers, [each[instant] for each in read]):
                    return instant
        return next(behind, policy.nominal_time)

    def _is_done(self, feed: Feed, instant: datetime, readers: Sequence[Reader], read: _Prints) -> bool:
        """Return whether all have read an instance, and what is there now; what is gone was not lost unread."""
        if not any(read) or any(each is None for prints in read for each in prints):
            return False
        cluster = readers[0].site.cluster
        try:
            if self.data.instances_of(feed, cluster).look(instant).state is DataState.MISSING:
                return True
            return all(self._is_same(*each, instant) for each in zip(readers, read, strict=True))
        except DATA_ERRORS:
            return False

    def _is_same(self, reader: Reader, read: Sequence[Fingerprint | None], instant: datetime) -> bool:
        if not read:
            return True
        partition = reader.site.input_partition(reader.input)
        address = reader.site.input_uri(reader.input, instant)
        now = self.fingerprint(reader.site.cluster, address, partition).digest
        return all(each is not None and each.digest == now for each in read)


def _read_by_all(
    tx: Transaction, readers: Sequence[Reader], feed: str, window: Sequence[datetime]
) -> Sequence[Mapping[datetime, Sequence[Fingerprint | None]]]:
    return [_read(tx, each, feed, window) for each in readers]


def _read(
    tx: Transaction, reader: Reader, feed: str, window: Sequence[datetime]
) -> Mapping[datetime, Sequence[Fingerprint | None]]:
    """Return what the instances of a process have read of some instances of a feed."""
    cluster = reader.site.cluster.name
    keys = reader.keys(feed, window)
    runs = reader.succeeded(tx, [key for each in keys.values() for key in each])
    read = {
        (run, each.instance_key): each.fingerprint
        for run, inputs in fingerprints.of_runs(tx, list(runs.values())).items()
        for each in inputs
        if (each.input, each.feed, each.cluster) == (reader.input, feed, cluster)
    }
    return {
        instant: [read.get((runs[key], format_instant(instant))) if key in runs else None for key in of_it]
        for instant, of_it in keys.items()
    }


PolicyOf = Callable[["Feed", str, "EvictionPolicy"], "EvictionPolicy"]
"""Adjusts the policy of a feed on a cluster."""


def by_age_alone(feed: Feed, cluster: str, policy: EvictionPolicy) -> EvictionPolicy:
    """Return the policy as it is: without a ledger it is unknown what consumers have read."""
    del feed, cluster
    return policy
