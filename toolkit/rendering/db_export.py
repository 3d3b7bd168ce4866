"""Fields of the results of exports to databases."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from toolkit.exchange.export_targets import (
    EXPORT,
    DatabaseExportDetail,
    DatabaseExportItem,
    DatabaseExportTarget,
)
from toolkit.rendering.action_result import ActionView, Document, counts_document, ending_document, note_lines

if TYPE_CHECKING:
    from toolkit.actions.result import TargetResult

    Result = TargetResult[DatabaseExportTarget, DatabaseExportItem, DatabaseExportDetail]


def _instance(result: Result) -> Document:
    plan = result.plan
    target = plan.target if isinstance(plan.target, DatabaseExportTarget) else None
    load = plan.detail.load
    return {
        "feed": plan.target.entity,
        "cluster": plan.target.cluster,
        "datasource": plan.target.counterpart,
        "instance": plan.target.instance_key,
        "table": None if target is None else str(target.table),
        "load": None if target is None else str(target.export.target.load.type),
        "key": [] if load is None else list(load.key),
        "slice": {} if target is None else dict(target.slice),
        "columns": dict(plan.detail.columns),
        "expected_rows": plan.detail.expected,
        "counts": counts_document(result),
        "counters": dict(plan.detail.counters),
        **ending_document(result),
    }


def _item(item: DatabaseExportItem) -> Document:
    return {
        "kind": item.kind,
        "uri": item.uri,
        "instance": item.instance_key,
        "table": item.table,
        "files": item.files,
        "bytes": item.bytes,
    }


def _item_text(item: DatabaseExportItem) -> str:
    size = f"  {item.files} files, {item.bytes:,} bytes" if item.kind == EXPORT else "  (of a dead run)"
    return f"{item.instance_key}  {item.kind} {item.uri}{size}"


def _lines(result: Result) -> Iterator[str]:
    """Yield how rows are merged, before there is a result of that, and the notes."""
    plan = result.plan
    load = plan.detail.load
    if load is not None and not plan.detail.counters:
        wanted = isinstance(plan.target, DatabaseExportTarget) and plan.target.slice
        where = "; ".join(f"{name} = {text}" for name, text in wanted.items()) if wanted else ", ".join(load.key)
        yield f"{load.type} of {load.table.name} by {where}"
        yield "columns: " + ", ".join(
            f"{name} {load.table.column(name)} from {spark}" for name, spark in plan.detail.columns.items()
        )
    if plan.detail.expected is not None:
        yield f"expected rows: {plan.detail.expected:,}, by the footers of the files"
    yield from note_lines(result)


DB_EXPORT_VIEW: ActionView[DatabaseExportTarget, DatabaseExportItem, DatabaseExportDetail] = ActionView(
    targets="instances",
    target_document=_instance,
    item_document=_item,
    item_text=_item_text,
    items_text=lambda item: "exports" if item.kind == EXPORT else "staging tables dropped",
    target_rule=lambda result: f"; to {result.plan.target.counterpart}" if result.plan.target.counterpart else "",
    target_lines=_lines,
)
