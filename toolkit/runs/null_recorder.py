"""The recorder of runs without a ledger."""

from __future__ import annotations

from collections.abc import Sequence

from toolkit.errors import Skipped
from toolkit.ledger.runs.items import Item
from toolkit.ledger.runs.starting import StartRequest
from toolkit.ledger.runs.status import Request
from toolkit.runs.recorder import HeartbeatReply, RecordBatch, RecordedRun, RunOutcome, SettledLeftOver


class NullRecorder:
    """A `Recorder` that keeps nothing; what the run does is in the audit file."""

    place: str | None = None

    def start(self, request: StartRequest) -> RecordedRun:
        """See `Recorder.start`."""
        return RecordedRun(key=request.key)

    def start_many(self, requests: Sequence[StartRequest]) -> tuple[RecordedRun | None, ...]:
        """See `Recorder.start_many`."""
        return tuple(map(self.start, requests))

    def skip(self, request: StartRequest, _: Skipped, /) -> RecordedRun:
        """See `Recorder.skip`."""
        return RecordedRun(key=request.key)

    def beat(self, _: Sequence[RecordedRun], /) -> HeartbeatReply:
        """See `Recorder.beat`."""
        return HeartbeatReply()

    def record(self, run: RecordedRun, step: RecordBatch, *, is_repeated: bool = False) -> None:
        """See `Recorder.record`."""

    def let_others_work(self, run: RecordedRun) -> None:
        """See `Recorder.let_others_work`."""

    def left_over(self, run: RecordedRun) -> tuple[Item, ...]:
        """See `Recorder.left_over`."""
        del run
        return ()

    def settle_left_over(self, items: Sequence[SettledLeftOver]) -> bool:
        """See `Recorder.settle_left_over`."""
        del items
        return True

    def pause(self, run: RecordedRun, request: Request) -> None:
        """See `Recorder.pause`."""

    def go_on(self, run: RecordedRun, request: Request) -> None:
        """See `Recorder.go_on`."""

    def finish(self, run: RecordedRun, outcome: RunOutcome) -> None:
        """See `Recorder.finish`."""

    def give_up(self) -> None:
        """See `Recorder.give_up`."""
