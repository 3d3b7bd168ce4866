"""Instances, what commands did to them, their logs and dependencies: as rows of a table and as JSON documents."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from toolkit.el import format_instant
from toolkit.rendering.tables import cell, moment_cell, moment_value

if TYPE_CHECKING:
    from toolkit.availability import FoundInstance
    from toolkit.ledger.runs.rows import Run
    from toolkit.management.commands import CommandOutcome, CommandResult
    from toolkit.management.data import ClusterData, DataList
    from toolkit.management.dependencies import Dependency, InstanceDependencies
    from toolkit.management.questions import InstanceList, InstanceLogs, InstanceSummary, RunLog
    from toolkit.management.rows import InstanceRow


Rows = Iterator[Sequence[str]]


def instance_table(found: InstanceList) -> tuple[Sequence[str], Rows]:
    """The headings and rows of instances; of one life cycle, and without copies, with fewer columns."""
    has_copies = any(row.counterpart for row in found.rows)
    first = (
        *(("life-cycle",) if found.life_cycle is None else ()),
        "cluster",
        *(("source",) if has_copies else ()),
    )
    rest = ("instance", "status", "attempt", "started", "ended", "log", "note")
    return (*first, *rest), (_row_cells(row, first) for row in found.rows)


def _row_cells(row: InstanceRow, first: Sequence[str]) -> list[str]:
    known = {"life-cycle": str(row.life_cycle), "cluster": row.cluster, "source": row.counterpart}
    return [
        *(cell(known[each]) for each in first),
        row.instance_key,
        str(row.status),
        str(row.attempt or "-"),
        moment_cell(row.started_at),
        moment_cell(row.ended_at),
        cell(row.log),
        cell(_note(row)),
    ]


def _note(row: InstanceRow) -> str | None:
    if row.asked is not None:
        return f"asked to {row.asked}"
    if row.is_owned is False and row.run is not None and row.run.mode is None and row.started_at is not None:
        return "nobody works on it"
    return None if row.run is None else row.run.reason or row.run.cause


def instance_document(found: InstanceList) -> dict[str, object]:
    """Instances as JSON."""
    return {
        "name": found.name,
        "life_cycle": found.life_cycle,
        "instances": [_row_document(row) for row in found.rows],
    }


def _row_document(row: InstanceRow) -> dict[str, object]:
    document: dict[str, object] = {
        "life_cycle": row.life_cycle,
        "cluster": row.cluster,
        "counterpart": row.counterpart or None,
        "instance": row.instance_key,
        "status": row.status,
        "attempt": row.attempt,
    }
    if row.run is not None:
        document |= {**run_document(row.run), "log": row.log}
    if row.is_owned is not None:
        document |= {"has_live_owner": row.is_owned, "asked": row.asked}
    if row.counted:
        document["counters"] = dict(row.counted)
    return document


def run_document(run: Run) -> dict[str, object]:
    """Return the further fields of an attempt."""
    return {
        "run_id": run.run_id,
        "started_at": moment_value(run.started_at),
        "ended_at": moment_value(run.ended_at),
        "suspended_from": run.suspended_from,
        "forced": run.is_forced,
        "who": run.who,
        "host": run.host,
        "pid": run.pid,
        "application_id": run.application_id,
        "log": run.log_location,
        "exit_code": run.exit_code,
        "reason": run.reason,
        "snapshot": run.snapshot,
    }


DATA_COLUMNS = ("cluster", "instance", "state", "files", "bytes", "changed", "where")
DATA_STYLES = {"available": "green", "partial": "yellow", "empty": "yellow", "missing": "red"}


def data_rows(found: DataList) -> Rows:
    """A row for each instance of a feed on a cluster."""
    for each in found.clusters:
        yield from (_data_cells(each.cluster, instance) for instance in each.instances)


def _data_cells(cluster: str, each: FoundInstance) -> Sequence[str]:
    numbers = ("-" if number is None else str(number) for number in (each.files, each.bytes))
    key = format_instant(each.instant)
    return (cluster, key, str(each.state), *numbers, moment_cell(each.modified), cell(each.uri))


def data_document(found: DataList) -> dict[str, object]:
    """Return the data of a feed's instances, as JSON."""
    return {
        "name": found.name,
        "instances": [_data_document(each.cluster, one) for each in found.clusters for one in each.instances],
        "problems": [_problem_document(each) for each in found.clusters if each.problem is not None],
    }


