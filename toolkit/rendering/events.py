"""Events of datasets: as rows of a table, as lines, and as JSON documents."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING

from toolkit.ledger.errors import moment
from toolkit.rendering.columns import Columns, ResultColumn

if TYPE_CHECKING:
    from toolkit.ledger.event_gc import CollectedGarbage
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


def garbage_document(found: CollectedGarbage, *, is_dry: bool) -> dict[str, object]:
    """Return the result of garbage collection."""
    return {
        "dry_run": is_dry,
        "events": found.events,
        "consumers": list(found.consumers),
        "datasets": list(found.datasets),
        "read_by_all": found.floor,
        "slowest": found.slowest or None,
    }


def garbage_lines(found: CollectedGarbage, *, is_dry: bool) -> Iterator[str]:
    """Yield the result of garbage collection for people."""
    verb = "would be removed" if is_dry else "removed"
    yield f"{found.events} events {verb}"
    if found.slowest:
        yield f"every consumer has read up to event {found.floor}; the last one is {found.slowest}"
    yield from (f"the cursor of {each}, which is not in the config repo, {verb}" for each in found.consumers)
    yield from (f"dataset {each}, which the config repo does not name, {verb}" for each in found.datasets)


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
