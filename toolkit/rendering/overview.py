"""The state of the installation, on one screen: entities, holds, safe mode, runs; as lines, rows and JSON documents."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from toolkit.el import format_instant
from toolkit.ledger.errors import moment
from toolkit.rendering.tables import cell, moment_cell, moment_value

if TYPE_CHECKING:
    from toolkit.ledger.runs.rows import Run
    from toolkit.ledger.state.start_check import SafeMode
    from toolkit.management.entities import EntityReport, EntityState
    from toolkit.management.holds import KnownHold
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
STATE_STYLES = {
    "stale": "bold red",
    "suspended": "yellow",
    "running": "cyan",
    "ok": "green",
    "submitted": "dim",
    "completed": "dim",
}
"""Styles of the column `state`, on a terminal."""


def overview_rows(found: Overview) -> Iterator[Sequence[str]]:
    """Yield a row for each retention, replication and process, on each cluster."""
    return (_cells(row) for row in found.rows)


def _cells(row: OverviewRow) -> Sequence[str]:
    return (
        row.entity,
        str(row.life_cycle),
        f"{row.cluster} from {row.counterpart}" if row.counterpart else row.cluster,
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
    """Within its validity it is `running` only while something runs."""
    if row.stale_since is not None:
        return "stale"
    return "ok" if row.status == "running" and not row.running else str(row.status)


def stale_lines(found: Overview) -> Iterator[str]:
    """Yield the rows without a success within their cadence, and since when."""
    for row in found.stale:
        source = f" from {row.counterpart}" if row.counterpart else ""
        what = f"{row.life_cycle} of {row.entity} on {row.cluster}{source} is stale since {moment(row.stale_since)}"
        yield f"{what}: {_last_words(row.last_success)}"


def old_hold_lines(found: Overview, reminder: object) -> Iterator[str]:
    """Holds that somebody may have forgotten.

    Args:
        found: the overview.
        reminder: `hold_reminder` of the repo.
    """
    for known in found.old_holds:
        where = f" on {known.hold.cluster}" if known.hold.cluster else ""
        since = f"since {moment(known.since)}, longer than hold_reminder ({reminder})"
        yield cell(
            f"{_named_hold(known)} keeps {known.hold.feed}{where} {since}: {known.hold.reason or 'no reason given'}"
        )


def _named_hold(known: KnownHold) -> str:
    if known.file is not None:
        return f"file hold {known.file.path}"
    return "a hold of holds.yaml" if known.recorded is None else f"hold {known.recorded.hold_id}"


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
        "old_holds": [hold_document(each) for each in found.old_holds],
        "entities": [_document(row) for row in found.rows],
    }


def _document(row: OverviewRow) -> dict[str, object]:
    suspension = row.suspension
    return {
        "name": row.entity,
        "life_cycle": row.life_cycle,
        "cluster": row.cluster,
        "source": row.counterpart or None,
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


STATE_COLUMNS = ("cluster", "status", "validity", "suspended")
HOLD_COLUMNS = ("id", "feed", "cluster", "start", "end", "owner", "added-by", "added-at", "reason")


def state_rows(report: EntityReport) -> Iterator[Sequence[str]]:
    """A row for each cluster."""
    return ((each.cluster, str(each.status), str(each.validity), cell(_suspended(each))) for each in report.states)


def _suspended(state: EntityState) -> str | None:
    suspension = state.suspension
    if suspension is None:
        return None
    where = "" if suspension.cluster else "on every cluster "
    why = f": {suspension.reason}" if suspension.reason else ""
    return f"{where}by {suspension.changed_by} since {moment(suspension.changed_at)}{why}"


def state_document(report: EntityReport) -> dict[str, object]:
    """The state of an entity as JSON; `changed` when it was a command."""
    changed = {} if report.is_changed is None else {"changed": report.is_changed}
    states = [_state_document(each) for each in report.states]
    return {"name": report.name, "touched_at": moment_value(report.touched_at), **changed, "clusters": states}


def _state_document(state: EntityState) -> dict[str, object]:
    suspension = state.suspension
    return {
        "cluster": state.cluster,
        "status": state.status,
        "validity": {"start": format_instant(state.validity.start), "end": format_instant(state.validity.end)},
        "suspended": None
        if suspension is None
        else {
            "everywhere": not suspension.cluster,
            "by": suspension.changed_by,
            "since": moment_value(suspension.changed_at),
            "reason": suspension.reason,
        },
    }


def hold_rows(holds: Sequence[KnownHold]) -> Iterator[Sequence[str]]:
    """A row for each hold; only those of the ledger have a number."""
    for known in holds:
        each, row = known.hold, known.recorded
        start = None if each.start is None else format_instant(each.start)
        end = None if each.end is None else format_instant(each.end)
        number = None if row is None else row.hold_id
        by, reason = "holds.yaml" if row is None else row.added_by, each.reason
        if known.file is not None:
            by, seen = "a file", f"{known.file.path}, last seen {moment(known.file.last_seen_at)}"
            reason = f"{reason} ({seen})" if reason else seen
        since = None if known.since is None else moment(known.since)
        yield tuple(map(cell, (number, each.feed, each.cluster, start, end, each.owner, by, since, reason)))


def hold_document(known: KnownHold) -> dict[str, object]:
    """A hold as JSON."""
    each, row = known.hold, known.recorded
    return {
        "id": None if row is None else row.hold_id,
        "feed": each.feed,
        "cluster": each.cluster,
        "start": None if each.start is None else format_instant(each.start),
        "end": None if each.end is None else format_instant(each.end),
        "reason": each.reason,
        "owner": each.owner,
        "added_by": None if row is None else row.added_by,
        "added_at": moment_value(known.since),
        "path": None if known.file is None else known.file.path,
        "seen_at": None if known.file is None else moment_value(known.file.last_seen_at),
    }


def safe_mode_line(state: SafeMode) -> str:
    """Safe mode in a sentence."""
    word = "on" if state.is_on else "off"
    if state.changed_at is None:
        return f"safe mode is {word}"
    why = f": {state.reason}" if state.reason else ""
    return cell(f"safe mode is {word}, by {state.changed_by} since {moment(state.changed_at)}{why}")


def safe_mode_document(state: SafeMode) -> dict[str, object]:
    """Safe mode as JSON."""
    since = moment_value(state.changed_at)
    return {"on": state.is_on, "by": state.changed_by, "since": since, "reason": state.reason}
