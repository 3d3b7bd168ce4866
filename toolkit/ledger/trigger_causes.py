"""Causes of runs: which events triggered a run, and what its workflow learns of them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

import sqlalchemy as sa

from toolkit.foreign_json import BadJson, parse_json
from toolkit.ledger.database import Transaction
from toolkit.ledger.runs.rows import RUN_KEY, RunKey
from toolkit.ledger.statements import given
from toolkit.ledger.tables import event, run, trigger_cause


@dataclass(frozen=True, kw_only=True, slots=True)
class Cause:
    """Event that caused a run.

    Attributes:
        sequence: its number.
        dataset: canonical URI of the series.
        instance_key: empty: it names none.
        recorded_at: when it was recorded.
        run_id: the run that emitted it; None: it came from outside.
        chain: number of triggered runs that led to it.
        extra: JSON of its emitter; None: it says nothing more.
    """

    sequence: int
    dataset: str
    instance_key: str
    recorded_at: datetime
    run_id: int | None
    chain: int
    extra: str | None = None


_CAUSES = (
    sa.select(
        run.c.run_id.label("caused"),
        event.c.sequence,
        event.c.dataset,
        event.c.instance_key,
        event.c.recorded_at,
        event.c.run_id,
        event.c.chain,
        event.c.extra,
    )
    .join_from(run, trigger_cause, trigger_cause.c.run_id == run.c.run_id)
    .join(event, event.c.sequence == trigger_cause.c.sequence)
    .where(*(run.c[name] == given(run.c[name], f"of_{name}") for name in RUN_KEY))
    .order_by(run.c.run_id.desc(), event.c.sequence)
)


def causes_of_instance(tx: Transaction, key: RunKey) -> list[Cause]:
    """Return the events that caused the newest triggered attempt at an instance, in order of commit.

    A retry is an attempt of its own that no event caused; it works for the events of the attempt before it.
    """
    rows = tx.execute(_CAUSES, {f"of_{name}": getattr(key, name) for name in RUN_KEY}).mappings().all()
    newest = rows[0]["caused"] if rows else None
    return [
        Cause(**{name: row[name] for name in Cause.__dataclass_fields__}) for row in rows if row["caused"] == newest
    ]


MOST_NAMED = 250
MOST_BYTES = 100_000
"""So many events, of so many bytes, are named to a workflow: an argument of a program may have 128 KiB."""
MOST_EXTRA = 8_000
"""Longest `extra` of an event that a workflow is told, in bytes of JSON."""


def event_properties(causes: Sequence[Cause]) -> dict[str, str]:
    """Return the properties of a workflow about the events that caused its run.

    `triggering_events` is JSON with URI, key, time, run and extra of each event, of the newest that `MOST_NAMED` and
    `MOST_BYTES` allow; `triggering_event_count` is the number of all.
    """
    named: list[str] = []
    size = 2
    for each in reversed(causes[-MOST_NAMED:]):
        text = json.dumps(_document(each))
        size += len(text) + 2
        if size > MOST_BYTES:
            break
        named.append(text)
    return {
        "triggering_events": f"[{', '.join(reversed(named))}]",
        "triggering_event_count": str(len(causes)),
    }


def _document(cause: Cause) -> dict[str, object]:
    return {
        "uri": cause.dataset,
        "key": cause.instance_key or None,
        "time": cause.recorded_at.isoformat(timespec="seconds").replace("+00:00", "Z"),
        "run": cause.run_id,
        "extra": _extra(cause.extra),
    }


def _extra(text: str | None) -> object:
    """Return what the emitter says besides; None: nothing, or more than `MOST_EXTRA`."""
    if text is None:
        return None
    try:
        extra = parse_json(text.encode())
    except BadJson:
        return None
    return extra if len(json.dumps(extra)) <= MOST_EXTRA else None
