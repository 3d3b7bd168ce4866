"""A run waits for its inputs at least until the next run is due."""

from __future__ import annotations

from collections.abc import Iterator

from toolkit.linter.bounds import sometimes_shorter
from toolkit.linter.context import LintContext
from toolkit.linter.findings import Hit, Severity
from toolkit.linter.rule import Rule


def _check(context: LintContext) -> Iterator[Hit]:
    for _, process in sorted(context.repository.processes.items()):
        timeout = process.timeout
        if timeout is not None and sometimes_shorter(timeout, process.frequency):
            yield Hit(
                subject=process.name,
                pointer=("timeout",),
                message=f"the timeout of {timeout} is shorter than the frequency of the process, {process.frequency}",
                hint=f"wait for {process.frequency} or more, or leave it out: the default is six times the frequency",
            )


RULE = Rule(
    id="timeout-below-frequency",
    name="The timeout of a process is not shorter than its frequency",
    severity=Severity.WARNING,
    rationale=(
        "A run that finds its inputs incomplete waits until its timeout. When that is over before the next run is "
        "due, an input that is a little late costs a whole instance, though nothing else was waiting for its turn."
    ),
    bad="""\
# processes/clicks_daily.yaml
frequency: days(1)
timeout: hours(2)
""",
    good="""\
# processes/clicks_daily.yaml
frequency: days(1)
timeout: days(2)
""",
    source="Falcon entity specification, Timeout",
    check=_check,
)
