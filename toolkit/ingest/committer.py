"""The committer of a table: one thread of a process groups what its connections have ready into one commit.

A group is: take the slot, look at the table, write the intention, commit, write the result and give the slot back.
An outcome that is unknown is looked up behind a fence (see `toolkit.ingest.slot`), and nothing is written again.
"""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta

from toolkit.errors import FeedctlError, Unavailable
from toolkit.ingest.call_errors import CommitRefused
from toolkit.ingest.errors import CommitConflict, CommitUnknown, ProgressMoved
from toolkit.ingest.port import DataFile, IngestTable, TableCommit, TableState
from toolkit.ingest.settlement import IngestEvents, write_committed
from toolkit.ingest.slot import SLOT_PROPERTY, CommitSlots, SlotLost, until
from toolkit.ingest.writer_progress import WriterProgress, sequence_of
from toolkit.ledger import ingest
from toolkit.ledger.database import Ledger, Transaction
from toolkit.ledger.ingest import IntendedTransaction
from toolkit.ledger.vocabulary import IngestTransactionState as State

EXPIRE_EVERY = 20
"""Number of commits between two expiries of snapshots."""
KEPT = timedelta(seconds=10)
"""Younger snapshots are not expired."""
REPLACED_KEPT = timedelta(hours=6)
"""Files that were replaced or dropped stay so long, for queries that began before."""


@dataclass(kw_only=True, eq=False)
class CommitRequest:
    """A transaction that is ready.

    Attributes:
        transaction: its id.
        files: its data files.
        progress: committed with them.
        sequence: of the progress that its writer began from.
        deadline: of `time.monotonic`.
        error: why it was not committed.
        is_undecided: nobody knows yet whether it was committed.
    """

    transaction: int
    files: tuple[DataFile, ...]
    progress: WriterProgress | None = None
    sequence: int = 0
    deadline: float
    error: FeedctlError | None = None
    is_undecided: bool = False
    done: threading.Event = field(default_factory=threading.Event)

    def finish(self, error: FeedctlError | None = None) -> None:
        """Set the result; the first one stays."""
        if not self.done.is_set():
            self.error = error
            self.done.set()

    def intended(self) -> IntendedTransaction:
        """Return its content for the ledger."""
        return IntendedTransaction(
            transaction_id=self.transaction,
            partitions=tuple(sorted({each.partition for each in self.files})),
            rows=sum(each.rows for each in self.files),
            bytes=sum(each.bytes for each in self.files),
            files=len(self.files),
        )


