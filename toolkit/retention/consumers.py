"""Consumers of a feed: the inputs of processes that read its instances, and the runs that read each of them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from toolkit.ledger.runs.instances import succeeded_runs
from toolkit.ledger.runs.queries import InstanceSpan, Subject
from toolkit.ledger.vocabulary import LifeCycle
from toolkit.planning.process_io import ProcessSite
from toolkit.planning.trigger_rules import InstanceReaders

if TYPE_CHECKING:
    from datetime import datetime

    from toolkit.entities import Repository
    from toolkit.ledger.database import Transaction

WINDOW = 256
"""So many instances are looked up together."""


@dataclass(frozen=True, kw_only=True)
class Reader:
    """An input that reads a feed.

    Attributes:
        site: the process on its cluster.
        input: its name.
        instances: tells which instances of the process read one of the feed.
    """

    site: ProcessSite
    input: str
    instances: InstanceReaders

    def keys(self, feed: str, instants: Sequence[datetime]) -> Mapping[datetime, Sequence[str]]:
        """Return the keys of the process instances that read each instance of a feed.

        Raises:
            ElError: an expression of the input that cannot be evaluated.
        """
        return self.instances.of_instances(feed, self.site.cluster.name, instants)

    def succeeded(self, tx: Transaction, keys: Collection[str]) -> Mapping[str, int]:
        """Return the newest attempts of instances of the process, as far as they have succeeded: run by instance."""
        if not keys:
            return {}
        site = self.site
        subject = Subject(entity=site.process.name, life_cycle=LifeCycle.EXECUTION, cluster=site.cluster.name)
        return succeeded_runs(tx, InstanceSpan(subject=subject, start_key=min(keys), end_key=f"{max(keys)}~"))


@dataclass(frozen=True, kw_only=True)
class FeedConsumers:
    """Consumers of the feeds of a config repo.

    Attributes:
        repository: all entities.
    """

    repository: Repository

    def readers(self, feed: str, cluster: str) -> list[Reader]:
        """Return the inputs of all processes that read a feed on a cluster."""
        return [each for name in self._readers.get(feed, ()) for each in self.inputs(name, feed, cluster)]

    def inputs(self, process: str, feed: str, cluster: str) -> Iterator[Reader]:
        """Yield the inputs of a process that read a feed on a cluster."""
        entity = self.repository.process(process)
        if all(each.name != cluster for each in entity.clusters):
            return
        place = self.repository.cluster(cluster)
        site = ProcessSite(process=entity, cluster=place, feeds=self.repository.feeds)
        for name, each in entity.inputs.items():
            if each.feed == feed:
                instances = InstanceReaders(repository=self.repository, site=site, input=name)
                yield Reader(site=site, input=name, instances=instances)

    @cached_property
    def _readers(self) -> Mapping[str, Sequence[str]]:
        """The processes that read each feed, by their documents: no process is made to know it."""
        found: dict[str, list[str]] = {}
        for name, document in sorted(self.repository.process_documents(), key=lambda each: each[0]):
            inputs = document.get("inputs")
            each_input = inputs.values() if isinstance(inputs, Mapping) else ()
            read = [each.get("feed") for each in each_input if isinstance(each, Mapping)]
            for feed in dict.fromkeys(each for each in read if isinstance(each, str)):
                found.setdefault(feed, []).append(name)
        return found
