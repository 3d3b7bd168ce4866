"""Inputs and outputs of a process instance."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime

from toolkit.el import (
    Availability,
    ElError,
    InstanceSequence,
    UnreadyRange,
    evaluate,
    format_instant,
    is_available,
    parse_expression,
    resolve_range,
)
from toolkit.entities import Cluster, Feed, Input, LocationType, Process
from toolkit.entities.quality import Quality
from toolkit.planning.instance_storage import FeedStorage, InstanceStorage, PartitionExpression
from toolkit.planning.partition_address import partition_address

Availabilities = Mapping[str, Availability]
"""Available instances, by feed name."""


class NoOutputInstance(ElError):  # noqa: N818 - named for what was found, as its siblings in toolkit.el
    """An output's expression means a time before the first or after the last instance of its feed.

    What comes after the last instance never writes it again: its data would be lost.

    Args:
        expression: of the output.
        feed: its name.
        nominal: time of the process instance.
        grid: the instances of the feed on the cluster.
        is_after: the time is after the last of them.
    """

    def __init__(
        self, *, expression: str, feed: str, nominal: datetime, grid: InstanceSequence, is_after: bool
    ) -> None:
        self.expression, self.feed, self.nominal = expression, feed, nominal
        where = "after the last" if is_after else "before the first"
        border = grid[len(grid) - 1] if is_after else grid.start
        self.border = f"{'after' if is_after else 'before'} {format_instant(border)}"
        until = "up to" if is_after else "from"
        expected = f"an instance {until} {format_instant(border)}{'' if is_after else ' on'}"
        expected += f" at nominal time {format_instant(nominal)}"
        super().__init__(text=expression, found=f"a time {where} instance of {feed}", expected=expected)


class UnusableExpression(ElError):  # noqa: N818 - named for what was found, as its siblings in toolkit.el
    """An expression of an input or an output that cannot be resolved.

    Args:
        process: its name.
        side: ``input`` or ``output``.
        name: of the input or output.
        error: what is wrong with it.
    """

    def __init__(self, *, process: str, side: str, name: str, error: ElError) -> None:
        self.process, self.side, self.name = process, side, name
        super().__init__(text=error.text, expected=error.expected, position=error.position, found=error.found)

    def __str__(self) -> str:
        return f"the {self.side} {self.name} of {self.process}: {super().__str__()}"


@contextmanager
def naming(process: str, side: str, name: str) -> Iterator[None]:
    """Add the process and the input or output to an expression error in this block.

    Raises:
        UnusableExpression: it cannot be resolved.
    """
    try:
        yield
    except (NoOutputInstance, UnusableExpression):
        raise
    except ElError as error:
        raise UnusableExpression(process=process, side=side, name=name, error=error) from error


@dataclass(frozen=True, kw_only=True, slots=True)
class PlannedInput:
    """An input of a process instance.

    Args:
        name: the input's name.
        storage: the feed's storage on the process's cluster.
        instances: oldest first; empty when the input waits, or is optional and missing.
        waiting: what a compulsory input waits for; None when it can be read.
        partition: the sub-directories that are read, for example ``*/US``; empty: all.
        optional: whether the process runs without it.
    """

    name: str
    storage: FeedStorage
    instances: tuple[InstanceStorage, ...]
    waiting: UnreadyRange | None = None
    partition: str = ""
    optional: bool = False

    def paths(self, location: LocationType = LocationType.DATA) -> tuple[str, ...]:
        """The paths that are read, oldest first; of the data only, the partition's sub-directories."""
        below = f"/{self.partition}" if self.partition and location is LocationType.DATA else ""
        return tuple(each.paths[location] + below for each in self.instances if location in each.paths)

    @property
    def partitions(self) -> tuple[Mapping[str, str], ...]:
        """The table partitions that are read, oldest first."""
        return tuple(each.partition for each in self.instances if each.partition is not None)


@dataclass(frozen=True, kw_only=True, slots=True)
class PlannedOutput:
    """An output of a process instance: the one feed instance that it makes."""

    name: str
    storage: FeedStorage
    instance: InstanceStorage


_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")


