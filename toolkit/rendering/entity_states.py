"""The state of entities, holds and safe mode: as lines, rows of a table and JSON documents."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from toolkit.el import format_instant
from toolkit.ledger.errors import moment
from toolkit.rendering.cells import cell, moment_value

if TYPE_CHECKING:
    from toolkit.ledger.state.start_check import SafeMode
    from toolkit.management.entities import EntityReport, EntityState
    from toolkit.management.holds import KnownHold

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
    """A row for each hold; those of the file have no number."""
    for known in holds:
        each, row = known.hold, known.recorded
        start = None if each.start is None else format_instant(each.start)
        end = None if each.end is None else format_instant(each.end)
        added = ("holds.yaml", None) if row is None else (row.added_by, moment(row.added_at))
        number = None if row is None else row.hold_id
        yield tuple(map(cell, (number, each.feed, each.cluster, start, end, each.owner, *added, each.reason)))


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
        "added_at": None if row is None else moment_value(row.added_at),
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
