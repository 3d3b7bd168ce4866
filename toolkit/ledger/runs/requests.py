"""Commands on a running instance: requests that its owner honours at the next heartbeat (DESIGN section 6)."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime

import sqlalchemy as sa

from toolkit.ledger.runs.errors import RunIsOver
from toolkit.ledger.runs.finding import get
from toolkit.ledger.runs.rows import Run
from toolkit.ledger.tables import request, run
from toolkit.ledger.transaction import Transaction, in_chunks
from toolkit.ledger.vocabulary import RequestKind

_IS_OPEN = request.c.honoured_at.is_(None)


@dataclass(frozen=True, kw_only=True, slots=True)
class Request:
    """A request; the fields are the columns of the table `request`, where each is explained."""

    request_id: int
    run_id: int
    kind: RequestKind
    requested_by: str
    requested_at: datetime
    honoured_at: datetime | None


def ask(tx: Transaction, run_id: int, kind: RequestKind, who: str) -> Request:
    """Ask the owner of a run for something; of a run, one request is open at most, the newest.

    Returns:
        The new request; or the open one when it asks the same, or asks to kill, which nothing undoes.

    Raises:
        UnknownRun: there is no such run.
        RunIsOver: nobody is left to honour it; nothing was changed.
    """
    asked = tx.row(Run, tx.locked(sa.select(run).where(run.c.run_id == run_id))) or get(tx, run_id)
    if asked.status.is_terminal:
        raise RunIsOver(run=asked, kind=kind)
    already = open_of(tx, [run_id])
    standing = next((each for each in already if each.kind in (kind, RequestKind.KILL)), None)
    if standing is not None:
        return standing
    honour(tx, [each.request_id for each in already])
    new = {"run_id": run_id, "kind": kind, "requested_by": who, "requested_at": tx.now()}
    return Request(**tx.execute(sa.insert(request).values(**new).returning(request)).mappings().one())


def open_of(tx: Transaction, run_ids: Collection[int]) -> list[Request]:
    """The requests of these runs that nobody has honoured yet, in the order of asking."""
    found: list[Request] = []
    for chunk in in_chunks(run_ids):
        found += tx.rows(Request, sa.select(request).where(_IS_OPEN, request.c.run_id.in_(chunk)))
    return sorted(found, key=lambda each: each.request_id)


def honour(tx: Transaction, request_ids: Collection[int]) -> None:
    """Note that these requests were acted on; one that was honoured before keeps its time."""
    for chunk in in_chunks(sorted(request_ids)):
        named = request.c.request_id.in_(chunk)
        tx.execute(sa.update(request).where(_IS_OPEN, named).values(honoured_at=tx.now()))
