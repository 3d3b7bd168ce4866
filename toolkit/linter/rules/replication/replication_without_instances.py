"""A source and a target have instances in common."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from toolkit.el import format_instant
from toolkit.entities import Feed, Validity
from toolkit.linter.context import LintContext
from toolkit.linter.findings import Hit, Severity
from toolkit.linter.rule import Rule
from toolkit.linter.rules.replication.roles import Side, common_instants, overlap, sources, targets


def _check(context: LintContext) -> Iterator[Hit]:
    for feed in context.repository.feeds.values():
        giving, receiving = sources(feed), targets(feed)
        if giving and receiving:
            yield from _alone(feed, receiving, giving, Severity.ERROR)
            if len(giving) > 1:
                yield from _alone(feed, giving, receiving, Severity.WARNING)


def _alone(feed: Feed, own: Sequence[Side], others: Sequence[Side], severity: Severity) -> Iterator[Hit]:
    for side in own:
        if not any(common_instants(each, side) for each in others):
            verb = "reaches" if severity is Severity.ERROR else "leaves"
            reasons = "; ".join(_reason(side, each) for each in others)
            yield Hit(
                subject=feed.name,
                pointer=side.at("validity"),
                message=f"no instance ever {verb} {side.name}: {reasons}",
                hint="let the validities overlap, and start them whole frequencies apart",
                severity=severity,
            )


def _reason(side: Side, other: Side) -> str:
    own, its = side.feed_cluster.validity, other.feed_cluster.validity
    if overlap(side, other) is None:
        return f"its validity {_words(own)} does not overlap with that of {other.name}, {_words(its)}"
    start, its_start = format_instant(own.start), format_instant(its.start)
    return f"{side.feed.frequency} from {start} never meets that of {other.name}, from {its_start}"


def _words(validity: Validity) -> str:
    return f"{format_instant(validity.start)} to {format_instant(validity.end)}"


RULE = Rule(
    id="replication-without-instances",
    name="Every target has instances in common with a source, and every source with a target",
    severity=Severity.ERROR,
    rationale="What is copied are the instances in the overlap of both validities. Without an overlap, or with steps "
    "that never meet (full hours here, half past there), nothing is ever copied and nobody is told.",
    bad="""\
# feeds/clicks.yaml
frequency: hours(1)
clusters:
  - name: primary
    type: source
    validity: {start: 2025-01-01T00:00Z, end: 2026-01-01T00:00Z}
  - name: backup
    type: target
    validity: {start: 2026-01-01T00:00Z, end: 2099-01-01T00:00Z}
""",
    good="""\
# feeds/clicks.yaml
frequency: hours(1)
clusters:
  - name: primary
    type: source
    validity: {start: 2025-01-01T00:00Z, end: 2099-01-01T00:00Z}
  - name: backup
    type: target
    validity: {start: 2026-01-01T00:00Z, end: 2099-01-01T00:00Z}
""",
    source="Falcon overview, Replication: the time frame is the overlap of both validities",
    check=_check,
)
