"""Runs that the ledger never saw, inferred from the entities: data is there that only they can have written."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cached_property
from itertools import islice

from toolkit.el import ElError, format_instant, parse_instant
from toolkit.entities import Process, Repository
from toolkit.entities.errors import UnknownName
from toolkit.ledger import lineage
from toolkit.ledger.database import Transaction
from toolkit.ledger.lineage import InstanceName
from toolkit.ledger.runs.history import RecordedRuns
from toolkit.ledger.runs.queries import Subject
from toolkit.ledger.vocabulary import LifeCycle
from toolkit.planning.moving_ranges import Consumer, Producer, consumers, producers
from toolkit.planning.process_io import ProcessSite

_MOST = 200
"""So many runs of one process are inferred for an instance at most; it may run more often than its feed."""


@dataclass(frozen=True, slots=True, order=True)
class InferredRun:
    """Instance of a process that the ledger has no run of."""

    process: str
    cluster: str
    key: str


@dataclass(frozen=True, kw_only=True)
class InferredRuns:
    """Runs that are inferred from the entities, in one transaction of the ledger.

    A run is inferred when one of its outputs was announced or read, no recorded run has written that output, and the
    ledger has no run of the process instance.
    """

    tx: Transaction
    repository: Repository
    _unrecorded: dict[tuple[str, str], set[InstanceName]] = field(default_factory=dict)
    _sites: dict[tuple[str, str], ProcessSite] = field(default_factory=dict)

    def writers(self, name: InstanceName) -> Iterator[InferredRun]:
        """Yield the runs that can have written an instance without a recorded writer."""
        if self._is_unrecorded(name):
            yield from self._found(name, self._makers, producers)

    def readers(self, name: InstanceName) -> Iterator[InferredRun]:
        """Yield the runs that can have read an instance, and whose outputs are there."""
        feed, cluster, _ = name
        of_interest = {feed: [each for each in self._takers.get(feed, ()) if self._has_unrecorded(each, cluster)]}
        for each in self._found(name, of_interest, consumers):
            if any(self.outputs(each)):
                yield each

    def prepare(self, names: Iterable[InstanceName]) -> None:
        """Read by one statement what `readers` of these instances asks."""
        takers = ((each, cluster) for feed, cluster, _ in names for each in self._takers.get(feed, ()))
        self._read_unrecorded((out.feed, cluster) for each, cluster in takers for out in each.outputs.values())

    def inputs(self, run: InferredRun) -> Iterator[tuple[str, InstanceName]]:
        """Yield the instances that a run can have read, by input; without those that only the run could tell."""
        site, nominal = self._site(run), parse_instant(run.key)
        for name, each in site.process.inputs.items():
            with suppress(ElError, UnknownName):
                for instance in site.input(name, nominal).instances:
                    yield name, (each.feed, run.cluster, format_instant(instance.instant))

    def outputs(self, run: InferredRun) -> Iterator[InstanceName]:
        """Yield the outputs of a run that were announced or read and that no recorded run has written."""
        site, nominal = self._site(run), parse_instant(run.key)
        for name, each in site.process.outputs.items():
            with suppress(ElError, UnknownName):
                made = (each.feed, run.cluster, format_instant(site.output(name, nominal).instance.instant))
                if self._is_unrecorded(made):
                    yield made

    def _found(
        self,
        name: InstanceName,
        by_feed: Mapping[str, Iterable[Process]],
        ranges: Callable[..., Iterator[Producer] | Iterator[Consumer]],
    ) -> Iterator[InferredRun]:
        feed, cluster, key = name
        if feed not in self.repository.feeds or feed not in by_feed:
            return
        found: dict[str, set[str]] = defaultdict(set)
        with suppress(ElError, UnknownName):
            for each in ranges(self.repository.feeds[feed], cluster, parse_instant(key), by_feed[feed]):
                if each.instances is not None:
                    found[each.process] |= set(self._keys(each.process, cluster, *each.instances))
        for process, keys in sorted(found.items()):
            subject = Subject(entity=process, life_cycle=LifeCycle.EXECUTION, cluster=cluster)
            known = RecordedRuns(tx=self.tx, subject=subject).among(keys)
            yield from (InferredRun(process, cluster, each) for each in sorted(keys - known))

    def _keys(self, process: str, cluster: str, first: datetime, last: datetime) -> Iterator[str]:
        sequence = self.repository.processes[process].instances_on(cluster)
        found = sequence.between(first, last + timedelta(minutes=1))
        yield from (format_instant(each) for each in islice(found, _MOST))

    def _is_unrecorded(self, name: InstanceName) -> bool:
        self._read_unrecorded([name[:2]])
        return name in self._unrecorded[name[:2]]

    def _has_unrecorded(self, process: Process, cluster: str) -> bool:
        places = [(each.feed, cluster) for each in process.outputs.values()]
        self._read_unrecorded(places)
        return any(self._unrecorded[each] for each in places)

    def _read_unrecorded(self, places: Iterable[tuple[str, str]]) -> None:
        missing = {each: set[InstanceName]() for each in places if each not in self._unrecorded}
        if missing:
            self._unrecorded.update(missing)
            for name in lineage.unrecorded(self.tx, missing):
                self._unrecorded[name[:2]].add(name)

    def _site(self, run: InferredRun) -> ProcessSite:
        key = (run.process, run.cluster)
        if key not in self._sites:
            process, cluster = self.repository.processes[run.process], self.repository.clusters[run.cluster]
            self._sites[key] = ProcessSite(process=process, cluster=cluster, feeds=self.repository.feeds)
        return self._sites[key]

    @cached_property
    def _makers(self) -> Mapping[str, list[Process]]:
        return _by_feed(self.repository, lambda each: {one.feed for one in each.outputs.values()})

    @cached_property
    def _takers(self) -> Mapping[str, list[Process]]:
        return _by_feed(self.repository, lambda each: {one.feed for one in each.inputs.values()})


def _by_feed(repository: Repository, feeds_of: Callable[[Process], set[str]]) -> Mapping[str, list[Process]]:
    found: dict[str, list[Process]] = defaultdict(list)
    for each in repository.processes.values():
        for feed in feeds_of(each):
            found[feed].append(each)
    return found