@dataclass(frozen=True, kw_only=True, slots=True)
class ProcessSite:
    """A process on one of its clusters, with the feeds that it reads and makes.

    Args:
        process: the process.
        cluster: the cluster.
        feeds: the feeds by name; those of the process's inputs and outputs must be there.
    """

    process: Process
    cluster: Cluster
    feeds: Mapping[str, Feed]
    _storages: dict[str, FeedStorage] = field(default_factory=dict, init=False, repr=False, compare=False)

    def inputs(self, nominal_time: datetime, availabilities: Availabilities | None = None) -> tuple[PlannedInput, ...]:
        """Return the inputs of an instance.

        Args:
            nominal_time: of the process instance, UTC.
            availabilities: which feed instances are available; None: all of them are taken for available.

        Raises:
            ElError: an expression that cannot be resolved (latest and future need availabilities).
            UnknownName: a feed is not on the cluster.
        """
        known = availabilities or {}
        return tuple(self.input(name, nominal_time, known.get(each.feed)) for name, each in self.process.inputs.items())

    def outputs(self, nominal_time: datetime) -> tuple[PlannedOutput, ...]:
        """Return the outputs of an instance.

        Raises:
            ElError: an expression that cannot be resolved.
            NoOutputInstance: an expression means a time before the feed's first instance, or after its last.
            UnknownName: a feed is not on the cluster.
        """
        return tuple(self.output(name, nominal_time) for name in self.process.outputs)

    def qualified(self, path: str) -> str:
        """A path with the cluster's file system in front, as it is written there, so that every client finds it.

        Of a local disk with its root directory alone: scripts of a shell know no URIs, and Spark takes both.
        """
        if _SCHEME.match(path):
            return path
        return f"{self.cluster.default_fs.removeprefix('file://').removesuffix('/')}{path}"

    def uri(self, storage: FeedStorage, instance: InstanceStorage) -> str:
        """Return the URI of the data of an instance: a path with its store, or a partition with its metastore.

        Raises:
            ElError: a path that cannot be resolved on the cluster.
        """
        if storage.table is not None and instance.partition is not None:
            return str(partition_address(self.cluster, storage.table, instance.partition))
        return str(self.cluster.place(instance.paths[LocationType.DATA]))

    def input_uri(self, name: str, instant: datetime) -> str:
        """Return where the instance of an input's feed is, whatever the input's range is.

        Raises:
            ElError: a path that cannot be resolved on the cluster.
            UnknownName: the feed is not on the cluster.
        """
        storage = self._storage(self.feeds[self.process.inputs[name].feed])
        return self.uri(storage, storage.at(instant))

    def input(self, name: str, nominal_time: datetime, available: Availability | None = None) -> PlannedInput:
        """Return one input of an instance; see `inputs`."""
        each = self.process.inputs[name]
        feed = self.feeds[each.feed]
        storage, grid = self._storage(feed), feed.instances_on(self.cluster.name)
        needed = available if depends_on_availability(each) or not each.optional else None
        with naming(self.process.name, "input", name):
            found = resolve_range(each.start, each.end, nominal_time, grid, self.process.timezone, needed)
        instants = () if isinstance(found, UnreadyRange) else found
        if each.optional and available is not None:
            instants = tuple(instant for instant in instants if is_available(instant, available))
        return PlannedInput(
            name=name,
            storage=storage,
            instances=tuple(storage.at(instant) for instant in instants),
            waiting=found if isinstance(found, UnreadyRange) and not each.optional else None,
            partition=self.input_partition(name),
            optional=each.optional,
        )

    def input_partition(self, name: str) -> str:
        """Return the sub-directories of an instance that an input reads, for example ``*/US``; empty: all.

        Raises:
            ElError: a variable has no value, or one that is not a single name.
        """
        each = self.process.inputs[name]
        if each.partition is None:
            return ""
        parts = PartitionExpression(each.partition).bind(self.feeds[each.feed].variables_on(self.cluster))
        if any(part.variables or part.fields for part in parts):
            expected = "names, * and variables that the feed or the cluster gives a value"
            error = ElError(text=each.partition, found="/".join(part.text for part in parts), expected=expected)
            raise UnusableExpression(process=self.process.name, side="input", name=name, error=error)
        return "/".join(part.text for part in parts)

    def output(self, name: str, nominal_time: datetime) -> PlannedOutput:
        """Return one output of an instance; see `outputs`."""
        each = self.process.outputs[name]
        feed = self.feeds[each.feed]
        grid = feed.instances_on(self.cluster.name)
        with naming(self.process.name, "output", name):
            meant = evaluate(each.instance, nominal_time, self.process.timezone)
        instant, has_ended = grid.at_or_before(meant), grid.has_ended_by(meant)
        if instant is None or has_ended:
            raise NoOutputInstance(
                expression=each.instance, feed=each.feed, nominal=nominal_time, grid=grid, is_after=has_ended
            )
        storage = self._storage(feed)
        return PlannedOutput(name=name, storage=storage, instance=storage.at(instant))

    def quality_of(self, name: str) -> Quality | None:
        """Return the validation of an output, by its feed on the cluster and its own suites; None: there is none.

        Raises:
            UnknownName: its feed is not on the cluster.
        """
        own = self.process.outputs[name]
        feed = self.feeds[own.feed]
        quality = feed.cluster(self.cluster.name).quality or feed.quality or Quality(suites=())
        suites = tuple(dict.fromkeys((*quality.suites, *own.suites)))
        return replace(quality, suites=suites) if suites else None

    def _storage(self, feed: Feed) -> FeedStorage:
        """Kept, since reading the templates costs more than rendering them for an instance."""
        found = self._storages.get(feed.name)
        if found is None:
            found = self._storages[feed.name] = FeedStorage.of(feed, self.cluster)
        return found


def depends_on_availability(each: Input) -> bool:
    """Return whether only a run can tell which instances an input reads: `latest` and `future` count available ones."""
    return parse_expression(each.start).function.needs_availability
