"""Decisions of triggers, applied: one transaction moves cursors, records causes, and creates the runs as `ready`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING

from toolkit.ledger import triggers
from toolkit.ledger.errors import LedgerConflict
from toolkit.ledger.runs import data_orders
from toolkit.ledger.state import start_check
from toolkit.ledger.triggers import TriggerPositions
from toolkit.triggers.plan import ConsumerPlan, DueRun, plan

if TYPE_CHECKING:
    from toolkit.ledger.database import Ledger, Transaction
    from toolkit.ledger.runs.rows import Origin
    from toolkit.triggers.consumer import TriggerConsumer

_AT_ONCE = 200
"""So many consumers are decided for in one transaction, which keeps producers from nothing."""
CAUSE = "data was updated"
"""Cause of a triggered run, in the ledger; the table `trigger_cause` has the events."""


@dataclass(frozen=True, kw_only=True, slots=True)
class CreatedRun:
    """Run that a decision has created.

    Attributes:
        due: what caused it.
        run_id: of its row; None: it was only planned.
    """

    due: DueRun
    run_id: int | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class ConsumerResult:
    """Result of the decision for one consumer.

    Attributes:
        plan: what was decided.
        created: its runs, in their order.
    """

    plan: ConsumerPlan
    created: Sequence[CreatedRun] = ()


@dataclass(frozen=True, kw_only=True)
class TriggerDecider:
    """Decides for the consumers of a cluster.

    Attributes:
        ledger: with the events.
        now: returns the instant by the wall clock.
        origin_of: returns the origin of a run of a process.
    """

    ledger: Ledger = field(repr=False)
    now: Callable[[], datetime]
    origin_of: Callable[[str], Origin]

    def preview(self, consumers: Sequence[TriggerConsumer]) -> list[ConsumerResult]:
        """Return what a decision would come to; writes nothing."""

        def work(tx: Transaction) -> list[ConsumerResult]:
            positions = triggers.positions(tx)
            chosen = _to_decide(consumers, positions)
            plans = plan(tx, chosen, positions, self.now()) if chosen else []
            return [ConsumerResult(plan=each, created=[CreatedRun(due=run) for run in each.due]) for each in plans]

        return self.ledger.read(work)

    def decide(self, consumers: Sequence[TriggerConsumer]) -> list[ConsumerResult]:
        """Decide, and write down what follows; nothing new costs one statement, whatever the number of consumers.

        Raises:
            SafeModeIsOn: the whole installation rests, so that nothing was written.
            LedgerUnavailable: the ledger cannot be used.
        """
        positions = self.ledger.read(triggers.positions)
        chosen = _to_decide(consumers, positions)
        return [each for some in _parts(chosen) for each in self.ledger.write(partial(self._apply, consumers=some))]

    def _apply(self, tx: Transaction, consumers: Sequence[TriggerConsumer]) -> list[ConsumerResult]:
        """Decide for consumers whose cursors this transaction locks; what others have decided meanwhile is over."""
        start_check.refuse_in_safe_mode(tx)
        _subscribe(tx, consumers)
        cursors = triggers.lock(tx, [each.name for each in consumers])
        positions = replace(triggers.positions(tx), cursors=cursors)
        plans = plan(tx, _to_decide(consumers, positions), positions, self.now())
        created = self._create(tx, plans)
        triggers.record(tx, [each.step for each in plans])
        return created

    def _create(self, tx: Transaction, plans: Sequence[ConsumerPlan]) -> list[ConsumerResult]:
        orders = {
            each.consumer.key(run.instance_key): self.origin_of(each.consumer.process)
            for each in plans
            for run in each.due
        }
        added = data_orders.order_by_data(tx, orders, plans[0].known if plans else {}, CAUSE)
        if len(added) < len(orders):
            raise LedgerConflict(place=self.ledger.place, why="another process has begun the same instance meanwhile")
        results = []
        for each in plans:
            runs = [CreatedRun(due=run, run_id=added[each.consumer.key(run.instance_key)].run_id) for run in each.due]
            results.append(ConsumerResult(plan=each, created=runs))
        causes = {run.run_id: run.due.causes for each in results for run in each.created if run.run_id is not None}
        triggers.record_causes(tx, causes)
        return results


def _to_decide(consumers: Sequence[TriggerConsumer], positions: TriggerPositions) -> list[TriggerConsumer]:
    """Return the consumers that need a decision, in the order in which their cursors are locked."""
    return sorted(
        (each for each in consumers if positions.needs_decision(each.name, each.digest)), key=lambda each: each.name
    )


def _subscribe(tx: Transaction, consumers: Sequence[TriggerConsumer]) -> None:
    positions = triggers.positions(tx)
    new = [each for each in consumers if each.name not in positions.cursors]
    starts = {each.name: each.start(positions.newest) for each in new}
    triggers.subscribe(tx, starts, {each.name: each.digest for each in new})


def _parts(consumers: Sequence[TriggerConsumer]) -> Iterator[Sequence[TriggerConsumer]]:
    yield from (consumers[first : first + _AT_ONCE] for first in range(0, len(consumers), _AT_ONCE))
