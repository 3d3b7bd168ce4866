"""Instances, what commands did to them, their logs and dependencies: as rows of a table and as JSON documents."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from toolkit.el import format_instant
from toolkit.rendering.columns import Columns, ResultColumn
from toolkit.rendering.tables import cell, moment_cell

if TYPE_CHECKING:
    from toolkit.availability import FoundInstance
    from toolkit.ledger.jobs.rows import StepRun
    from toolkit.ledger.jobs.steps import LogLine
    from toolkit.ledger.runs.rows import Run
    from toolkit.management.commands import CommandOutcome, CommandResult
    from toolkit.management.data import DataList
    from toolkit.management.dependencies import Dependency, InstanceDependencies
    from toolkit.management.questions import InstanceList, InstanceLogs, InstanceSummary, RunLog
    from toolkit.management.rows import InstanceRow


Rows = Iterator[Sequence[str]]


def instance_table(found: InstanceList) -> tuple[Sequence[str], Rows]:
    """Return the headings and rows of instances; of one life cycle, and without copies, with fewer columns."""
    has_copies = any(row.counterpart for row in found.rows)
    without = (*(() if found.life_cycle is None else ("life-cycle",)), *(() if has_copies else ("source",)))
    columns = _INSTANCE.without(*without)
    return columns.headings, columns.rows(found.rows)


def _note(row: InstanceRow) -> str | None:
    if row.open_request is not None:
        return f"asked to {row.open_request}"
    if row.is_owned is False and row.run is not None and row.run.mode is None and row.started_at is not None:
        return "no process works on it"
    return None if row.run is None else row.run.reason or row.run.cause


_INSTANCE: Columns[InstanceRow] = Columns(
    ResultColumn("life_cycle", "life_cycle", "life-cycle"),
    ResultColumn("cluster", "cluster", "cluster"),
    ResultColumn("counterpart", "counterpart?", "source"),
    ResultColumn("instance", "instance_key", "instance"),
    ResultColumn("status", "status", "status"),
    ResultColumn("attempt", "attempt", "attempt", lambda row: row.attempt or None),
    ResultColumn("", "started_at", "started"),
    ResultColumn("", "ended_at", "ended"),
    ResultColumn("", "log", "log"),
    ResultColumn("", _note, "note"),
)
ATTEMPT: Columns[Run] = Columns(
    *("run_id", "started_at", "ended_at", "suspended_from", "forced=is_forced", "who", "host", "pid"),
    *("application_id", "log=log_location", "exit_code", "reason", "snapshot"),
)
"""The further fields of an attempt."""


def instance_document(found: InstanceList) -> dict[str, object]:
    """Return instances as JSON."""
    rows = [_row_document(row) for row in found.rows]
    return {"name": found.name, "life_cycle": found.life_cycle, "instances": rows}


def _row_document(row: InstanceRow) -> dict[str, object]:
    document = _INSTANCE.document(row)
    if row.run is not None:
        document |= {**ATTEMPT.document(row.run), "log": row.log}
    if row.is_owned is not None:
        document |= {"has_live_owner": row.is_owned, "asked": row.open_request}
    if row.counted:
        document["counters"] = dict(row.counted)
    return document


_DATA: Columns[FoundInstance] = Columns(
    ResultColumn("instance", lambda each: format_instant(each.instant), "instance"),
    ResultColumn("what", lambda _: "data"),
    "where=uri",
    ResultColumn("state", "state", "state"),
    "ready=is_ready",
    ResultColumn("files", "files", "files"),
    ResultColumn("bytes", "bytes", "bytes"),
    ResultColumn("modified_at", "modified", "changed"),
    ResultColumn("", "uri", "where"),
)
DATA_COLUMNS = ("cluster", *_DATA.headings)
DATA_STYLES = {"available": "green", "partial": "yellow", "empty": "yellow", "missing": "red"}


def data_rows(found: DataList) -> Rows:
    """Yield a row for each instance of a feed on a cluster."""
    for each in found.clusters:
        yield from ((each.cluster, *row) for row in _DATA.rows(each.instances))


def data_document(found: DataList) -> dict[str, object]:
    """Return the data of a feed's instances, as JSON."""
    instances = [{"cluster": each.cluster, **one} for each in found.clusters for one in _DATA.documents(each.instances)]
    problems = [
        {"cluster": each.cluster, "message": str(each.problem)} for each in found.clusters if each.problem is not None
    ]
    return {"name": found.name, "instances": instances, "problems": problems}


SUMMARY_COLUMNS = ("cluster", "status", "instances")


def summary_rows(found: InstanceSummary) -> Rows:
    """Return one row for each cluster and status."""
    for each in found.clusters:
        yield from ((each.cluster, str(status), str(number)) for status, number in each.counts.items())


