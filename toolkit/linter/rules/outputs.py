"""Rules about the instances that processes make: known before the run, in the feed, and made once."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import islice, pairwise

from toolkit.el import ElError, Function, InstanceSequence, Unit, evaluate, format_instant, parse_expression
from toolkit.entities import ClusterRole, Feed, FeedCluster, Output, Pointer, Process, Repository
from toolkit.linter.durations import always_longer, longest, shortest
from toolkit.linter.findings import Hit, Severity
from toolkit.linter.rule import Check, LintContext, remembered


@dataclass(frozen=True, kw_only=True, slots=True)
class ProcessOutput:
    """An output of a process on one of its clusters.

    Attributes:
        name: the output's.
        cluster: the cluster's name.
        runs: the instances of the process.
        grid: the instances of the feed.
    """

    process: Process
    name: str
    output: Output
    feed: Feed
    cluster: str
    runs: InstanceSequence
    grid: InstanceSequence

    @property
    def pointer(self) -> Pointer:
        """The pointer to the expression."""
        return ("outputs", self.name, "instance")

    def instant(self, nominal: datetime) -> datetime | None:
        """The instant that a run means, before it is made an instance of the feed; None: outside the calendar."""
        try:
            return evaluate(self.output.instance, nominal, self.process.timezone)
        except ElError:
            return None


@remembered
def process_outputs(repository: Repository) -> tuple[ProcessOutput, ...]:
    """Each output on each cluster; those whose feed cannot be used, or that latest and future name, are left out."""
    return tuple(_outputs(repository))


def _outputs(repository: Repository) -> Iterator[ProcessOutput]:
    for process in repository.processes.values():
        for name, each in process.outputs.items():
            feed = repository.feeds.get(each.feed)
            if feed is not None and not parse_expression(each.instance).function.needs_availability:
                yield from _on_clusters(process, name, each, feed)


def _on_clusters(process: Process, name: str, output: Output, feed: Feed) -> Iterator[ProcessOutput]:
    for cluster in process.clusters:
        yield ProcessOutput(
            process=process,
            name=name,
            output=output,
            feed=feed,
            cluster=cluster.name,
            runs=process.instances_on(cluster.name),
            grid=feed.instances_on(cluster.name),
        )


def output_function(context: LintContext) -> Iterator[Hit]:
    """An output's instance is known before the run."""
    for process in context.repository.processes.values():
        for name, each in process.outputs.items():
            function = parse_expression(each.instance).function
            if function.needs_availability:
                yield Hit(
                    subject=process.name,
                    pointer=("outputs", name, "instance"),
                    message=f"found {each.instance}, expected a function of the nominal time: "
                    f"{function} counts instances that are there already",
                    hint='for example instance: "now(0,0)"',
                )


def output_outside_validity(context: LintContext) -> Iterator[Hit]:
    """The instances that a process makes are instances of its feeds."""
    for output in process_outputs(context.repository):
        yield from _first(output)
        yield from _last(output)


def _first(output: ProcessOutput) -> Iterator[Hit]:
    nominal = output.runs.start
    instant = output.instant(nominal)
    if instant is None:
        message = f"the first run, {format_instant(nominal)}, would make a time outside of the years 1 to 9999"
        yield _outside_hit(output, message, "choose smaller arguments", Severity.ERROR)
    elif instant < output.grid.start:
        yield _outside_hit(
            output,
            f"the first run, {format_instant(nominal)}, would make {format_instant(instant)} of {output.feed.name}, "
            f"which starts at {format_instant(output.grid.start)} on {output.cluster}",
            "start the process later, or the feed earlier",
            Severity.ERROR,
        )


def _last(output: ProcessOutput) -> Iterator[Hit]:
    end = output.feed.cluster(output.cluster).validity.end
    last = output.runs.at_or_before(output.process.cluster(output.cluster).validity.end)
    instant, first = None if last is None else output.instant(last), output.instant(output.runs.start)
    if first is not None and output.grid.has_ended_by(first):  # what runs make never goes back, so all are after it
        yield _outside_hit(
            output,
            f"every run would make an instance after the last of {output.feed.name}, which ends at "
            f"{format_instant(end)} on {output.cluster}: the first run, {format_instant(output.runs.start)}, "
            f"would make {format_instant(first)}",
            "let the feed end later, or begin the process earlier",
            Severity.ERROR,
        )
    elif last is not None and instant is not None and output.grid.has_ended_by(instant):
        yield _outside_hit(
            output,
            f"the last run, {format_instant(last)}, would make {format_instant(instant)} of {output.feed.name}, "
            f"which ends at {format_instant(end)} on {output.cluster}: it is refused",
            "end the process earlier, or the feed later",
            Severity.WARNING,
        )


