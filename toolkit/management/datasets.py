"""State of datasets: the graph of the config repo, with the last update of each and the next run of its producers."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from toolkit.el import ElError, dataset_uri
from toolkit.entities.errors import UnknownName
from toolkit.entities.trigger_vocabulary import ScheduleMode
from toolkit.planning.dataset_aliases import DatasetAliases
from toolkit.planning.dataset_graph import DatasetGraph, DatasetNode
from toolkit.planning.dataset_links import dataset_graph, next_run

if TYPE_CHECKING:
    from datetime import datetime

    from toolkit.entities import Process, Repository
    from toolkit.ledger.events import Event


@dataclass(frozen=True, kw_only=True, slots=True)
class DatasetState:
    """A dataset now.

    Attributes:
        last_update: the newest event that made it available or updated it; None: there is none.
        next_run: the next nominal time of a process that updates it by its frequency; None: there is none.
        is_known: the config repo names it; else only events do.
    """

    node: DatasetNode
    last_update: Event | None = None
    next_run: datetime | None = None
    is_known: bool = True

    @property
    def marks(self) -> tuple[str, ...]:
        """Return what is missing, in words."""
        if not self.is_known:
            return ("not in the config repo",)
        missing = (("no producer", self.node.has_producer), ("no consumer", self.node.has_consumer))
        return tuple(words for words, is_there in missing if not is_there)


@dataclass(frozen=True, kw_only=True, slots=True)
class ProcessState:
    """A process between datasets.

    Attributes:
        triggered_by: canonical URIs of the datasets that can start it.
        updates: canonical URIs of the datasets that it updates.
        next_run: its next nominal time by its frequency; None: only data starts it, or it has ended.
    """

    name: str
    schedule: ScheduleMode
    triggered_by: tuple[str, ...]
    updates: tuple[str, ...]
    next_run: datetime | None


@dataclass(frozen=True, kw_only=True, slots=True)
class DatasetReport:
    """Datasets and the processes between them, sorted by URI and by name."""

    datasets: tuple[DatasetState, ...]
    processes: tuple[ProcessState, ...]


def dataset_report(
    repository: Repository, last_updates: Mapping[str, Event], now: datetime, only: Collection[str] = ()
) -> DatasetReport:
    """Return the state of the datasets of a config repo, and of those that only events name.

    Args:
        repository: all entities.
        last_updates: the newest update of each dataset, by canonical URI.
        now: the next runs are at this time or later.
        only: canonical URIs of the datasets to report, with everything that leads to them or from them; empty: all.
    """
    whole = dataset_graph(repository)
    graph = whole.around(only) if only else whole
    known = [_state(node, whole, repository, last_updates, now) for node in graph.nodes.values()]
    unknown = [_unknown(uri, event) for uri, event in last_updates.items() if uri not in whole.nodes]
    states = known + [each for each in unknown if not only or each.node.uri in only]
    return DatasetReport(
        datasets=tuple(sorted(states, key=lambda each: each.node.uri)),
        processes=tuple(_process(repository.process(name), graph, now) for name in sorted(graph.updates)),
    )


def chosen_datasets(repository: Repository, report: DatasetReport, text: str) -> tuple[DatasetState, ...]:
    """Return the datasets that a user names: by a URI, by the place of a feed, or all those of a feed by its name.

    Raises:
        UnknownName: no dataset of the config repo or of an event has this name.
        ElError: no valid URI.
        AmbiguousAlias: the place of several feeds.
    """
    wanted = text if text in repository.feeds else _canonical(repository, text)
    found = tuple(each for each in report.datasets if wanted in {each.node.uri, each.node.feed})
    if not found:
        known = [*repository.feeds, *(each.node.uri for each in report.datasets)]
        raise UnknownName(what="dataset", name=text, known=known)
    return found


def _canonical(repository: Repository, text: str) -> str:
    parsed = dataset_uri.parse(text)
    return DatasetAliases.of(repository).resolve(parsed).text


def _state(
    node: DatasetNode, graph: DatasetGraph, repository: Repository, last_updates: Mapping[str, Event], now: datetime
) -> DatasetState:
    producers = {each.process for uri in _sources(node, graph) for each in graph.nodes[uri].producers} - {""}
    times = (next_run(repository.process(name), now) for name in producers)
    coming = min((each for each in times if each is not None), default=None)
    return DatasetState(node=node, last_update=last_updates.get(node.uri), next_run=coming)


def _sources(node: DatasetNode, graph: DatasetGraph) -> Iterator[str]:
    """Yield the dataset, and those that it is a copy of."""
    yield node.uri
    yield from (each.dataset for each in node.producers if each.dataset in graph.nodes)


def _unknown(uri: str, event: Event) -> DatasetState:
    try:
        parsed = dataset_uri.parse(uri)
    except ElError:  # written by another version of these rules
        parsed = dataset_uri.DatasetUri(uri)
    node = DatasetNode(uri=uri, feed=parsed.feed or "", cluster=parsed.cluster or "")
    return DatasetState(node=node, last_update=event, is_known=False)


def _process(process: Process, graph: DatasetGraph, now: datetime) -> ProcessState:
    return ProcessState(
        name=process.name,
        schedule=process.schedule,
        triggered_by=graph.triggers.get(process.name, ()),
        updates=graph.updates.get(process.name, ()),
        next_run=next_run(process, now),
    )
