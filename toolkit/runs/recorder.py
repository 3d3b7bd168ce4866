"""Recorder of a run's envelope: in the ledger, or nowhere (DESIGN section 6)."""

from __future__ import annotations

import os
import platform
import pwd
import re
import socket
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Protocol
from urllib.parse import quote_from_bytes, unquote_to_bytes

from typing_extensions import override

from toolkit import __version__
from toolkit.el.zones import ZONE_DATA
from toolkit.errors import Skipped
from toolkit.ledger.database import Transaction
from toolkit.ledger.events import NewEvent
from toolkit.ledger.runs.items import Item, NewItem, SettledItem
from toolkit.ledger.runs.rows import Origin, Run, RunKey
from toolkit.ledger.runs.run_start import StartRequest
from toolkit.ledger.runs.status import Request
from toolkit.ledger.vocabulary import RunStatus


@dataclass(frozen=True, kw_only=True, slots=True)
class RecordedRun:
    """A run that was started, or skipped.

    Attributes:
        key: what is run.
        run_id: in the ledger; None: it is not recorded there.
        attempt: from 1 within the key; None: it is not recorded.
        lease_seconds: so long its leases last; None: it has none.
        most: so many runs of its entity may be under way at once; None: any number.
        taken_over: runs of dead owners that it took its leases from; they are KILLED now.
    """

    key: RunKey
    run_id: int | None = None
    attempt: int | None = None
    lease_seconds: float | None = None
    most: int | None = None
    taken_over: tuple[Run, ...] = ()


LedgerWrite = Callable[[Transaction, int], None]
"""Written for a run, whose number is given, in the transaction that records what it did."""


@dataclass(frozen=True, kw_only=True, slots=True)
class RunOutcome:
    """Outcome of a run.

    Attributes:
        status: a terminal one; or waiting: it could not begin.
        reason: why; None: it simply succeeded.
        exit_code: that the run alone gives its process.
        retry_at: when it is to be tried again by itself; None: it is not.
        writes: what else the ledger keeps of the end, in the same transaction; nothing without a ledger.
    """

    status: RunStatus
    reason: str | None = None
    exit_code: int | None = None
    retry_at: datetime | None = None
    writes: Sequence[LedgerWrite] = ()


class RunEnds(Protocol):
    """Receiver of what becomes of runs; called from any thread, it may neither fail nor take time."""

    def works(self, run: RecordedRun) -> None:
        """Take note that effects of a run are about to begin, as for each of its batches."""
        del run

    def writes(self, run: RecordedRun, outcome: RunOutcome) -> Sequence[LedgerWrite]:
        """Return what else the ledger keeps of the end of a run, in the same transaction.

        It may be asked again for the same run, and what it returns must not be kept twice then.
        """
        ...

    def ended(self, run: RecordedRun, outcome: RunOutcome) -> None:
        """Take note that the outcome is in the ledger, if there is one."""
        ...


class NoRunEnds(RunEnds):
    """Receiver that does nothing."""

    @override
    def writes(self, run: RecordedRun, outcome: RunOutcome) -> Sequence[LedgerWrite]:
        return ()

    @override
    def ended(self, run: RecordedRun, outcome: RunOutcome) -> None: ...


