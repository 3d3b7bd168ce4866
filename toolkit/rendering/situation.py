"""The situation of an installation as one screen, as lines for a check, and as a JSON document."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from typing import TYPE_CHECKING, TextIO, TypeVar

from toolkit.el import format_instant
from toolkit.ledger.errors import moment
from toolkit.ledger.vocabulary import AlertLevel, RunStatus
from toolkit.management.situation import LATE_KINDS
from toolkit.printable import on_one_line
from toolkit.rendering.columns import Columns, ResultColumn
from toolkit.rendering.overview import overview_document, safe_mode_line
from toolkit.rendering.tables import cell, moment_value, write_table

if TYPE_CHECKING:
    from toolkit.ledger.open_alerts import OpenAlert
    from toolkit.ledger.runs.recent import RunProgress
    from toolkit.ledger.runs.rows import Run
    from toolkit.management.next_due import DueAction
    from toolkit.management.situation import ClusterRow, FirstRows, OpenAlerts, RunningRow, Situation

_T = TypeVar("_T")

_WIDTH = 100
"""Characters of a reason or message on the screen; documents have all of it."""
_STYLES = {AlertLevel.HIGH.value: "bold red", AlertLevel.LOW.value: "yellow"}


def progress_text(progress: RunProgress) -> str:
    """Return how far a run is, or an empty text if it has neither items nor steps."""
    counts = (("done", progress.done), ("failed", progress.failed), ("begun", progress.begun))
    items = ", ".join(f"{number:,} {word}" for word, number in counts if number)
    steps = f"step {', '.join(progress.steps)}" if progress.steps else ""
    return "; ".join(filter(None, (steps, items)))


def waiting_for(run: Run) -> str:
    """Return what a run waits for."""
    reason = f": {run.reason}" if run.reason else ""
    if run.retry_at is not None:
        return f"its retry at {moment(run.retry_at)}{reason}"
    if run.status is RunStatus.SUSPENDED:
        return f"a resume{reason}"
    if run.status is RunStatus.READY:
        return f"a free slot{reason}"
    return run.reason or "its inputs"


def _short(text: str | None) -> str:
    return textwrap.shorten(on_one_line(text or ""), _WIDTH, placeholder=" ...")


def _subject(of: str = "", key: str = "instance_key") -> tuple[ResultColumn, ...]:
    """Return the columns of an action and its instance, which are attributes of an attribute of the row."""
    return (
        ResultColumn("name", f"{of}entity", "name"),
        ResultColumn("life_cycle", f"{of}life_cycle", "life-cycle"),
        ResultColumn("cluster", f"{of}cluster", "cluster"),
        ResultColumn("source", f"{of}counterpart?", "source"),
        ResultColumn("instance", f"{key}?", "instance"),
    )


_CLUSTER: Columns[ClusterRow] = Columns(
    ResultColumn("cluster", "cluster?", "cluster"),
    *(
        ResultColumn(name, name, name)
        for name in (
            *("actions", "running", "waiting", "late", "alerts"),
            *("failed", "stale", "suspended", "backlog", "holds"),
        )
    ),
)
_RUNNING: Columns[RunningRow] = Columns(
    *_subject("run.", "run.instance_key"),
    ResultColumn("started_at", "run.started_at", "since"),
    ResultColumn("", lambda row: progress_text(row.progress), "progress"),
    "run_id=run.run_id",
    "done=progress.done",
    "failed=progress.failed",
    "begun=progress.begun",
    "steps=progress.steps",
    "heartbeat_at=run.heartbeat_at",
    "is_owned",
)
_WAITING: Columns[Run] = Columns(
    *_subject(),
    ResultColumn("since", "created_at", "since"),
    ResultColumn("waiting_for", waiting_for, "waiting for", lambda run: _short(waiting_for(run))),
    "run_id",
    "status",
    "retry_at",
)
_ALERT: Columns[OpenAlert] = Columns(
    ResultColumn("alert_id", "alert_id", "alert"),
    ResultColumn("level", "level", "level"),
    ResultColumn("kind", "kind", "kind"),
    ResultColumn("name", "entity?", "name"),
    ResultColumn("cluster", "cluster?", "cluster"),
    ResultColumn("instance", "instance_key?", "instance"),
    ResultColumn("opened_at", "opened_at", "since"),
    "escalated_at",
    ResultColumn("acked_by", "acked_by", "acked-by"),
    ResultColumn(
        "message", "message", "message", lambda alert: "" if alert.kind in LATE_KINDS else _short(alert.message)
    ),
)
"""On the screen, the other columns say all that the message about a late instance does."""
_FAILED: Columns[Run] = Columns(
    *_subject(),
    ResultColumn("ended_at", "ended_at", "ended-at"),
    ResultColumn("status", "status", "status"),
    ResultColumn("reason", "reason", "reason", lambda run: _short(run.reason)),
    "run_id",
    "retry_at",
)
_DUE: Columns[DueAction] = Columns(*_subject("subject."), ResultColumn("due_at", "due_at", "due-at"))


def situation_document(found: Situation) -> dict[str, object]:
    """Return the situation as JSON: the overview of all actions, and the lists of the screen."""
    return {
        **overview_document(found.overview),
        "monitored_at": moment_value(found.monitored_at),
        "clusters": _CLUSTER.documents(found.clusters),
        "running": _list(_RUNNING, found.running),
        "waiting": _list(_WAITING, found.waiting),
        "alerts": _list(_ALERT, found.alerts),
        "failed": _list(_FAILED, found.failures),
        "next_due": _list(_DUE, found.next_due),
    }


def _list(columns: Columns[_T], part: FirstRows[_T]) -> dict[str, object]:
    return {"total": part.total, "rows": columns.documents(part.rows)}


def write_situation(found: Situation, stream: TextIO) -> None:
    """Write the screen: a summary, the clusters, and each list that has rows."""
    stream.writelines(f"{line}\n" for line in _summary(found))
    write_table(_CLUSTER.headings, _CLUSTER.rows(found.clusters), stream)
    _write_part("RUNNING", _RUNNING, found.running, stream)
    _write_part("WAITING", _WAITING, found.waiting, stream)
    _write_part("LATE, AND OTHER OPEN ALERTS", _ALERT, found.alerts, stream)
    _write_part("FAILED IN THE LAST 24 HOURS", _FAILED, found.failures, stream)
    _write_part("NEXT DUE", _DUE, found.next_due, stream)


def _summary(found: Situation) -> Iterator[str]:
    overview = found.overview
    if overview.safe_mode.is_on:
        yield safe_mode_line(overview.safe_mode)
    late, at = found.total("late"), format_instant(overview.at.replace(second=0, microsecond=0))
    yield (
        f"{at}: {found.running.total:,} running, {found.waiting.total:,} waiting, "
        f"{late:,} late, {found.alerts.total - late:,} other alerts, {found.failures.total:,} failed in 24 hours, "
        f"{len(overview.stale):,} stale"
    )
    if found.monitored_at is None:
        yield "the monitor never ran; start it with `feedctl monitor`"
    else:
        yield f"last pass of the monitor: {moment(found.monitored_at)}"


def _write_part(title: str, columns: Columns[_T], part: FirstRows[_T], stream: TextIO) -> None:
    if not part.total:
        return
    shown = "" if part.total == len(part.rows) else f", the first {len(part.rows)} are shown"
    stream.write(f"\n{title}: {part.total:,}{shown}\n")
    write_table(columns.headings, columns.rows(part.rows), stream, _STYLES)


def check_lines(found: OpenAlerts) -> Iterator[str]:
    """Yield a summary with performance data (Nagios plugin guidelines), then a line for each problem."""
    total, high = found.alerts.total, found.high
    word = "alerts are" if total > 1 else "alert is"
    yield f"{total or 'no'} {word} open{f', {high} of them high' if high else ''} | open={total} high={high}"
    if not found.is_monitored:
        last = "it never ran" if found.monitored_at is None else f"its last pass was at {moment(found.monitored_at)}"
        yield f"the monitor does not run: {last}; a scheduler has to start `feedctl monitor`, see `feedctl export`"
    for each in found.alerts.rows:
        what = " ".join(filter(None, (each.entity, each.cluster and f"on {each.cluster}", each.instance_key)))
        acked = f" (acknowledged by {each.acked_by})" if each.acked_by else ""
        yield cell(
            f"{each.level} {each.kind}: {what or 'the installation'} since {moment(each.opened_at)}: "
            f"{_short(each.message)}{acked}; alert {each.alert_id}"
        )
    if total > len(found.alerts.rows):
        yield f"and {total - len(found.alerts.rows)} more"
