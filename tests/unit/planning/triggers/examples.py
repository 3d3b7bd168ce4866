"""Small rules and updates: datasets are letters, process instances are days `01` to `31`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta

from toolkit.entities.trigger_vocabulary import Coalesce, GroupBy, OnPause, UpdateKind
from toolkit.entities.vocabulary import Order
from toolkit.planning.triggers import CompiledCondition, CompiledEntry, TriggerDecision, TriggerRule, Update

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)


def update(
    sequence: int,
    dataset: str,
    day: str = "",
    *,
    kind: str = "available",
    ago: timedelta = timedelta(),
    chain: int = 0,
) -> Update:
    """Return an update of a dataset; it was recorded at `NOW`, unless `ago` says otherwise."""
    return Update(
        sequence=sequence,
        dataset=dataset,
        feed=dataset,
        instance_key=day,
        kind=kind,
        recorded_at=NOW - ago,
        chain=chain,
    )


def entry(dataset: str, min_count: int = 1, reads: Mapping[str, Sequence[str]] | None = None) -> CompiledEntry:
    """Return an entry of one dataset; a process instance reads the instance of the same day, unless `reads` has it."""
    return CompiledEntry(
        name=dataset,
        matches=lambda each: each.dataset == dataset,
        keys=lambda each: (each.instance_key,) if reads is None else reads.get(each.instance_key, ()),
        min_count=min_count,
    )


def all_of(*parts: str | CompiledEntry | CompiledCondition) -> CompiledCondition:
    """Return the condition that all parts hold; a text is an entry."""
    return CompiledCondition(is_all=True, parts=[entry(each) if isinstance(each, str) else each for each in parts])


def any_of(*parts: str | CompiledEntry | CompiledCondition) -> CompiledCondition:
    """Return the condition that one part holds; a text is an entry."""
    return CompiledCondition(is_all=False, parts=[entry(each) if isinstance(each, str) else each for each in parts])


def rule(
    condition: CompiledCondition,
    *,
    by: GroupBy = GroupBy.KEY,
    on: frozenset[UpdateKind] = frozenset({UpdateKind.AVAILABLE}),
    coalesce: Coalesce = Coalesce.NONE,
    order: Order = Order.FIFO,
    valid_for: timedelta | None = None,
    expires: Mapping[str, timedelta] | None = None,
    on_pause: OnPause = OnPause.KEEP,
    is_valid_at: Callable[[datetime], bool] = lambda _: True,
    may_run: Callable[[str], bool] = lambda _: True,
) -> TriggerRule:
    """Return a rule for each day, where each run starts, oldest first."""
    return TriggerRule(
        condition=condition,
        by=by,
        on=on,
        coalesce=coalesce,
        order=order,
        valid_for=valid_for,
        expires=expires or {},
        on_pause=on_pause,
        is_valid_at=is_valid_at,
        may_run=may_run,
        follows=lambda before, after: int(after) == int(before) + 1,
    )


def runs(decision: TriggerDecision) -> list[tuple[str, list[int]]]:
    """Return the process instance and the causes of each run."""
    return [(each.process_key, [cause.sequence for cause in each.causes]) for each in decision.runs]


def dropped(decision: TriggerDecision) -> list[tuple[int, str, str]]:
    """Return the event, the process instance and the reason of each dropped update."""
    return [(each.pending.update.sequence, each.pending.process_key, each.reason.value) for each in decision.dropped]


def waiting(decision: TriggerDecision) -> list[tuple[int, str]]:
    """Return the event and the process instance of each pending update."""
    return [(each.update.sequence, each.process_key) for each in decision.pending]
