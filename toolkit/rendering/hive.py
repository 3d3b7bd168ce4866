"""Fields of the results of exports, imports and replications of tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

from toolkit.hive.targets import TableDetail, TableItem, TableTarget
from toolkit.rendering.action_result import ActionView, Document, counts_document, ending_document, note_lines

if TYPE_CHECKING:
    from toolkit.actions.result import TargetResult

    Result = TargetResult[TableTarget, TableItem, TableDetail]


def _instance(result: Result) -> Document:
    plan = result.plan
    target = plan.target if isinstance(plan.target, TableTarget) else None
    return {
        "feed": plan.target.entity,
        "cluster": plan.target.cluster,
        "source": plan.target.counterpart,
        "instance": plan.target.instance_key,
        "table": None if target is None else str(target.table),
        "export": None if target is None or target.directory is None else str(target.directory),
        "counts": counts_document(result),
        "partitions_kept": plan.detail.kept,
        "counters": dict(plan.detail.counters),
        **ending_document(result),
    }


def _item(item: TableItem) -> Document:
    return {
        "kind": item.kind,
        "instance": item.instance_key,
        "table": str(item.table),
        "partition": item.name,
        "source": str(item.part.place) if item.part else "",
        "path": str(item.place),
        "files": item.files,
        "bytes": item.bytes,
    }


def _item_text(item: TableItem) -> str:
    size = f"  {item.files} files, {item.bytes} bytes" if item.copies else ""
    return f"{item.instance_key}  {item.kind} {item.table} {item.name} {item.place}{size}"


def _rule(result: Result) -> str:
    source = result.plan.target.counterpart
    return f"; from {source}" if source else ""


HIVE_VIEW: ActionView[TableTarget, TableItem, TableDetail] = ActionView(
    targets="instances",
    target_document=_instance,
    item_document=_item,
    item_text=_item_text,
    items_text=lambda item: f"{item.kind} steps",
    target_rule=_rule,
    target_lines=note_lines,
)
