"""A process with optional inputs has a compulsory one."""

from __future__ import annotations

from collections.abc import Iterator

from toolkit.linter.context import LintContext
from toolkit.linter.findings import Hit, Severity
from toolkit.linter.rule import Rule


def _check(context: LintContext) -> Iterator[Hit]:
    for process in context.repository.processes.values():
        if process.inputs and all(each.optional for each in process.inputs.values()):
            yield Hit(
                subject=process.name,
                pointer=("inputs",),
                message="all inputs are optional, so an instance runs at its time, with or without any data",
                hint="make one of them compulsory if it should wait",
                on_key=True,
            )


RULE = Rule(
    id="only-optional-inputs",
    name="A process with optional inputs has a compulsory one",
    severity=Severity.INFO,
    rationale="What is optional is taken when it is there and never waited for. With nothing to wait for the process "
    "runs by the clock alone, most often before its data has come.",
    bad="""\
# processes/hourly_job.yaml
inputs:
  clicks: {feed: clicks, start: "now(0,0)", end: "now(0,0)", optional: true}
""",
    good="""\
# processes/hourly_job.yaml
inputs:
  clicks: {feed: clicks, start: "now(0,0)", end: "now(0,0)"}
  impressions: {feed: impressions, start: "now(0,0)", end: "now(0,0)", optional: true}
""",
    source="Falcon entity specification, Process, Optional Inputs",
    check=_check,
)
