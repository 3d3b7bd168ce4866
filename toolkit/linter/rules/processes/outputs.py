"""The outputs of all processes on their clusters, and the instants that their runs mean."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from toolkit.el import ElError, InstanceSequence, evaluate, parse_expression
from toolkit.entities import Feed, Output, Pointer, Process, Repository
from toolkit.linter.once import once


@dataclass(frozen=True, kw_only=True, slots=True)
class OutputSite:
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


@once
def output_sites(repository: Repository) -> tuple[OutputSite, ...]:
    """Each output on each cluster; those whose feed cannot be used, or that latest and future name, are left out."""
    return tuple(_sites(repository))


def _sites(repository: Repository) -> Iterator[OutputSite]:
    for process in repository.processes.values():
        for name, each in process.outputs.items():
            feed = repository.feeds.get(each.feed)
            if feed is not None and not parse_expression(each.instance).function.needs_availability:
                yield from _on_clusters(process, name, each, feed)


def _on_clusters(process: Process, name: str, output: Output, feed: Feed) -> Iterator[OutputSite]:
    for cluster in process.clusters:
        yield OutputSite(
            process=process,
            name=name,
            output=output,
            feed=feed,
            cluster=cluster.name,
            runs=process.instances_on(cluster.name),
            grid=feed.instances_on(cluster.name),
        )
