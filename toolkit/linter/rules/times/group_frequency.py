"""The feeds of one group have one frequency."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import timedelta

from toolkit.el import Frequency, Unit
from toolkit.entities import Feed
from toolkit.linter.context import LintContext
from toolkit.linter.findings import Hit, Severity
from toolkit.linter.rule import Rule


def _check(context: LintContext) -> Iterator[Hit]:
    for group, members in sorted(_groups(context.repository.feeds).items()):
        yield from _hits(group, members)


def _groups(feeds: Mapping[str, Feed]) -> dict[str, list[Feed]]:
    groups: dict[str, list[Feed]] = {}
    for _, feed in sorted(feeds.items()):
        for group in dict.fromkeys(feed.groups):
            groups.setdefault(group, []).append(feed)
    return groups


def _hits(group: str, members: list[Feed]) -> Iterator[Hit]:
    """One for each feed that has not the frequency of most."""
    counted = Counter(_length(feed.frequency) for feed in members)
    if len(counted) == 1:
        return
    usual = max(counted, key=lambda length: counted[length])  # of equally many, that of the first by name
    model = next(feed for feed in members if _length(feed.frequency) == usual)
    for feed in members:
        if _length(feed.frequency) != usual:
            yield _hit(group, feed, model, counted[usual])


def _length(frequency: Frequency) -> tuple[Unit, int] | timedelta:
    """Equal for frequencies that step alike: minutes(60) is hours(1), while days(1) is not hours(24)."""
    return frequency.elapsed or (frequency.unit, frequency.count)


def _hit(group: str, feed: Feed, model: Feed, count: int) -> Hit:
    have = f"{model.name} has" if count == 1 else f"{model.name} and {count - 1} more have"
    return Hit(
        subject=feed.name,
        pointer=("frequency",),
        message=f"the frequency {feed.frequency} differs from that of the group {group}: {have} {model.frequency}",
        hint=f"give the feeds of {group} one frequency, or put this one into another group",
        related=(model.name,),
    )


RULE = Rule(
    id="group-frequency",
    name="All feeds of a group have the same frequency",
    severity=Severity.ERROR,
    rationale=(
        "An instance of a group is available when the instances of all its feeds are. Feeds that step differently "
        "have no instances in common, so that the group never is."
    ),
    bad="""\
# feeds/impressions.yaml; clicks is hourly and in the group web too
groups: [web]
frequency: days(1)
""",
    good="""\
# feeds/impressions.yaml; clicks is hourly and in the group web too
groups: [web]
frequency: hours(1)
""",
    source="Falcon entity specification, Group",
    check=_check,
)
