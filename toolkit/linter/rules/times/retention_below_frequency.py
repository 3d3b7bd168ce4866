"""Instances are kept at least until the next one comes."""

from __future__ import annotations

from collections.abc import Iterator

from toolkit.entities import Feed
from toolkit.linter.bounds import length_words, longest, sometimes_shorter
from toolkit.linter.context import LintContext
from toolkit.linter.findings import Hit, Severity
from toolkit.linter.rule import Rule


def _check(context: LintContext) -> Iterator[Hit]:
    for _, feed in sorted(context.repository.feeds.items()):
        yield from _hits(feed)


def _hits(feed: Feed) -> Iterator[Hit]:
    for position, each in enumerate(feed.clusters):
        if each.retention is not None and sometimes_shorter(each.retention.limit, feed.frequency):
            yield Hit(
                subject=feed.name,
                pointer=("clusters", position, "retention", "limit"),
                message=(
                    f"the retention limit of {each.retention.limit} on {each.name} is shorter than the feed's "
                    f"frequency, {feed.frequency}"
                ),
                hint=f"keep instances for at least {length_words(longest(feed.frequency))}",
            )


RULE = Rule(
    id="retention-below-frequency",
    name="The retention limit is not shorter than the frequency",
    severity=Severity.ERROR,
    rationale=(
        "With a limit below the frequency an instance goes before the next one is there: for part of every period "
        "the feed is empty, and a run that comes a little late finds nothing. keep_last may soften it, but states "
        "another intention than the limit does."
    ),
    bad="""\
# feeds/monthly.yaml
frequency: months(1)
clusters:
  - {name: primary, retention: {limit: days(30)}}
""",
    good="""\
# feeds/monthly.yaml
frequency: months(1)
clusters:
  - {name: primary, retention: {limit: months(2)}}
""",
    source="DESIGN section 8",
    check=_check,
)
