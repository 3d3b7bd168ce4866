"""With LAST_ONLY one instance runs at a time."""

from __future__ import annotations

from collections.abc import Iterator

from toolkit.entities import Order
from toolkit.linter.context import LintContext
from toolkit.linter.findings import Hit, Severity
from toolkit.linter.rule import Rule


def _check(context: LintContext) -> Iterator[Hit]:
    for process in context.repository.processes.values():
        if process.order is Order.LAST_ONLY and process.parallel > 1:
            yield Hit(
                subject=process.name,
                pointer=("parallel",),
                message=f"parallel: {process.parallel} goes with order: LAST_ONLY, of which only the newest runs",
                hint="use parallel: 1, or the order LIFO if older instances shall run too",
            )


RULE = Rule(
    id="last-only-parallel",
    name="With the order LAST_ONLY one instance runs at a time",
    severity=Severity.WARNING,
    rationale="LAST_ONLY drops all ready instances but the newest, so there is nothing that could run beside it.",
    bad="""\
# processes/customer_activity_job.yaml
order: LAST_ONLY
parallel: 4
""",
    good="""\
# processes/customer_activity_job.yaml
order: LAST_ONLY
parallel: 1
""",
    source="Falcon entity specification, Process, Parallel and Order",
    check=_check,
)
