"""A late process names the inputs that it is about."""

from __future__ import annotations

from collections.abc import Iterator

from toolkit.linter.context import LintContext
from toolkit.linter.findings import Hit, Severity
from toolkit.linter.rule import Rule


def _check(context: LintContext) -> Iterator[Hit]:
    for process in context.repository.processes.values():
        if process.late_process is not None and not process.late_process.inputs:
            yield Hit(
                subject=process.name,
                pointer=("late_process",),
                message="late_process names no inputs, so late data is never looked for",
                hint="add inputs: {INPUT: workflow}, or remove late_process",
                on_key=True,
            )


RULE = Rule(
    id="late-process-without-inputs",
    name="A late process names the inputs that it is about",
    severity=Severity.WARNING,
    rationale="A policy alone does nothing: only inputs that are named with their workflow are looked at.",
    bad="""\
# processes/hourly_job.yaml
late_process: {policy: exp_backoff, delay: hours(1)}
""",
    good="""\
# processes/hourly_job.yaml
late_process: {policy: exp_backoff, delay: hours(1), inputs: {clicks: workflows/late.sql}}
""",
    source="Falcon overview, Handling late input data: one needs to explicitly set the feed names in late-input",
    check=_check,
)
