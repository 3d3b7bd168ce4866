"""Datasets of a config repo, from its entities: what updates, reads and copies each, and what it triggers."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from toolkit.el import EPOCH, dataset_uri
from toolkit.el.dataset_uri import feed_uri
from toolkit.entities.trigger_names import TriggerNames
from toolkit.entities.trigger_vocabulary import ScheduleMode
from toolkit.entities.vocabulary import ClusterRole
from toolkit.planning.dataset_aliases import AmbiguousAlias, DatasetAliases, mirrored_datasets
from toolkit.planning.dataset_graph import DatasetGraph, DatasetNode, Link, LinkKind, Outside
from toolkit.planning.process_io import ProcessSite
from toolkit.planning.trigger_rules import TriggerRules

if TYPE_CHECKING:
    from datetime import datetime

    from toolkit.entities import Feed, Process, Repository
    from toolkit.entities.trigger import TriggerEntry


def dataset_graph(repository: Repository) -> DatasetGraph:
    """Return the graph of the usable entities of a config repo."""
    return _Builder(repository).graph()


@dataclass
class _Builder:
    """The graph while it is made."""

    repository: Repository
    producers: dict[str, set[Link]] = field(default_factory=lambda: defaultdict(set))
    consumers: dict[str, set[Link]] = field(default_factory=lambda: defaultdict(set))

    def graph(self) -> DatasetGraph:
        aliases = DatasetAliases.of(self.repository)
        processes = sorted(self.repository.processes.values(), key=lambda each: each.name)
        updates = {each.name: tuple(self._update(each, aliases)) for each in processes}
        for each in processes:
            self._read(each, aliases)
        for feed in self.repository.feeds.values():
            self._copy(feed)
        index = TriggerIndex.of(self.repository, self._known(), aliases.feeds)
        triggers = {each.name: tuple(self._trigger(each, index)) for each in processes if each.trigger is not None}
        by_dataset: dict[str, list[str]] = defaultdict(list)
        for alias, datasets in aliases.feeds.items():
            for dataset in datasets:
                by_dataset[dataset.text].append(alias)
        nodes = {uri: self._node(uri, by_dataset[uri]) for uri in sorted(self._known())}
        return DatasetGraph(nodes=nodes, triggers=triggers, updates=updates)

    def _known(self) -> set[str]:
        feeds = (feed_uri(feed.name, on.name) for feed in self.repository.feeds.values() for on in feed.clusters)
        return {*feeds, *self.repository.datasets, *self.producers, *self.consumers}

    def _update(self, process: Process, aliases: DatasetAliases) -> Iterator[str]:
        outputs = dict.fromkeys((each.feed, on.name) for each in process.outputs.values() for on in process.clusters)
        for feed, cluster in outputs:
            uri = feed_uri(feed, cluster)
            self.producers[uri].add(Link(kind=LinkKind.OUTPUT, process=process.name))
            yield uri
        for uri in (*process.outlets, *mirrored_datasets(process, self.repository.clusters)):
            dataset = _resolved(uri, aliases)
            self.producers[dataset].add(Link(kind=LinkKind.OUTLET, process=process.name))
            yield dataset

    def _read(self, process: Process, aliases: DatasetAliases) -> None:
        for each in process.inputs.values():
            for on in process.clusters:
                self.consumers[feed_uri(each.feed, on.name)].add(Link(kind=LinkKind.INPUT, process=process.name))
        for uri in process.inlets:
            self.consumers[_resolved(uri, aliases)].add(Link(kind=LinkKind.INLET, process=process.name))

    def _trigger(self, process: Process, index: TriggerIndex) -> Iterator[str]:
        for uri in index.datasets(process):
            self.consumers[uri].add(Link(kind=LinkKind.TRIGGER, process=process.name))
            yield uri

    def _copy(self, feed: Feed) -> None:
        sources = [each.name for each in feed.clusters if each.type is ClusterRole.SOURCE]
        for target in feed.clusters:
            for source in sources if target.type is ClusterRole.TARGET else ():
                here, there = feed_uri(feed.name, source), feed_uri(feed.name, target.name)
                self.consumers[here].add(Link(kind=LinkKind.REPLICATION, dataset=there))
                self.producers[there].add(Link(kind=LinkKind.REPLICATION, dataset=here))

    def _node(self, uri: str, aliases: Iterable[str]) -> DatasetNode:
        parsed = dataset_uri.parse(uri)
        feed, listed = self.repository.feeds.get(parsed.feed or ""), self.repository.datasets.get(uri)
        about = feed or listed
        return DatasetNode(
            uri=uri,
            feed=parsed.feed or "",
            cluster=parsed.cluster or "",
            owner=(about.owner if about else None) or "",
            description=(about.description if about else None) or "",
            producers=tuple(sorted(self.producers.get(uri, ()))),
            consumers=tuple(sorted(self.consumers.get(uri, ()))),
            outside=tuple(self._outside(uri, feed, parsed.cluster or "")),
            aliases=tuple(sorted(aliases)),
        )

    def _outside(self, uri: str, feed: Feed | None, cluster: str) -> Iterator[Outside]:
        listed = self.repository.datasets.get(uri)
        on = None if feed is None else feed.find_cluster(cluster)
        if feed is not None and feed.external and (on is None or on.type is not ClusterRole.TARGET):
            yield Outside.EXTERNAL
        if on is not None and on.import_ is not None:
            yield Outside.IMPORT
        if listed is not None:
            yield Outside.LISTED
        if (listed is not None and listed.poll is not None) or (on is not None and on.poll is not None):
            yield Outside.POLL


def _resolved(uri: str, aliases: DatasetAliases) -> str:
    """Return the dataset of a written URI; one that is the place of several feeds stays as it is."""
    parsed = dataset_uri.parse(uri)
    try:
        return aliases.resolve(parsed).text
    except AmbiguousAlias:
        return parsed.text


@dataclass(frozen=True, slots=True)
class TriggerIndex:
    """Datasets of the entries of triggers.

    Attributes:
        places: physical URIs of feeds.
        known: canonical URIs of all datasets, among which globs look, sorted.
    """

    repository: Repository
    names: TriggerNames
    rules: TriggerRules
    places: Container[str]
    known: Sequence[str]

    @classmethod
    def of(cls, repository: Repository, known: Iterable[str], places: Container[str] | None = None) -> TriggerIndex:
        """Return the index of a config repo.

        Args:
            repository: all entities.
            known: canonical URIs of its datasets.
            places: physical URIs of all feeds; None: they are read.
        """
        names = TriggerNames.of(repository.feeds, repository.settings.datasets, repository.processes.values())
        rules = TriggerRules(repository, EPOCH)  # no time is in the datasets of an entry
        found = DatasetAliases.of(repository).feeds if places is None else places
        return cls(repository, names, rules, found, sorted(known))

    def datasets(self, process: Process) -> Iterator[str]:
        """Yield the datasets that can start a process, each once, on all its clusters."""
        if process.trigger is not None:
            condition = self.names.resolved_condition(process.trigger.condition, process)
            yield from dict.fromkeys(uri for each in condition.entries() for uri in self.of_entry(each, process))

    def of_entry(self, entry: TriggerEntry, process: Process) -> Iterator[str]:
        """Yield the datasets of one entry, in which plain texts are resolved; a glob may have none."""
        yield from dict.fromkeys(uri for site in self._sites(process) for uri in self._on(entry, site))

    def _on(self, entry: TriggerEntry, site: ProcessSite) -> Iterator[str]:
        found = self.rules.datasets(entry, site)
        yield from (uri for uri in sorted(found.named) if uri not in self.places)  # the feed stands for its place
        if found.glob is not None:
            yield from found.glob.among(self.known)

    def _sites(self, process: Process) -> Iterator[ProcessSite]:
        for each in process.clusters:
            cluster = self.repository.clusters.get(each.name)
            if cluster is not None:
                yield ProcessSite(process=process, cluster=cluster, feeds=self.repository.feeds)


def next_run(process: Process, after: datetime) -> datetime | None:
    """Return the next nominal time of a process by its frequency, on any cluster.

    Args:
        process: any.
        after: the time is this or later, UTC.

    Returns:
        None: it has ended, or only data starts it.
    """
    if process.schedule is ScheduleMode.NEVER:
        return None
    found: list[datetime] = []
    for each in process.clusters:
        following = process.instances_on(each.name).at_or_after(after)
        if following is not None:
            found.append(following)
    return min(found, default=None)
