"""Events of datasets: as rows of a table, as lines, and as JSON documents."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from toolkit.ledger.errors import moment
from toolkit.rendering.columns import Columns, ResultColumn

if TYPE_CHECKING:
    from toolkit.ledger.events import Event
    from toolkit.ledger.external_events import EmittedEvent


def _extra(event: Event) -> object:
    return None if event.extra is None else json.loads(event.extra)


_EVENT: Columns[Event] = Columns(
    ResultColumn("event", "sequence", "event"),
    ResultColumn("kind", "kind", "kind"),
    ResultColumn("dataset", "dataset", "dataset"),
    *("feed?", "cluster?"),
    ResultColumn("instance", "instance_key?", "instance"),
    "uri",
    ResultColumn("recorded_at", "recorded_at", "recorded-at"),
    ResultColumn("run_id", "run_id", "run"),
    ResultColumn("chain", "chain", "chain", lambda each: each.chain or None),
    ResultColumn("id", "idempotency_key", "id"),
    ResultColumn("extra", _extra, "extra", lambda each: each.extra),
)
EVENT_COLUMNS = _EVENT.headings
event_rows = _EVENT.rows
event_document = _EVENT.document
event_documents = _EVENT.documents


def emitted_document(emitted: EmittedEvent) -> dict[str, object]:
    """Return the result of a command that writes an event."""
    return {"changed": emitted.is_new, "event": event_document(emitted.event)}


def emitted_line(emitted: EmittedEvent) -> str:
    """Return the event that was written, or the earlier one, as one line for people."""
    event = emitted.event
    what = f"event {event.sequence}: {event.dataset}" + (f" {event.instance_key}" if event.instance_key else "")
    if emitted.is_new:
        return f"{what} {event.kind}"
    if event.idempotency_key is not None and event.kind in {"available", "updated"}:
        return f"{what} has the id {event.idempotency_key!r} already; nothing was changed"
    return f"{what} was {event.kind} at {moment(event.recorded_at)} already; nothing was changed"
