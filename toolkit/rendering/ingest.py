"""Fields of an ingest result that other actions' results do not have."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from toolkit.ingest_job.targets import READ, WATERMARK, IngestDetail, IngestItem, IngestTarget
from toolkit.rendering.action_result import ActionView, Document, counts_document, ending_document, note_lines

if TYPE_CHECKING:
    from toolkit.actions.result import TargetResult

    Result = TargetResult[IngestTarget, IngestItem, IngestDetail]


def _feed(result: Result) -> Document:
    plan, detail = result.plan, result.plan.detail
    return {
        "feed": plan.target.entity,
        "cluster": plan.target.cluster,
        "counts": counts_document(result),
        "rows": detail.rows,
        "commits": detail.commits,
        "bytes": detail.bytes,
        "rejects": detail.rejects,
        "reject_files": list(detail.reject_files),
        "offsets": [{"unit": name, "offset": offset} for name, offset in detail.offsets.items()],
        "out_of_time": detail.is_out_of_time,
        **ending_document(result),
    }


def _item(item: IngestItem) -> Document:
    return {"kind": item.kind, "unit": item.uri, "start": item.unit.start, "end": item.unit.end}


def _item_text(item: IngestItem) -> str:
    if item.kind != READ:
        return f"{item.kind} {item.uri}"
    end = "its end" if item.unit.end is None else item.unit.end
    return f"{item.uri} from {item.unit.start} to {end}"


def _rule(result: Result) -> str:
    """Return the counts of the run; a dry run has none."""
    detail = result.plan.detail
    if not detail.commits:
        return ""
    rejected = f", {detail.rejects:,} rejected" if detail.rejects else ""
    noun = "commit" if detail.commits == 1 else "commits"
    return f"; {detail.rows:,} rows in {detail.commits:,} {noun}, {detail.bytes:,} bytes of records{rejected}"


def _lines(result: Result) -> Iterator[str]:
    yield from note_lines(result)
    yield from (f"rejects: {file}" for file in result.plan.detail.reject_files)


_KINDS = {READ: "units", "archive": "files archived", "delete": "files deleted", WATERMARK: "watermarks"}

INGEST_VIEW: ActionView[IngestTarget, IngestItem, IngestDetail] = ActionView(
    targets="feeds",
    target_document=_feed,
    item_document=_item,
    item_text=_item_text,
    items_text=lambda item: _KINDS[item.kind],
    target_rule=_rule,
    target_lines=_lines,
)
