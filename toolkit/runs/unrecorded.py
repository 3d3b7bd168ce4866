"""Runs without the ledger, by the user's explicit choice: no row, no lease, no request reaches them."""

from __future__ import annotations

from collections.abc import Sequence

from toolkit.errors import Skipped
from toolkit.ledger.runs.items import Item
from toolkit.ledger.runs.starting import StartRequest
from toolkit.ledger.runs.status import Request
from toolkit.runs.recorder import Beat, RecordedRun, RunOutcome, SettledLeftOver, Step


class Unrecorded:
    """A `Recorder` that keeps nothing; what the run does is in the audit file."""

    place: str | None = None

    def start(self, request: StartRequest) -> RecordedRun:
        """See `Recorder.start`; nothing stands against it, since nobody knows."""
        return RecordedRun(key=request.key)

    def start_many(self, requests: Sequence[StartRequest]) -> tuple[RecordedRun | None, ...]:
        """See `Recorder.start_many`."""
        return tuple(map(self.start, requests))

    def skip(self, request: StartRequest, skipped: Skipped) -> RecordedRun:
        """See `Recorder.skip`."""
        del skipped
        return RecordedRun(key=request.key)

    def beat(self, runs: Sequence[RecordedRun]) -> Beat:
        """See `Recorder.beat`."""
        del runs
        return Beat()

    def record(self, run: RecordedRun, step: Step) -> None:
        """See `Recorder.record`."""

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
