"""The delay of a late process is shorter than the cut-offs."""

from __future__ import annotations

from collections.abc import Iterator

from toolkit.entities import LatePolicy, LateProcess, Process, Repository
from toolkit.linter.bounds import longest, shortest
from toolkit.linter.context import LintContext
from toolkit.linter.findings import Hit, Severity
from toolkit.linter.rule import Rule


def _check(context: LintContext) -> Iterator[Hit]:
    for process in context.repository.processes.values():
        message = None if process.late_process is None else _message(context.repository, process, process.late_process)
        if message is not None:
            hint = "choose a shorter delay, or policy: final without a delay"
            yield Hit(subject=process.name, pointer=("late_process", "delay"), message=message, hint=hint)


def _message(repository: Repository, process: Process, late: LateProcess) -> str | None:
    if late.delay is None:
        return None
    if late.policy is LatePolicy.FINAL:
        return f"the delay {late.delay} has no effect: with the policy final there is one check, at the cut-off"
    used = [repository.feeds.get(each.feed) for name, each in process.inputs.items() if name in late.inputs]
    cut_offs = [feed.late_arrival.cut_off for feed in used if feed is not None and feed.late_arrival is not None]
    cut_off = max(cut_offs, key=longest, default=None)
    if cut_off is None or shortest(late.delay) < longest(cut_off):
        return None
    return f"the first check after {late.delay} is not before the longest cut-off, {cut_off}: it is the only one"


RULE = Rule(
    id="late-delay-without-effect",
    name="The delay of a late process is shorter than the cut-offs of its feeds",
    severity=Severity.WARNING,
    rationale="Checks begin one delay after the nominal time and end with the cut-off. When the delay is the longer of "
    "the two, every policy is `final` in disguise: late data is found once, at the last moment.",
    bad="""\
# processes/hourly_job.yaml, where the cut-off of clicks is hours(6)
late_process: {policy: backoff, delay: hours(8), inputs: {clicks: workflows/late.sql}}
""",
    good="""\
# processes/hourly_job.yaml, where the cut-off of clicks is hours(6)
late_process: {policy: backoff, delay: hours(1), inputs: {clicks: workflows/late.sql}}
""",
    source="DESIGN section 8; Falcon entity specification, Process, Late data",
    check=_check,
)
