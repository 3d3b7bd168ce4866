"""An output's instance is known before the run."""

from __future__ import annotations

from collections.abc import Iterator

from toolkit.el import parse_expression
from toolkit.linter.context import LintContext
from toolkit.linter.findings import Hit, Severity
from toolkit.linter.rule import Rule


def _check(context: LintContext) -> Iterator[Hit]:
    for process in context.repository.processes.values():
        for name, each in process.outputs.items():
            function = parse_expression(each.instance).function
            if function.needs_availability:
                yield Hit(
                    subject=process.name,
                    pointer=("outputs", name, "instance"),
                    message=f"found {each.instance}, expected a function of the nominal time: "
                    f"{function} counts instances that are there already",
                    hint='for example instance: "now(0,0)"',
                )


RULE = Rule(
    id="output-function",
    name="An output's instance follows from the nominal time alone",
    severity=Severity.ERROR,
    rationale="A run makes an instance. latest and future name instances that exist already, and other ones when the "
    "run is repeated; every run would be refused.",
    bad="""\
# processes/hourly_job.yaml
outputs:
  counts: {feed: clicks_hourly, instance: "latest(0)"}
""",
    good="""\
# processes/hourly_job.yaml
outputs:
  counts: {feed: clicks_hourly, instance: "now(0,0)"}
""",
    source="Falcon entity specification, Process, Outputs; DESIGN section 3",
    check=_check,
)
