"""An external feed is made outside of the repo."""

from __future__ import annotations

from collections.abc import Iterator

from toolkit.linter.context import LintContext
from toolkit.linter.findings import Hit, Severity
from toolkit.linter.rule import Rule
from toolkit.linter.rules.awareness.pipelines import Pipelines, process_names


def _check(context: LintContext) -> Iterator[Hit]:
    pipelines = Pipelines.of(context)
    for feed in context.repository.feeds.values():
        makers = process_names(pipelines.makers.get(feed.name, ()))
        imported = [each.name for each in feed.clusters if each.import_ is not None]
        if feed.external and (makers or imported):
            how = f"{makers} makes it" if makers else f"it is imported on {', '.join(imported)}"
            yield Hit(
                subject=feed.name,
                pointer=("external",),
                message=f"{feed.name} is marked external, but {how}",
                hint="remove external: true, or the output of the process",
            )


RULE = Rule(
    id="external-but-produced",
    name="An external feed is no output of a process and has no import",
    severity=Severity.WARNING,
    rationale="Either the mark is wrong, and hides it when the process that makes the feed goes away; or two write the "
    "same instances, one of them outside of this repo.",
    bad="""\
# feeds/clicks_hourly.yaml, which hourly_job makes
external: true
""",
    good="""\
# feeds/clicks_hourly.yaml, which hourly_job makes
external: false
""",
    source="Airflow AIP-48: producers and consumers of data sets",
    check=_check,
)
