"""Reading units of a source and committing their records, each commit with the progress of the source."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import TYPE_CHECKING

from toolkit.actions.progress import Volume
from toolkit.errors import FeedctlError
from toolkit.ingest_job.executor_read import CHUNK_ROWS, OF_UNITS
from toolkit.ingest_job.source import IngestSource, Progress, SourceUnit
from toolkit.storage import Unreachable

if TYPE_CHECKING:
    from toolkit.ingest_job.rejects import RejectLog
    from toolkit.ingest_job.sink import TableWriter
    from toolkit.ingest_job.targets import CommitLimits, IngestDetail


@dataclass(kw_only=True)
class _Pending:
    """Content of the transaction that is open: how far each unit was read in it, and whether to its end."""

    reached: dict[str, tuple[SourceUnit, int, bool]] = field(default_factory=dict)
    rows: int = 0
    bytes: int = 0
    began: float = 0.0
    is_open: bool = False


@dataclass(kw_only=True)
class FeedIngester:
    """Commits units of a source; used by one thread at a time.

    Attributes:
        source: what is read.
        writer: of the table.
        limits: of a commit.
        rejects: keeps bad records.
        detail: counts what was committed.
        progress: of the source, as the table has it.
        keeps_progress: the table keeps it; else each commit is atomic and a killed run is not resumed.
        before_commit: asked before each commit; what it raises ends the run.
        passed: told of units and bytes that were committed.
        ends_at: by `now`: then the run ends after the current commit; None: never.
        now: seconds of a clock that only goes forward.
    """

    source: IngestSource
    writer: TableWriter
    limits: CommitLimits
    rejects: RejectLog
    detail: IngestDetail
    progress: Progress
    keeps_progress: bool
    before_commit: Callable[[], None]
    passed: Callable[[Volume], None] = lambda _: None
    ends_at: float | None = None
    now: Callable[[], float] = time.monotonic
    _pending: _Pending = field(default_factory=_Pending, init=False)
    _done: set[str] = field(default_factory=set, init=False)

    @property
    def is_out_of_time(self) -> bool:
        """Return whether no further transaction may begin."""
        return self.ends_at is not None and self.now() >= self.ends_at

    def is_done(self, unit: SourceUnit) -> bool:
        """Return whether a unit was committed to its end."""
        return unit.name in self._done

    def ingest(self, units: Sequence[SourceUnit]) -> dict[str, FeedctlError]:
        """Commit units, small ones together; one that fails by itself is left out, and the others are read again.

        Returns:
            The errors by the names of the units; without one a unit is done, or there was no time for it.

        Raises:
            FeedctlError: of the table; what was not committed by then is not committed.
        """
        errors: dict[str, FeedctlError] = {}
        left = list(units)
        with ExitStack() as unfinished:
            unfinished.callback(self._abort)
            while (failed := self._pass(left, is_apart=bool(errors))) is not None:
                unit, error = failed
                errors[unit.name] = error
                left = self._unread(left, errors)
            unfinished.pop_all()
        return errors

    def _unread(self, units: Sequence[SourceUnit], errors: Collection[str]) -> list[SourceUnit]:
        """Return what is left of units that did not fail."""
        open_units = (each for each in units if each.name not in errors and not self.is_done(each))
        return [replace(each, start=self.detail.offsets.get(each.name, each.start)) for each in open_units]

    def _pass(self, units: Sequence[SourceUnit], *, is_apart: bool) -> tuple[SourceUnit, FeedctlError] | None:
        """Commit units; the first that fails ends the pass, and takes what was not committed with it.

        Args:
            units: to read.
            is_apart: each has a commit of its own, so that the next one that fails takes nothing with it.
        """
        for unit in units:
            if self.is_out_of_time:
                break
            try:
                if not self._read(unit):
                    break
            except Unreachable:
                raise
            except OF_UNITS as error:
                self._abort()
                return unit, error
            if is_apart:
                self._commit()
        self._commit()
        self.detail.is_out_of_time = self.detail.is_out_of_time or any(not self.is_done(each) for each in units)
        return None

    def _read(self, unit: SourceUnit) -> bool:
        """Read a unit into transactions; False: the time was over before its end."""
        pending, reached = self._pending, unit.start
        for chunk in self.source.read(unit, rows=min(CHUNK_ROWS, self.limits.rows), max_bytes=self.limits.bytes):
            self._begin()
            self.rejects.reading(unit, chunk.positions)
            self.writer.write(chunk.records)
            size, reached = sum(map(len, chunk.records)), chunk.next
            pending = self._pending
            pending.reached[unit.name] = (unit, reached, reached == unit.end)
            pending.rows, pending.bytes = pending.rows + len(chunk.records), pending.bytes + size
            if self._is_full():
                self._commit()
                if self.is_out_of_time and not self.is_done(unit):
                    return False
        if not self.is_done(unit):
            self._pending.reached[unit.name] = (unit, reached, True)
        return True

    def _begin(self) -> None:
        if not self._pending.is_open:
            self.writer.begin()
            self._pending.is_open, self._pending.began = True, self.now()

    def _is_full(self) -> bool:
        pending, limits = self._pending, self.limits
        is_old = self.now() - pending.began >= limits.every / timedelta(seconds=1)
        return pending.rows >= limits.rows or pending.bytes >= limits.bytes or is_old or self.is_out_of_time

    def _commit(self) -> None:
        pending, progress = self._pending, self.progress
        for unit, reached, is_done in pending.reached.values():
            progress = self.source.advanced(progress, unit, reached, is_done=is_done)
        if pending.rows or (self.keeps_progress and progress != self.progress):
            self._begin()
            self.before_commit()
            rejected = self.rejects.flush()
            self.writer.commit(progress if self.keeps_progress else None)
            self.source.committed(progress)
            self.detail.commits += 1
            self.detail.rows += pending.rows - rejected
            self.detail.bytes += pending.bytes
        self.progress, self._pending = progress, _Pending()
        for unit, reached, is_done in pending.reached.values():
            offset = self.detail.offsets.get(unit.name, unit.start)
            self.passed(Volume(files=int(is_done), bytes=reached - offset))
            self.detail.offsets[unit.name] = reached
            if is_done:
                self._done.add(unit.name)

    def _abort(self) -> None:
        self._pending = _Pending()
        self.rejects.drop()
        self.writer.abort()
