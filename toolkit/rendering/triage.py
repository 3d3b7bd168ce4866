"""Causes for which an instance waits: as a tree of lines and as a JSON document."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, TextIO

from toolkit.management.dependencies import Relation
from toolkit.rendering.columns import Columns
from toolkit.rendering.instances import ATTEMPT
from toolkit.rendering.tables import cell

if TYPE_CHECKING:
    from toolkit.management.triage import Triage, TriageNode

CAUSE = "CAUSE: "
"""Begins the lines that say why all above them waits."""


def write_triage(found: Triage, stream: TextIO) -> None:
    """Write a tree for each cluster; on a terminal the causes stand out."""
    lines = list(triage_lines(found))
    if not stream.isatty():
        stream.writelines(f"{line}\n" for line in lines)
        return
    from rich.console import Console
    from rich.text import Text

    console = Console(file=stream)
    for line in lines:
        console.print(Text(line, style="bold red" if CAUSE in line else ""), soft_wrap=True)


def triage_lines(found: Triage) -> Iterator[str]:
    """The lines of the trees."""
    for tree in found.trees:
        yield from _lines(tree, "", "")
        if not any(tree.causes()):
            yield "nothing stands against it"


def _lines(node: TriageNode, first: str, rest: str) -> Iterator[str]:
    """The lines of a node and those below it, after the branches that lead there."""
    yield f"{first}{_title(node)}"
    below = f"{rest}{'│  ' if node.needs else '   '}"
    yield from (f"{below}{text}" for text in _remarks(node))
    for number, each in enumerate(node.needs, 1):
        is_last = number == len(node.needs)
        yield from _lines(each, f"{rest}{'└─ ' if is_last else '├─ '}", f"{rest}{'   ' if is_last else '│  '}")


def _title(node: TriageNode) -> str:
    what = node.what
    if what.counterpart:
        thing = f"copy of {what.name} from {what.counterpart} to {what.cluster}"
    elif what.life_cycle is not None and what.kind != "process":
        thing = f"{what.life_cycle} of {what.name} on {what.cluster}"
    else:
        thing = f"{what.kind} {what.name} on {what.cluster}"
    words = f"{thing} {what.instance_key}: {node.state}"
    return f"{what.through}: {words}" if what.relation is Relation.INPUT and what.through else words


def _remarks(node: TriageNode) -> Iterator[str]:
    yield from map(cell, node.notes)
    if node.cause is not None:
        yield f"{CAUSE}{cell(node.cause)}"
    if node.log is not None:
        yield f"log: {cell(node.log)}"


def triage_document(found: Triage) -> dict[str, object]:
    """The trees as JSON, and the causes in a row."""
    return {
        "name": found.name,
        "kind": found.kind,
        "instance": found.instance_key,
        "trees": [_document(tree) for tree in found.trees],
        "causes": [_cause_document(each) for tree in found.trees for each in tree.causes()],
    }


def _document(node: TriageNode) -> dict[str, object]:
    return {
        **_NODE.document(node),
        "through": node.what.through or None,
        "notes": list(node.notes),
        "cause": node.cause,
        "attempt": None if node.run is None else node.run.attempt,
        "run": None if node.run is None else ATTEMPT.document(node.run),
        "needs": [_document(each) for each in node.needs],
    }


def _cause_document(node: TriageNode) -> dict[str, object]:
    return {**_NODE.document(node), "cause": node.cause, "log": node.log}


_NODE: Columns[TriageNode] = Columns(
    *("kind=what.kind", "name=what.name", "cluster=what.cluster", "counterpart=what.counterpart?"),
    *("life_cycle=what.life_cycle", "instance=what.instance_key", "state"),
)
