"""One feed instance on one cluster is written by one run of one process, and by nothing else."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from toolkit.el import ElError, InstanceSequence, evaluate, format_instant
from toolkit.entities import ClusterRole, Feed, FeedCluster, Output, Process, Repository
from toolkit.linter.bounds import longest
from toolkit.linter.context import LintContext
from toolkit.linter.findings import Hit, Severity
from toolkit.linter.rule import Rule

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


def _check(context: LintContext) -> Iterator[Hit]:
    for (name, cluster), writers in sorted(_writers(context.repository).items()):
        feed = context.repository.feeds.get(name)
        there = [each for each in feed.clusters if each.name == cluster] if feed else []
        if feed is not None and there:
            yield from _other_ways(feed, there[0], writers)
            yield from _pairs(feed, there[0], writers)


def _writers(repository: Repository) -> dict[tuple[str, str], list[_Writer]]:
    found: dict[tuple[str, str], list[_Writer]] = {}
    for _, process in sorted(repository.processes.items()):
        for cluster in process.clusters if process.outputs else ():
            runs = cluster.validity.sequence(process.frequency, process.timezone)
            for name, output in process.outputs.items():
                writer = _Writer(process=process, name=name, output=output, runs=runs)
                found.setdefault((output.feed, cluster.name), []).append(writer)
    return found


def _other_ways(feed: Feed, there: FeedCluster, writers: list[_Writer]) -> Iterator[Hit]:
    """What else brings instances there: an import, or replication."""
    sources = [each.name for each in feed.clusters if each.type is ClusterRole.SOURCE]
    if there.type is ClusterRole.TARGET and sources:
        message = (
            f"{feed.name} is replicated to {there.name} from {' and '.join(sources)}, and this process writes it too"
        )
        hint = "write it on the source only, or do not make this cluster a target"
        yield from (_hit(writer, message, hint, Severity.WARNING) for writer in writers)
    if there.import_ is not None:
        source = there.import_.source.name
        message = f"{feed.name} is imported on {there.name} from {source}, and this process writes it too"
        yield from (_hit(writer, message, "give one of them a feed of its own", Severity.ERROR) for writer in writers)


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
    whose = "this process" if other.process is writer.process else other.process.name
    message = (
        f"the instance {format_instant(common)} of {feed.name} on {there.name} is written twice: by the output "
        f"{writer.name} of the run {own}, and by the output {other.name} of {whose} in the run {theirs}"
    )
    return _hit(writer, message, "give each its own feed, or validities that do not overlap", None, other.process.name)


def _hit(writer: _Writer, message: str, hint: str, severity: Severity | None, other: str = "") -> Hit:
    return Hit(
        subject=writer.process.name,
        pointer=("outputs", writer.name, "feed"),
        message=message,
        hint=hint,
        severity=severity,
        related=tuple({other} - {"", writer.process.name}),
    )


RULE = Rule(
    id="two-writers",
    name="A feed instance is written by one run of one process",
    severity=Severity.ERROR,
    rationale=(
        "Two runs that write one instance delete or mix what the other wrote, whichever comes last. The first and "
        "last runs in which both processes are valid are compared. A process that writes on a cluster to which the "
        "feed is replicated is a warning, since sources may select partitions that it does not write."
    ),
    bad="""\
# processes/clicks_again.yaml; clicks_hourly_job writes clicks_hourly too, with now(-1,0)
outputs:
  counts: {feed: clicks_hourly, instance: "now(-1,0)"}
""",
    good="""\
# processes/clicks_again.yaml; clicks_hourly_job writes clicks_hourly, with now(-1,0)
outputs:
  counts: {feed: clicks_hourly_v2, instance: "now(-1,0)"}
""",
    source="Falcon entity specification, Outputs; DESIGN section 7",
    check=_check,
)
