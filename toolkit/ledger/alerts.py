"""Alerts: what is wrong, from when to when; recorded once, however many monitors run at the same time (issue 32)."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import fields, replace
from datetime import datetime
from itertools import chain
from typing import Any

import sqlalchemy as sa

from toolkit.errors import InvalidInput
from toolkit.ledger.alert_rows import (
    Alert,
    AlertChanges,
    AlertClosing,
    AlertEscalation,
    AlertKey,
    NewAlert,
    RecordedChanges,
    SentMessage,
)
from toolkit.ledger.database import Transaction, in_chunks
from toolkit.ledger.named_rows import listed_rows, named_rows
from toolkit.ledger.tables import alert
from toolkit.ledger.vocabulary import AlertKind, AlertLevel


class UnknownAlert(InvalidInput):
    """The ledger has no alert of this number.

    Args:
        alert_id: as given.
    """

    code = "unknown_alert"

    def __init__(self, *, alert_id: int) -> None:
        self.alert_id = alert_id
        super().__init__(
            f"the ledger has no alert {alert_id}; `feedctl alert list --all` shows the alerts and their numbers"
        )


_KEY = tuple(each.name for each in fields(AlertKey))
_KEY_COLUMNS = tuple(alert.c[name] for name in _KEY)
_OPEN = alert.c.closed_at.is_(None)


def record(tx: Transaction, changes: AlertChanges, at: datetime) -> RecordedChanges:
    """Write changes down, each once: monitors that decide the same at the same time wait for each other here.

    An alert that was closed and is wrong again from the same time on is opened again.

    Args:
        tx: the transaction.
        changes: as decided.
        at: the time of the pass.

    Returns:
        The changes that this transaction made.
    """
    escalated = _changed(tx, {each.alert_id: _escalation(each) for each in changes.escalated}, only_low=True)
    closed = _changed(tx, {each.alert_id: _closing(each) for each in changes.closed})
    opened = _opened(tx, changes.opened, at)  # last: an instance that came may be gone again, with an alert of its own
    return RecordedChanges(opened=opened, escalated=escalated, closed=closed)


def open_alerts(tx: Transaction, at: datetime | None = None, *, kinds: Collection[AlertKind] = ()) -> list[Alert]:
    """Return the open alerts, by number.

    Args:
        tx: the transaction.
        at: leave out alerts that were opened later than this.
        kinds: only of these; none: of all.
    """
    where: list[sa.ColumnElement[bool]] = [_OPEN]
    if at is not None:
        where.append(alert.c.opened_at <= at)
    if kinds:
        where.append(alert.c.kind.in_(sorted(kinds)))
    return _alerts(tx, sa.select(alert).where(*where).order_by(alert.c.alert_id))


def open_among(tx: Transaction, keys: Collection[AlertKey]) -> list[Alert]:
    """Return the open alerts among some, each named by its key."""
    columns = (alert.c.kind, alert.c.entity, alert.c.cluster, alert.c.instance_key)
    names = [tuple(getattr(key, column.name) for column in columns) for key in keys]
    return [_alert(row) for row in named_rows(tx, sa.select(alert).where(_OPEN), columns, names)]


def due(tx: Transaction, at: datetime) -> list[Alert]:
    """Return the open alerts of which a message is due, by number; no other monitor gets them in the meantime."""
    wanted = sa.select(alert).where(_OPEN, alert.c.remind_at <= at).order_by(alert.c.alert_id)
    return _alerts(tx, tx.locked(wanted))


def note_messages(tx: Transaction, sent: Iterable[SentMessage], at: datetime) -> None:
    """Write down that messages of alerts were put into the outbox by a pass at a time."""
    _update(
        tx, {each.alert_id: {"notified_at": at, "thread": each.thread, "remind_at": each.remind_at} for each in sent}
    )


def postpone(tx: Transaction, next_times: Mapping[int, datetime | None]) -> None:
    """Write down when messages of alerts are due, by number, since there is no one to send them to now."""
    _update(tx, {number: {"remind_at": after} for number, after in next_times.items()})


def open_in_threads(tx: Transaction, threads: Collection[str]) -> dict[str, int]:
    """Return how many alerts of each thread of messages are open; a thread without one is left out."""
    counts: dict[str, int] = {}
    for chunk in in_chunks(sorted(threads)):
        wanted = sa.select(alert.c.thread, sa.func.count()).where(_OPEN, alert.c.thread.in_(chunk))
        counts |= dict(tx.execute(wanted.group_by(alert.c.thread)).tuples().all())
    return counts


def get(tx: Transaction, alert_id: int) -> Alert:
    """Return an alert.

    Raises:
        UnknownAlert: there is no alert of this number.
    """
    found = _alerts(tx, sa.select(alert).where(alert.c.alert_id == alert_id))
    if not found:
        raise UnknownAlert(alert_id=alert_id)
    return found[0]


def acknowledge(tx: Transaction, alert_id: int, who: str, reason: str) -> tuple[Alert, bool]:
    """Write down who takes care of an open alert, so that no reminder is sent.

    Returns:
        The alert, and whether it changed: False if it is closed, or was acknowledged before.

    Raises:
        UnknownAlert: there is no alert of this number.
    """
    acked = {"acked_by": who, "acked_at": tx.now(), "ack_reason": reason, "remind_at": None}
    is_new = (alert.c.alert_id == alert_id) & _OPEN & alert.c.acked_by.is_(None)
    has_changed = tx.execute(sa.update(alert).where(is_new).values(**acked)).rowcount > 0
    return get(tx, alert_id), has_changed


def history(
    tx: Transaction,
    *,
    start: datetime | None = None,
    end: datetime | None = None,
    entities: Collection[str] = (),
    cluster: str | None = None,
    kinds: Collection[AlertKind] = (),
    level: AlertLevel | None = None,
    only_open: bool = False,
    limit: int = 1000,
) -> list[Alert]:
    """Return alerts that were open at some time in [start, end), newest first, open and closed.

    Args:
        tx: the transaction.
        start: leave out alerts that were closed before.
        end: leave out alerts that were opened at that time or later.
        entities: only of these; none: of all.
        cluster: only of this one.
        kinds: only of these; none: of all.
        level: only of this one.
        only_open: only those that are open.
        limit: at most so many.
    """
    where: list[sa.ColumnElement[bool]] = [_OPEN] if only_open else []
    if level is not None:
        where.append(alert.c.level == level)
    if start is not None:
        where.append(_OPEN | (alert.c.closed_at >= start))
    if end is not None:
        where.append(alert.c.opened_at < end)
    if entities:
        where.append(alert.c.entity.in_(sorted(entities)))
    if cluster is not None:
        where.append(alert.c.cluster == cluster)
    if kinds:
        where.append(alert.c.kind.in_(sorted(kinds)))
    newest = (alert.c.opened_at.desc(), alert.c.alert_id.desc())
    return _alerts(tx, sa.select(alert).where(*where).order_by(*newest).limit(limit))


def _opened(tx: Transaction, new: Iterable[NewAlert], at: datetime) -> tuple[Alert, ...]:
    """Insert alerts, in the order of their keys: two monitors that insert the same ones do not block each other."""
    made: list[Alert] = []
    now = tx.now()
    for chunk in in_chunks(sorted(new, key=lambda each: (each.key, each.opened_at))):
        rows = [{**_columns(each), "recorded_at": now} for each in chunk]
        inserted = tx.execute(tx.upsert(alert).on_conflict_do_nothing().returning(alert), rows)
        found = [_alert(row) for row in inserted.mappings()]
        made += found
        names = {(each.key, each.opened_at) for each in found}
        made += _reopened(tx, [each for each in chunk if (each.key, each.opened_at) not in names], at)
    return tuple(sorted(made, key=lambda each: each.alert_id))


def _reopened(tx: Transaction, known: Sequence[NewAlert], at: datetime) -> list[Alert]:
    """Open alerts again that an earlier pass has closed, and of which nothing has ended what is wrong."""
    wrong = {each.key: each for each in known if each.closed_at is None}
    if not wrong:
        return []
    rows = [tuple(getattr(key, name) for name in _KEY) for key in sorted(wrong)]
    wanted = sa.select(alert).where(_OPEN | (alert.c.closed_at <= at)).order_by(alert.c.alert_id)
    found = [_alert(row) for row in listed_rows(tx, tx.locked(wanted), _KEY_COLUMNS, rows)]
    are_open = {each.key for each in found if each.is_open}
    again = [each for each in found if each.key not in are_open and each.opened_at == wrong[each.key].opened_at]
    anew: dict[int, dict[str, Any]] = {
        each.alert_id: {
            "closed_at": None,
            "closed_because": None,
            "notified_at": None,
            "remind_at": None if wrong[each.key].remind_at is None else at,
        }
        for each in again
    }
    _update(tx, anew)
    return [replace(each, **anew[each.alert_id]) for each in again]


def _changed(tx: Transaction, values: Mapping[int, dict[str, Any]], *, only_low: bool = False) -> tuple[Alert, ...]:
    """Change open alerts, and return them as they are then; others are left out."""
    changed: list[Alert] = []
    for chunk in in_chunks(sorted(values)):
        wanted = sa.select(alert).where(alert.c.alert_id.in_(chunk), _OPEN).order_by(alert.c.alert_id)
        if only_low:
            wanted = wanted.where(alert.c.level == AlertLevel.LOW)
        found = _alerts(tx, tx.locked(wanted))
        _update(tx, {each.alert_id: values[each.alert_id] for each in found})
        changed += [replace(each, **values[each.alert_id]) for each in found]
    return tuple(changed)


def _update(tx: Transaction, values: Mapping[int, Mapping[str, Any]]) -> None:
    """Write values of columns, the same columns for each alert."""
    names = sorted(set(chain.from_iterable(values.values())))
    if not names:
        return
    statement = sa.update(alert).where(alert.c.alert_id == sa.bindparam("number"))
    rows: list[dict[str, object]] = [
        {"number": number, **{name: _stored(each[name]) for name in names}} for number, each in sorted(values.items())
    ]
    tx.execute(statement.values({name: sa.bindparam(name) for name in names}), rows)


def _escalation(found: AlertEscalation) -> dict[str, Any]:
    return {
        "level": AlertLevel.HIGH,
        "escalated_at": found.escalated_at,
        "message": found.message,
        "facts": found.facts,
        "remind_at": found.remind_at,
    }


def _closing(found: AlertClosing) -> dict[str, Any]:
    return {"closed_at": found.closed_at, "closed_because": found.because, "remind_at": None}


def _columns(new: NewAlert) -> dict[str, object]:
    others = {each.name: _stored(getattr(new, each.name)) for each in fields(NewAlert) if each.name != "key"}
    return {**{name: getattr(new.key, name) for name in _KEY}, **others}


def _stored(value: object) -> object:
    return json.dumps(value, sort_keys=True, default=str) if isinstance(value, Mapping) else value


def _alerts(tx: Transaction, wanted: sa.Select[Any]) -> list[Alert]:
    return [_alert(row) for row in tx.execute(wanted).mappings()]


def _alert(row: sa.RowMapping) -> Alert:
    values = dict(row)
    key = AlertKey(**{name: values.pop(name) for name in _KEY})
    return Alert(key=key, **{**values, "facts": json.loads(values["facts"])})
