"""Graph of datasets in the languages of Mermaid and Graphviz."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from toolkit.planning.dataset_graph import LinkKind
from toolkit.rendering.graph_labels import dot_label, mermaid_label

if TYPE_CHECKING:
    from toolkit.management.datasets import DatasetReport
    from toolkit.planning.dataset_graph import Link


@dataclass(frozen=True, slots=True)
class _Edge:
    """An edge between two nodes, by their identifiers."""

    source: str
    target: str
    kind: LinkKind


@dataclass(frozen=True, slots=True)
class _Nodes:
    """Identifiers of the nodes: `d1` for the first dataset, `p1` for the first process."""

    datasets: Mapping[str, str]
    processes: Mapping[str, str]

    @classmethod
    def of(cls, report: DatasetReport) -> _Nodes:
        return cls(
            {each.node.uri: f"d{number}" for number, each in enumerate(report.datasets, 1)},
            {each.name: f"p{number}" for number, each in enumerate(report.processes, 1)},
        )

    def edges(self, report: DatasetReport) -> Iterator[_Edge]:
        for each in report.datasets:
            here = self.datasets[each.node.uri]
            for link in each.node.producers:
                if link.process in self.processes:  # a copy is an edge of its source
                    yield _Edge(self.processes[link.process], here, link.kind)
            for link in each.node.consumers:
                there = self._end(link)
                if there:
                    yield _Edge(here, there, link.kind)

    def _end(self, link: Link) -> str:
        """Return the node at the end of a relation; empty: the graph leaves it out."""
        return self.datasets.get(link.dataset, "") if link.dataset else self.processes.get(link.process, "")


def mermaid(report: DatasetReport) -> Iterator[str]:
    """Yield the lines of a Mermaid flowchart; what starts a process is a thick line."""
    nodes = _Nodes.of(report)
    yield "flowchart LR"
    for each in report.datasets:
        yield f"  {nodes.datasets[each.node.uri]}[{mermaid_label(each.node.uri, *each.marks)}]"
    for name, identifier in nodes.processes.items():
        yield f"  {identifier}([{mermaid_label(name)}])"
    for edge in nodes.edges(report):
        arrow = "==>" if edge.kind is LinkKind.TRIGGER else "-.->" if edge.kind is LinkKind.REPLICATION else "-->"
        yield f"  {edge.source} {arrow} {edge.target}"
    marked = [nodes.datasets[each.node.uri] for each in report.datasets if each.marks]
    if marked:
        yield f"  class {','.join(marked)} marked"
        yield "  classDef marked stroke:#c00,stroke-dasharray:4"


def dot(report: DatasetReport) -> Iterator[str]:
    """Yield the lines of a Graphviz digraph; what starts a process is a bold line."""
    nodes = _Nodes.of(report)
    yield "digraph datasets {"
    yield "  rankdir=LR;"
    for each in report.datasets:
        style = ", style=dashed, color=red" if each.marks else ""
        yield f"  {nodes.datasets[each.node.uri]} [shape=box, label={dot_label(each.node.uri, *each.marks)}{style}];"
    for name, identifier in nodes.processes.items():
        yield f"  {identifier} [shape=ellipse, label={dot_label(name)}];"
    for edge in nodes.edges(report):
        yield f"  {edge.source} -> {edge.target} [label={dot_label(edge.kind)}{_DOT_STYLES.get(edge.kind, '')}];"
    yield "}"


_DOT_STYLES = {LinkKind.TRIGGER: ", style=bold", LinkKind.REPLICATION: ", style=dashed"}
