"""A late input is a path feed."""

from __future__ import annotations

from collections.abc import Iterator

from toolkit.linter.context import LintContext
from toolkit.linter.findings import Hit, Severity
from toolkit.linter.rule import Rule
from toolkit.linter.rules.processes.inputs import late_inputs


def _check(context: LintContext) -> Iterator[Hit]:
    for process, name, _, feed in late_inputs(context.repository):
        if feed.is_table:
            yield Hit(
                subject=process.name,
                pointer=("late_process", "inputs", name),
                message=f"the late input {name} reads {feed.name}, a table feed; late data is found in path feeds only",
                hint="remove it from late_process, and rerun by hand when a partition was loaded again",
                on_key=True,
                related=(feed.name,),
            )


RULE = Rule(
    id="late-table-input",
    name="A late input is a path feed",
    severity=Severity.ERROR,
    rationale="Late data is found by comparing the files of an instance with those that were read. The files of a "
    "table are the metastore's business, so its late data would never be found.",
    bad="""\
# processes/daily_report.yaml, where clicks_by_day is a table
inputs:
  clicks: {feed: clicks_by_day, start: "today(0,0)", end: "today(0,0)"}
late_process: {policy: final, inputs: {clicks: workflows/late.sql}}
""",
    good="""\
# processes/daily_report.yaml, where clicks_by_day is a table
inputs:
  clicks: {feed: clicks_by_day, start: "today(0,0)", end: "today(0,0)"}
""",
    source="Falcon entity specification, Process, Late data: only for file system storage",
    check=_check,
)
