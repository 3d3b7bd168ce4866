"""A retention result for people, in plain lines."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from toolkit.el import format_instant
from toolkit.printable import on_one_line
from toolkit.result import Outcome

if TYPE_CHECKING:
    from collections.abc import Iterator

    from toolkit.retention import FeedResult, ItemResult, RetentionResult

_NAMED = 3


def plain_lines(result: RetentionResult) -> Iterator[str]:
    """The result line by line: the run, its items, each feed, the status last."""
    yield on_one_line(title(result))
    for item in result.items:
        yield on_one_line(_item_line(item))
    for feed in result.feeds:
        yield from map(on_one_line, feed_lines(feed))
    yield from (f"note: {on_one_line(note)}" for note in result.notes)
    yield closing_line(result)


def title(result: RetentionResult) -> str:
    """What ran, for which time, from which state of the config repo."""
    snapshot = f"{result.snapshot.kind} {result.snapshot.value}{' (dirty)' if result.snapshot.dirty else ''}"
    dry = ", dry run: nothing is touched" if result.dry_run else ""
    return f"retention at {format_instant(result.nominal_time)}{dry}; config repo: {snapshot}"


def feed_lines(result: FeedResult) -> Iterator[str]:
    """What became of a feed, and what else is to be said of it; names in it may be unprintable."""
    plan, target = result.plan, result.plan.target
    counted = ", ".join(f"{number} {outcome}" for outcome, number in result.counts.items() if number)
    rule = "" if target is None else f"; limit {target.limit}, horizon {format_instant(target.policy.horizon)}"
    nothing = "failed" if plan.failure is not None else "nothing to do"
    done = "skipped" if plan.skipped is not None else counted or nothing
    yield f"{plan.label}: {done}{rule}{_run(result)}"
    if plan.skipped is not None:
        yield f"  {plan.skipped.code}: {plan.skipped.message}"
    if plan.failure is not None:
        yield f"  {plan.failure.code}: {plan.failure.message}"
    yield from _whole_directories(result)
    for (reason, detail), number in Counter((kept.reason, kept.detail) for kept in plan.kept).items():
        yield f"  {number} old instances stay: {reason}{f' ({detail})' if detail else ''}"
    for note in plan.notes:
        yield f"  note: {note}"
    if plan.strangers.count:
        yield f"  {plan.strangers.count} names do not conform and stay, for example:"
        for path, why in plan.strangers.sample:
            yield f"    {path}: {why}"


def closing_line(result: RetentionResult) -> str:
    """The status, and the plan by its digest."""
    plan = f"; plan {result.digest}" if result.digest else ""
    return f"status: {result.status}{plan}"


def _item_line(result: ItemResult) -> str:
    item = result.item
    what = item.key or item.kind.value
    why = " ".join(part for part in (result.code, result.message) if part)
    line = f"{result.outcome:<8}{item.feed} on {item.cluster}  {item.location:<5}  {what:<17}  {item.path}"
    return f"{line}  ({why})" if why else line


def _whole_directories(result: FeedResult) -> Iterator[str]:
    """What a dry run says beside the single instances: these directories need one call each."""
    roots = [str(subtree.root) for subtree in result.plan.subtrees]
    if roots and result.counts[Outcome.PLANNED]:
        more = f" and {len(roots) - _NAMED} more" if len(roots) > _NAMED else ""
        are = "1 directory goes" if len(roots) == 1 else f"{len(roots)} directories go"
        yield f"  {are} as a whole: {', '.join(roots[:_NAMED])}{more}"


def _run(result: FeedResult) -> str:
    if result.run is None or result.run.run_id is None:
        return ""
    return f"; run {result.run.run_id}, attempt {result.run.attempt}"
