"""Fields of a retention result that other actions' results do not have."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from toolkit.el import format_instant
from toolkit.entities.vocabulary import LocationType
from toolkit.rendering.action_result import (
    ActionView,
    Document,
    counts_document,
    note_lines,
    problem_document,
    run_document,
)
from toolkit.result import Outcome
from toolkit.retention import FORGOTTEN, FeedTarget, ItemKind, PlanItem, RetentionDetail
from toolkit.retention.protection import PROTECTED

if TYPE_CHECKING:
    from toolkit.el import CanonicalPath
    from toolkit.planning.retention import KeepReason, Kept
    from toolkit.retention import FeedResult
    from toolkit.retention.explain import Explanation
    from toolkit.retention.restorable import RestorableInstance

_NAMED = 3
_ITEMS = {
    ItemKind.INSTANCE: "instances",
    ItemKind.PENDING_DELETE: "leftovers",
    ItemKind.STAGED: "staged data",
    ItemKind.EMPTY_DIRECTORY: "empty directories",
    ItemKind.PARTITION: "partitions",
    ItemKind.PARTITION_ENTRY: "partitions whose data stay",
    ItemKind.PARTITION_DATA: "directories of partitions",
    ItemKind.QUARANTINED: "purges from quarantine",
    ItemKind.RESTORED: "restored instances",
    ItemKind.UNREADABLE: "unreadable directories",
}


def _feed(result: FeedResult) -> Document:
    plan, detail = result.plan, result.plan.detail
    return {
        "feed": plan.target.entity,
        "cluster": plan.target.cluster,
        **_rule(result),
        "counts": counts_document(result),
        "kept": [_kept(kept) for kept in detail.kept],
        "whole_directories": [
            {"path": str(subtree.root), "instances": subtree.end - subtree.begin} for subtree in detail.subtrees
        ],
        "notes": list(plan.notes),
        "run": run_document(result),
        "skipped": problem_document(plan.skipped),
        "failure": problem_document(plan.failed or plan.refused),
        "not_conforming": {
            "count": detail.unrecognized.count,
            "sample": [{"path": path, "why": why} for path, why in detail.unrecognized.sample],
        },
    }


def _rule(result: FeedResult) -> Document:
    target = result.plan.target
    if not isinstance(target, FeedTarget):
        return {"limit": None, "effective_time": None, "horizon": None, "bases": []}
    return {
        "limit": str(target.limit),
        "effective_time": format_instant(target.effective_time),
        "horizon": format_instant(target.policy.horizon),
        "bases": [str(base) for base in _bases(target, result.plan.detail)],
        **({} if target.table is None else {"table": str(target.table.name)}),
    }


def _bases(target: FeedTarget, detail: RetentionDetail) -> list[CanonicalPath]:
    return [detail.base] if detail.base is not None else [location.base for location in target.locations]


def _kept(kept: Kept) -> Document:
    """An instance that is old enough to go and stays all the same."""
    return {
        "location": kept.candidate.location.value,
        "instance": format_instant(kept.candidate.time),
        "path": str(kept.candidate.path),
        "reason": kept.reason.value,
        "message": kept.detail or None,
        **({"partition": kept.candidate.partition} if kept.candidate.partition else {}),
    }


def _item(item: PlanItem) -> Document:
    return {
        "feed": item.feed,
        "cluster": item.cluster,
        "location": item.location.value,
        "kind": item.type.value,
        "instance": item.instance_key or None,
        "path": str(item.path),
        **({} if item.archive is None else {"archive": str(item.archive)}),
        **({} if item.quarantine is None else {"quarantine": str(item.quarantine)}),
        **({} if item.partition is None else {"partition": item.partition.name}),
    }


def _item_text(item: PlanItem) -> str:
    what = item.instance_key or item.type.value
    place = item.archive or (item.quarantine if item.type in {ItemKind.INSTANCE, ItemKind.PARTITION_DATA} else None)
    to = "" if place is None else f"  to {place}"
    where = item.partition if item.type in FORGOTTEN else item.path
    return f"{item.feed} on {item.cluster}  {item.location:<5}  {what:<17}  {where}{to}"


def _items_text(item: PlanItem) -> str:
    names = _ITEMS[item.type]
    return names if item.location is LocationType.DATA else f"{item.location} {names}"


def _rule_text(result: FeedResult) -> str:
    target = result.plan.target
    if not isinstance(target, FeedTarget):
        return ""
    held = "" if result.plan.detail.hold_file is None else ", on hold"
    archived = "" if target.archive is None else f", archived on {target.archive.cluster}"
    quarantined = "" if target.quarantine is None else f", {target.quarantine} in quarantine"
    return f"{held}; limit {target.limit}, horizon {format_instant(target.policy.horizon)}{archived}{quarantined}"


def _lines(result: FeedResult) -> Iterator[str]:
    detail = result.plan.detail
    yield from _whole_directories(result)
    noted = None if detail.hold_file is None else detail.hold_file.as_reason
    first: dict[KeepReason, str] = {}
    kept_otherwise = (_why(kept, first) for kept in detail.kept if kept.detail != noted)
    for (reason, why), number in Counter(kept_otherwise).items():
        example = "for example, " if reason in PROTECTED and number > 1 else ""
        yield f"{number} old {_called(result)} stay: {reason}{f' ({example}{why})' if why else ''}"
    yield from note_lines(result)
    if detail.unrecognized.count:
        yield f"{detail.unrecognized.count} names do not conform and stay, for example:"
        for path, why in detail.unrecognized.sample:
            yield f"  {path}: {why}"


def _why(kept: Kept, first: dict[KeepReason, str]) -> tuple[KeepReason, str]:
    """Return why an instance stays; of a protection, which waits for something else each time, the first example."""
    is_example = kept.reason in PROTECTED
    return kept.reason, first.setdefault(kept.reason, kept.detail) if is_example else kept.detail


def _called(result: FeedResult) -> str:
    target = result.plan.target
    return "partitions" if isinstance(target, FeedTarget) and target.table is not None else "instances"


def _whole_directories(result: FeedResult) -> Iterator[str]:
    """Yield the line about directories that a run deletes by one call each."""
    roots = [str(subtree.root) for subtree in result.plan.detail.subtrees]
    if roots and result.counts[Outcome.PLANNED]:
        more = f" and {len(roots) - _NAMED} more" if len(roots) > _NAMED else ""
        are = "1 directory goes" if len(roots) == 1 else f"{len(roots)} directories go"
        yield f"{are} as a whole: {', '.join(roots[:_NAMED])}{more}"


RETENTION_VIEW: ActionView[FeedTarget, PlanItem, RetentionDetail] = ActionView(
    targets="feeds",
    target_document=_feed,
    item_document=_item,
    item_text=_item_text,
    items_text=_items_text,
    target_rule=_rule_text,
    target_lines=_lines,
)

RESTORE_VIEW = replace(RETENTION_VIEW, target_rule=lambda _: "")
"""A restore does not go by the limit of the feed."""


def explanation_document(explanation: Explanation) -> Document:
    """Return the decision of a run about one path or instance, as JSON."""
    return {
        "feed": explanation.feed,
        "cluster": explanation.cluster,
        "instance": explanation.instance or None,
        "path": None if explanation.path is None else str(explanation.path),
        "verdict": explanation.decision.value,
        "reason": explanation.reason,
        "why": explanation.why,
        "notes": list(explanation.notes),
    }


def explanation_lines(explanation: Explanation) -> Iterator[str]:
    """Yield the explanation for people: the decision first."""
    what = f"{explanation.feed} on {explanation.cluster}{f' {explanation.instance}' if explanation.instance else ''}"
    yield f"{explanation.decision}: {what}{'' if explanation.path is None else f'  {explanation.path}'}"
    yield f"  {explanation.reason}: {explanation.why}"
    yield from (f"  note: {note}" for note in explanation.notes)


def restorable_document(found: Iterable[RestorableInstance]) -> Document:
    """Return what can be restored, as JSON."""
    return {
        "restorable": [
            {
                "feed": each.feed,
                "cluster": each.cluster,
                "instance": each.instance_key or None,
                "path": each.path,
                "run": each.run,
                "evicted_at": None if each.evicted_at is None else each.evicted_at.isoformat(),
                "until": None if each.until is None else each.until.isoformat(),
                "bytes": each.size,
                "manifest": each.manifest,
                "problem": each.problem or None,
            }
            for each in found
        ]
    }


def restorable_lines(found: Collection[RestorableInstance]) -> Iterator[str]:
    """Yield what can be restored, for people."""
    if not found:
        yield "nothing is in quarantine"
    for each in found:
        if each.problem or each.until is None:
            yield f"{each.feed} on {each.cluster}  {each.path}  cannot be restored: {each.problem}"
            continue
        until = each.until.strftime("%Y-%m-%dT%H:%MZ")
        what = f"{each.feed} on {each.cluster}  {each.instance_key}  {each.path}"
        yield f"{what}  run {each.run}  until {until}  {each.size} bytes"
