"""Rules about limits of a feed on what one retention run may delete: such that never count, or always."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from math import ceil

from toolkit.entities import Feed, FeedCluster, FeedMaxDelete, Pointer
from toolkit.linter.durations import longest, shortest
from toolkit.linter.findings import Hit
from toolkit.linter.rule import Check, LintContext
from toolkit.planning.cadence import eviction_cadence


def above_run(context: LintContext) -> Iterator[Hit]:
    """The limit of a feed is not greater than that of the run over all feeds."""
    of_run = context.repository.settings.max_delete
    for feed, index, each in _bounded(context):
        own = feed.max_delete_on(each.name)
        for key, limit, bound in (("instances", own.instances, of_run.instances), ("bytes", own.bytes, of_run.bytes)):
            if limit is not None and bound is not None and limit > bound:
                yield Hit(
                    subject=feed.name,
                    pointer=_pointer(feed, index, key),
                    message=(
                        f"max_delete.{key} of {limit:,} on {each.name} never counts: that of repo.yaml refuses the "
                        f"whole run beyond {bound:,}"
                    ),
                    hint=f"give at most {bound:,}, or raise max_delete.{key} in repo.yaml",
                )


def below_due(context: LintContext) -> Iterator[Hit]:
    """The limit of a feed lets through what becomes due from one run to the next."""
    for feed, index, each in _bounded(context):
        cadence = eviction_cadence(feed, each.name)
        if cadence is None or each.retention is None:
            continue
        own, due = feed.max_delete_on(each.name), shortest(cadence.frequency) // longest(feed.frequency)
        # No run finds more young instances than this, so that no part is smaller than this one.
        kept = max(-(-longest(each.retention.limit) // shortest(feed.frequency)) + 1, each.retention.keep_last or 0)
        part, least = Fraction(due, due + kept), "at the very least, and some runs' worth for the day after a failure"
        then = f"each run is refused: from one to the next, {cadence.frequency}, {due:,} instances become due"
        if own.instances is not None and own.instances < due:
            yield Hit(
                subject=feed.name,
                pointer=_pointer(feed, index, "instances"),
                message=f"with max_delete.instances of {own.instances:,} on {each.name} {then}",
                hint=f"allow {due:,} {least}",
            )
        if own.fraction is not None and Fraction(str(own.fraction)) < part:
            yield Hit(
                subject=feed.name,
                pointer=_pointer(feed, index, "fraction"),
                message=f"with max_delete.fraction of {own.fraction:g} on {each.name} {then}, of {due + kept:,}",
                hint=f"allow {ceil(part * 1000) / 1000:g} {least}",
            )


def _bounded(context: LintContext) -> Iterator[tuple[Feed, int, FeedCluster]]:
    """The feeds on their clusters that retention of paths is about, and a limit of their own bounds."""
    for _, feed in sorted(context.repository.feeds.items()):
        for index, each in enumerate(feed.clusters):
            is_evicted = each.retention is not None and feed.table_on(each.name) is None
            if is_evicted and feed.max_delete_on(each.name) != FeedMaxDelete():
                yield feed, index, each


def _pointer(feed: Feed, index: int, key: str) -> Pointer:
    retention = feed.clusters[index].retention
    is_own = retention is not None and getattr(retention.max_delete, key) is not None
    return ("clusters", index, "retention", "max_delete", key) if is_own else ("max_delete", key)


CHECKS: Mapping[str, Check] = {
    "max-delete-above-run": above_run,
    "max-delete-below-due": below_due,
}
