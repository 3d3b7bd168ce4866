"""Fields of the result of the maintenance of ingested tables that other actions' results do not have."""

from __future__ import annotations

from typing import TYPE_CHECKING

from toolkit.compaction.targets import CLOSE, EXPIRE, MERGE, REMOVE, CompactDetail, CompactItem, CompactTarget
from toolkit.el import format_instant
from toolkit.rendering.action_result import ActionView, Document, counts_document, ending_document, note_lines

if TYPE_CHECKING:
    from datetime import datetime

    from toolkit.actions.result import TargetResult

    Result = TargetResult[CompactTarget, CompactItem, CompactDetail]


def _feed(result: Result) -> Document:
    plan = result.plan
    return {
        "feed": plan.target.entity,
        "cluster": plan.target.cluster,
        "counts": counts_document(result),
        "closed_before": _instant(plan.detail.closed_before),
        "closes_before": _instant(plan.detail.closes_before),
        **ending_document(result),
    }


def _instant(instant: datetime | None) -> str | None:
    return None if instant is None else format_instant(instant)


def _item(item: CompactItem) -> Document:
    return {
        "kind": item.kind,
        "uri": item.uri,
        "instance": item.instance_key,
        "files": len(item.files),
        "bytes": item.bytes,
    }


def _item_text(item: CompactItem) -> str:
    if item.kind == MERGE:
        return f"merge {len(item.files)} files, {item.bytes:,} bytes, of {item.uri}"
    return f"{item.kind} {item.uri}"


def _rule(result: Result) -> str:
    closes = result.plan.detail.closes_before
    return "" if closes is None else f"; instances before {format_instant(closes)} close"


_KINDS = {MERGE: "merges", CLOSE: "instances closed", EXPIRE: "expiries of snapshots", REMOVE: "files removed"}

COMPACT_VIEW: ActionView[CompactTarget, CompactItem, CompactDetail] = ActionView(
    targets="feeds",
    target_document=_feed,
    item_document=_item,
    item_text=_item_text,
    items_text=lambda item: _KINDS[item.kind],
    target_rule=_rule,
    target_lines=note_lines,
)
