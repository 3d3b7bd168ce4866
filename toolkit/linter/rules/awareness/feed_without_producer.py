"""A feed that is read is made by somebody."""

from __future__ import annotations

from collections.abc import Iterator

from toolkit.linter.context import LintContext
from toolkit.linter.findings import Hit, Severity
from toolkit.linter.rule import Rule
from toolkit.linter.rules.awareness.pipelines import Pipelines, process_names


def _check(context: LintContext) -> Iterator[Hit]:
    pipelines = Pipelines.of(context)
    for feed in context.repository.feeds.values():
        readers = pipelines.readers.get(feed.name, ())
        if readers and not feed.external and not pipelines.made_on(feed) and pipelines.knows(feed):
            names = process_names(readers)
            yield Hit(
                subject=feed.name,
                message=f"{names} reads {feed.name}, but nobody makes it: it is no output of a process, has no import "
                "and is not external",
                hint="add external: true when something outside of this repo makes it",
                related=tuple(names.split(", ")),
            )


RULE = Rule(
    id="feed-without-producer",
    name="A feed that is read is made by a process, imported, or external",
    severity=Severity.WARNING,
    rationale="Its readers would wait for ever. Most often a name is wrong, or the process that should make the feed "
    "has no such output. Nobody can see that it is made elsewhere unless it says so.",
    bad="""\
# feeds/clicks.yaml, which hourly_job reads and nobody makes
kind: feed
name: clicks
""",
    good="""\
# feeds/clicks.yaml, which hourly_job reads
kind: feed
name: clicks
external: true
""",
    source="Airflow AIP-48: a warning for data sets that have consumers but no producers",
    check=_check,
)