def _outside_hit(output: ProcessOutput, message: str, hint: str, severity: Severity) -> Hit:
    return Hit(
        subject=output.process.name,
        pointer=output.pointer,
        message=message,
        hint=hint,
        severity=severity,
        related=(output.feed.name,),
    )


_SAMPLES = 36
"""Runs that are looked at: two of them fall into one unit of a truncating function or into one coarser instance."""


def output_written_twice(context: LintContext) -> Iterator[Hit]:
    """Two runs of a process do not make the same instance."""
    seen: set[tuple[str, str]] = set()
    for output in process_outputs(context.repository):
        key = (output.process.name, output.name)
        twice = None if key in seen or _keeps_step(output) else written_twice(output)
        if twice is not None:
            seen.add(key)
            yield _twice_hit(output, *twice)


def _keeps_step(output: ProcessOutput) -> bool:
    """Return whether the instance moves on with every run: the usual case, found without looking at any run."""
    function = parse_expression(output.output.instance).function
    own, theirs = output.process.frequency, output.feed.frequency
    if function not in (_MOVING if own.unit.is_elapsed else _MOVING_BY_DAYS):
        return False
    if own == theirs and (own.unit.is_elapsed or own.unit is Unit.DAYS):
        return own.unit.is_elapsed or output.process.timezone == output.feed.timezone
    slack = timedelta() if own.unit.is_elapsed and theirs.unit.is_elapsed else _CLOCK_CHANGES
    return longest(theirs) + slack <= shortest(own)


_MOVING = frozenset({Function.NOW, Function.INSTANCE_TIME})
_MOVING_BY_DAYS = _MOVING | {Function.TODAY, Function.YESTERDAY}
_CLOCK_CHANGES = timedelta(hours=6)
"""More than two zones' clocks are changed by."""


def written_twice(output: ProcessOutput) -> tuple[datetime, datetime, datetime] | None:
    """Two runs one after the other, and the instance that both make."""
    runs = islice(output.runs, _SAMPLES)
    made = ((run, _instance(output, run)) for run in runs)
    for (one, first), (other, second) in pairwise(made):
        if first is not None and first == second:
            return one, other, first
    return None


def _instance(output: ProcessOutput, run: datetime) -> datetime | None:
    instant = output.instant(run)
    if instant is None or output.grid.has_ended_by(instant):
        return None
    return output.grid.at_or_before(instant)


def _twice_hit(output: ProcessOutput, one: datetime, other: datetime, instance: datetime) -> Hit:
    coarser = always_longer(output.feed.frequency, output.process.frequency)
    reason = f"{output.feed.frequency} of the feed is longer than {output.process.frequency} of the process; "
    return Hit(
        subject=output.process.name,
        pointer=output.pointer,
        message=(reason if coarser else "")
        + f"the runs {format_instant(one)} and {format_instant(other)} both make "
        + f"{format_instant(instance)} of {output.feed.name}",
        hint="let the process have the feed's frequency, or the output an instance of its own for every run",
        related=(output.feed.name,),
    )


_FIRST, _LAST = 24, 8
"""So many of the first and last runs of the rarer process are compared with the other's."""


@dataclass(frozen=True, kw_only=True, slots=True)
class _Writer:
    """An output of a process on a cluster."""

    process: Process
    name: str
    output: Output
    runs: InstanceSequence

    @property
    def positions(self) -> range:
        """The positions of its runs."""
        return range(self.runs.count(self.runs.start, self.runs.end or self.runs.start))

    def written(self, position: int, grid: InstanceSequence) -> datetime | None:
        """The instance that a run writes; None when there is none."""
        try:
            return grid.at_or_before(evaluate(self.output.instance, self.runs[position], self.process.timezone))
        except ElError:
            return None

    def run_for(self, instant: datetime, grid: InstanceSequence) -> datetime | None:
        """The first run that writes an instance; what runs write never goes back in time."""

        def is_late_enough(position: int) -> bool:
            written = self.written(position, grid)
            return written is not None and written >= instant

        position = bisect_left(self.positions, x=True, key=is_late_enough)
        found = position < len(self.positions) and self.written(position, grid) == instant
        return self.runs[position] if found else None


