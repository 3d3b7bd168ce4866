"""Temporary data (`scope: run` of an output): from which instance on its consumers have not all succeeded (AIP-48).

It goes in the order of time: the horizon of its retention moves up to the first instance that a consumer still needs.
Holds, `keep_last`, the late window, approvals and limits apply as to all data, and without a ledger only the age does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property
from itertools import islice, product
from typing import TYPE_CHECKING

from toolkit.el import format_instant
from toolkit.el.dataset_uri import feed_uri
from toolkit.entities.trigger_vocabulary import OutputScope
from toolkit.ledger import event_queries, events
from toolkit.ledger.runs.instances import NewestAttempt, newest_attempts
from toolkit.ledger.runs.queries import InstanceSpan, Subject
from toolkit.ledger.vocabulary import LifeCycle, RunStatus
from toolkit.planning.dataset_graph import DatasetNode, Link, LinkKind
from toolkit.planning.dataset_links import dataset_graph
from toolkit.planning.process_io import ProcessSite
from toolkit.planning.trigger_rules import InstanceReaders
from toolkit.planning.triggers import Update

if TYPE_CHECKING:
    from toolkit.entities import Feed, Repository
    from toolkit.ledger.database import Ledger, Transaction
    from toolkit.ledger.events import Event
    from toolkit.planning.retention import EvictionPolicy

_WINDOW = 256
"""So many instances are looked at together."""
MOST = 20_000
"""So many instances behind the horizon are looked at; the next run goes on."""


@dataclass(frozen=True, kw_only=True)
class TemporaryData:
    """Temporary data of a config repo, and what its consumers have done.

    Attributes:
        repository: all entities.
        ledger: of the runs.
    """

    repository: Repository
    ledger: Ledger

    def policy(self, feed: Feed, cluster: str, policy: EvictionPolicy) -> EvictionPolicy:
        """Return the policy of a feed, whose horizon is later if the feed is temporary and its consumers are done.

        Args:
            feed: the feed.
            cluster: name of the cluster.
            policy: by the feed's retention alone.
        """
        if not self.is_temporary(feed.name, cluster):
            return policy
        consumers = self._consumers(feed.name, cluster)
        if not consumers:
            return policy
        needed = self.ledger.read(lambda tx: self._first_needed(tx, feed, cluster, policy, consumers))
        return replace(policy, horizon=max(policy.horizon, needed))

    def is_temporary(self, feed: str, cluster: str) -> bool:
        """Return whether each process that writes a feed on a cluster marks it with `scope: run`, and one does."""
        return self._scopes.get((feed, cluster)) == {OutputScope.RUN}

    @cached_property
    def _scopes(self) -> Mapping[tuple[str, str], set[OutputScope]]:
        found: dict[tuple[str, str], set[OutputScope]] = {}
        for process in self.repository.processes.values():
            for output, on in product(process.outputs.values(), process.clusters):
                found.setdefault((output.feed, on.name), set()).add(output.scope)
        return found

    @cached_property
    def _nodes(self) -> Mapping[str, DatasetNode]:
        return dataset_graph(self.repository).nodes

    def _consumers(self, feed: str, cluster: str) -> Sequence[InstanceReaders]:
        """Return the consumers; none if the feed is copied to another cluster, which reads it by its own time."""
        node = self._nodes.get(feed_uri(feed, cluster))
        if node is None or any(each.kind is LinkKind.REPLICATION for each in node.consumers):
            return ()
        return tuple(self._sites(node.consumers, cluster))

    def _sites(self, links: Sequence[Link], cluster: str) -> Iterator[InstanceReaders]:
        reads: dict[str, bool] = {}
        for link in links:
            reads[link.process] = reads.get(link.process, False) or link.kind is not LinkKind.INPUT
        for name, is_anywhere in reads.items():
            process = self.repository.process(name)
            for on in process.clusters:
                if is_anywhere or on.name == cluster:
                    place = self.repository.cluster(on.name)
                    site = ProcessSite(process=process, cluster=place, feeds=self.repository.feeds)
                    yield InstanceReaders(repository=self.repository, site=site)

    def _first_needed(
        self, tx: Transaction, feed: Feed, cluster: str, policy: EvictionPolicy, consumers: Sequence[InstanceReaders]
    ) -> datetime:
        """Return the first instance behind the horizon that is needed, at most the nominal time."""
        updates = event_queries.last_updates_by_key(tx, feed_uri(feed.name, cluster))
        behind = feed.instances_on(cluster).between(policy.horizon, policy.nominal_time)
        for _ in range(MOST // _WINDOW):
            window = list(islice(behind, _WINDOW))
            if not window:
                return policy.nominal_time
            done = _Done.of(tx, feed.name, cluster, window, consumers)
            for instant in window:
                if not done.has_all(instant, updates.get(format_instant(instant))):
                    return instant
        return next(behind, policy.nominal_time)


@dataclass(frozen=True, kw_only=True)
class _Done:
    """Progress of consumers with some instances.

    Attributes:
        readers: for each consumer, the keys of its instances that read an instance.
        attempts: for each consumer, the newest attempts of those.
    """

    readers: Sequence[Mapping[datetime, Sequence[str]]]
    attempts: Sequence[Mapping[str, NewestAttempt]] = field(default_factory=tuple)

    @classmethod
    def of(
        cls, tx: Transaction, feed: str, cluster: str, window: Sequence[datetime], consumers: Sequence[InstanceReaders]
    ) -> _Done:
        readers = [{instant: each.keys(_update(feed, cluster, instant)) for instant in window} for each in consumers]
        pairs = zip(consumers, readers, strict=True)
        attempts = [_attempts(tx, each.site, [key for keys in read.values() for key in keys]) for each, read in pairs]
        return cls(readers=readers, attempts=attempts)

    def has_all(self, instant: datetime, last_update: Event | None) -> bool:
        """Return whether each consumer of an instance has succeeded with its present data, and there is a consumer."""
        needed = [
            attempts.get(key)
            for read, attempts in zip(self.readers, self.attempts, strict=True)
            for key in read[instant]
        ]
        return bool(needed) and all(_is_done(each, last_update) for each in needed)


def _is_done(attempt: NewestAttempt | None, last_update: Event | None) -> bool:
    """Return whether a consumer has succeeded; one that began before the last update has read older data."""
    if attempt is None or attempt.status is not RunStatus.SUCCEEDED or attempt.started_at is None:
        return False
    return last_update is None or attempt.started_at >= last_update.recorded_at


def _attempts(tx: Transaction, site: ProcessSite, keys: Sequence[str]) -> Mapping[str, NewestAttempt]:
    if not keys:
        return {}
    subject = Subject(entity=site.process.name, life_cycle=LifeCycle.EXECUTION, cluster=site.cluster.name)
    return newest_attempts(tx, InstanceSpan(subject=subject, start_key=min(keys), end_key=f"{max(keys)}~"))


def _update(feed: str, cluster: str, instant: datetime) -> Update:
    return Update(
        sequence=0,
        dataset=feed_uri(feed, cluster),
        feed=feed,
        instance_key=format_instant(instant),
        kind=events.UPDATES[0],
        recorded_at=instant,
    )


PolicyOf = Callable[["Feed", str, "EvictionPolicy"], "EvictionPolicy"]
"""Adjusts the policy of a feed on a cluster."""


def by_age_alone(feed: Feed, cluster: str, policy: EvictionPolicy) -> EvictionPolicy:
    """Return the policy as it is: without a ledger it is unknown what consumers have done."""
    del feed, cluster
    return policy