def summary_document(found: InstanceSummary) -> dict[str, object]:
    """Counts as JSON."""
    clusters = [
        {"cluster": each.cluster, "counts": {str(status): number for status, number in each.counts.items()}}
        for each in found.clusters
    ]
    return {"name": found.name, "life_cycle": found.life_cycle, "range": str(found.requested), "clusters": clusters}


_ANSWER: Columns[CommandOutcome] = Columns(
    ResultColumn("cluster", "key.cluster", "cluster"),
    ResultColumn("counterpart", "key.counterpart?", "source"),
    ResultColumn("instance", "key.instance_key", "instance"),
    ResultColumn("was", "before", "was"),
    ResultColumn("is", "after", "is"),
    ResultColumn("changed", "is_changed", "changed", lambda each: "yes" if each.is_changed else "no"),
    ResultColumn("why", "why", "why"),
)


def answer_table(result: CommandResult) -> tuple[Sequence[str], Rows]:
    """Return the effects of a command on instances."""
    has_copies = any(each.key.counterpart for each in result.answers)
    columns = _ANSWER if has_copies else _ANSWER.without("source")
    return columns.headings, columns.rows(result.answers)


def answer_document(result: CommandResult) -> dict[str, object]:
    """Return the effects of a command, as JSON."""
    return {
        "command": result.command,
        "name": result.name,
        "life_cycle": result.life_cycle,
        "changed": result.changed,
        "instances": _ANSWER.documents(result.answers),
    }


LOG_COLUMNS = ("cluster", "instance", "attempt", "what", "status", "started", "application", "log")


def log_rows(found: InstanceLogs) -> Iterator[Sequence[str]]:
    """A row for each attempt, one for each of its steps, one for each line that it wrote down."""
    for each in found.logs:
        yield from _log_rows(each)


def _log_rows(log: RunLog) -> Iterator[Sequence[str]]:
    run = log.run
    first = (run.cluster, run.instance_key, str(run.attempt))
    status, started = str(run.status), moment_cell(run.started_at)
    yield (*first, "run", status, started, cell(run.application_id), cell(run.log_location))
    for step in log.steps:
        what = f"step {step.step}" if step.attempt == 1 else f"step {step.step} ({step.attempt})"
        where = cell(step.application_id), cell(step.log_location)
        yield (*first, cell(what), str(step.status), moment_cell(step.started_at), *where)
    for line in log.lines:
        what = f"{line.category} of step {line.step}" if line.step else line.category
        yield (*first, cell(what), "-", moment_cell(line.logged_at), "-", cell(line.message))


def log_document(found: InstanceLogs) -> dict[str, object]:
    """Logs as JSON."""
    return {"name": found.name, "life_cycle": found.life_cycle, "logs": [_log_document(each) for each in found.logs]}


_RUN: Columns[Run] = Columns("cluster", "counterpart?", "instance=instance_key", "attempt", "status")
_STEP: Columns[StepRun] = Columns(
    *("name=step", "attempt", "status", "application_id", "log=log_location", "started_at", "ended_at")
)
_LINE: Columns[LogLine] = Columns("step", "category", "message", "at=logged_at")


def _log_document(log: RunLog) -> dict[str, object]:
    attempt = {**_RUN.document(log.run), **ATTEMPT.document(log.run)}
    return {**attempt, "steps": _STEP.documents(log.steps), "lines": _LINE.documents(log.lines)}


_DEPENDENCY: Columns[Dependency] = Columns(
    ResultColumn("relation", "relation", "relation"),
    ResultColumn("kind", "kind", "kind"),
    ResultColumn("name", "name", "name"),
    ResultColumn("through", "through", "through"),
    ResultColumn("cluster", "cluster", "where", lambda each: copied_to(each.cluster, each.counterpart)),
    "counterpart?",
    "life_cycle",
    ResultColumn("instance", "instance_key", "instance", lambda each: each.instance_key or each.note),
    "note?",
    ResultColumn("state", "state", "state"),
)
DEPENDENCY_COLUMNS = ("cluster", *_DEPENDENCY.headings)


def copied_to(cluster: str, source: str) -> str:
    """Return the cluster of a row, with the one that its data is copied from."""
    return f"{cluster} from {source}" if source else cluster


def dependency_rows(found: InstanceDependencies) -> Rows:
    """Yield a row for each instance that has to do with the one in question."""
    for cluster, dependencies in found.dependencies:
        yield from ((cluster, *row) for row in _DEPENDENCY.rows(dependencies))


def dependency_document(found: InstanceDependencies) -> dict[str, object]:
    """Return dependencies as JSON."""
    clusters = [
        {"cluster": cluster, "dependencies": _DEPENDENCY.documents(each)} for cluster, each in found.dependencies
    ]
    return {"name": found.name, "kind": found.kind, "instance": found.instance_key, "clusters": clusters}
