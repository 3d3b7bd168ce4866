"""The state of the installation, on one screen: entities, holds, safe mode, runs; as lines, rows and JSON documents."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from toolkit.el import format_instant
from toolkit.ledger.errors import moment
from toolkit.rendering.columns import Columns, ResultColumn
from toolkit.rendering.instances import copied_to
from toolkit.rendering.tables import cell, moment_value

if TYPE_CHECKING:
    from toolkit.ledger.runs.rows import Run
    from toolkit.ledger.state.start_check import SafeMode
    from toolkit.management.entities import EntityReport, EntityState
    from toolkit.management.holds import KnownHold
    from toolkit.management.overview import Overview, OverviewRow


STATE_STYLES = {
    "stale": "bold red",
    "suspended": "yellow",
    "running": "cyan",
    "ok": "green",
    "submitted": "dim",
    "completed": "dim",
}
"""Styles of the column `state`, on a terminal."""


def _state(row: OverviewRow) -> str:
    """Return the state of a row: within its validity it is `running` only while something runs."""
    if row.stale_since is not None:
        return "stale"
    return "ok" if row.status == "running" and not row.running else str(row.status)


_RUN: Columns[Run] = Columns("instance=instance_key", "started_at", "ended_at", "run_id")
_ROW: Columns[OverviewRow] = Columns(
    ResultColumn("name", "entity", "name"),
    ResultColumn("life_cycle", "life_cycle", "life-cycle"),
    ResultColumn("cluster", "cluster", "cluster", lambda row: copied_to(row.cluster, row.counterpart)),
    "source=counterpart?",
    ResultColumn("status", "status", "state", _state),
    ResultColumn(
        "last_success",
        lambda row: _run(row.last_success),
        "last-success",
        lambda row: row.last_success and row.last_success.ended_at,
    ),
    ResultColumn("oldest_running", lambda row: _run(row.oldest_running)),
    ResultColumn("running", "running", "running"),
    ResultColumn("", lambda row: row.oldest_running and row.oldest_running.started_at, "since"),
    ResultColumn("failed", "failed", "failed"),
    ResultColumn("backlog", "backlog", "backlog"),
    ResultColumn("unread_batches", "unread", "unread"),
    ResultColumn("suspended_by", lambda row: row.suspension and row.suspension.changed_by),
    ResultColumn("suspended_since", lambda row: row.suspension and row.suspension.changed_at),
    ResultColumn("holds", "holds", "holds"),
    "stale_since",
)
OVERVIEW_COLUMNS = _ROW.headings


def overview_rows(found: Overview) -> Iterator[Sequence[str]]:
    """Yield a row for each retention, replication and process, on each cluster."""
    return _ROW.rows(found.rows)


def _run(run: Run | None) -> dict[str, object] | None:
    return None if run is None else _RUN.document(run)


def stale_lines(found: Overview) -> Iterator[str]:
    """Yield the rows without a success within their cadence, and since when."""
    for row in found.stale:
        source = f" from {row.counterpart}" if row.counterpart else ""
        what = f"{row.life_cycle} of {row.entity} on {row.cluster}{source} is stale since {moment(row.stale_since)}"
        yield f"{what}: {_last_words(row.last_success)}"


def old_hold_lines(found: Overview, reminder: object) -> Iterator[str]:
    """Holds that may be forgotten.

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
    """Return how everything is, as JSON."""
    return {
        "time": format_instant(found.at.replace(second=0, microsecond=0)),
        "safe_mode": safe_mode_document(found.safe_mode),
        "stale": len(found.stale),
        "old_holds": _HOLD.documents(found.old_holds),
        "entities": _ROW.documents(found.rows),
    }


def _suspended(state: EntityState) -> str | None:
    suspension = state.suspension
    if suspension is None:
        return None
    where = "" if suspension.cluster else "on every cluster "
    why = f": {suspension.reason}" if suspension.reason else ""
    return f"{where}by {suspension.changed_by} since {moment(suspension.changed_at)}{why}"


def _suspension(state: EntityState) -> dict[str, object] | None:
    found = state.suspension
    if found is None:
        return None
    since = moment_value(found.changed_at)
    return {"everywhere": not found.cluster, "by": found.changed_by, "since": since, "reason": found.reason}


def _validity(state: EntityState) -> dict[str, object]:
    return {"start": format_instant(state.validity.start), "end": format_instant(state.validity.end)}


_STATE: Columns[EntityState] = Columns(
    ResultColumn("cluster", "cluster", "cluster"),
    ResultColumn("status", "status", "status"),
    ResultColumn("validity", _validity, "validity", lambda state: state.validity),
    ResultColumn("suspended", _suspension, "suspended", _suspended),
)
STATE_COLUMNS = _STATE.headings


def state_rows(report: EntityReport) -> Iterator[Sequence[str]]:
    """Yield a row for each cluster."""
    return _STATE.rows(report.states)


def state_document(report: EntityReport) -> dict[str, object]:
    """Return the state of an entity as JSON; `changed` when it was a command."""
    changed = {} if report.is_changed is None else {"changed": report.is_changed}
    touched = moment_value(report.touched_at)
    return {"name": report.name, "touched_at": touched, **changed, "clusters": _STATE.documents(report.states)}


def _hold_reason(known: KnownHold) -> str | None:
    if known.file is None:
        return known.hold.reason
    seen = f"{known.file.path}, last seen {moment(known.file.last_seen_at)}"
    return f"{known.hold.reason} ({seen})" if known.hold.reason else seen


def _added_by(known: KnownHold) -> str:
    if known.file is not None:
        return "a file"
    return "holds.yaml" if known.recorded is None else known.recorded.added_by


_HOLD: Columns[KnownHold] = Columns(
    ResultColumn("id", lambda known: known.recorded and known.recorded.hold_id, "id"),
    ResultColumn("feed", "hold.feed", "feed"),
    ResultColumn("cluster", "hold.cluster", "cluster"),
    ResultColumn("start", lambda known: known.hold.start and format_instant(known.hold.start), "start"),
    ResultColumn("end", lambda known: known.hold.end and format_instant(known.hold.end), "end"),
    "reason=hold.reason",
    ResultColumn("owner", "hold.owner", "owner"),
    ResultColumn("added_by", lambda known: known.recorded and known.recorded.added_by, "added-by", _added_by),
    ResultColumn("added_at", "since", "added-at"),
    ResultColumn("path", lambda known: known.file and known.file.path),
    ResultColumn("seen_at", lambda known: known.file and known.file.last_seen_at),
    ResultColumn("", _hold_reason, "reason"),
)
HOLD_COLUMNS = _HOLD.headings
"""Only holds of the ledger have a number."""
hold_rows = _HOLD.rows
hold_document = _HOLD.document


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
