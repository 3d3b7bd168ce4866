"""Plan of triggers: which runs the events since the last decision cause, and what becomes of each event."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from toolkit.el import format_instant
from toolkit.ledger import triggers
from toolkit.ledger.runs import queries
from toolkit.ledger.state import start_check
from toolkit.ledger.triggers import ConsumerStep
from toolkit.ledger.vocabulary import RunStatus
from toolkit.planning.triggers import Dropped, Ignored, Pending, TriggerDecision, TriggeredRun, Update, decide

if TYPE_CHECKING:
    from toolkit.ledger.database import Transaction
    from toolkit.ledger.runs.rows import Run, RunKey
    from toolkit.ledger.triggers import TriggerCursor, TriggerPositions
    from toolkit.triggers.consumer import TriggerConsumer


@dataclass(frozen=True, kw_only=True, slots=True)
class DueRun:
    """Run that events cause.

    Attributes:
        instance_key: of the process instance.
        run: what was decided.
        obstacle: why it is not created; empty: it is.
    """

    instance_key: str
    run: TriggeredRun
    obstacle: str = ""

    @property
    def causes(self) -> tuple[int, ...]:
        """Numbers of the events that it consumes."""
        return tuple(each.sequence for each in self.run.causes)

    def waiting(self) -> Iterator[Pending]:
        """Yield its events as updates that go on waiting."""
        yield from self.run.pending

    def dropped(self, reason: Ignored) -> Iterator[Dropped]:
        """Yield its events as updates that are over without a run."""
        yield from (Dropped(pending=each, reason=reason) for each in self.waiting())


@dataclass(frozen=True, kw_only=True, slots=True)
class ConsumerPlan:
    """Consequences of events for one consumer.

    Attributes:
        consumer: whose trigger it is.
        due: runs that are created, in their order.
        delayed: runs that wait, since an earlier run of the same instance is not over; their events stay.
        refused: runs that would exceed `max_chain`; their events are dropped.
        killed: runs of instances that a person killed before they began; their events are dropped.
        decision: what was decided.
        before: what waited before.
        sequence: the last event that it has read now.
        suspension: why the process is suspended; empty: it is not.
        digest: of the trigger, if it has been edited since the last decision; empty: it has not.
        known: the newest attempts at the instances of all decided runs.
    """

    consumer: TriggerConsumer
    sequence: int
    due: Sequence[DueRun] = ()
    delayed: Sequence[DueRun] = ()
    refused: Sequence[DueRun] = ()
    killed: Sequence[DueRun] = ()
    decision: TriggerDecision = field(default_factory=TriggerDecision)
    before: Sequence[Pending] = ()
    suspension: str = ""
    digest: str = ""
    known: Mapping[RunKey, Run] = field(default_factory=dict, repr=False)

    @property
    def step(self) -> ConsumerStep:
        """The change of the consumer in the ledger."""
        delayed = [each for run in self.delayed for each in run.waiting()]
        replaced = [each for run in (*self.delayed, *self.refused, *self.killed) for each in run.run.replaced]
        stays = {each.place for each in replaced}
        after = sorted((*self.decision.pending, *delayed, *replaced), key=lambda each: each.update.sequence)
        may_be_due = bool(self.decision.pending) and (bool(self.suspension) or self.consumer.waits_for_more_than_events)
        return ConsumerStep(
            consumer=self.consumer.name,
            sequence=self.sequence,
            is_waiting=bool(delayed or replaced) or may_be_due,
            before=self.before,
            after=after,
            digest=self.digest,
            dropped=(
                *(each for each in self.decision.dropped if each.pending.place not in stays),
                *(each for run in self.refused for each in run.dropped(Ignored.CHAIN_TOO_LONG)),
                *(each for run in self.killed for each in run.dropped(Ignored.KILLED)),
            ),
        )


def plan(
    tx: Transaction,
    consumers: Sequence[TriggerConsumer],
    positions: TriggerPositions,
    now: datetime,
) -> list[ConsumerPlan]:
    """Return the plan of each consumer; reads alone.

    Args:
        tx: the transaction.
        consumers: of one cluster.
        positions: how far they are; a consumer without a cursor starts as its trigger says.
        now: of the wall clock.
    """
    cursors = {each.name: positions.cursors[each.name] for each in consumers if each.name in positions.cursors}
    reads = {
        each.name: cursors[each.name].sequence if each.name in cursors else each.start(positions.newest)
        for each in consumers
    }
    new = _new_updates(tx, consumers, reads, positions.newest)
    edited = {each.name: each.digest for each in consumers if _is_edited(each, cursors.get(each.name))}
    looked_at = [name for name in reads if new[name] or name in edited or _is_waiting(cursors.get(name))]
    waiting = triggers.pending(tx, looked_at)
    suspended = _suspended(tx, consumers)
    taken = _under_way(tx, [each for each in consumers if each.name in waiting or new[each.name]])
    decided = []
    for each in consumers:
        before = waiting.get(each.name, [])
        decision = TriggerDecision(pending=tuple(before))
        if before or new[each.name]:
            slots = None if each.trigger.max_queued is None else each.trigger.max_queued - taken.get(each.process, 0)
            is_paused = each.process in suspended
            decision = decide(each.rule, before, new[each.name], now, slots, is_paused=is_paused)
        decided.append((each, before, decision))
    known = queries.newest_of(tx, {each.key(run.instance_key) for each, _, found in decided for run in _due(found)})
    return [
        replace(
            _plan(each, before, decision, known, positions.newest, suspended.get(each.process, "")),
            digest=edited.get(each.name, ""),
        )
        for each, before, decision in decided
    ]


def _is_waiting(cursor: TriggerCursor | None) -> bool:
    return cursor is not None and cursor.is_waiting


def _is_edited(consumer: TriggerConsumer, cursor: TriggerCursor | None) -> bool:
    return cursor is not None and cursor.digest != consumer.digest


def _new_updates(
    tx: Transaction, consumers: Sequence[TriggerConsumer], reads: Mapping[str, int], newest: int
) -> dict[str, list[Update]]:
    """Return the updates that each consumer has not read and that match an entry of its trigger, in order of commit."""
    found: dict[str, list[Update]] = {name: [] for name in reads}
    read = triggers.updates(tx, min(reads.values(), default=newest), newest)
    if not read:
        return found
    named, others = _by_dataset([each for each in consumers if reads[each.name] < newest])
    for update in read:
        for consumer in (*named.get(update.dataset, ()), *others):
            is_new = update.sequence > reads[consumer.name]
            if is_new and any(entry.matches(update) for entry in consumer.rule.entries()):
                found[consumer.name].append(update)
    return found


def _by_dataset(
    consumers: Iterable[TriggerConsumer],
) -> tuple[dict[str, list[TriggerConsumer]], list[TriggerConsumer]]:
    """Return the consumers by each dataset that they name, and those that may match any dataset."""
    named: dict[str, list[TriggerConsumer]] = {}
    others = []
    for consumer in consumers:
        datasets = [entry.datasets for entry in consumer.rule.entries()]
        if None in datasets:
            others.append(consumer)
            continue
        for dataset in dict.fromkeys(each for some in datasets if some is not None for each in sorted(some)):
            named.setdefault(dataset, []).append(consumer)
    return named, others


def _suspended(tx: Transaction, consumers: Iterable[TriggerConsumer]) -> dict[str, str]:
    """Return why processes are suspended, by name."""
    here = {each.cluster for each in consumers} | {start_check.EVERYWHERE}
    return {
        each.entity: f"suspended by {each.changed_by}" + (f": {each.reason}" if each.reason else "")
        for each in start_check.suspensions(tx)
        if each.cluster in here
    }


def _under_way(tx: Transaction, consumers: Collection[TriggerConsumer]) -> dict[str, int]:
    limited = [each.process for each in consumers if each.trigger.max_queued is not None]
    clusters = {each.cluster for each in consumers}
    return triggers.under_way(tx, limited, next(iter(clusters))) if limited else {}


def _due(decision: TriggerDecision) -> Iterator[DueRun]:
    """Yield the decided runs with the keys of their instances.

    With `by: any_update` the instance is of the time of the newest event, as a whole minute.
    """
    for run in decision.runs:
        newest = max(each.recorded_at for each in run.causes)
        key = run.process_key or format_instant(
            newest - timedelta(seconds=newest.second, microseconds=newest.microsecond)
        )
        yield DueRun(instance_key=key, run=run)


def _plan(
    consumer: TriggerConsumer,
    before: Sequence[Pending],
    decision: TriggerDecision,
    known: Mapping[RunKey, Run],
    newest: int,
    suspension: str,
) -> ConsumerPlan:
    sorted_out: dict[str, list[DueRun]] = {"due": [], "delayed": [], "refused": [], "killed": []}
    planned: set[str] = set()
    for run in _due(decision):
        kind = _kind(run, known.get(consumer.key(run.instance_key)), planned, consumer.trigger.max_chain)
        sorted_out[kind].append(run)
        if kind == "due":
            planned.add(run.instance_key)
    return ConsumerPlan(
        consumer=consumer,
        sequence=newest,
        decision=decision,
        before=before,
        suspension=suspension,
        known=known,
        due=sorted_out["due"],
        delayed=sorted_out["delayed"],
        refused=sorted_out["refused"],
        killed=sorted_out["killed"],
    )


def _kind(run: DueRun, attempt: Run | None, planned: Collection[str], max_chain: int) -> str:
    """Return what becomes of a decided run: the attribute of `ConsumerPlan` that has it."""
    if run.run.chain > max_chain:
        return "refused"
    if run.instance_key in planned or (attempt is not None and not attempt.status.is_terminal):
        return "delayed"
    is_killed_ahead = attempt is not None and attempt.status is RunStatus.KILLED and attempt.started_at is None
    return "killed" if is_killed_ahead else "due"