@dataclass(kw_only=True)
class Committer:
    """Commits to one table; the connections of a process share one.

    Attributes:
        table: the table.
        ledger: with the intentions and results.
        events: of a commit.
    """

    table: IngestTable
    ledger: Ledger
    events: IngestEvents | None = None
    _slots: CommitSlots = field(init=False)
    _ready: list[CommitRequest] = field(default_factory=list, init=False)
    _wake: threading.Condition = field(default_factory=threading.Condition, init=False)
    _thread: threading.Thread | None = field(default=None, init=False)
    _is_closed: bool = field(default=False, init=False)
    _commits: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        self._slots = CommitSlots(table=self.table, ledger=self.ledger)

    def commit(self, request: CommitRequest) -> None:
        """Commit a transaction, together with what others have ready; raises why it was not committed."""
        with self._wake:
            self._ready.append(request)
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="feedctl-committer", daemon=True)
                self._thread.start()
            self._wake.notify()
        request.done.wait()
        if request.error is not None:
            raise request.error

    def close(self) -> None:
        """End the thread after what is ready."""
        with self._wake:
            self._is_closed = True
            self._wake.notify()
            thread = self._thread
        if thread is not None:
            thread.join()

    def _run(self) -> None:
        try:
            while group := self._next_group():
                try:
                    self._commit_group(group)
                except FeedctlError as error:
                    _finish(group, error)
                finally:  # an error of ours ends this thread, and no caller may wait for ever
                    _finish(group, CommitUnknown(table=self.table.name, cause="the committer failed"))
        finally:
            with self._wake:
                left, self._ready, self._thread = self._ready, [], None
            _finish(left, CommitConflict(table=self.table.name))

    def _next_group(self) -> list[CommitRequest]:
        with self._wake:
            while not self._ready and not self._is_closed:
                self._wake.wait()
            group, self._ready = self._ready, []
            return group

    def _commit_group(self, group: Sequence[CommitRequest]) -> None:
        deadline = min(each.deadline for each in group)
        fence, left = self._slots.acquire(deadline)
        try:
            if left:
                self._slots.resolve(left, fence, self._settled, deadline)
            base = until(deadline, lambda: self._slots.first_state(fence))
            self._commit_admitted(self._intend(self._admitted(group, base), fence, deadline), base, fence, deadline)
            # The first commit of a process expires too: a process of a cron job makes few.
            if self._commits % EXPIRE_EVERY == 1 and base.snapshots >= 2 * EXPIRE_EVERY:
                self._expire()
        finally:
            self._slots.release(fence)

    def _admitted(self, group: Sequence[CommitRequest], base: TableState) -> list[CommitRequest]:
        """Return the requests whose writers are alone under their names; the others are refused."""
        sequences: dict[str, int] = {}
        admitted = []
        for each in group:
            if each.progress is not None:
                name = each.progress.name
                found = sequences.get(name, sequence_of(base, name))
                if found != each.sequence:
                    error = ProgressMoved(table=self.table.name, name=name, found=found, expected=each.sequence)
                    self._decide([each], error)
                    continue
                sequences[name] = found + 1
            admitted.append(each)
        return admitted

    def _intend(self, group: Sequence[CommitRequest], fence: int, deadline: float) -> list[CommitRequest]:
        content = [each.intended() for each in group]
        for each in group:
            each.is_undecided = True  # also when no answer of the ledger comes
        may = until(deadline, lambda: self.ledger.write(lambda tx: ingest.intend(tx, content, fence)))
        for each in group:
            if each.transaction not in may:
                each.is_undecided = False
                each.finish(CommitRefused(transaction=each.transaction))
        return [each for each in group if each.transaction in may]

    def _commit_admitted(self, group: list[CommitRequest], base: TableState, fence: int, deadline: float) -> None:
        """Commit what was intended, on a new state after each conflict with another engine."""
        while group:
            try:
                self.table.commit(_content(group, fence), base)
            except CommitConflict as error:
                if time.monotonic() > deadline:
                    self._decide(group, error)
                    return
                time.sleep(0.02 * (0.5 + random.random()))  # noqa: S311 - jitter
                base = self._state_after_conflict(group, fence, deadline)
                group = self._admitted(group, base)
            except Unavailable:
                self._look(group, fence, deadline)
                return
            except FeedctlError as error:
                self._decide(group, error)
                return
            else:
                self._succeed(group, base, deadline)
                return

    def _state_after_conflict(self, group: Sequence[CommitRequest], fence: int, deadline: float) -> TableState:
        try:
            return until(deadline, lambda: self._slots.checked_state(fence))
        except Unavailable as error:  # the conflict is certain: nothing was committed
            self._decide(group, error)
            raise

    def _look(self, group: Sequence[CommitRequest], fence: int, deadline: float) -> None:
        """Find out whether a commit without an answer happened."""
        left = [each.intended() for each in group]
        try:
            found = self._resolved(left, fence, deadline)
        except CommitUnknown:
            raise
        except Unavailable as error:  # its message would say that nothing was committed
            raise CommitUnknown(table=self.table.name, cause=type(error).__name__) from error
        for each in group:
            each.is_undecided = False
            each.finish(None if each.transaction in found else CommitConflict(table=self.table.name))

    def _resolved(self, left: Sequence[IntendedTransaction], fence: int, deadline: float) -> frozenset[int]:
        try:
            return self._slots.resolve(left, fence, self._settled, deadline)
        except SlotLost:  # then the other process looks
            return self._found_by_other([each.transaction_id for each in left], deadline)

    def _found_by_other(self, ids: Sequence[int], deadline: float) -> frozenset[int]:
        while True:
            found = until(deadline, lambda: self.ledger.read(lambda tx: ingest.states(tx, ids)))
            if State.INTENDED not in found.values() and len(found) == len(ids):
                return frozenset(each for each, state in found.items() if state is State.COMMITTED)
            if time.monotonic() > deadline:
                raise CommitUnknown(table=self.table.name, cause="another process has not looked it up in time")
            time.sleep(0.1)

    def _succeed(self, group: Sequence[CommitRequest], base: TableState, deadline: float) -> None:
        content = [each.intended() for each in group]
        self._commits += 1
        with suppress(Unavailable):  # the table has it; the next slot writes it down, with its events
            until(deadline, lambda: self.ledger.write(lambda tx: self._settled(tx, content, base)))
        for each in group:
            each.is_undecided = False
        _finish(group, None)

    def _settled(self, tx: Transaction, committed: Sequence[IntendedTransaction], state: TableState) -> None:
        write_committed(tx, committed, state, self.events)

    def _decide(self, group: Sequence[CommitRequest], error: FeedctlError) -> None:
        """Write down that nothing of these was committed; without an answer of the ledger the next slot does."""
        ids = [each.transaction for each in group if each.is_undecided]
        with suppress(Unavailable):
            if ids:
                self.ledger.write(lambda tx: ingest.settle(tx, ids, State.ABORTED))
        for each in group:
            each.is_undecided = False
        _finish(group, error)

    def _expire(self) -> None:
        with suppress(Unavailable, CommitConflict):
            now, oldest = self.ledger.read(lambda tx: (tx.now(), ingest.oldest_intention(tx, self.table.name)))
            self.table.expire(
                older_than=now - KEPT, keep_since=oldest, keep_last=EXPIRE_EVERY, replaced_since=now - REPLACED_KEPT
            )


def _content(group: Sequence[CommitRequest], fence: int) -> TableCommit:
    properties = {SLOT_PROPERTY: str(fence)}
    for each in group:
        if each.progress is not None:
            properties |= each.progress.as_property(each.sequence + 1, each.transaction)
    return TableCommit(
        transactions=tuple(sorted(each.transaction for each in group)),
        files=tuple(file for each in group for file in each.files),
        properties=properties,
    )


def _finish(group: Iterable[CommitRequest], error: FeedctlError | None) -> None:
    for each in group:
        each.finish(error)
