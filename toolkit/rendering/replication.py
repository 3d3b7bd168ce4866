"""Fields of a replication result that other actions' results do not have."""

from __future__ import annotations

from typing import TYPE_CHECKING

from toolkit.rendering.action_result import ActionView, Document, counts_document, ending_document, note_lines
from toolkit.replication import ReplicationDetail, ReplicationTarget, UnitItem
from toolkit.replication.targets import COPY, FLAG, REMOVE

if TYPE_CHECKING:
    from toolkit.actions.result import TargetResult

    Result = TargetResult[ReplicationTarget, UnitItem, ReplicationDetail]


def _instance(result: Result) -> Document:
    plan = result.plan
    return {
        "feed": plan.target.entity,
        "cluster": plan.target.cluster,
        "source": plan.target.counterpart,
        "instance": plan.target.instance_key,
        "counts": counts_document(result),
        "files_kept": plan.detail.kept,
        **_counters(result),
        **ending_document(result),
    }


def _counters(result: Result) -> Document:
    """With the feed's property ``job.counter``."""
    target = result.plan.target
    if not isinstance(target, ReplicationTarget) or not target.rules.counters:
        return {}
    return {"counters": dict(result.plan.detail.counters)}


def _item(item: UnitItem) -> Document:
    return {
        "kind": item.kind,
        "instance": item.instance_key,
        "source": str(item.source),
        "path": str(item.target),
        "files": item.files,
        "bytes": item.bytes,
        "reasons": {reason.value: number for reason, number in sorted(item.reasons.items())},
        "removed": len(item.gone),
    }


def _item_text(item: UnitItem) -> str:
    if item.kind == REMOVE:
        gone = "it is gone already" if item.present is None else f"all {len(item.gone)} entries in it are removed"
        return f"{item.instance_key}  {item.target}  {item.source} is no more, so {gone}"
    gone = f", {len(item.gone)} are removed" if item.gone else ""
    return f"{item.instance_key}  {item.source} -> {item.target}  {item.files} files, {item.bytes} bytes{gone}"


_KINDS = {COPY: "copies", FLAG: "flags", REMOVE: "removals"}

REPLICATION_VIEW: ActionView[ReplicationTarget, UnitItem, ReplicationDetail] = ActionView(
    targets="instances",
    target_document=_instance,
    item_document=_item,
    item_text=_item_text,
    items_text=lambda item: _KINDS[item.kind],
    target_rule=lambda result: f"; from {result.plan.target.counterpart}",
    target_lines=note_lines,
)
