"""A range counts available instances at both ends or at neither."""

from __future__ import annotations

from collections.abc import Iterator

from toolkit.el import Expression, parse_expression
from toolkit.linter.context import LintContext
from toolkit.linter.findings import Hit, Severity
from toolkit.linter.rule import Rule


def _check(context: LintContext) -> Iterator[Hit]:
    for process in context.repository.processes.values():
        for name, each in process.inputs.items():
            start, end = parse_expression(each.start), parse_expression(each.end)
            message = _message(start, end)
            if message is not None:
                hint = 'for example start: "latest(-2)", end: "latest(0)" for the three newest'
                yield Hit(subject=process.name, pointer=("inputs", name, "end"), message=message, hint=hint)


def _message(start: Expression, end: Expression) -> str | None:
    if not (start.function.needs_availability or end.function.needs_availability):
        return None
    if start.function is end.function:
        return None
    return f"found {start} to {end}, expected latest at both ends of the range, or future, or neither"


RULE = Rule(
    id="availability-range",
    name="An input's range counts available instances at both ends or at neither",
    severity=Severity.ERROR,
    rationale="latest and future count the instances that are there; the other functions name instants. A range from "
    "one to the other has no meaning, and every run would be refused.",
    bad="""\
# processes/daily_report.yaml
inputs:
  clicks: {feed: clicks, start: "yesterday(0,0)", end: "latest(0)"}
""",
    good="""\
# processes/daily_report.yaml
inputs:
  clicks: {feed: clicks, start: "latest(-23)", end: "latest(0)"}
""",
    source="DESIGN section 3; Falcon overview, Falcon EL Expressions: latest",
    check=_check,
)
