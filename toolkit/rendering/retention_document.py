"""A retention result as the data that its JSON forms are made of."""

from __future__ import annotations

from typing import TYPE_CHECKING

from toolkit.el import format_instant
from toolkit.result import SCHEMA_VERSION
from toolkit.retention.result import ACTION

if TYPE_CHECKING:
    from collections.abc import Mapping

    from toolkit.planning.retention import Kept
    from toolkit.retention import FeedResult, ItemResult, RetentionResult
    from toolkit.retention.plan import Failure

Document = dict[str, object]


def summary(result: RetentionResult) -> Document:
    """Everything about the run but its items."""
    return {
        "schema_version": SCHEMA_VERSION,
        "action": ACTION,
        "nominal_time": format_instant(result.nominal_time),
        "environment": result.environment,
        "dry_run": result.dry_run,
        "status": result.status.value,
        "exit_code": result.exit_code.value,
        "error": _error(result),
        "snapshot": {
            "kind": result.snapshot.kind.value,
            "id": result.snapshot.value,
            "dirty": result.snapshot.dirty,
        },
        "tzdata": result.tzdata,
        "ledger": result.ledger,
        "notes": list(result.notes),
        "plan_digest": result.digest,
        "feeds": [_feed(feed) for feed in result.feeds],
    }


def item_line(result: ItemResult) -> Document:
    """One item with its outcome."""
    item = result.item
    return {
        "feed": item.feed,
        "cluster": item.cluster,
        "location": item.location.value,
        "kind": item.kind.value,
        "instance": item.key or None,
        "path": str(item.path),
        "outcome": result.outcome.value,
        "code": result.code or None,
        "message": result.message or None,
    }


def whole(result: RetentionResult) -> Document:
    """The run and all its items in one document."""
    return {**summary(result), "items": [item_line(item) for item in result.items]}


def failure_document(error: Exception, *, status: str, exit_code: int) -> Document:
    """A run that ended before there was anything to report."""
    return {
        "schema_version": SCHEMA_VERSION,
        "action": ACTION,
        "status": status,
        "exit_code": exit_code,
        "error": {"type": type(error).__name__, "message": str(error)},
        "feeds": [],
        "items": [],
    }


def _error(result: RetentionResult) -> Mapping[str, str] | None:
    error = result.stopped or result.refusal
    return None if error is None else {"type": type(error).__name__, "message": str(error)}


def _feed(result: FeedResult) -> Document:
    plan, target = result.plan, result.plan.target
    return {
        "feed": plan.feed,
        "cluster": plan.cluster,
        "limit": None if target is None else str(target.limit),
        "effective_time": None if target is None else format_instant(target.effective_time),
        "horizon": None if target is None else format_instant(target.policy.horizon),
        "bases": [] if target is None else [str(location.base) for location in target.locations],
        "counts": {outcome.value: number for outcome, number in result.counts.items()},
        "kept": [_kept(kept) for kept in plan.kept],
        "whole_directories": [
            {"path": str(subtree.root), "instances": subtree.end - subtree.begin} for subtree in plan.subtrees
        ],
        "notes": list(plan.notes),
        "run": _run(result),
        "skipped": _reason(plan.skipped),
        "failure": _reason(plan.failure),
        "not_conforming": {
            "count": plan.strangers.count,
            "sample": [{"path": path, "why": why} for path, why in plan.strangers.sample],
        },
    }


def _run(result: FeedResult) -> Document | None:
    """The run in the ledger; None: there is none."""
    if result.run is None or result.run.run_id is None:
        return None
    return {"id": result.run.run_id, "attempt": result.run.attempt}


def _reason(failure: Failure | None) -> Document | None:
    return None if failure is None else {"code": failure.code, "message": failure.message}


def _kept(kept: Kept) -> Document:
    """An instance that is old enough to go and stays all the same."""
    return {
        "location": kept.candidate.location.value,
        "instance": format_instant(kept.candidate.time),
        "path": str(kept.candidate.path),
        "reason": kept.reason.value,
        "message": kept.detail or None,
    }
