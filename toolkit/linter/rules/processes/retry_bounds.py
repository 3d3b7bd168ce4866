"""Retries are few enough and soon enough to be of use."""

from __future__ import annotations

from collections.abc import Iterator

from toolkit.el import ElError, Frequency, WaitPolicy, retry_waits
from toolkit.entities import Process, Retry
from toolkit.linter.bounds import always_longer
from toolkit.linter.context import LintContext
from toolkit.linter.findings import Hit, Severity
from toolkit.linter.rule import Option, Rule

_ID = "retry-bounds"
_ATTEMPTS = Option(default=10, description="The most retries of an instance.")
_DOUBLINGS = 64
"""So many doublings of a minute are longer than the calendar."""


def _check(context: LintContext) -> Iterator[Hit]:
    most = int(context.options.get(_ID, {}).get("attempts", _ATTEMPTS.default))
    for process in context.repository.processes.values():
        if process.retry is not None:
            yield from _hits(process, process.retry, most)


def _hits(process: Process, retry: Retry, most: int) -> Iterator[Hit]:
    if retry.attempts > most:
        message = f"found {retry.attempts} retries, expected at most {most}"
        hint = "a failure that so many retries do not cure needs a person"
        yield Hit(subject=process.name, pointer=("retry", "attempts"), message=message, hint=hint)
    elif not _is_finite(retry):
        message = f"the last of {retry.attempts} waits ({retry.policy} from {retry.delay}) is longer than the calendar"
        yield Hit(
            subject=process.name,
            pointer=("retry", "attempts"),
            message=message,
            hint="fewer attempts, or a shorter delay",
            severity=Severity.ERROR,
        )
    limit = _timeout(process)
    if limit is not None and always_longer(retry.delay, limit):
        message = f"the first retry comes after {retry.delay}, later than the timeout of an instance, {limit}"
        yield Hit(subject=process.name, pointer=("retry", "delay"), message=message, hint="choose a shorter delay")


def _is_finite(retry: Retry) -> bool:
    try:
        retry_waits(WaitPolicy(retry.policy), retry.delay, min(retry.attempts, _DOUBLINGS))
    except ElError:
        return False
    return True


def _timeout(process: Process) -> Frequency | None:
    try:
        return process.effective_timeout
    except ElError:  # six frequencies are longer than the calendar
        return None


RULE = Rule(
    id=_ID,
    name="Retries are few enough and soon enough to be of use",
    severity=Severity.WARNING,
    rationale="Waits of exp_backoff double: the tenth retry of ten minutes comes after three and a half days. A first "
    "retry that comes after the timeout of an instance keeps a run open that everybody has given up.",
    bad="""\
# processes/hourly_job.yaml
timeout: hours(6)
retry: {policy: periodic, delay: hours(12), attempts: 40}
""",
    good="""\
# processes/hourly_job.yaml
timeout: hours(6)
retry: {policy: exp_backoff, delay: minutes(10), attempts: 3}
""",
    source="Falcon entity specification, Process, Retry; DESIGN section 8",
    check=_check,
    options={"attempts": _ATTEMPTS},
)
