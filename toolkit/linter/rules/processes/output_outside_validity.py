"""The instances that a process makes are instances of its feeds."""

from __future__ import annotations

from collections.abc import Iterator

from toolkit.el import format_instant
from toolkit.linter.context import LintContext
from toolkit.linter.findings import Hit, Severity
from toolkit.linter.rule import Rule
from toolkit.linter.rules.processes.outputs import OutputSite, output_sites


def _check(context: LintContext) -> Iterator[Hit]:
    for site in output_sites(context.repository):
        yield from _first(site)
        yield from _last(site)


def _first(site: OutputSite) -> Iterator[Hit]:
    nominal = site.runs.start
    instant = site.instant(nominal)
    if instant is None:
        message = f"the first run, {format_instant(nominal)}, would make a time outside of the years 1 to 9999"
        yield _hit(site, message, "choose smaller arguments", Severity.ERROR)
    elif instant < site.grid.start:
        yield _hit(
            site,
            f"the first run, {format_instant(nominal)}, would make {format_instant(instant)} of {site.feed.name}, "
            f"which starts at {format_instant(site.grid.start)} on {site.cluster}",
            "start the process later, or the feed earlier",
            Severity.ERROR,
        )


def _last(site: OutputSite) -> Iterator[Hit]:
    end = site.feed.cluster(site.cluster).validity.end
    last = site.runs.at_or_before(site.process.cluster(site.cluster).validity.end)
    instant = None if last is None else site.instant(last)
    if last is not None and instant is not None and instant >= end:
        yield _hit(
            site,
            f"the last run, {format_instant(last)}, would make {format_instant(instant)} of {site.feed.name}, "
            f"which ends at {format_instant(end)} on {site.cluster}: it writes the last instance again",
            "end the process earlier, or the feed later",
            Severity.WARNING,
        )


def _hit(site: OutputSite, message: str, hint: str, severity: Severity) -> Hit:
    return Hit(
        subject=site.process.name,
        pointer=site.pointer,
        message=message,
        hint=hint,
        severity=severity,
        related=(site.feed.name,),
    )


RULE = Rule(
    id="output-outside-validity",
    name="The instances that a process makes lie in the validity of their feed",
    severity=Severity.ERROR,
    rationale="There is no instance before a feed's start: the first runs would be refused. A time after its end means "
    "the last instance, which the last runs would then overwrite one after the other.",
    bad="""\
# processes/hourly_job.yaml, where clicks_hourly starts at 2026-01-01T00:00Z
clusters:
  - name: primary
    validity: {start: 2026-01-01T00:00Z, end: 2099-01-01T00:00Z}
outputs:
  counts: {feed: clicks_hourly, instance: "now(-1,0)"}
""",
    good="""\
# processes/hourly_job.yaml, where clicks_hourly starts at 2026-01-01T00:00Z
clusters:
  - name: primary
    validity: {start: 2026-01-01T01:00Z, end: 2099-01-01T00:00Z}
outputs:
  counts: {feed: clicks_hourly, instance: "now(-1,0)"}
""",
    source="DESIGN section 8; Falcon overview, Cross entity validations, Feed-Process",
    check=_check,
)
