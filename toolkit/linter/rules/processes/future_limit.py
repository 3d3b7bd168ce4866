"""What is counted with latest and future can be there."""

from __future__ import annotations

from collections.abc import Iterator

from toolkit.el import Function, parse_expression
from toolkit.entities import Feed, Process, Repository
from toolkit.linter.context import LintContext
from toolkit.linter.findings import Hit, Severity
from toolkit.linter.rule import Rule
from toolkit.linter.rules.processes.inputs import inputs


def _check(context: LintContext) -> Iterator[Hit]:
    for process, name, each, feed in inputs(context.repository):
        if each.optional:
            continue
        for end, text in (("start", each.start), ("end", each.end)):
            message = _message(context.repository, process, feed, text)
            if message is not None:
                hint = "count fewer instances, or look further"
                yield Hit(subject=process.name, pointer=("inputs", name, end), message=message, hint=hint)


def _message(repository: Repository, process: Process, feed: Feed, text: str) -> str | None:
    call = parse_expression(text)
    if not call.function.needs_availability:
        return None
    wanted = abs(call.arguments[0]) + 1
    if call.function is Function.FUTURE and wanted > call.arguments[1] + 1:
        within = call.arguments[1] + 1
        return f"{text} needs {wanted} available instances, but looks at {within} only: it waits for ever"
    for cluster in process.clusters:
        if cluster.name in repository.clusters:
            grid = feed.instances_on(cluster.name)
            existing = grid.count(grid.start, feed.cluster(cluster.name).validity.end)
            if wanted > existing:
                return f"{text} needs {wanted} instances, but {feed.name} has {existing} on {cluster.name}"
    return None


RULE = Rule(
    id="future-limit",
    name="What an input counts with latest and future can be there",
    severity=Severity.ERROR,
    rationale="future(n,limit) looks at most limit steps ahead. When the n-th instance is further away than that, no "
    "run ever finds it, and every run times out. The same goes for more instances than the feed has.",
    bad="""\
# processes/daily_report.yaml
inputs:
  clicks: {feed: clicks, start: "future(0,3)", end: "future(5,3)"}
""",
    good="""\
# processes/daily_report.yaml
inputs:
  clicks: {feed: clicks, start: "future(0,9)", end: "future(5,9)"}
""",
    source="DESIGN section 3",
    check=_check,
)
