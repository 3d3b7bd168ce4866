"""A feed that is made is read by somebody."""

from __future__ import annotations

from collections.abc import Iterator

from toolkit.entities import Feed
from toolkit.linter.context import LintContext
from toolkit.linter.findings import Hit, Severity
from toolkit.linter.rule import Rule
from toolkit.linter.rules.awareness.pipelines import Pipelines, process_names


def _check(context: LintContext) -> Iterator[Hit]:
    pipelines = Pipelines.of(context)
    for feed in context.repository.feeds.values():
        makers = pipelines.makers.get(feed.name, ())
        if makers and not _is_read(feed, pipelines) and pipelines.knows(feed):
            yield Hit(
                subject=feed.name,
                message=f"{process_names(makers)} makes {feed.name}, and no process or export of this repo reads it",
                hint="remove it when nobody reads it elsewhere either",
            )


def _is_read(feed: Feed, pipelines: Pipelines) -> bool:
    return feed.name in pipelines.readers or any(each.export is not None for each in feed.clusters)


RULE = Rule(
    id="feed-without-consumer",
    name="A feed that is made is read by a process or exported",
    severity=Severity.INFO,
    rationale="Data that nobody reads costs time and room. People and reports outside of the repo may read it, so this "
    "is only worth knowing.",
    bad="""\
# processes/hourly_job.yaml, and no process reads clicks_hourly
outputs:
  counts: {feed: clicks_hourly, instance: "now(0,0)"}
""",
    good="""\
# processes/daily_report.yaml
inputs:
  counts: {feed: clicks_hourly, start: "yesterday(0,0)", end: "today(-1,0)"}
""",
    source="Airflow AIP-48: explicit, visible relationships based on data dependencies",
    check=_check,
)