def two_writers(context: LintContext) -> Iterator[Hit]:
    """One feed instance on one cluster is written by one run of one process, and by nothing else."""
    for (name, cluster), writers in sorted(_writers(context.repository).items()):
        feed = context.repository.feeds.get(name)
        there = None if feed is None else feed.find_cluster(cluster)
        if feed is not None and there is not None:
            yield from _other_writers(feed, there, writers)
            yield from _pairs(feed, there, writers)


def _writers(repository: Repository) -> dict[tuple[str, str], list[_Writer]]:
    found: dict[tuple[str, str], list[_Writer]] = {}
    for _, process in sorted(repository.processes.items()):
        for cluster in process.clusters if process.outputs else ():
            runs = cluster.validity.sequence(process.frequency, process.timezone)
            for name, output in process.outputs.items():
                writer = _Writer(process=process, name=name, output=output, runs=runs)
                found.setdefault((output.feed, cluster.name), []).append(writer)
    return found


def _other_writers(feed: Feed, there: FeedCluster, writers: list[_Writer]) -> Iterator[Hit]:
    """Yield hits for other writers of the instances there: an import, or replication."""
    sources = [each.name for each in feed.clusters if each.type is ClusterRole.SOURCE]
    if there.type is ClusterRole.TARGET and sources:
        message = (
            f"{feed.name} is replicated to {there.name} from {' and '.join(sources)}, and this process writes it too"
        )
        hint = "write it on the source only, or do not make this cluster a target"
        yield from (_writer_hit(writer, message, hint, Severity.WARNING) for writer in writers)
    if there.import_ is not None:
        source = there.import_.source.name
        message = f"{feed.name} is imported on {there.name} from {source}, and this process writes it too"
        yield from (
            _writer_hit(writer, message, "give one of them a feed of its own", Severity.ERROR) for writer in writers
        )


def _pairs(feed: Feed, there: FeedCluster, writers: list[_Writer]) -> Iterator[Hit]:
    """At most one for each writer: the first other one that it meets."""
    grid = there.validity.sequence(feed.frequency, feed.timezone)
    for index, writer in enumerate(writers):
        met = ((other, _common(writer, other, grid)) for other in writers[:index])
        other, common = next(((other, common) for other, common in met if common is not None), (None, None))
        if other is not None and common is not None:
            yield _pair_hit(feed, there, writer, other, common)


def _common(one: _Writer, other: _Writer, grid: InstanceSequence) -> datetime | None:
    """An instance that both write."""
    rare, often = sorted((one, other), key=lambda each: longest(each.process.frequency), reverse=True)
    for position in _sample(rare, often):
        instant = rare.written(position, grid)
        if instant is not None and often.run_for(instant, grid) is not None:
            return instant
    return None


def _sample(rare: _Writer, often: _Writer) -> Iterator[int]:
    """The first and last runs of one process while the other runs too."""
    first = rare.runs.count(rare.runs.start, max(rare.runs.start, often.runs.start))
    last = rare.runs.count(rare.runs.start, min(rare.runs.end or rare.runs.start, often.runs.end or rare.runs.start))
    yield from range(first, min(first + _FIRST, last))
    yield from range(max(last - _LAST, first + _FIRST), last)


def _pair_hit(feed: Feed, there: FeedCluster, writer: _Writer, other: _Writer, common: datetime) -> Hit:
    grid = there.validity.sequence(feed.frequency, feed.timezone)
    runs = [each.run_for(common, grid) for each in (writer, other)]
    own, theirs = (format_instant(run) if run else "" for run in runs)
    owner = "this process" if other.process is writer.process else other.process.name
    message = (
        f"the instance {format_instant(common)} of {feed.name} on {there.name} is written twice: by the output "
        f"{writer.name} of the run {own}, and by the output {other.name} of {owner} in the run {theirs}"
    )
    return _writer_hit(
        writer, message, "give each its own feed, or validities that do not overlap", None, other.process.name
    )


def _writer_hit(writer: _Writer, message: str, hint: str, severity: Severity | None, other: str = "") -> Hit:
    return Hit(
        subject=writer.process.name,
        pointer=("outputs", writer.name, "feed"),
        message=message,
        hint=hint,
        severity=severity,
        related=tuple({other} - {"", writer.process.name}),
    )


CHECKS: Mapping[str, Check] = {
    "output-function": output_function,
    "output-outside-validity": output_outside_validity,
    "output-written-twice": output_written_twice,
    "two-writers": two_writers,
}
