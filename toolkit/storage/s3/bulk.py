"""Bulk removal on S3: listing and removing at the same time, with many paths in one request (DESIGN section 5)."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from itertools import count, islice
from typing import Any, NamedTuple

from toolkit.el import CanonicalPath
from toolkit.storage.deletion import refuse_outside
from toolkit.storage.errors import NotBegun, NotDone, NotFound, PermissionDenied, StorageError, Unreachable, about_path
from toolkit.storage.flat import MOST_KEYS, key_of
from toolkit.storage.port import Deleted
from toolkit.storage.s3.bucket import Keys, Span, spans_of
from toolkit.storage.s3.errors import KeyProblem
from toolkit.storage.s3.scan import DeleteTarget, PageContent, Scan, step

_PATHS_AT_ONCE = 1000
MOST_HELD = 10_000
"""So many keys are in memory: being listed, or listed and not yet confirmed to be gone."""


class _Sent(NamedTuple):
    """A key on its way out, and the path that it belongs to."""

    target: DeleteTarget
    key: str


class BulkRemoval:
    """A call of `delete_all`; everything but the requests themselves happens in the thread that iterates.

    Args:
        keys: the bucket.
        below: every path must lie strictly below it.
        first: name of the file in each path that goes before the rest; empty: none.
        pool: runs the requests.
        parallel: so many of them run at once.
        sent: counts the requests that the calling thread was let through with; None: they are not counted.
        most_held: so many keys may be in memory.
    """

    def __init__(
        self,
        keys: Keys,
        *,
        below: CanonicalPath,
        first: str,
        pool: Executor,
        parallel: int,
        sent: Callable[[], int] | None = None,
        most_held: int = MOST_HELD,
    ) -> None:
        self._sent = sent or count().__next__
        self._touched: set[CanonicalPath] = set()
        self._keys, self._below, self._first = keys, below, first
        self._pool, self._parallel, self._most_held = pool, parallel, most_held
        self._waiting: Iterator[CanonicalPath] = iter(())
        self._targets: dict[CanonicalPath, DeleteTarget] = {}
        self._scans: deque[Scan] = deque()
        self._flags: deque[_Sent] = deque()
        self._others: deque[_Sent] = deque()
        self._answers: deque[Deleted] = deque()
        self._listing: dict[Future[PageContent], Scan] = {}
        self._removing: dict[Future[dict[str, KeyProblem]], list[_Sent]] = {}
        self._in_memory = 0
        self._silence: Unreachable | None = None
        self._stop: BaseException | None = None

    def run(self, paths: Iterable[CanonicalPath]) -> Iterator[Deleted]:
        """Remove the paths and yield each result; after an unanswered call the rest fails without a further request."""
        self._waiting = iter(paths)
        try:
            while True:
                self._start_requests()
                while self._answers:
                    yield self._answers.popleft()
                if not self._running():
                    break
                self._take_answers()
        finally:
            self._end_requests()
        if self._stop is not None:
            yield from self._untouched()
            raise self._stop
        yield from self._unanswered()

    def _end_requests(self) -> None:
        """Cancel and await all requests: none may change anything after the iteration has stopped."""
        for future in self._running():
            future.cancel()
        wait(self._running())

    def _untouched(self) -> Iterator[Deleted]:
        for path in (*self._targets, *self._waiting):
            if path not in self._touched:
                yield Deleted(path, NotBegun(path=path))

    def _unanswered(self) -> Iterator[Deleted]:
        if self._silence is not None:
            for path, target in self._targets.items():
                yield Deleted(path, target.error or self._silence_about(path))
            for path in self._waiting:
                yield Deleted(path, self._silence_about(path))

    def _silence_about(self, path: CanonicalPath) -> StorageError:
        silence = self._silence or Unreachable(path=path)
        return about_path(silence, path) if path in self._touched else NotDone(path=path, detail=silence.detail)

    def _fall_silent(self, error: Unreachable) -> None:
        """Begin no further request; of what was not answered at all it counts that it may still happen."""
        if self._silence is None or not isinstance(error, NotDone):
            self._silence = error

    # Starting requests

    def _start_requests(self) -> None:
        """Full removals first, then listings; a removal that is not full waits for what the listings bring."""
        while self._silence is None and self._stop is None:
            if len(self._running()) >= self._parallel:
                return
            ready = len(self._flags) + len(self._others)
            if ready >= MOST_KEYS:
                self._start_removal()
            elif self._may_list(ready) and (scan := self._next_scan()):
                self._listing[self._pool.submit(step, self._keys, scan)] = scan
            elif ready and not self._listing:
                self._start_removal()
            else:
                return

    def _may_list(self, ready: int) -> bool:
        expected = MOST_KEYS * (len(self._listing) + 1)
        is_idle = not ready and not self._running()
        return self._in_memory + expected <= self._most_held or is_idle

    def _next_scan(self) -> Scan | None:
        while self._scans or self._is_filled():
            if self._scans and (scan := self._without_failed(self._scans.popleft())).spans:
                return scan
        return None

    def _is_filled(self) -> bool:
        """Take the next paths in hand; False when there are none any more."""
        paths = list(islice(self._waiting, _PATHS_AT_ONCE))
        spans = sorted(span for path in paths for span in self._spans(path))
        if spans:
            self._scans.append(Scan(spans))
        return bool(paths)

    def _spans(self, path: CanonicalPath) -> Sequence[Span]:
        try:
            key = self._checked(path)
        except StorageError as error:
            self._answers.append(Deleted(path, error))
            return ()
        flag = f"{key}/{self._first}" if self._first else ""
        self._targets[path] = DeleteTarget(path=path, key=key, flag=flag)
        return spans_of(key, path)

    def _checked(self, path: CanonicalPath) -> str:
        refuse_outside(path, self._below)
        if path in self._targets:
            # The same path given twice: the first one has it.
            raise NotFound(path=path)
        return key_of(path, self._keys.root)

    def _without_failed(self, scan: Scan) -> Scan:
        alive = []
        for span in scan.spans:
            target = self._targets[span.path]
            if target.error is None:
                alive.append(span)
            else:
                target.unread(1)
                self._settle(target)
        return Scan(alive, scan.behind)

    def _start_removal(self) -> None:
        batch: list[_Sent] = []
        while len(batch) < MOST_KEYS and (self._flags or self._others):
            sent = (self._flags or self._others).popleft()
            if sent.target.error is None:
                batch.append(sent)
            else:
                sent.target.dropped()
                self._settle(sent.target)
        if batch:
            self._removing[self._pool.submit(self._remove, batch)] = batch

    def _remove(self, batch: Sequence[_Sent]) -> dict[str, KeyProblem]:
        """In a thread of the pool; what a request was sent about may be gone, whatever becomes of the answer."""
        before = self._sent()
        try:
            return self._keys.remove([sent.key for sent in batch])
        finally:
            if self._sent() != before:
                self._touched.update(sent.target.path for sent in batch)

    def _running(self) -> list[Future[Any]]:
        return [*self._listing, *self._removing]

    # Taking answers

    def _take_answers(self) -> None:
        done = wait(self._running(), return_when=FIRST_COMPLETED).done
        for listing in [future for future in self._listing if future in done]:
            self._take_listing(self._listing.pop(listing), listing)
        for removal in [future for future in self._removing if future in done]:
            self._take_removal(self._removing.pop(removal), removal)

    def _take_listing(self, scan: Scan, future: Future[PageContent]) -> None:
        error = future.exception()
        if error is None:
            self._listed(future.result())
        elif isinstance(error, StorageError):
            self._not_listed(scan, error)
        else:
            self._stop = error

    def _listed(self, found: PageContent) -> None:
        keys: dict[CanonicalPath, list[str]] = {span.path: [] for span in found.closed}
        for span, key in found.found:
            keys.setdefault(span.path, []).append(key)
        closed: dict[CanonicalPath, int] = {}
        for span in found.closed:
            closed[span.path] = closed.get(span.path, 0) + 1
        for path, shown in keys.items():
            target = self._targets[path]
            self._settle(target, target.found(shown, closed.get(path, 0)))
        self._scans.extend(found.rest)

    def _not_listed(self, scan: Scan, error: StorageError) -> None:
        if isinstance(error, Unreachable):
            self._fall_silent(error)
        elif isinstance(error, PermissionDenied) and len(scan.spans) > 1:
            # Perhaps only some of them may not be listed; those are found by halving.
            middle = len(scan.spans) // 2
            self._scans.extend([Scan(scan.spans[:middle], scan.behind), Scan(scan.spans[middle:])])
        else:
            for span in scan.spans:
                target = self._targets[span.path]
                target.fail(about_path(error, span.path))
                target.unread(1)
                self._settle(target)

    def _take_removal(self, batch: Sequence[_Sent], future: Future[dict[str, KeyProblem]]) -> None:
        error = future.exception()
        if error is None:
            self._removed(batch, future.result())
        elif isinstance(error, Unreachable):
            self._fall_silent(error)
        elif isinstance(error, StorageError):
            for sent in batch:
                sent.target.stayed(about_path(error, sent.target.path))
                self._settle(sent.target)
        else:
            self._stop = error

    def _removed(self, batch: Sequence[_Sent], problems: dict[str, KeyProblem]) -> None:
        for target, key in batch:
            problem = problems.get(key)
            if problem is None:
                self._settle(target, target.gone(key))
            else:
                target.stayed(problem.about(target.path, key))
                self._settle(target)

    def _settle(self, target: DeleteTarget, may_go: Sequence[str] = ()) -> None:
        """After every change of a path: queue what may go now, count, and tell its outcome once that is known."""
        for key in may_go:
            (self._flags if key == target.flag else self._others).append(_Sent(target, key))
        self._in_memory += target.counted_anew()
        if (outcome := target.outcome) is not None and target.path in self._targets:
            del self._targets[target.path]
            self._answers.append(outcome)
