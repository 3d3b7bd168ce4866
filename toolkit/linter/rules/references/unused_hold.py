"""Every hold keeps an instance that could otherwise be deleted."""

from __future__ import annotations

from collections.abc import Iterator

from toolkit.el import format_instant
from toolkit.entities import Feed, FeedCluster, Hold
from toolkit.entities.source_files import HOLDS_FILE
from toolkit.linter.context import LintContext
from toolkit.linter.findings import Hit, Severity
from toolkit.linter.rule import Rule


def _check(context: LintContext) -> Iterator[Hit]:
    for position, hold in enumerate(context.repository.holds):
        feed = context.repository.feeds.get(hold.feed)
        there = [each for each in feed.clusters if hold.concerns(feed.name, each.name)] if feed else []
        if feed is not None and there:
            yield from _hits(position, hold, feed, there)


def _hits(position: int, hold: Hold, feed: Feed, there: list[FeedCluster]) -> Iterator[Hit]:
    on = " and ".join(each.name for each in there)
    if all(_is_before(hold, each) for each in there):
        first = format_instant(min(each.validity.start for each in there))
        message = f"the hold ends before the first instance of {feed.name} on {on}, {first}"
        hint = "correct its dates; a hold is [start, end)"
        yield Hit(subject=HOLDS_FILE, pointer=("holds", position, "end"), message=message, hint=hint)
    elif all(_is_after(hold, each) for each in there):
        last = format_instant(max(each.validity.end for each in there))
        message = f"the hold starts after {feed.name} ends on {on}, at {last}"
        yield Hit(subject=HOLDS_FILE, pointer=("holds", position, "start"), message=message, hint="correct its dates")
    elif all(each.retention is None for each in there):
        yield Hit(
            subject=HOLDS_FILE,
            pointer=("holds", position, "feed"),
            message=f"{feed.name} has no retention on {on}, so nothing deletes what the hold keeps",
            hint="leave it for the day when there is one, or remove it",
            severity=Severity.INFO,
        )


def _is_before(hold: Hold, each: FeedCluster) -> bool:
    return hold.end is not None and hold.end <= each.validity.start


def _is_after(hold: Hold, each: FeedCluster) -> bool:
    return hold.start is not None and hold.start >= each.validity.end


RULE = Rule(
    id="unused-hold",
    name="Every hold keeps an instance that could otherwise be deleted",
    severity=Severity.WARNING,
    rationale=(
        "A hold whose dates lie outside of the feed's validity keeps nothing: most likely a year is wrong, and what "
        "it should keep is deleted. A hold on instances that are older than the limit is what holds are for and is "
        "never reported. A hold on a feed without retention is for your information."
    ),
    bad="""\
# holds.yaml; clicks begins at 2026-01-01T00:00Z
holds:
  - {feed: clicks, start: 2025-03-01T00:00Z, end: 2025-03-02T00:00Z, reason: incident 4711}
""",
    good="""\
# holds.yaml; clicks begins at 2026-01-01T00:00Z
holds:
  - {feed: clicks, start: 2026-03-01T00:00Z, end: 2026-03-02T00:00Z, reason: incident 4711}
""",
    source="DESIGN section 7, Retention",
    check=_check,
)