def _data_document(cluster: str, each: FoundInstance) -> dict[str, object]:
    return {
        "cluster": cluster,
        "instance": format_instant(each.instant),
        "what": "data",
        "where": each.uri,
        "state": each.state,
        "ready": each.is_ready,
        "files": each.files,
        "bytes": each.bytes,
        "modified_at": moment_value(each.modified),
    }


def _problem_document(each: ClusterData) -> dict[str, object]:
    return {"cluster": each.cluster, "message": str(each.problem)}


SUMMARY_COLUMNS = ("cluster", "status", "instances")


def summary_rows(found: InstanceSummary) -> Rows:
    """One row for each cluster and status."""
    for each in found.clusters:
        yield from ((each.cluster, str(status), str(number)) for status, number in each.counts.items())


def summary_document(found: InstanceSummary) -> dict[str, object]:
    """Counts as JSON."""
    clusters = [
        {"cluster": each.cluster, "counts": {str(status): number for status, number in each.counts.items()}}
        for each in found.clusters
    ]
    return {"name": found.name, "life_cycle": found.life_cycle, "range": str(found.asked), "clusters": clusters}


def answer_table(result: CommandResult) -> tuple[Sequence[str], Rows]:
    """Return the effects of a command on instances."""
    has_copies = any(each.key.counterpart for each in result.answers)
    columns = ("cluster", *(("source",) if has_copies else ()), "instance", "was", "is", "changed", "why")
    return columns, (_answer_cells(each, has_copies=has_copies) for each in result.answers)


def _answer_cells(answer: CommandOutcome, *, has_copies: bool) -> list[str]:
    source = [cell(answer.key.counterpart)] if has_copies else []
    changed = "yes" if answer.is_changed else "no"
    key = answer.key
    return [key.cluster, *source, key.instance_key, str(answer.before), str(answer.after), changed, cell(answer.why)]


def answer_document(result: CommandResult) -> dict[str, object]:
    """Return the effects of a command, as JSON."""
    answers = [
        {
            "cluster": each.key.cluster,
            "counterpart": each.key.counterpart or None,
            "instance": each.key.instance_key,
            "was": each.before,
            "is": each.after,
            "changed": each.is_changed,
            "why": each.why,
        }
        for each in result.answers
    ]
    return {
        "command": result.command,
        "name": result.name,
        "life_cycle": result.life_cycle,
        "changed": result.changed,
        "instances": answers,
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


def _log_document(log: RunLog) -> dict[str, object]:
    run = log.run
    return {
        "cluster": run.cluster,
        "counterpart": run.counterpart or None,
        "instance": run.instance_key,
        "attempt": run.attempt,
        "status": run.status,
        **run_document(run),
        "steps": [
            {
                "name": each.step,
                "attempt": each.attempt,
                "status": each.status,
                "application_id": each.application_id,
                "log": each.log_location,
                "started_at": moment_value(each.started_at),
                "ended_at": moment_value(each.ended_at),
            }
            for each in log.steps
        ],
        "lines": [
            {
                "step": each.step,
                "category": each.category,
                "message": each.message,
                "at": moment_value(each.logged_at),
            }
            for each in log.lines
        ],
    }


DEPENDENCY_COLUMNS = ("cluster", "relation", "kind", "name", "through", "where", "instance", "state")


def dependency_rows(found: InstanceDependencies) -> Iterator[Sequence[str]]:
    """A row for each instance that has to do with the one in question."""
    for cluster, dependencies in found.dependencies:
        yield from ((cluster, *_dependency_cells(each)) for each in dependencies)


def _dependency_cells(each: Dependency) -> Sequence[str]:
    where = f"{each.cluster} from {each.counterpart}" if each.counterpart else each.cluster
    what = each.instance_key or each.note
    return (str(each.relation), str(each.kind), each.name, cell(each.through), where, cell(what), cell(each.state))


def dependency_document(found: InstanceDependencies) -> dict[str, object]:
    """Dependencies as JSON."""
    return {
        "name": found.name,
        "kind": found.kind,
        "instance": found.instance_key,
        "clusters": [
            {"cluster": cluster, "dependencies": [_dependency_document(each) for each in dependencies]}
            for cluster, dependencies in found.dependencies
        ],
    }


def _dependency_document(each: Dependency) -> dict[str, object]:
    return {
        "relation": each.relation,
        "kind": each.kind,
        "name": each.name,
        "through": each.through,
        "cluster": each.cluster,
        "counterpart": each.counterpart or None,
        "life_cycle": each.life_cycle,
        "instance": each.instance_key,
        "note": each.note or None,
        "state": each.state,
    }
