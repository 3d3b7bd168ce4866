"""Where the logs of instances are: as rows of a table and as JSON documents."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from toolkit.rendering.cells import cell, moment_cell, moment_value
from toolkit.rendering.instances import run_document

if TYPE_CHECKING:
    from toolkit.management.questions import InstanceLogs, RunLog

LOG_COLUMNS = ("cluster", "instance", "attempt", "what", "status", "started", "application", "log")


def log_rows(found: InstanceLogs) -> Iterator[Sequence[str]]:
    """A row for each attempt, one for each of its steps, one for each line that it wrote down."""
    for each in found.logs:
        yield from _rows(each)


def _rows(log: RunLog) -> Iterator[Sequence[str]]:
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
    return {"name": found.name, "life_cycle": found.life_cycle, "logs": [_document(each) for each in found.logs]}


def _document(log: RunLog) -> dict[str, object]:
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
