"""How everything is, on one screen: as rows of a table and as a JSON document."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from toolkit.el import format_instant
from toolkit.ledger.errors import moment
from toolkit.rendering.cells import moment_cell, moment_value
from toolkit.rendering.entity_states import safe_mode_document

if TYPE_CHECKING:
    from toolkit.ledger.runs.rows import Run
    from toolkit.management.overview import Overview, OverviewRow

OVERVIEW_COLUMNS = (
    "name",
    "life-cycle",
    "cluster",
    "state",
    "last-success",
    "running",
    "since",
    "failed",
    "backlog",
    "unread",
    "holds",
)
STATE_STYLES = {"stale": "bold red", "suspended": "yellow", "running": "green", "submitted": "dim", "completed": "dim"}
"""Styles of the column `state`, on a terminal."""


def overview_rows(found: Overview) -> Iterator[Sequence[str]]:
    """A row for each feed with retention and each process, on each cluster."""
    return (_cells(row) for row in found.rows)


def _cells(row: OverviewRow) -> Sequence[str]:
    return (
        row.entity,
        str(row.life_cycle),
        row.cluster,
        _state(row),
        moment_cell(None if row.last_success is None else row.last_success.ended_at),
        str(row.running),
        moment_cell(None if row.oldest_running is None else row.oldest_running.started_at),
        str(row.failed),
        "-" if row.backlog is None else str(row.backlog),
        str(row.unread),
        str(row.holds),
    )


def _state(row: OverviewRow) -> str:
    return "stale" if row.stale_since is not None else str(row.status)


def stale_lines(found: Overview) -> Iterator[str]:
    """What has not succeeded within its cadence, and since when."""
    for row in found.stale:
        what = f"{row.life_cycle} of {row.entity} on {row.cluster} is stale since {moment(row.stale_since)}"
        yield f"{what}: {_last_words(row.last_success)}"


def _last_words(run: Run | None) -> str:
    if run is None:
        return "it has never succeeded"
    return f"it succeeded last at {moment(run.ended_at)}, for {run.instance_key}"


def overview_document(found: Overview) -> dict[str, object]:
    """How everything is, as JSON."""
    return {
        "time": format_instant(found.at.replace(second=0, microsecond=0)),
        "safe_mode": safe_mode_document(found.safe_mode),
        "stale": len(found.stale),
        "entities": [_document(row) for row in found.rows],
    }


def _document(row: OverviewRow) -> dict[str, object]:
    suspension = row.suspension
    return {
        "name": row.entity,
        "life_cycle": row.life_cycle,
        "cluster": row.cluster,
        "status": row.status,
        "last_success": _run_document(row.last_success),
        "oldest_running": _run_document(row.oldest_running),
        "running": row.running,
        "failed": row.failed,
        "backlog": row.backlog,
        "unread_batches": row.unread,
        "suspended_by": None if suspension is None else suspension.changed_by,
        "suspended_since": None if suspension is None else moment_value(suspension.changed_at),
        "holds": row.holds,
        "stale_since": moment_value(row.stale_since),
    }


def _run_document(run: Run | None) -> dict[str, object] | None:
    if run is None:
        return None
    return {
        "instance": run.instance_key,
        "started_at": moment_value(run.started_at),
        "ended_at": moment_value(run.ended_at),
        "run_id": run.run_id,
    }
