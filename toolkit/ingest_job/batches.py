"""Batches of an ingest: units that are committed, and files that are put away."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

from toolkit.actions.action import Applied, Batch, RunContext
from toolkit.actions.attempt import FailedAttempt, attempted
from toolkit.actions.guard import CalledOff
from toolkit.actions.model import INTERRUPTED, ItemResult, Problem
from toolkit.errors import Failed, FeedctlError
from toolkit.ingest.errors import CommitUnknown
from toolkit.ingest.port import WRITER_PROPERTY
from toolkit.ingest_job.directory import DirectorySource
from toolkit.ingest_job.feed_ingester import FeedIngester
from toolkit.ingest_job.planner import last_read
from toolkit.ingest_job.rejects import RejectLog
from toolkit.ingest_job.spread_ingester import SpreadIngester
from toolkit.ingest_job.targets import READ, WATERMARK, IngestItem, IngestPlan, code_of
from toolkit.result import Outcome
from toolkit.runs.errors import Stopped

if TYPE_CHECKING:
    from toolkit.ingest.port import TableState
    from toolkit.ingest.remote_transaction import FillRows
    from toolkit.ingest_job.source import IngestSource, Progress, SourceUnit

OUT_OF_TIME, NOT_COMMITTED, NOT_READ = "out_of_time", "not_committed", "not_read_to_its_end"
"""Codes of units that were left to the next run, of files that are not put away since they are not committed, and of a
watermark that is not written since something was not read."""


class SourceReadMeanwhile(Failed):
    """Error for a source that another run has read since the plan was made.

    Args:
        name: under which the table keeps the progress.
    """

    code = "progress_moved"

    def __init__(self, *, name: str) -> None:
        self.name = name
        super().__init__(f"the progress {name} of the table has moved since the plan was made; run it again")


@dataclass(kw_only=True)
class TargetIngest:
    """State of the run of a target between its batches.

    Attributes:
        plan: of the target.
        work: of the run.
        stack: closes what is opened.
        fill: makes what adds the partition columns, by the state of the table.
        max_seconds: so long transactions begin; None: until all is read.
        now: seconds of a clock that only goes forward.
        failed: why nothing more is committed.
    """

    plan: IngestPlan
    work: RunContext
    stack: ExitStack
    fill: Callable[[TableState | None], FillRows]
    max_seconds: float | None
    now: Callable[[], float]
    failed: Problem | None = None
    _ingester: FeedIngester | None = field(default=None, init=False)

    def batch(self, kind: str, positions: range) -> Batch[IngestItem]:
        """Return the batch of items of one kind."""
        return _BATCHES.get(kind, _PutAwayBatch)(run=self, positions=positions)

    @property
    def source(self) -> IngestSource:
        """Return the source of the plan."""
        if self.plan.detail.source is None:
            raise ValueError(self.plan.label)
        return self.plan.detail.source

    def is_done(self, item: IngestItem) -> bool:
        """Return whether a unit was committed to its end."""
        return self._ingester is not None and self._ingester.is_done(item.unit)

    @property
    def progress(self) -> Progress:
        """Return the progress as far as it is committed."""
        return self.plan.detail.progress if self._ingester is None else self._ingester.progress

    @property
    def ingester(self) -> FeedIngester:
        """Return the ingester, which connects to the table when first used.

        Raises:
            FeedctlError: the table cannot be written to, or another run has read the source.
        """
        if self._ingester is None:
            self._ingester = self._opened()
        return self._ingester

    def _opened(self) -> FeedIngester:
        target, detail, work = self.plan.target, self.plan.detail, self.work
        self.stack.callback(self.source.close)
        name = f"{target.instance_key.replace(':', '')}-{work.run_name}"
        rejects = RejectLog(table=target.table.name, rules=target.rejects, name=name, stores=work.stores, detail=detail)
        fill = self.fill(target.table.state())
        writer = target.table.writer(target.progress_name, rejects.reject, fill, target.instances.late_events)
        self.stack.callback(writer.close)
        if target.progress_name and writer.progress() != detail.progress:
            raise SourceReadMeanwhile(name=f"{WRITER_PROPERTY}{target.progress_name}")
        seconds = self.max_seconds
        made: Callable[..., FeedIngester] = partial(FeedIngester, source=self.source)
        if target.is_spread:
            made = self._spread()
        return made(
            writer=writer,
            limits=target.limits,
            rejects=rejects,
            detail=detail,
            progress=detail.progress,
            keeps_progress=bool(target.progress_name),
            before_commit=self.check,
            passed=work.progress.copied,
            ends_at=None if seconds is None else self.now() + seconds,
            now=self.now,
        )

    def _spread(self) -> Callable[..., FeedIngester]:
        """Return the ingester that uses executors; who makes the target sees to it that there are some."""
        target, source, executors = self.plan.target, self.source, self.work.executors
        if not isinstance(source, DirectorySource) or executors is None:
            raise ValueError(self.plan.label)
        store = self.work.copying.spec_of(target.base)
        return partial(SpreadIngester, source=source, table=target.table.name, store=store, executors=executors)

    def check(self) -> None:
        """Ask whether an effect may begin.

        Raises:
            Stopped: the run must not go on.
            CalledOff: a hold is on the feed.
        """
        refusal = self.work.guard.refusal(self.plan.target.base)
        self.work.guard.check()
        if refusal is not None:
            raise CalledOff(refusal=refusal)


@dataclass(frozen=True, kw_only=True, slots=True)
class _ReadBatch:
    """Units that are read and committed together; see `Batch`."""

    run: TargetIngest
    positions: range

    def apply(self, advance: Callable[[int], None]) -> Applied[IngestItem]:
        """Commit the units, as far as there is time."""
        items = [self.run.plan.items[at] for at in self.positions]
        failed = self.run.failed
        errors: dict[str, FeedctlError] = {}
        refusal = self.run.work.guard.refusal(self.run.plan.target.base)
        if failed is None and refusal is None:
            try:
                errors = self.run.ingester.ingest([item.unit for item in items])
            except CalledOff as called_off:
                refusal = called_off.refusal
            except Stopped as stopped:
                self.run.work.guard.stop(stopped)
                failed = Problem(code=INTERRUPTED, message=f"{stopped.reason}; the next run goes on")
            except FeedctlError as error:
                failed = Problem(code=code_of(error), message=str(error))
        results = []
        for item in items:
            result = self._result(item, errors.get(item.uri), failed)
            results.append(refusal.of(item) if refusal is not None and result.outcome is not Outcome.DONE else result)
        advance(len(items))
        unknown = failed is not None and failed.code in (INTERRUPTED, CommitUnknown.code)
        open_now = (at for at, result in zip(self.positions, results, strict=True) if result.outcome is Outcome.FAILED)
        return Applied(
            results=tuple(results),
            open=frozenset(open_now if unknown else ()),
            failed=failed,
            notes=tuple(self._notes()),
        )

    def _result(self, item: IngestItem, error: FeedctlError | None, failed: Problem | None) -> ItemResult[IngestItem]:
        if self.run.is_done(item):
            return ItemResult.done(item)
        if error is not None:
            return ItemResult.failed(item, code_of(error), str(error))
        if failed is not None:
            return ItemResult.failed(item, failed.code, failed.message)
        return ItemResult.skipped(item, OUT_OF_TIME)

    def _notes(self) -> Iterator[str]:
        detail = self.run.plan.detail
        if detail.is_out_of_time and self.positions.stop >= last_read(self.run.plan.items):
            left = [item for item in self.run.plan.items if item.kind == READ and not self.run.is_done(item)]
            size = sum(item.unit.end - detail.offsets.get(item.uri, item.unit.start) for item in left if item.unit.end)
            yield f"the time was over: {len(left)} units are left, with {size} bytes or offsets; the next run goes on"


@dataclass(frozen=True, kw_only=True, slots=True)
class _PutAwayBatch:
    """Units whose records are committed, and that are archived or deleted; see `Batch`."""

    run: TargetIngest
    positions: range

    def apply(self, advance: Callable[[int], None]) -> Applied[IngestItem]:
        """Put away each of them that is finished by the progress of the table."""
        finished = {unit.name: unit for unit in self.run.source.finished(self.run.progress)}
        results = []
        for at in self.positions:
            item = self.run.plan.items[at]
            results.append(self._result(item, finished.get(item.uri)))
            advance(1)
        return Applied(results=tuple(results))

    def _result(self, item: IngestItem, unit: SourceUnit | None) -> ItemResult[IngestItem]:
        work = self.run.work
        if unit is None:
            return ItemResult.skipped(item, NOT_COMMITTED)
        if (refusal := work.guard.refusal(self.run.plan.target.base)) is not None:
            return refusal.of(item)
        try:
            self.run.source.put_away(unit, work.stores)
        except CalledOff as called_off:
            return called_off.refusal.of(item)
        except Stopped:
            raise
        except FeedctlError as error:
            return ItemResult.failed(item, code_of(error), str(error))
        return ItemResult.done(item)


@dataclass(frozen=True, kw_only=True, slots=True)
class _WatermarkBatch:
    """The watermark of a table whose source was read to its end; see `Batch`."""

    run: TargetIngest
    positions: range

    def apply(self, advance: Callable[[int], None]) -> Applied[IngestItem]:
        """Write the watermark, unless something of the plan was not read to its end."""
        plan, (at,) = self.run.plan, self.positions
        item = plan.items[at]
        advance(1)
        if any(each.kind == READ and not self.run.is_done(each) for each in plan.items):
            return Applied(results=(ItemResult.skipped(item, NOT_READ),))
        found = attempted(self.run.work, self._write, failures=(FeedctlError,))
        return Applied(results=(found.of(item) if isinstance(found, FailedAttempt) else ItemResult.done(item),))

    def _write(self) -> None:
        target, watermark = self.run.plan.target, self.run.plan.detail.watermark
        self.run.check()
        if watermark is not None:
            target.table.set_watermark(watermark.properties, target.instances.late_events)


_BATCHES: Mapping[str, Callable[..., Batch[IngestItem]]] = {READ: _ReadBatch, WATERMARK: _WatermarkBatch}
