"""The feed of a late input has a late cut-off."""

from __future__ import annotations

from collections.abc import Iterator

from toolkit.linter.context import LintContext
from toolkit.linter.findings import Hit, Severity
from toolkit.linter.rule import Rule
from toolkit.linter.rules.processes.inputs import late_inputs


def _check(context: LintContext) -> Iterator[Hit]:
    for process, name, _, feed in late_inputs(context.repository):
        if feed.late_arrival is None and not feed.is_table:
            yield Hit(
                subject=process.name,
                pointer=("late_process", "inputs", name),
                message=f"the late input {name} reads {feed.name}, which has no late_arrival: no late data is expected",
                hint=f"add late_arrival: {{cut_off: ...}} to {feed.name}, or remove the late input",
                on_key=True,
                related=(feed.name,),
            )


RULE = Rule(
    id="late-input-without-cut-off",
    name="The feed of a late input has a late cut-off",
    severity=Severity.ERROR,
    rationale="Late data is looked for until the cut-off of the input's feed. Without one there is no check at all, "
    "and the late workflow never runs.",
    bad="""\
# processes/hourly_job.yaml, where the feed clicks has no late_arrival
inputs:
  clicks: {feed: clicks, start: "now(0,0)", end: "now(0,0)"}
late_process: {policy: final, inputs: {clicks: workflows/late.sql}}
""",
    good="""\
# feeds/clicks.yaml
late_arrival: {cut_off: hours(6)}
""",
    source="Falcon entity specification, Process, Late data: each feed is defined with a late cut-off",
    check=_check,
)
