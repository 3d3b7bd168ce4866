"""Consumers with small rules on a ledger, updates of datasets, and what a decision has made of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime

import sqlalchemy as sa

from toolkit.el import format_instant
from toolkit.el.dataset_uri import feed_uri
from toolkit.entities.trigger import Trigger, TriggerCondition, TriggerEntry
from toolkit.entities.trigger_vocabulary import Coalesce, GroupBy, OnPause, ScheduleMode, StartFrom, UpdateKind
from toolkit.entities.vocabulary import Order
from toolkit.ledger import events, triggers
from toolkit.ledger.database import Ledger
from toolkit.ledger.events import NewEvent
from toolkit.ledger.runs import attempts, queries, status
from toolkit.ledger.runs.rows import Origin, Run
from toolkit.ledger.tables import run, trigger_cause, trigger_dropped, trigger_pending
from toolkit.ledger.vocabulary import EventKind, RunStatus
from toolkit.planning.triggers import CompiledCondition, CompiledEntry, TriggerRule
from toolkit.triggers.apply import ConsumerResult, TriggerDecider
from toolkit.triggers.consumer import TriggerConsumer

CLUSTER = "primary"
DAYS = [format_instant(datetime(2026, 3, day, tzinfo=UTC)) for day in range(1, 29)]
ORIGIN = Origin(who="ada", snapshot="c0ffee")


def entry(feed: str) -> CompiledEntry:
    """Return an entry of a feed whose instances are read by the process instance of the same key."""
    uri = feed_uri(feed, CLUSTER)
    return CompiledEntry(
        name=feed,
        matches=lambda update: update.dataset == uri,
        keys=lambda update: (update.instance_key,),
        datasets=frozenset({uri}),
    )


def consumer(
    process: str,
    *feeds: str,
    is_all: bool = True,
    by: GroupBy = GroupBy.KEY,
    coalesce: Coalesce = Coalesce.NONE,
    start_from: StartFrom = StartFrom.EARLIEST,
    max_queued: int | None = None,
    max_chain: int = 10,
    on_pause: OnPause = OnPause.KEEP,
    may_run: Callable[[str], bool] | None = None,
) -> TriggerConsumer:
    """Return the consumer of a process on all, or any, of some feeds."""
    entries = tuple(TriggerEntry(feed=each) for each in feeds)
    condition = TriggerCondition(all=entries) if is_all else TriggerCondition(any=entries)
    trigger = Trigger(
        condition=condition,
        by=by,
        coalesce=coalesce,
        start_from=start_from,
        max_queued=max_queued,
        max_chain=max_chain,
        on_pause=on_pause,
    )
    rule = TriggerRule(
        condition=CompiledCondition(is_all=is_all, parts=[entry(each) for each in feeds]),
        by=by,
        on=frozenset({UpdateKind.AVAILABLE, UpdateKind.UPDATED}),
        coalesce=coalesce,
        order=Order.FIFO,
        is_valid_at=lambda _: True,
        may_run=may_run or (lambda _: True),
        follows=lambda before, after: DAYS.index(after) == DAYS.index(before) + 1,
        on_pause=on_pause,
    )
    schedule = ScheduleMode.AND if may_run else ScheduleMode.NEVER
    return TriggerConsumer(process=process, cluster=CLUSTER, trigger=trigger, schedule=schedule, compile=lambda: rule)


def update(
    ledger: Ledger,
    feed: str,
    key: str = DAYS[0],
    *,
    kind: EventKind = EventKind.AVAILABLE,
    run_id: int | None = None,
    chain: int | None = None,
) -> int:
    """Record an update of a feed, and return its number."""
    new = NewEvent(kind=kind, feed=feed, cluster=CLUSTER, instance_key=key, chain=chain)
    return ledger.write(lambda tx: events.append(tx, [new], run_id))[0]


def decider(ledger: Ledger) -> TriggerDecider:
    """Return what decides with the wall clock."""
    return TriggerDecider(ledger=ledger, now=lambda: datetime.now(UTC), origin_of=lambda _: ORIGIN)


def decide(ledger: Ledger, *consumers: TriggerConsumer) -> list[ConsumerResult]:
    """Decide for consumers."""
    return decider(ledger).decide(consumers)


def created(results: Sequence[ConsumerResult]) -> list[tuple[str, str, tuple[int, ...]]]:
    """Return the process, instance and causes of each run that was created."""
    return [
        (each.plan.consumer.process, one.due.instance_key, one.due.causes) for each in results for one in each.created
    ]


def caused(ledger: Ledger) -> dict[tuple[str, str, int], list[int]]:
    """Return the causes of each triggered run in the ledger, by process, instance and attempt."""
    rows = sa.select(run.c.entity, run.c.instance_key, run.c.attempt, trigger_cause.c.sequence)
    joined = rows.join(trigger_cause, trigger_cause.c.run_id == run.c.run_id).order_by(trigger_cause.c.sequence)
    found: dict[tuple[str, str, int], list[int]] = {}
    for entity, key, number, sequence in ledger.read(lambda tx: tx.execute(joined).all()):
        found.setdefault((entity, key, number), []).append(sequence)
    return found


def pending(ledger: Ledger) -> list[tuple[str, int]]:
    """Return the consumer and the event of each update that waits."""
    wanted = sa.select(trigger_pending.c.consumer, trigger_pending.c.sequence).order_by(*trigger_pending.c)
    return [tuple(row) for row in ledger.read(lambda tx: tx.execute(wanted).all())]


def dropped(ledger: Ledger) -> dict[int, str]:
    """Return why each dropped event started nothing."""
    wanted = sa.select(trigger_dropped.c.sequence, trigger_dropped.c.reason)
    return dict(ledger.read(lambda tx: tx.execute(wanted).tuples().all()))


def cursors(ledger: Ledger) -> Mapping[str, int]:
    """Return the last event that each consumer has read."""
    found = ledger.read(triggers.positions).cursors
    return {name: each.sequence for name, each in found.items()}


def newest(ledger: Ledger, of: TriggerConsumer, key: str = DAYS[0]) -> Run:
    """Return the newest attempt at an instance of a consumer's process."""
    found = ledger.read(lambda tx: queries.newest(tx, of.key(key)))
    assert found is not None
    return found


def ended(ledger: Ledger, of: TriggerConsumer, key: str = DAYS[0], to: RunStatus = RunStatus.SUCCEEDED) -> Run:
    """Begin and end the ordered attempt at an instance."""

    def work_off(run_id: int) -> Run:
        return ledger.write(lambda tx: status.change(tx, run_id, to))

    begun = ledger.write(lambda tx: attempts.begin(tx, of.key(key), ORIGIN))
    return work_off(begun.run_id)
