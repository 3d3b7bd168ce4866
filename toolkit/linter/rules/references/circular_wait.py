"""No run waits for what it, or a later run, has yet to make."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import islice

from toolkit.el import format_instant
from toolkit.linter.context import LintContext
from toolkit.linter.findings import Hit, Severity
from toolkit.linter.rule import Rule
from toolkit.linter.rules.references.process_edges import Edge, Edges, edges_by_cluster, in_cycles

_RUNS = 26
"""So many runs of a process are followed: a day of an hourly one, and more of the others."""
_MOST_STEPS = 400
"""So many edges are followed for one process; a knot of more is looked at in part."""


@dataclass(frozen=True, kw_only=True, slots=True)
class _Step:
    """A run that waits for a run."""

    edge: Edge
    run: datetime
    instance: datetime
    made_by: datetime


def _check(context: LintContext) -> Iterator[Hit]:
    for cluster, edges in sorted(edges_by_cluster(context.repository).items()):
        knotted = in_cycles(edges)
        for name in sorted(knotted):
            yield from _hits(name, cluster, {each: edges[each] for each in sorted(knotted) if each >= name})


def _hits(name: str, cluster: str, edges: Edges) -> Iterator[Hit]:
    """The first wait of a process that leads back to the same run or a later one, over processes after it by name."""
    for edge in edges[name]:
        if edge.maker.name == name and edge.counts_available and edge.takes_latest:
            yield _cold_hit(edge, cluster)
            return
    runs = edges[name][0].reads
    for run in islice(runs, _RUNS):
        steps = next(_circles(name, run, edges), None)
        if steps is not None:
            yield _hit(steps, cluster)
            return


def _circles(name: str, run: datetime, edges: Edges) -> Iterator[tuple[_Step, ...]]:
    """Chains of waits from a run back to its process, at the same run or a later one."""
    pending: list[tuple[_Step, ...]] = [(step,) for step in _steps(name, run, edges)]
    for _ in range(_MOST_STEPS):
        if not pending:
            return
        chain = pending.pop()
        last = chain[-1]
        if last.edge.maker.name == name:
            if last.made_by >= run:
                yield chain
            continue
        passed = {step.edge.reader.name for step in chain}
        if last.edge.maker.name not in passed:
            pending.extend((*chain, step) for step in _steps(last.edge.maker.name, last.made_by, edges))


def _steps(name: str, run: datetime, edges: Edges) -> Iterator[_Step]:
    for edge in edges.get(name, []):
        found = None if edge.counts_available or edge.maker.name not in edges else edge.needs(run)
        if found is not None:
            yield _Step(edge=edge, run=run, instance=found[0], made_by=found[1])


def _hit(steps: tuple[_Step, ...], cluster: str) -> Hit:
    first = steps[0]
    chain = "; ".join(_words(step) for step in steps)
    return Hit(
        subject=first.edge.reader.name,
        pointer=("inputs", first.edge.name, "end"),
        message=f"on {cluster} a run waits for itself or for a later one, so neither ever starts: {chain}",
        hint="read an earlier instance, such as now(-1,0), or make the input optional",
        related=tuple(sorted({step.edge.maker.name for step in steps} - {first.edge.reader.name})),
    )


def _words(step: _Step) -> str:
    edge = step.edge
    return (
        f"{edge.reader.name} of {format_instant(step.run)} reads {edge.input.feed} of {format_instant(step.instance)}, "
        f"which {edge.maker.name} of {format_instant(step.made_by)} makes"
    )


def _cold_hit(edge: Edge, cluster: str) -> Hit:
    return Hit(
        subject=edge.reader.name,
        pointer=("inputs", edge.name, "end"),
        message=(
            f"on {cluster} the first run waits for an available instance of {edge.input.feed}, which only this process "
            "makes, so no run ever starts"
        ),
        hint="make the input optional, or mark the feed external when its first instance comes from elsewhere",
    )


RULE = Rule(
    id="circular-wait",
    name="No run waits for what it, or a later run, has yet to make",
    severity=Severity.ERROR,
    rationale=(
        "A run starts when its inputs are available. When one of them is made by the run itself, by a later one, or "
        "by runs of other processes that wait for such a one, nothing ever starts. Cycles over the past, such as a "
        "process that reads its own now(-1,0), are fine. Followed are the first runs of each process and the newest "
        "instance of each compulsory input; feeds that also come by import, replication or from outside are passed "
        "over."
    ),
    bad="""\
# processes/totals_job.yaml
inputs:
  before: {feed: totals, start: "now(0,0)", end: "now(0,0)"}
outputs:
  after: {feed: totals, instance: "now(0,0)"}
""",
    good="""\
# processes/totals_job.yaml
inputs:
  before: {feed: totals, start: "now(-1,0)", end: "now(-1,0)"}
outputs:
  after: {feed: totals, instance: "now(0,0)"}
""",
    source="Falcon entity specification, Inputs: a workflow starts when all inputs are available",
    check=_check,
)
