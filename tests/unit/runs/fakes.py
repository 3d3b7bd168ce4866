"""A recorder and an audit trail in memory, and a clock that is moved by hand."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from toolkit.errors import Skipped
from toolkit.ledger.events import NewEvent
from toolkit.ledger.runs.errors import TooManyRun
from toolkit.ledger.runs.items import Item, NewItem, SettledItem
from toolkit.ledger.runs.leases import Wanted
from toolkit.ledger.runs.rows import Origin, Run, RunKey
from toolkit.ledger.runs.run_start import StartRequest
from toolkit.ledger.runs.status import Request
from toolkit.ledger.vocabulary import ItemState, LifeCycle, RequestKind, RunStatus
from toolkit.runs.audit_lines import AuditLine
from toolkit.runs.errors import AuditLost, LedgerLost
from toolkit.runs.lease import Heartbeat
from toolkit.runs.recorder import HeartbeatReply, RecordBatch, RecordedRun, RunOutcome, SettledLeftOver
from toolkit.runs.run import Envelope
from toolkit.runs.stop import NeverStopped, StopSignal

THEN = datetime(2026, 3, 20, 12, tzinfo=UTC)


def start_request(entity: str = "clicks", seconds: float = 60) -> StartRequest:
    key = RunKey(life_cycle=LifeCycle.EVICTION, entity=entity, cluster="primary", instance_key="2026-03-20T12:00Z")
    leases = (Wanted(resource=f"evict/{entity}/primary"),)
    return StartRequest(key=key, origin=Origin(who="alice"), leases=leases, lease_seconds=seconds)


def item(position: int = 0, path: str = "file:///data/1") -> NewItem:
    return NewItem(position=position, kind="instance:data", path=path, instance_key="2026-03-01T00:00Z")


def left_item(new: NewItem, run_id: int = 7) -> Item:
    """An item that its run intended and never settled."""
    return Item(
        run_id=run_id, position=new.position, kind=new.kind, path=new.path, instance_key=new.instance_key,
        state=ItemState.INTENDED, code=None, message=None, intended_at=THEN, settled_at=None,
    )  # fmt: skip


def done(position: int = 0) -> SettledItem:
    return SettledItem(position=position, state=ItemState.DONE)


def request(kind: RequestKind, number: int = 1, run_id: int = 1) -> Request:
    return Request(request_id=number, run_id=run_id, kind=kind, requested_by="bob", requested_at=THEN, honoured_at=None)


@dataclass
class HandClock:
    """Seconds that pass when they are told to."""

    now: float = 1000.0

    def __call__(self) -> float:
        return self.now

    def forward(self, seconds: float) -> None:
        self.now += seconds


@dataclass
class AuditMemory:
    """Keeps lines; fails from the call on whose number is given."""

    lines: list[AuditLine] = field(default_factory=list)
    fails_at: int | None = None
    calls: int = 0

    def write(self, lines: Iterable[AuditLine]) -> None:
        self.calls += 1
        if self.fails_at is not None and self.calls >= self.fails_at:
            raise AuditLost(place="/audit.jsonl", why="No space left on device")
        self.lines.extend(lines)

    def reported(self) -> list[tuple[object, object]]:
        """Return what each line is about, and what it says of it."""
        return [(line["path"] if line["what"] == "item" else line["what"], line["state"]) for line in self.lines]


@dataclass
class MemoryRecorder:
    """A ledger in a few lists.

    Attributes:
        refusals: why runs of an entity are not started.
        fails_at: from the record on whose number is given, the ledger is lost.
        open_requests: what commands asked.
        lost: runs that another one has taken over.
        taken_over: runs of dead owners that the next one to start takes over.
        left: items that killed runs of `left_entity` left open.
        before_record: is called with each step.
        full_for: so many times there is no room for a run that is to go on.
    """

    refusals: dict[str, Skipped] = field(default_factory=dict)
    fails_at: int | None = None
    open_requests: list[Request] = field(default_factory=list)
    lost: set[int] = field(default_factory=set)
    taken_over: tuple[Run, ...] = ()
    left: list[Item] = field(default_factory=list)
    left_entity: str = "clicks"
    before_record: Callable[[RecordBatch], None] = lambda _: None
    place: str | None = "memory"
    runs: dict[int, RunKey] = field(default_factory=dict)
    steps: list[RecordBatch] = field(default_factory=list)
    skips: list[str] = field(default_factory=list)
    statuses: list[RunStatus] = field(default_factory=list)
    outcomes: dict[int, RunOutcome] = field(default_factory=dict)
    settled_left: list[SettledLeftOver] = field(default_factory=list)
    left_conflicts: int = 0
    full_for: int = 0
    honoured: list[int] = field(default_factory=list)
    beats: int = 0
    records: int = 0
    shared: int = 0
    repeated: int = 0

    def start(self, request: StartRequest) -> RecordedRun:
        if request.key.entity in self.refusals:
            raise self.refusals[request.key.entity]
        run_id = len(self.runs) + 1
        self.runs[run_id] = request.key
        self.statuses.append(RunStatus.RUNNING)
        return RecordedRun(
            key=request.key,
            run_id=run_id,
            attempt=1,
            lease_seconds=request.lease_seconds,
            taken_over=self.taken_over,
        )

    def start_many(self, requests: Sequence[StartRequest]) -> tuple[RecordedRun | None, ...]:
        return tuple(None if each.key.entity in self.refusals else self.start(each) for each in requests)

    def skip(self, request: StartRequest, skipped: Skipped) -> RecordedRun:
        self.skips.append(str(skipped))
        run_id = len(self.runs) + 1
        self.runs[run_id] = request.key
        return RecordedRun(key=request.key, run_id=run_id, attempt=1)

    def beat(self, runs: Sequence[RecordedRun]) -> HeartbeatReply:
        self.beats += 1
        if self.fails_at is not None and self.records >= self.fails_at:
            raise LedgerLost(why="gone")
        ids = {run.run_id for run in runs if run.run_id is not None}
        requested = [each for each in self.open_requests if each.request_id not in self.honoured]
        lost = dict.fromkeys(ids & self.lost, "taken over")
        return HeartbeatReply(renewed=frozenset(ids - self.lost), lost=lost, requests=tuple(requested))

    def record(self, run: RecordedRun, step: RecordBatch, *, is_repeated: bool = False) -> None:
        del run
        self.records += 1
        self.before_record(step)
        self.repeated += is_repeated
        if self.fails_at is not None and self.records >= self.fails_at:
            raise LedgerLost(why="gone")
        self.steps.append(step)

    def let_others_work(self, run: RecordedRun) -> None:
        del run
        if self.fails_at is not None and self.records >= self.fails_at:
            raise LedgerLost(why="gone")
        self.shared += 1

    def left_over(self, run: RecordedRun) -> tuple[Item, ...]:
        return tuple(self.left) if run.key.entity == self.left_entity else ()

    def settle_left_over(self, items: Sequence[SettledLeftOver]) -> bool:
        if self.left_conflicts:
            self.left_conflicts -= 1
            return False
        self.settled_left.extend(items)
        return True

    def pause(self, run: RecordedRun, request: Request) -> None:
        del run
        self.statuses.append(RunStatus.SUSPENDED)
        self.honoured.append(request.request_id)

    def go_on(self, run: RecordedRun, request: Request) -> None:
        if self.full_for:
            self.full_for -= 1
            raise TooManyRun(key=run.key, most=1, under_way=1)
        self.statuses.append(RunStatus.RUNNING)
        self.honoured.append(request.request_id)

    def finish(self, run: RecordedRun, outcome: RunOutcome) -> None:
        if self.fails_at is not None and self.records >= self.fails_at:
            raise LedgerLost(why="gone")
        assert run.run_id is not None
        assert run.run_id not in self.outcomes
        self.outcomes[run.run_id] = outcome

    def give_up(self) -> None:
        """See `Recorder.give_up`."""

    def states(self) -> list[tuple[str, ItemState]]:
        """Return the states of all items, in the order of writing."""
        paths: dict[int, str] = {}
        found: list[tuple[str, ItemState]] = []
        for step in self.steps:
            found += [(paths[each.position], each.state) for each in step.settled]
            paths |= {each.position: each.path for each in step.intended}
            found += [(each.path, ItemState.INTENDED) for each in step.intended]
        return found

    def events(self) -> list[NewEvent]:
        return [event for step in self.steps for event in step.events]


def envelope_of(
    recorder: MemoryRecorder,
    heartbeat: Heartbeat,
    *,
    audit: AuditMemory | None = None,
    process: StopSignal | None = None,
    clock: HandClock | None = None,
) -> Envelope:
    return Envelope(
        recorder=recorder,
        audit=audit or AuditMemory(),
        process=process or NeverStopped(),
        heartbeat=heartbeat,
        lease_seconds=60,
        clock=clock or HandClock(),
    )
