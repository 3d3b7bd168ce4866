"""Graph of datasets, and of the processes that update, read and are triggered by them (Airflow AIP-48)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum


class LinkKind(StrEnum):
    """Relation of a process, or of another cluster, to a dataset."""

    OUTPUT = "output"
    """An output of a process."""
    OUTLET = "outlet"
    """An outlet of a process."""
    INPUT = "input"
    """An input of a process."""
    INLET = "inlet"
    """An inlet of a process."""
    TRIGGER = "trigger"
    """An entry of a process's trigger: an update starts it."""
    REPLICATION = "replication"
    """A copy between clusters."""


class Outside(StrEnum):
    """Sources of updates that are no process of the config repo."""

    EXTERNAL = "external"
    """A feed that another system writes (`external: true`)."""
    IMPORT = "import"
    """A datasource."""
    LISTED = "listed"
    """A dataset of `repo.yaml`: `feedctl event emit` announces its updates."""
    POLL = "poll"
    """A poll finds its updates."""


@dataclass(frozen=True, kw_only=True, slots=True, order=True)
class Link:
    """One end of a relation of a dataset.

    Attributes:
        kind: of the relation.
        process: name of the process; empty for replication.
        dataset: canonical URI of the copy, or of its source; empty for processes.
    """

    kind: LinkKind
    process: str = ""
    dataset: str = ""

    @property
    def name(self) -> str:
        """The process, or the other dataset."""
        return self.process or self.dataset


@dataclass(frozen=True, kw_only=True, slots=True)
class DatasetNode:
    """A dataset with everything that updates or reads it.

    Attributes:
        uri: canonical.
        feed: name; empty for data that is no feed.
        cluster: of the feed; empty likewise.
        producers: sorted.
        consumers: sorted; a process is there once for each kind of relation.
        outside: sources of updates besides the producers.
        aliases: physical URIs of a feed.
    """

    uri: str
    feed: str = ""
    cluster: str = ""
    owner: str = ""
    description: str = ""
    producers: tuple[Link, ...] = ()
    consumers: tuple[Link, ...] = ()
    outside: tuple[Outside, ...] = ()
    aliases: tuple[str, ...] = ()

    @property
    def has_producer(self) -> bool:
        """True if anything that the config repo knows updates it."""
        return bool(self.producers or self.outside)

    @property
    def has_consumer(self) -> bool:
        """True if a process reads it or is triggered by it, or a cluster copies it."""
        return bool(self.consumers)


@dataclass(frozen=True, kw_only=True, slots=True)
class DatasetGraph:
    """All datasets of a config repo.

    Attributes:
        nodes: by canonical URI, sorted.
        triggers: for each process with a trigger, the canonical URIs of the datasets that can start it.
        updates: for each process, the canonical URIs of the datasets that it updates.
    """

    nodes: Mapping[str, DatasetNode]
    triggers: Mapping[str, tuple[str, ...]]
    updates: Mapping[str, tuple[str, ...]]

    def cycles(self, skipped: Iterable[str] = ()) -> Iterator[tuple[str, ...]]:
        """Yield cycles of triggers of two or more processes: each updates a dataset that starts the next.

        Args:
            skipped: processes that may be in a cycle (`allow_cycle`).

        Yields:
            The processes of one cycle, from the first by name on; a shortest one for each set of processes that reach
            each other. A process that starts itself directly is no such cycle.
        """
        started = self._started_by()
        steps = {name: sorted(started[name] - {name}) for name in sorted(self.triggers)}
        for name in set(skipped) & steps.keys():
            del steps[name]
        steps = {name: [each for each in following if each in steps] for name, following in steps.items()}
        seen: set[str] = set()
        for name in steps:
            cycle = () if name in seen else _shortest_cycle(steps, name)
            if cycle:
                seen.update(_reached(steps, name) & _reaching(steps, name))
                yield cycle

    def between(self, producer: str, consumer: str) -> str:
        """Return a dataset that one process updates and that starts another; empty: there is none."""
        copies = self._with_copies(self.updates.get(producer, ()))
        return next((each for each in self.triggers.get(consumer, ()) if each in copies), "")

    def around(self, uris: Iterable[str]) -> DatasetGraph:
        """Return the datasets and processes that lead to some datasets or from them, each with all its relations."""
        forward, backward = self._edges()
        kept = {each for uri in uris for each in (uri, *_reached(forward, uri), *_reached(backward, uri))}
        return DatasetGraph(
            nodes={key: node for key, node in self.nodes.items() if key in kept},
            triggers={name: uris for name, uris in self.triggers.items() if f"process {name}" in kept},
            updates={name: uris for name, uris in self.updates.items() if f"process {name}" in kept},
        )

    def _started_by(self) -> dict[str, set[str]]:
        """Return the processes that each process starts."""
        by_dataset: dict[str, set[str]] = defaultdict(set)
        for name, uris in self.triggers.items():
            for uri in uris:
                by_dataset[uri].add(name)
        return defaultdict(
            set,
            {
                name: {each for uri in self._with_copies(uris) for each in by_dataset.get(uri, ())}
                for name, uris in self.updates.items()
            },
        )

    def _with_copies(self, uris: Iterable[str]) -> dict[str, None]:
        """Return datasets with their copies on other clusters."""
        found = dict.fromkeys(uris)
        for uri in tuple(found):
            node = self.nodes.get(uri)
            found.update(dict.fromkeys(each.dataset for each in node.consumers if each.dataset) if node else {})
        return found

    def _edges(self) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
        """Return the datasets directly behind and before each dataset or `process NAME`."""
        forward: dict[str, list[str]] = defaultdict(list)
        backward: dict[str, list[str]] = defaultdict(list)
        for uri, node in self.nodes.items():
            for each in node.producers:
                before = each.dataset or f"process {each.process}"
                forward[before].append(uri)
                backward[uri].append(before)
            for each in node.consumers:
                behind = each.dataset or f"process {each.process}"
                forward[uri].append(behind)
                backward[behind].append(uri)
        return forward, backward


def _reached(steps: Mapping[str, Iterable[str]], name: str) -> set[str]:
    found: set[str] = set()
    pending = [name]
    while pending:
        further = set(steps.get(pending.pop(), ())) - found
        found |= further
        pending.extend(further)
    return found


def _reaching(steps: Mapping[str, Iterable[str]], name: str) -> set[str]:
    backward: dict[str, list[str]] = defaultdict(list)
    for before, following in steps.items():
        for each in following:
            backward[each].append(before)
    return _reached(backward, name)


def _shortest_cycle(steps: Mapping[str, Iterable[str]], name: str) -> tuple[str, ...]:
    before: dict[str, str] = {}
    pending = [name]
    for current in pending:  # it grows: breadth first
        for each in steps.get(current, ()):
            if each == name:
                return _path(before, name, current)
            if each not in before:
                before[each] = current
                pending.append(each)
    return ()


def _path(before: Mapping[str, str], first: str, last: str) -> tuple[str, ...]:
    found = [last]
    while found[-1] != first:
        found.append(before[found[-1]])
    return tuple(reversed(found))