@dataclass(frozen=True, kw_only=True, slots=True)
class HeartbeatReply:
    """Reply to a heartbeat.

    Attributes:
        renewed: runs whose leases are good for as long again.
        lost: runs that no longer own what they work on, with the reason.
        requests: open ones, oldest first.
    """

    renewed: frozenset[int] = frozenset()
    lost: Mapping[int, str] = field(default_factory=dict)
    requests: tuple[Request, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class RecordBatch:
    """Record of a run between two batches of effects.

    Attributes:
        settled: what became of the effects of the first.
        events: what that means for consumers.
        audit_only: effects that went with them, as when a directory was emptied; only the audit file has them.
        audit_lines: what else the audit file says.
        intended: the effects of the second.
        writes: what else the ledger keeps of the first, in the same transaction; nothing without a ledger.
        intended_writes: what else the ledger keeps of the second, in the same transaction; nothing without a ledger.
    """

    settled: Sequence[SettledItem] = ()
    events: Sequence[NewEvent] = ()
    audit_only: Sequence[tuple[NewItem, SettledItem]] = ()
    audit_lines: Sequence[Mapping[str, object]] = ()
    intended: Sequence[NewItem] = ()
    writes: Sequence[LedgerWrite] = ()
    intended_writes: Sequence[LedgerWrite] = ()

    @property
    def without_next(self) -> RecordBatch:
        """Only what has happened."""
        return replace(self, intended=(), intended_writes=())


@dataclass(frozen=True, kw_only=True, slots=True)
class SettledLeftOver:
    """Outcome of an unfinished item of a dead run.

    Attributes:
        left: the item, as the run that died had written it down.
        item: its outcome.
        event: that the effect stands for; None: no event.
    """

    left: Item
    item: SettledItem
    event: NewEvent | None = None

    @property
    def run_id(self) -> int:
        """The run that intended it."""
        return self.left.run_id


class Recorder(Protocol):
    """Keeps the rows and leases of runs. In the middle of a run it raises `Stopped`, which no effect may follow."""

    @property
    def place(self) -> str | None:
        """The ledger's URL without its password; None: nothing is kept."""
        ...

    def start(self, request: StartRequest) -> RecordedRun:
        """Safe mode, suspended, leases, row: in this order, in one transaction.

        Raises:
            Skipped: something stands against it; nothing was written.
            Unavailable: the ledger cannot be used.
        """
        ...

    def start_many(self, requests: Sequence[StartRequest]) -> tuple[RecordedRun | None, ...]:
        """Start all runs that nothing stands against, in one transaction; None where `start` has to look closer.

        Raises:
            Unavailable: the ledger cannot be used; none of them has started.
        """
        ...

    def skip(self, request: StartRequest, skipped: Skipped) -> RecordedRun:
        """Write down that a run was not started, where its key has no row that says so.

        Raises:
            Unavailable: the ledger cannot be used.
        """
        ...

    def beat(self, runs: Sequence[RecordedRun]) -> HeartbeatReply:
        """Renew the leases of runs, and read what was asked of them.

        Raises:
            LedgerLost: the ledger cannot be used any more.
        """
        ...

    def record(self, run: RecordedRun, step: RecordBatch, *, is_repeated: bool = False) -> None:
        """Write down what became of effects, with their events, and what comes next, in one transaction.

        What happened has happened: its outcome is written even when the run has lost its lease, unless the run that
        took over has done so.

        Args:
            run: the run.
            step: what became of effects, and what comes next.
            is_repeated: an earlier call with the same may have been committed, and its answer lost.

        Raises:
            LedgerLost: the ledger cannot be used any more; nothing was written.
            Stopped: another run has taken over, or a write of what comes next refuses it, and that must not begin.
        """
        ...

    def let_others_work(self, run: RecordedRun) -> None:
        """Write down that other processes work for the run, so that its leases outlive this one's death.

        Raises:
            LedgerLost: the ledger cannot be used any more; they must not begin.
        """
        ...

    def left_over(self, run: RecordedRun) -> tuple[Item, ...]:
        """Return unfinished items of earlier runs of the action, entity, cluster and counterpart, of any instance."""
        ...

    def settle_left_over(self, items: Sequence[SettledLeftOver]) -> bool:
        """Write down what became of such items, for the runs that intended them, in one transaction.

        An event that another run has written since the item was intended is not written again.

        Returns:
            False: another run has settled one of them by now, and nothing was written.

        Raises:
            LedgerLost: the ledger cannot be used any more.
        """
        ...

    def pause(self, run: RecordedRun, request: Request) -> None:
        """The run is SUSPENDED from now on, as the request says; its leases are kept."""
        ...

    def go_on(self, run: RecordedRun, request: Request) -> None:
        """The run is RUNNING again; a run that never stopped has honoured the request by that.

        Raises:
            TooManyRun: others took its place meanwhile; nothing was written.
        """
        ...

    def finish(self, run: RecordedRun, outcome: RunOutcome) -> None:
        """Write the outcome, once, and give the leases back; a run that is over in the ledger already stays so.

        Raises:
            LedgerLost: the ledger cannot be used.
        """
        ...

    def give_up(self) -> None:
        """Let `finish` fail at once from now on: one run has waited for the ledger, the others do not wait again."""
        ...


_AS_BYTES = "bytes:"
_PLAIN = "/:"


def path_text(path: str) -> str:
    """A path as text that is Unicode; what is none is written byte by byte, and `path_of` reads it back.

    It has a scheme, so that none begins like the written bytes.
    """
    octets = path.encode("utf-8", "surrogateescape")
    return path if _is_unicode(path) else _AS_BYTES + quote_from_bytes(octets, safe=_PLAIN)


def path_of(text: str) -> str:
    """The path that was written with `path_text`."""
    if not text.startswith(_AS_BYTES):
        return text
    return unquote_to_bytes(text.removeprefix(_AS_BYTES)).decode("utf-8", "surrogateescape")


def message_text(message: str) -> str:
    """A message for people, with escapes for what is no Unicode, and for NUL, which PostgreSQL refuses."""
    readable = message.replace("\0", "\\x00")
    return readable if _is_unicode(readable) else readable.encode("utf-8", "backslashreplace").decode()


def _is_unicode(text: str) -> bool:
    return text.isascii() or not any("\ud800" <= each <= "\udfff" for each in text)


LOG_VARIABLE = "FEEDCTL_LOG"
"""Environment variable in which a scheduler says where the log of a run is."""

_CONTAINER = re.compile(r"container_(?:e\d+_)?(\d+_\d+)_\d+_\d+")


def current_user() -> str:
    """The name of the user whose rights this process has; its number when it has no name."""
    try:
        return pwd.getpwuid(os.geteuid()).pw_name
    except KeyError:
        return str(os.geteuid())


def versions() -> str:
    """Return the versions of feedctl, Python and the time zone data, which a run's times depend on."""
    return f"feedctl {__version__}, Python {platform.python_version()}, tzdata {ZONE_DATA}"


def origin_here(environment: Mapping[str, str], *, snapshot: str | None = None, digest: str | None = None) -> Origin:
    """This process as the origin of runs.

    Args:
        environment: of the process.
        snapshot: the state of the config repo that was read.
        digest: of the merged entity.
    """
    return Origin(
        who=current_user(),
        snapshot=snapshot,
        digest=digest,
        versions=versions(),
        host=socket.gethostname(),
        pid=os.getpid(),
        log_location=environment.get(LOG_VARIABLE) or None,
        application_id=application_id(environment),
    )


def application_id(environment: Mapping[str, str]) -> str | None:
    """Return the application's id on YARN or Kubernetes; in YARN's cluster mode a container's name has its number."""
    named = environment.get("SPARK_APPLICATION_ID")
    if named:
        return named
    container = _CONTAINER.fullmatch(environment.get("CONTAINER_ID", ""))
    return f"application_{container[1]}" if container else None
