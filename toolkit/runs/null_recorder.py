"""The recorder of runs without a ledger."""

from __future__ import annotations

from collections.abc import Sequence

from typing_extensions import override

from toolkit.errors import Skipped
from toolkit.ledger.runs.items import Item
from toolkit.ledger.runs.run_start import StartRequest
from toolkit.ledger.runs.status import Request
from toolkit.runs.recorder import (
    HeartbeatReply,
    NoRunEnds,
    RecordBatch,
    RecordedRun,
    Recorder,
    RunEnds,
    RunOutcome,
    SettledLeftOver,
)


class NullRecorder(Recorder):
    """A `Recorder` that keeps nothing; what the run does is in the audit file.

    Args:
        ends: receives the ends of runs.
    """

    place: str | None = None

    def __init__(self, ends: RunEnds | None = None) -> None:
        self._ends = ends or NoRunEnds()

    @override
    def start(self, request: StartRequest) -> RecordedRun:
        return RecordedRun(key=request.key)

    @override
    def start_many(self, requests: Sequence[StartRequest]) -> tuple[RecordedRun | None, ...]:
        return tuple(map(self.start, requests))

    @override
    def skip(self, request: StartRequest, _: Skipped, /) -> RecordedRun:
        return RecordedRun(key=request.key)

    @override
    def beat(self, _: Sequence[RecordedRun], /) -> HeartbeatReply:
        return HeartbeatReply()

    @override
    def record(self, run: RecordedRun, step: RecordBatch, *, is_repeated: bool = False) -> None:
        if step.intended:
            self._ends.works(run)

    @override
    def let_others_work(self, run: RecordedRun) -> None: ...

    @override
    def left_over(self, run: RecordedRun) -> tuple[Item, ...]:
        del run
        return ()

    @override
    def settle_left_over(self, items: Sequence[SettledLeftOver]) -> bool:
        del items
        return True

    @override
    def pause(self, run: RecordedRun, request: Request) -> None: ...

    @override
    def go_on(self, run: RecordedRun, request: Request) -> None: ...

    @override
    def finish(self, run: RecordedRun, outcome: RunOutcome) -> None:
        self._ends.ended(run, outcome)

    @override
    def give_up(self) -> None: ...
