"""Fields of the results of imports from databases."""

from __future__ import annotations

from typing import TYPE_CHECKING

from toolkit.exchange.import_targets import ImportDetail, ImportItem, ImportTarget
from toolkit.rendering.action_result import ActionView, Document, counts_document, ending_document, note_lines

if TYPE_CHECKING:
    from collections.abc import Iterator

    from toolkit.actions.result import TargetResult

    Result = TargetResult[ImportTarget, ImportItem, ImportDetail]


def _instance(result: Result) -> Document:
    plan, detail = result.plan, result.plan.detail
    return {
        "feed": plan.target.entity,
        "cluster": plan.target.cluster,
        "datasource": _datasource(result),
        "instance": plan.target.instance_key,
        "counts": counts_document(result),
        "column_types": dict(detail.types),
        "splits": list(detail.splits),
        "estimated_rows": detail.estimate,
        "counters": dict(detail.counters),
        **ending_document(result),
    }


def _item(item: ImportItem) -> Document:
    return {
        "kind": item.kind,
        "instance": item.instance_key,
        "table": str(item.rows.table),
        "path": item.uri,
        "query": item.select,
        "columns": dict(item.columns),
        "merged_with": None if item.previous is None else str(item.previous),
        "low": item.low,
        "high": item.high,
    }


def _item_text(item: ImportItem) -> str:
    merged = "" if item.previous is None else f", merged with {item.previous}"
    return f"{item.instance_key}  {item.rows.table} to {item.uri}{merged}"


def _rule(result: Result) -> str:
    source = _datasource(result)
    return f"; from {source}" if source else ""


def _datasource(result: Result) -> str:
    target = result.plan.target
    return target.datasource if isinstance(target, ImportTarget) else ""


def _lines(result: Result) -> Iterator[str]:
    """Yield query, columns, range, connections and expected rows of a plan, and the rows of what was imported."""
    plan, detail = result.plan, result.plan.detail
    for item in plan.items:
        if result.run is None:  # a dry run
            yield f"query: {item.select}"
            for name, kind in item.columns.items():
                yield f"column {name}: {detail.types.get(name, '')} as {kind}"
            yield from (f"connection reads: {each}" for each in detail.splits)
            expected = "unknown" if detail.estimate is None else f"about {detail.estimate:,}"
            yield f"expected rows: {expected}"
        if item.low is not None or item.high is not None:
            some = f"from {item.low or 'the first'} to {item.high or 'the last'}"
            yield f"range: {some}" if item.rows.ranges else f"range: all rows; the next instance begins at {item.high}"
    if "ROWS" in detail.counters:
        yield f"{detail.counters['ROWS']:,} rows, {detail.counters['BYTESCOPIED']:,} bytes"
    yield from note_lines(result)


IMPORT_VIEW: ActionView[ImportTarget, ImportItem, ImportDetail] = ActionView(
    targets="instances",
    target_document=_instance,
    item_document=_item,
    item_text=_item_text,
    items_text=lambda _: "instances",
    target_rule=_rule,
    target_lines=_lines,
)
