"""Rules of triggers: what the trigger of a process means on a cluster, with the instances that read each update."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property
from typing import TYPE_CHECKING

from toolkit.el import ElError, Frequency, InstanceSequence, format_instant, parse_instant, shift
from toolkit.el.dataset_uri import DatasetGlob, feed_uri, is_glob, parse, parse_glob
from toolkit.entities.trigger import TriggerEntry
from toolkit.entities.trigger_names import TriggerNames
from toolkit.entities.trigger_vocabulary import GroupBy, ScheduleMode
from toolkit.planning.dataset_aliases import DatasetAliases
from toolkit.planning.moving_ranges import MovingRange
from toolkit.planning.process_io import depends_on_availability, naming
from toolkit.planning.triggers import RETRACTIONS, CompiledCondition, CompiledEntry, TriggerRule, Update

if TYPE_CHECKING:
    from toolkit.entities import Input, Process, Repository
    from toolkit.entities.trigger import Trigger, TriggerCondition
    from toolkit.planning.process_io import ProcessSite


_FEEDS = feed_uri("", "").partition("?")[0]


@dataclass(frozen=True, kw_only=True, slots=True)
class EntryDatasets:
    """Datasets whose updates an entry of a trigger counts.

    Attributes:
        named: canonical URIs; of a glob, those of feeds with a physical URI that it matches.
        glob: matches further ones; None: these are all.
    """

    named: frozenset[str]
    glob: DatasetGlob | None = None

    def __contains__(self, dataset: str) -> bool:
        return dataset in self.named or (self.glob is not None and self.glob.matches(dataset))


class TriggerRules:
    """Compiler of the triggers of one config repo; what they share is read once.

    Args:
        repository: the config repo.
        nominal_time: of the action, UTC: `schedule: and` waits for it, and months of `valid_for` are counted from it.
    """

    def __init__(self, repository: Repository, nominal_time: datetime) -> None:
        self._repository, self._nominal_time = repository, nominal_time

    def rule(self, site: ProcessSite, trigger: Trigger) -> TriggerRule:
        """Return the compiled trigger of a process on a cluster.

        Raises:
            ElError: a URI that does not parse, which loading refuses too.
        """
        process = site.process
        condition = self._names.resolved_condition(trigger.condition, process)
        watched: list[EntryDatasets] = []

        def compile_entry(entry: TriggerEntry) -> CompiledEntry:
            watched.append(self.datasets(entry, site))
            return self._entry(entry, watched[-1], site)

        runs = process.instances_on(site.cluster.name)
        validity = process.cluster(site.cluster.name).validity
        return TriggerRule(
            condition=_compiled(condition, compile_entry),
            by=trigger.by or _default_by(condition.entries()),
            on=frozenset(trigger.on),
            coalesce=trigger.coalesce,
            order=trigger.order or process.order,
            valid_for=self._age(trigger.valid_for, process.timezone),
            expires=self._expires(watched),
            on_pause=trigger.on_pause,
            is_valid_at=lambda instant: validity.start <= instant < validity.end,
            may_run=self._may_run(process),
            follows=lambda before, after: _follows(runs, before, after),
        )

    def datasets(self, entry: TriggerEntry, site: ProcessSite) -> EntryDatasets:
        """Return the datasets of an entry whose plain text is resolved.

        A physical URI of a feed means the feed's dataset, and of all feeds when several have data there.
        """
        cluster = entry.cluster or site.cluster.name
        if entry.input is not None:
            feed = site.process.inputs[entry.input].feed
            return EntryDatasets(named=frozenset({feed_uri(feed, site.cluster.name)}))
        if entry.feed is not None:
            return EntryDatasets(named=frozenset({feed_uri(entry.feed, cluster)}))
        if entry.group is not None:
            return EntryDatasets(named=frozenset(feed_uri(each, cluster) for each in self._group(entry.group, cluster)))
        text = entry.uri or entry.name or ""
        return self._of_glob(parse_glob(text)) if is_glob(text) else self._of_uri(parse(text).text)

    @cached_property
    def _names(self) -> TriggerNames:
        repository = self._repository
        return TriggerNames.of(repository.feeds, repository.settings.datasets, repository.processes.values())

    @cached_property
    def _aliases(self) -> DatasetAliases:
        """Read when a trigger names a URI; the templates of all feeds are in it."""
        return DatasetAliases.of(self._repository)

    @cached_property
    def _places(self) -> Sequence[str]:
        """The physical URIs of all feeds, sorted."""
        return sorted(self._aliases.feeds)

    def _group(self, group: str, cluster: str) -> Iterator[str]:
        for feed in self._repository.feeds.values():
            if group in feed.groups and any(each.name == cluster for each in feed.clusters):
                yield feed.name

    def _of_uri(self, uri: str) -> EntryDatasets:
        return EntryDatasets(named=frozenset({uri, *(each.text for each in self._aliases.feeds.get(uri, ()))}))

    def _of_glob(self, glob: DatasetGlob) -> EntryDatasets:
        feeds = (self._aliases.feeds[alias] for alias in glob.among(self._places))
        return EntryDatasets(named=frozenset(each.text for found in feeds for each in found), glob=glob)

    def _entry(self, entry: TriggerEntry, datasets: EntryDatasets, site: ProcessSite) -> CompiledEntry:
        readers = InstanceReaders(repository=self._repository, site=site, input=entry.input)

        def matches(update: Update) -> bool:
            is_whole = update.kind in RETRACTIONS or not entry.partition
            return update.dataset in datasets and (is_whole or entry.partition.items() <= update.partition.items())

        return CompiledEntry(
            name=_name(entry),
            matches=matches,
            keys=readers.keys,
            min_count=entry.min_count,
            datasets=datasets.named if datasets.glob is None else None,
            input=entry.input or "",
        )

    def _age(self, frequency: Frequency | None, timezone: str = "UTC") -> timedelta | None:
        """Return a duration before the nominal time; days and months are those of the calendar."""
        if frequency is None:
            return None
        return self._nominal_time - shift(self._nominal_time, frequency, -1, timezone)

    def _expires(self, watched: Sequence[EntryDatasets]) -> dict[str, timedelta]:
        found = {
            uri: self._age(each.expires)
            for uri, each in self._repository.datasets.items()
            if each.expires is not None and any(uri in source for source in watched)
        }
        return {uri: age for uri, age in found.items() if age is not None}

    def _may_run(self, process: Process) -> Callable[[str], bool]:
        latest = format_instant(self._nominal_time)
        waits = process.schedule is ScheduleMode.AND
        return lambda key: not waits or key <= latest


@dataclass(frozen=True, kw_only=True)
class InstanceReaders:
    """Process instances that read an updated instance.

    An instance of a feed that inputs of the process read belongs to the process instances whose resolved inputs contain
    it. Any other belongs to the process instance in whose period it lies, that is the last one that is not later. So
    does one of an input by `latest` or `future`: only a run can tell what these contain.

    Attributes:
        repository: the config repo.
        site: the process on its cluster.
        input: the only input that counts; None: each that reads the feed.
    """

    repository: Repository
    site: ProcessSite
    input: str | None = None

    def keys(self, update: Update) -> Sequence[str]:
        """Return the keys of the process instances that read the updated instance, rising; empty: none does.

        A key that is no time, or no instance of the feed, belongs to no process instance.

        Raises:
            ElError: an expression of an input that cannot be evaluated.
        """
        instant = _instant(update.instance_key)
        if instant is None:
            return ()
        if not update.dataset.startswith(_FEEDS):
            return self._in_period(instant)
        # The ledger has canonical URIs: parsing one would take longer than all the rest.
        feed, _, cluster = update.dataset.removeprefix(_FEEDS).partition("?cluster=")
        return self.of_instances(feed, cluster, [instant])[instant]

    def of_instances(self, feed: str, cluster: str, instants: Sequence[datetime]) -> Mapping[datetime, Sequence[str]]:
        """Return the keys of the process instances that read each instance of a feed on a cluster, rising.

        Raises:
            ElError: an expression of an input that cannot be evaluated.
        """
        grid = self._grid(feed, cluster)
        found: dict[datetime, set[str]] = {each: set() for each in instants}
        if grid is None:
            return dict.fromkeys(instants, ())
        there = [each for each in instants if each in grid]
        inputs = self._inputs(feed) if cluster == self.site.cluster.name else []
        if not inputs:
            return {**dict.fromkeys(instants, ()), **{each: self._in_period(each) for each in there}}
        for name, each in inputs:
            for instant, keys in zip(there, self._read_by(name, each, grid, there), strict=True):
                found[instant].update(keys)
        return {instant: sorted(keys) for instant, keys in found.items()}

    @cached_property
    def _runs(self) -> InstanceSequence:
        return self.site.process.instances_on(self.site.cluster.name)

    def _grid(self, feed: str, cluster: str) -> InstanceSequence | None:
        found = self.repository.feeds.get(feed)
        is_there = found is not None and any(each.name == cluster for each in found.clusters)
        return found.instances_on(cluster) if found is not None and is_there else None

    def _inputs(self, feed: str) -> list[tuple[str, Input]]:
        inputs = self.site.process.inputs.items()
        return [(name, each) for name, each in inputs if each.feed == feed and self.input in {None, name}]

    def _read_by(
        self, name: str, each: Input, grid: InstanceSequence, instants: Sequence[datetime]
    ) -> Iterator[Sequence[str]]:
        """Yield the keys of the process instances that read each instance by an input."""
        if depends_on_availability(each):
            yield from map(self._in_period, instants)
            return
        zone, runs = self.site.process.timezone, self._runs
        read = MovingRange(start=each.start, end=each.end, grid=grid, timezone=zone, runs=runs)
        with naming(self.site.process.name, "input", name):
            for positions in read.positions_of(instants):
                yield [format_instant(runs[position]) for position in positions]

    def _in_period(self, instant: datetime) -> Sequence[str]:
        if self._runs.end is not None and instant >= self._runs.end:
            return ()
        run = self._runs.at_or_before(instant)
        return () if run is None else (format_instant(run),)


def _compiled(condition: TriggerCondition, compile_entry: Callable[[TriggerEntry], CompiledEntry]) -> CompiledCondition:
    parts = (
        compile_entry(each) if isinstance(each, TriggerEntry) else _compiled(each, compile_entry)
        for each in condition.parts
    )
    return CompiledCondition(is_all=bool(condition.all), parts=tuple(parts))


def _default_by(entries: Iterable[TriggerEntry]) -> GroupBy:
    """Return the meaning of an absent `by`: other data than feeds rarely names an instance."""
    has_uris = any(each.input is None and each.feed is None and each.group is None for each in entries)
    return GroupBy.ANY_UPDATE if has_uris else GroupBy.KEY


def _name(entry: TriggerEntry) -> str:
    """Return an entry as `explain` shows it."""
    if entry.input is not None:
        return f"input {entry.input}"
    if entry.feed is not None:
        return f"feed {entry.feed}" + (f" on {entry.cluster}" if entry.cluster else "")
    if entry.group is not None:
        return f"group {entry.group}" + (f" on {entry.cluster}" if entry.cluster else "")
    return entry.uri or entry.name or ""


def _instant(key: str) -> datetime | None:
    try:
        return parse_instant(key)
    except ElError:
        return None


def _follows(runs: InstanceSequence, before: str, after: str) -> bool:
    return runs.index(parse_instant(after)) == runs.index(parse_instant(before)) + 1
