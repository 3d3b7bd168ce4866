"""Message about the end of a run: Falcon's keys for programs, and what happened, where, and what to do for people."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from toolkit.el import format_instant
from toolkit.ledger.runs.rows import RunKey
from toolkit.ledger.vocabulary import LifeCycle, RunStatus
from toolkit.notify.message import Message, MessageEvent, MessageSeverity
from toolkit.result import ExitCode

OPERATIONS = {
    LifeCycle.EXECUTION: "GENERATE",
    LifeCycle.REPLICATION: "REPLICATE",
    LifeCycle.EVICTION: "DELETE",
    LifeCycle.IMPORT: "IMPORT",
    LifeCycle.EXPORT: "EXPORT",
}
"""Falcon's words for what a run does; it had no others."""
_HINTS = {
    ExitCode.REFUSED.value: "look at the plan (--dry-run); if it is right, run it once with the --approve of the error",
    ExitCode.INVALID.value: "correct the option or the entity that the error names",
    ExitCode.BUG.value: "this is a bug in feedctl: report it with the report file",
    ExitCode.TERMINATED.value: "it was told to stop; the next run takes up what is left",
    ExitCode.INTERRUPTED.value: "it was told to stop; the next run takes up what is left",
}
_RERUN = frozenset({LifeCycle.EXECUTION, LifeCycle.REPLICATION, LifeCycle.IMPORT, LifeCycle.EXPORT})
"""Life cycles that `feedctl instance rerun` makes ready again; the next run repeats the others."""


@dataclass(frozen=True, kw_only=True, slots=True)
class EndedRun:
    """A run that is over.

    Attributes:
        key: what was run.
        entity_type: ``FEED`` or ``PROCESS``.
        operation: in Falcon's words.
        feeds: names of the feeds that it is about.
        paths: where their data is, in the same order.
        status: the last one.
        run_id: in the ledger; None: it is not recorded there.
        attempt: from 1 on; None: it is not recorded.
        reason: why it did not succeed.
        exit_code: that the run alone gives its process.
        retry_at: when it is tried again by itself; None: it is not.
        started_at: None: it is unknown.
        ended_at: when.
        user: who ran it.
        log: where its log is; empty: it is unknown.
        environment: name of the environment; empty: none.
    """

    key: RunKey
    entity_type: str
    operation: str
    feeds: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    status: RunStatus
    run_id: int | None = None
    attempt: int | None = None
    reason: str | None = None
    exit_code: int | None = None
    retry_at: datetime | None = None
    started_at: datetime | None = None
    ended_at: datetime
    user: str = ""
    log: str = ""
    environment: str = ""


def run_message(run: EndedRun, message_id: str) -> Message:
    """Return the message about the end of a run.

    Args:
        run: the run.
        message_id: of the message.
    """
    key, status = run.key, falcon_status(run.status)
    time = f"{run.ended_at:%Y-%m-%dT%H:%M:%SZ}"
    place = f"{key.counterpart} to {key.cluster}" if key.counterpart else key.cluster
    attempt = f", attempt {run.attempt}" if run.attempt is not None and run.attempt > 1 else ""
    return Message(
        message_id=message_id,
        event=MessageEvent.RUN_ENDED,
        severity=_severity(run),
        subject=f"{status}: {run.operation} {key.entity} {key.instance_key} on {place}{attempt}",
        text="\n".join(_lines(run, status, place)),
        time=time,
        status=status,
        operation=run.operation,
        entity=key.entity,
        entity_type=run.entity_type,
        cluster=key.cluster,
        instance_key=key.instance_key,
        thread=f"{key.entity}/{key.cluster}/{key.instance_key}",
        facts={
            "sourceCluster": key.counterpart,
            "feedNames": ",".join(run.feeds),
            "feedInstancePaths": ",".join(run.paths),
            "workflowId": str(run.run_id or ""),
            "runId": str(run.attempt or ""),
            "workflowUser": run.user,
            "logFile": run.log,
        },
    )


def falcon_status(status: RunStatus) -> str:
    """Return a status as consumers of Falcon's messages know it: to them what timed out has failed."""
    return (RunStatus.FAILED if status is RunStatus.TIMED_OUT else status).value.upper()


def _severity(run: EndedRun) -> MessageSeverity:
    if run.status is RunStatus.SUCCEEDED:
        return MessageSeverity.INFO
    return MessageSeverity.WARNING if run.retry_at is not None else MessageSeverity.CRITICAL


def _lines(run: EndedRun, status: str, place: str) -> Iterator[str]:
    key = run.key
    yield f"{run.operation} of the {run.entity_type.lower()} `{key.entity}` on {place}: {status}"
    yield ""
    yield f"instance: {key.instance_key}"
    if run.attempt is not None:
        yield f"attempt: {run.attempt} (run {run.run_id})"
    if run.started_at is not None:
        yield f"duration: {_duration(run.ended_at - run.started_at)}"
    if run.reason and run.status is not RunStatus.SUCCEEDED:
        yield f"error: {run.reason}"
    if run.exit_code:
        yield f"exit code: {run.exit_code}"
    if run.exit_code in _HINTS:
        yield f"what to do: {_HINTS[run.exit_code]}"
    if run.log:
        yield f"log: {run.log}"
    if run.retry_at is not None:
        yield f"next attempt: {format_instant(run.retry_at.replace(second=0, microsecond=0))}"
    elif run.status is not RunStatus.SUCCEEDED:
        yield f"run again: {_rerun(run)}"


def _rerun(run: EndedRun) -> str:
    key = run.key
    if key.life_cycle not in _RERUN:
        return "its next run does what is left"
    command = ["feedctl", "instance", "rerun", key.entity, "--time", key.instance_key, "--cluster", key.cluster]
    if key.life_cycle is not LifeCycle.EXECUTION:
        command += ["--life-cycle", key.life_cycle.value]
    return shlex.join([*command, *(["--env", run.environment] if run.environment else [])])


def _duration(length: timedelta) -> str:
    seconds = max(0, round(length.total_seconds()))
    hours, minutes = divmod(seconds // 60, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {seconds % 60} s" if minutes else f"{seconds} s"
