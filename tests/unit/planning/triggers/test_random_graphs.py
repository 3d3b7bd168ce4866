"""Random graphs of processes, given to `decide` and to the oracle, which must start the same runs in the same order."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    precondition,
    rule,
    run_state_machine_as_test,
)

from tests.examples import share_of
from tests.unit.planning.triggers.oracle import Consumer, Event
from toolkit.entities.trigger_vocabulary import Coalesce, GroupBy, OnPause, ScheduleMode, UpdateKind
from toolkit.entities.vocabulary import Order
from toolkit.planning.triggers import (
    RETRACTIONS,
    CompiledCondition,
    CompiledEntry,
    Pending,
    TriggerDecision,
    TriggerRule,
    Update,
    decide,
)

BEGIN = datetime(2026, 3, 1, tzinfo=UTC)
DAYS = st.sampled_from([1, 2, 3, 3, 4, 4, 7])
PROCESSES = st.integers(0, 19)
OUTSIDE = ["outside-1", "outside-2", "outside-3"]
DATASETS = st.sampled_from([*OUTSIDE * 5, *(f"of-{number}" for number in range(20))])
COUNTS = st.sampled_from([1, 1, 1, 1, 2, 3])
KINDS = st.sampled_from(["available", "available", "updated"])
ENTRIES = st.tuples(st.frozensets(DATASETS, min_size=1, max_size=3), COUNTS, st.integers(0, 2), st.just(0))
CONDITIONS = st.recursive(
    st.tuples(st.sampled_from(["all", "any"]), st.lists(ENTRIES, min_size=1, max_size=3)),
    lambda inner: st.tuples(st.sampled_from(["all", "any"]), st.lists(inner | ENTRIES, min_size=1, max_size=2)),
    max_leaves=2,
)
MINUTES = st.sampled_from([0, 0, 0, -10, 10, 300])
"""By so much a clock is wrong, or an event was committed late."""


@dataclass(frozen=True)
class Spec:
    """A process as it is drawn."""

    condition: Any
    keyed: bool
    kinds: tuple[str, ...]
    coalesce: Coalesce
    order: Order
    valid_for: int | None
    expires: dict[str, int]
    on_pause: OnPause
    schedule: ScheduleMode
    step: int
    max_queued: int | None

    @property
    def days(self) -> range:
        """The instances of the process."""
        return range(1, 10, self.step)


SPECS = st.builds(
    Spec,
    condition=CONDITIONS,
    keyed=st.booleans(),
    kinds=st.sampled_from([("available",), ("available", "updated")]),
    coalesce=st.sampled_from(Coalesce),
    order=st.sampled_from(Order),
    valid_for=st.none() | st.sampled_from([60, 1440]),
    expires=st.dictionaries(DATASETS, st.sampled_from([5, 1440]), max_size=2),
    on_pause=st.sampled_from(OnPause),
    schedule=st.sampled_from([ScheduleMode.ALSO, ScheduleMode.AND, ScheduleMode.NEVER]),
    step=st.sampled_from([1, 1, 1, 3]),
    max_queued=st.none() | st.integers(1, 2),
)


def key_of(day: int | None) -> str:
    return "" if day is None else f"{day:02}"


def rule_of(spec: Spec, today: int) -> TriggerRule:
    """Return the rule of the product for a process."""
    waits = spec.schedule is ScheduleMode.AND
    return TriggerRule(
        condition=compiled(spec.condition, spec.days),
        by=GroupBy.KEY if spec.keyed else GroupBy.ANY_UPDATE,
        on=frozenset(UpdateKind(each) for each in spec.kinds),
        coalesce=spec.coalesce,
        order=spec.order,
        valid_for=None if spec.valid_for is None else timedelta(minutes=spec.valid_for),
        expires={dataset: timedelta(minutes=each) for dataset, each in spec.expires.items()},
        on_pause=spec.on_pause,
        is_valid_at=lambda _: True,
        may_run=lambda key: not waits or not key or int(key) <= today,
        follows=lambda before, after: int(before) + spec.step == int(after),
    )


def compiled(part: Any, days: range) -> CompiledCondition:  # noqa: ANN401 - nested tuples
    if part[0] in ("all", "any"):
        parts = [compiled(each, days) if each[0] in ("all", "any") else entry_of(each, days) for each in part[1]]
        return CompiledCondition(is_all=part[0] == "all", parts=parts)
    return CompiledCondition(is_all=True, parts=[entry_of(part, days)])


def entry_of(part: Any, days: range) -> CompiledEntry:  # noqa: ANN401 - nested tuples
    datasets, min_count, oldest, newest = part

    def keys(update: Update) -> list[str]:
        day = int(update.instance_key)
        return [key_of(each) for each in range(day + newest, day + oldest + 1) if each in days]

    return CompiledEntry(
        name="+".join(datasets), matches=lambda update: update.dataset in datasets, keys=keys, min_count=min_count
    )


@dataclass
class Member:
    """A process of the graph, with what each side knows of it."""

    spec: Spec
    oracle: Consumer
    read: int = 0
    pending: tuple[Pending, ...] = ()
    is_paused: bool = False
    running: list[tuple[int | None, int]] = field(default_factory=list)
    consumed: set[tuple[int, str]] = field(default_factory=set)


class Graph(RuleBasedStateMachine):
    """Processes that start one another by the updates of their outputs, and updates from outside."""

    def __init__(self) -> None:
        super().__init__()
        self.members: list[Member] = []
        self.log: list[tuple[Event, int]] = []
        self.now = 0

    @initialize(specs=st.lists(SPECS, min_size=1, max_size=20))
    def build(self, specs: list[Spec]) -> None:
        self.members = [
            Member(
                spec=spec,
                oracle=Consumer(
                    condition=spec.condition,
                    keyed=spec.keyed,
                    kinds=spec.kinds,
                    coalesce=spec.coalesce.value,
                    order=spec.order.value,
                    valid_for=spec.valid_for,
                    expires=spec.expires,
                    drops_in_pause=spec.on_pause is OnPause.DROP,
                    waits_for_time=spec.schedule is ScheduleMode.AND,
                    days=spec.days,
                ),
            )
            for spec in specs
        ]

    @rule(many=st.lists(st.tuples(DATASETS, DAYS | DAYS | DAYS | st.none(), KINDS, MINUTES), min_size=3, max_size=12))
    def update(self, many: list[tuple[str, int | None, str, int]]) -> None:
        for dataset, day, kind, wrong in many:
            self.append(dataset, day, kind, wrong)

    @precondition(lambda self: self.log)
    @rule(which=st.integers(0, 1000), kind=st.sampled_from(["retracted", "evicted"]))
    def take_back(self, which: int, kind: str) -> None:
        event, _ = self.log[-1 - which % min(len(self.log), 5)]
        self.append(event.dataset, event.day, kind, 0)

    @rule(which=PROCESSES)
    def pause_or_resume(self, which: int) -> None:
        member = self.members[which % len(self.members)]
        member.is_paused = not member.is_paused

    @rule(minutes=st.sampled_from([1, 30, 61, 1440]))
    def wait(self, minutes: int) -> None:
        self.now += minutes

    @rule(which=PROCESSES, day=DAYS)
    def run_by_time(self, which: int, day: int) -> None:
        member = self.members[which % len(self.members)]
        if member.spec.schedule is ScheduleMode.ALSO and not member.is_paused:
            self.append(f"of-{which % len(self.members)}", day, "available", 0)

    @rule(which=PROCESSES, has_failed=st.booleans(), wrong=MINUTES)
    def finish(self, which: int, has_failed: bool, wrong: int) -> None:  # noqa: FBT001 - drawn
        member = self.members[which % len(self.members)]
        if member.running:
            day, chain = member.running.pop(0)
            if not has_failed:
                self.append(f"of-{which % len(self.members)}", day, "available", wrong, chain)

    @rule(only=st.none() | PROCESSES)
    def look(self, only: int | None) -> None:
        for number, member in enumerate(self.members):
            if only is None or number == only % len(self.members):
                self.look_of(member)

    def append(self, dataset: str, day: int | None, kind: str, wrong: int, chain: int = 0) -> None:
        self.log.append((Event(len(self.log) + 1, dataset, day, kind, self.now + wrong), chain))

    def look_of(self, member: Member) -> None:
        new, member.read = self.log[member.read :], len(self.log)
        today = 1 + self.now // 1440
        limit = member.spec.max_queued
        room = None if limit is None else max(0, limit - len(member.running))
        updates = [update_of(event, chain) for event, chain in new]
        now = BEGIN + timedelta(minutes=self.now)
        before = member.pending
        decision = decide(rule_of(member.spec, today), before, updates, now, slots=room, is_paused=member.is_paused)
        expected = member.oracle.look([event for event, _ in new], self.now, today, room, paused=member.is_paused)
        found = [(run.process_key, run.first_key, [each.sequence for each in run.causes]) for run in decision.runs]
        assert found == [(key_of(day), key_of(first), numbers) for day, first, numbers in expected]
        waiting = sorted((event.number, key_of(day)) for event, day in member.oracle.waiting)
        assert [(each.update.sequence, each.process_key) for each in decision.pending] == waiting
        check_that_nothing_is_lost(member, updates, decision)
        member.pending = tuple(decision.pending)
        for run in decision.runs:
            member.running.append((int(run.process_key) if run.process_key else None, run.chain))


def check_that_nothing_is_lost(member: Member, new: list[Update], decision: TriggerDecision) -> None:
    """Check that each update waits, is over or is consumed, and that none is consumed twice for an instance."""
    rule = rule_of(member.spec, 1)
    matching = {each.sequence for each in new if any(entry.matches(each) for entry in rule.entries())}
    given = {each.update.sequence for each in member.pending} | matching
    consumed = {(cause.sequence, run.process_key) for run in decision.runs for cause in run.causes}
    waiting = {each.update.sequence for each in decision.pending}
    over = {each.pending.update.sequence for each in decision.dropped}
    back = {each.sequence for each in new if each.kind in RETRACTIONS}
    assert given - back == (waiting | over | {sequence for sequence, _ in consumed}) & given - back
    if member.spec.coalesce in {Coalesce.NONE, Coalesce.LATEST}:  # a merged run has events of other instances too
        assert not consumed & member.consumed
        member.consumed |= consumed


def update_of(event: Event, chain: int) -> Update:
    return Update(
        sequence=event.number,
        dataset=event.dataset,
        feed="",
        instance_key=key_of(event.day),
        kind=event.kind,
        recorded_at=BEGIN + timedelta(minutes=event.time),
        chain=chain,
    )


def test_random_graphs_start_the_same_runs_in_the_same_order() -> None:
    run_state_machine_as_test(
        Graph,
        settings=settings(
            max_examples=share_of(160), stateful_step_count=50, deadline=None, suppress_health_check=list(HealthCheck)
        ),
    )
