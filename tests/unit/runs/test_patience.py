"""A ledger that is away is waited for as long as the lease lasts, and no longer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import pytest

from tests.unit.runs.fakes import AuditMemory, HandClock, MemoryRecorder, done, envelope_of, item, start_request
from toolkit.ledger.errors import LedgerUnavailable
from toolkit.ledger.vocabulary import RunStatus
from toolkit.runs.errors import LedgerLost, Stopped
from toolkit.runs.lease import Deadline, Heartbeat
from toolkit.runs.patience import LedgerPatience
from toolkit.runs.recorder import HeartbeatReply, RecordBatch, RecordedRun, RunOutcome
from toolkit.runs.run import ActiveRun
from toolkit.runs.stop import ProcessStop


@dataclass
class Absent:
    """Work that needs a ledger which is away until some time."""

    clock: HandClock
    until: float
    lost: Exception = field(default_factory=lambda: LedgerLost(why="away", may_return=True))
    calls: list[bool] = field(default_factory=list)

    def __call__(self, is_repeated: bool, /) -> str:  # noqa: FBT001 - as `Patience` calls it
        self.calls.append(is_repeated)
        if self.clock() < self.until:
            raise self.lost
        return "recorded"


def patience(clock: HandClock, seconds: float = 60, check: Callable[[], None] = lambda: None) -> LedgerPatience:
    return LedgerPatience(deadline=Deadline(seconds=seconds, clock=clock), check=check, sleep=clock.forward)


@pytest.mark.parametrize("away", [1, 12, 49])
@pytest.mark.parametrize("lost", [LedgerLost(why="away", may_return=True), LedgerUnavailable(place="p", why="away")])
def test_it_waits_while_the_lease_lasts_and_says_that_it_calls_again(away: int, lost: Exception) -> None:
    clock = HandClock()
    work = Absent(clock, clock() + away, lost)
    assert patience(clock)(work) == "recorded"
    assert work.calls == [False] + [True] * (2 * away)


def test_it_waits_no_longer_than_the_lease() -> None:
    clock = HandClock()
    with pytest.raises(LedgerLost):
        patience(clock)(Absent(clock, clock() + 3600))
    assert 50 <= clock() - HandClock()() <= 51


@pytest.mark.parametrize("seconds", [float("inf"), 0])
def test_a_run_without_a_lease_does_not_wait(seconds: float) -> None:
    clock = HandClock()
    work = Absent(clock, clock() + 12)
    with pytest.raises(LedgerLost):
        patience(clock, seconds)(work)
    assert work.calls == [False]


def test_another_ledger_in_its_place_is_not_waited_for() -> None:
    clock = HandClock()
    work = Absent(clock, clock() + 12, LedgerLost(why="the ledger has no run 1"))
    with pytest.raises(LedgerLost):
        patience(clock)(work)
    assert work.calls == [False]


def test_a_process_that_is_told_to_stop_does_not_wait() -> None:
    clock, process = HandClock(), ProcessStop()
    work = Absent(clock, clock() + 12)
    process.stop(Stopped(reason="received SIGTERM"))
    with pytest.raises(LedgerLost):
        patience(clock, check=process.check)(work)
    assert work.calls == [False]


@dataclass
class AwayRecorder(MemoryRecorder):
    """A ledger that is away until some time; time passes with each try."""

    clock: HandClock = field(default_factory=HandClock)
    until: float = 0.0

    def beat(self, runs: Sequence[RecordedRun]) -> HeartbeatReply:
        self._look()
        return super().beat(runs)

    def record(self, run: RecordedRun, step: RecordBatch, *, is_repeated: bool = False) -> None:
        self._look()
        super().record(run, step, is_repeated=is_repeated)

    def finish(self, run: RecordedRun, outcome: RunOutcome) -> None:
        self._look()
        super().finish(run, outcome)

    def _look(self) -> None:
        if self.clock() < self.until:
            self.clock.forward(5)
            raise LedgerLost(why="away", may_return=True)


@pytest.fixture
def away() -> AwayRecorder:
    return AwayRecorder()


def started(recorder: AwayRecorder, heartbeat: Heartbeat) -> ActiveRun:
    return envelope_of(recorder, heartbeat, audit=AuditMemory(), clock=recorder.clock).start(start_request())


def test_a_run_goes_on_while_the_ledger_is_away_and_records_what_it_did_once(away: AwayRecorder) -> None:
    with Heartbeat(away, seconds=3600) as heartbeat, started(away, heartbeat) as run:
        run.record(RecordBatch(intended=[item()]))
        away.until = away.clock() + 12
        assert heartbeat.beat(), "the next beat tries again"
        run.check()
        run.record(RecordBatch(settled=[done()]))
        assert len(away.steps) == 2
        away.until = away.clock() + 12
    assert away.outcomes[1].status is RunStatus.SUCCEEDED


def test_a_run_whose_lease_is_over_while_the_ledger_is_away_has_lost_the_ledger(away: AwayRecorder) -> None:
    with Heartbeat(away, seconds=3600) as heartbeat:
        run = started(away, heartbeat)
        away.until = away.clock() + 3600
        away.clock.forward(51)
        assert not heartbeat.beat()
        with pytest.raises(LedgerLost):
            run.check()
