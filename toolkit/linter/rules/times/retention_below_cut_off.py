"""Instances are kept for longer than late data may come for them."""

from __future__ import annotations

from collections.abc import Iterator

from toolkit.el import Frequency
from toolkit.entities import Feed
from toolkit.linter.bounds import always_longer, length_words, longest, shortest
from toolkit.linter.context import LintContext
from toolkit.linter.findings import Hit, Severity
from toolkit.linter.rule import Rule


def _check(context: LintContext) -> Iterator[Hit]:
    for _, feed in sorted(context.repository.feeds.items()):
        yield from _hits(feed)


def _hits(feed: Feed) -> Iterator[Hit]:
    late = feed.late_arrival
    for position, each in enumerate(feed.clusters if late else ()):
        if late and each.retention and not always_longer(each.retention.limit, late.cut_off):
            yield Hit(
                subject=feed.name,
                pointer=("clusters", position, "retention", "limit"),
                message=_words(each.name, each.retention.limit, late.cut_off),
                hint=f"keep instances for more than {length_words(longest(late.cut_off))}, or shorten the cut-off",
            )


def _words(cluster: str, limit: Frequency, cut_off: Frequency) -> str:
    found = f"the retention limit of {limit} on {cluster} is not greater than the late cut-off of {cut_off}"
    if limit.unit is cut_off.unit or (limit.elapsed and cut_off.elapsed):
        return found
    return f"{found}: {length_words(shortest(limit))} at the least, {length_words(longest(cut_off))} at the most"


RULE = Rule(
    id="retention-below-cut-off",
    name="The retention limit is greater than the late cut-off",
    severity=Severity.ERROR,
    rationale=(
        "Late data changes an instance until the cut-off. When the instance may be deleted before that, late data "
        "comes to a place that is gone, and the runs that should be repeated cannot read their input. Falcon "
        "refuses such a feed. A month counts with its shortest and longest length."
    ),
    bad="""\
# feeds/clicks.yaml
late_arrival: {cut_off: days(3)}
clusters:
  - {name: primary, retention: {limit: hours(72)}}
""",
    good="""\
# feeds/clicks.yaml
late_arrival: {cut_off: days(3)}
clusters:
  - {name: primary, retention: {limit: days(10)}}
""",
    source="Falcon overview, Relation between feed's retention limit and late arrival cut off; DESIGN section 8",
    check=_check,
)
