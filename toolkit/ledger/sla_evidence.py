"""Events and runs, as far as SLAs read them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

import sqlalchemy as sa

from toolkit.ledger.columns import is_one_of
from toolkit.ledger.database import Transaction
from toolkit.ledger.named_rows import named_rows
from toolkit.ledger.tables import event, event_counter, run
from toolkit.ledger.vocabulary import EventKind, LifeCycle, RunStatus

_PAGE = 5_000


@dataclass(frozen=True, kw_only=True, slots=True)
class SlaEvent:
    """An event, as far as SLAs read it; the fields are columns of `event`."""

    sequence: int
    kind: EventKind
    dataset: str
    feed: str
    cluster: str
    instance_key: str
    recorded_at: datetime
    extra: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class SlaRun:
    """An attempt of a process, as far as SLAs read it; the fields are columns of `run`."""

    run_id: int
    entity: str
    cluster: str
    instance_key: str
    status: RunStatus
    started_at: datetime | None
    ended_at: datetime | None


_EVENT = tuple(event.c[name] for name in SlaEvent.__dataclass_fields__)
_RUN = tuple(run.c[name] for name in SlaRun.__dataclass_fields__)


def events_after(tx: Transaction, sequence: int, until: datetime) -> Iterator[SlaEvent]:
    """Yield the events that follow a number, up to the first that was recorded later than `until`, in their order."""
    last: int = tx.execute(sa.select(event_counter.c.last_sequence)).scalar_one()
    while sequence < last:
        page = list(
            tx.rows(
                SlaEvent,
                sa.select(*_EVENT).where(event.c.sequence > sequence).order_by(event.c.sequence).limit(_PAGE),
            )
        )
        for each in page:
            if each.recorded_at > until:
                return
            yield each
        if len(page) < _PAGE:
            return
        sequence = page[-1].sequence


def events_of(
    tx: Transaction, names: Collection[tuple[str, str, str]], last: int, until: datetime
) -> dict[tuple[str, str, str], list[SlaEvent]]:
    """Return the events of instances up to a number and a time, in their order, by feed, cluster and instance key."""
    found: dict[tuple[str, str, str], list[SlaEvent]] = {}
    wanted = sa.select(*_EVENT).where(event.c.sequence <= last, event.c.recorded_at <= until).order_by(event.c.sequence)
    for row in named_rows(tx, wanted, (event.c.feed, event.c.cluster, event.c.instance_key), names):
        each = SlaEvent(**row)
        found.setdefault((each.feed, each.cluster, each.instance_key), []).append(each)
    return found


def events_between(
    tx: Transaction, feed: str, cluster: str, keys: tuple[str, str], until: datetime
) -> dict[str, list[SlaEvent]]:
    """Return the events of the instances of a feed up to a time, in their order, by instance key.

    Args:
        tx: the transaction.
        feed: name.
        cluster: where.
        keys: the first instance key and the last.
        until: later events do not count.
    """
    of_it = (event.c.feed == feed, event.c.cluster == cluster, event.c.instance_key.between(*keys))
    found: dict[str, list[SlaEvent]] = {}
    wanted = sa.select(*_EVENT).where(*of_it, event.c.recorded_at <= until).order_by(event.c.sequence)
    for each in tx.rows(SlaEvent, wanted):
        found.setdefault(each.instance_key, []).append(each)
    return found


def last_update(tx: Transaction, dataset: str, kinds: Collection[EventKind], until: datetime) -> datetime | None:
    """Return when a dataset was last updated, up to a time; None: never."""
    of_it = (event.c.dataset == dataset, event.c.kind.in_(kinds), event.c.recorded_at <= until)
    found: datetime | None = tx.execute(
        sa.select(event.c.recorded_at).where(*of_it).order_by(event.c.sequence.desc()).limit(1)
    ).scalar()
    return found


def runs_of(
    tx: Transaction, names: Collection[tuple[str, str, str]], until: datetime
) -> Mapping[tuple[str, str, str], Sequence[SlaRun]]:
    """Return the attempts at instances of processes that began up to a time, by process, cluster and instance key."""
    found: dict[tuple[str, str, str], list[SlaRun]] = {}
    is_known = (is_one_of(run.c.life_cycle, LifeCycle.EXECUTION), run.c.created_at <= until)
    keys = [(entity, key, cluster) for entity, cluster, key in names]
    wanted = sa.select(*_RUN).where(*is_known).order_by(run.c.attempt)
    for row in named_rows(tx, wanted, (run.c.entity, run.c.instance_key, run.c.cluster), keys):
        each = SlaRun(**row)
        found.setdefault((each.entity, each.cluster, each.instance_key), []).append(each)
    return found
