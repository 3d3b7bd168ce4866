"""Datasets: as rows of a table, as a text about each, as JSON documents."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from toolkit.el import format_instant
from toolkit.ledger.errors import moment
from toolkit.planning.dataset_graph import LinkKind
from toolkit.rendering.columns import Columns, ResultColumn

if TYPE_CHECKING:
    from datetime import datetime

    from toolkit.ledger.events import Event
    from toolkit.management.datasets import DatasetReport, DatasetState, ProcessState
    from toolkit.planning.dataset_graph import Link


def _instant(instant: datetime | None) -> str | None:
    return None if instant is None else format_instant(instant)


def _names(links: Iterable[Link]) -> str:
    return ", ".join(dict.fromkeys(each.name for each in links))


def _producers(state: DatasetState) -> str:
    return ", ".join(filter(None, (_names(state.node.producers), *state.node.outside)))


def _link(link: Link) -> dict[str, object]:
    return {"kind": str(link.kind), "process": link.process or None, "dataset": link.dataset or None}


def _update(event: Event | None) -> dict[str, object] | None:
    return None if event is None else _UPDATE.document(event)


_UPDATE: Columns[Event] = Columns("event=sequence", "kind", "instance=instance_key?", "recorded_at", "run_id")

_DATASET: Columns[DatasetState] = Columns(
    ResultColumn("dataset", "node.uri", "dataset"),
    *("feed=node.feed?", "cluster=node.cluster?", "owner=node.owner?", "description=node.description?"),
    ResultColumn("producers", lambda each: [_link(link) for link in each.node.producers], "producers", _producers),
    ResultColumn("outside", lambda each: [str(one) for one in each.node.outside]),
    ResultColumn(
        "consumers",
        lambda each: [_link(link) for link in each.node.consumers],
        "consumers",
        lambda each: _names(each.node.consumers),
    ),
    ResultColumn(
        "last_update",
        lambda each: _update(each.last_update),
        "last-update",
        lambda each: each.last_update and each.last_update.recorded_at,
    ),
    ResultColumn("", "node.uri", "instance", lambda each: each.last_update and each.last_update.instance_key),
    ResultColumn("next_run", lambda each: _instant(each.next_run), "next-run", lambda each: _instant(each.next_run)),
    ResultColumn("has_producer", "node.has_producer"),
    ResultColumn("has_consumer", "node.has_consumer"),
    ResultColumn("is_known", "is_known", "marks", lambda each: ", ".join(each.marks)),
    ResultColumn("aliases", "node.aliases"),
)
DATASET_COLUMNS = _DATASET.headings
dataset_rows = _DATASET.rows
dataset_documents = _DATASET.documents


def graph_document(report: DatasetReport) -> dict[str, object]:
    """Return the JSON form of the graph."""
    return {"datasets": dataset_documents(report.datasets), "processes": [_process(each) for each in report.processes]}


def _process(state: ProcessState) -> dict[str, object]:
    return {
        "name": state.name,
        "schedule": str(state.schedule),
        "triggered_by": list(state.triggered_by),
        "updates": list(state.updates),
        "next_run": _instant(state.next_run),
    }


_ABOUT = {
    LinkKind.OUTPUT: "output of {}",
    LinkKind.OUTLET: "outlet of {}",
    LinkKind.INPUT: "input of {}",
    LinkKind.INLET: "inlet of {}",
    LinkKind.TRIGGER: "starts {}",
}


def dataset_lines(state: DatasetState) -> Iterator[str]:
    """Yield a text about one dataset for people."""
    node = state.node
    marks = f" ({', '.join(state.marks)})" if state.marks else ""
    yield f"{node.uri}{marks}"
    facts = (("about", node.description), ("owner", node.owner), ("place", ", ".join(node.aliases)))
    yield from (f"  {name}: {text}" for name, text in facts if text)
    yield from (f"  <- {_described(each, 'copy of')}" for each in node.producers)
    yield from (f"  <- {each}" for each in node.outside)
    yield from (f"  -> {_described(each, 'copied to')}" for each in node.consumers)
    if state.last_update is not None:
        instance = f" {state.last_update.instance_key}" if state.last_update.instance_key else ""
        yield f"  last update:{instance} {state.last_update.kind} at {moment(state.last_update.recorded_at)}"
    if state.next_run is not None:
        yield f"  next run: {format_instant(state.next_run)}"


def _described(link: Link, copy: str) -> str:
    return _ABOUT.get(link.kind, f"{copy} {{}}").format(link.name)
