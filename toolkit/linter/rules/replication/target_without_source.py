"""A feed with a target has a source."""

from __future__ import annotations

from collections.abc import Iterator

from toolkit.linter.context import LintContext
from toolkit.linter.findings import Hit, Severity
from toolkit.linter.rule import Rule
from toolkit.linter.rules.replication.roles import sources, targets


def _check(context: LintContext) -> Iterator[Hit]:
    for feed in context.repository.feeds.values():
        if sources(feed):
            continue
        for each in targets(feed):
            yield Hit(
                subject=feed.name,
                pointer=each.at("type"),
                message=f"{each.name} is a target, and no cluster of the feed is a source",
                hint="give the cluster on which the instances are made type: source, or remove type: target",
            )


RULE = Rule(
    id="target-without-source",
    name="A feed with a target has a source",
    severity=Severity.ERROR,
    rationale="Nothing is ever copied. A cluster without a type takes no part in replication, so the one on which the "
    "instances are made has to say that it is a source.",
    bad="""\
# feeds/clicks.yaml
clusters:
  - {name: primary}
  - {name: backup, type: target}
""",
    good="""\
# feeds/clicks.yaml
clusters:
  - {name: primary, type: source}
  - {name: backup, type: target}
""",
    source="Falcon entity specification, Feed, File System Storage: type",
    check=_check,
)
