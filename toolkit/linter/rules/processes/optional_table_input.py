"""An optional input is a path feed."""

from __future__ import annotations

from collections.abc import Iterator

from toolkit.linter.context import LintContext
from toolkit.linter.findings import Hit, Severity
from toolkit.linter.rule import Rule
from toolkit.linter.rules.processes.inputs import inputs


def _check(context: LintContext) -> Iterator[Hit]:
    for process, name, each, feed in inputs(context.repository):
        if each.optional and feed.is_table:
            yield Hit(
                subject=process.name,
                pointer=("inputs", name, "optional"),
                message=f"the input {name} is optional, but {feed.name} is a table feed; "
                "optional inputs are path feeds only",
                hint="make it compulsory, or read the table in the workflow itself",
                related=(feed.name,),
            )


RULE = Rule(
    id="optional-table-input",
    name="An optional input is a path feed",
    severity=Severity.ERROR,
    rationale="An empty list of paths says that an optional input is missing. An empty partition filter would select "
    "the whole table instead.",
    bad="""\
# processes/daily_report.yaml, where clicks_by_day is a table
inputs:
  clicks: {feed: clicks_by_day, start: "today(0,0)", end: "today(0,0)", optional: true}
""",
    good="""\
# processes/daily_report.yaml, where clicks_by_day is a table
inputs:
  clicks: {feed: clicks_by_day, start: "today(0,0)", end: "today(0,0)"}
""",
    source="Falcon entity specification, Process, Optional Inputs: only for file system storage",
    check=_check,
)
