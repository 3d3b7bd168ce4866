"""Messages about an action's runs, wired: written with the end of a run, and sent by a thread beside the action."""

from __future__ import annotations

import logging
import os
import socket
import time
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Generic

from typing_extensions import override

from toolkit.actions.model import T
from toolkit.errors import FeedctlError
from toolkit.ledger import outbox
from toolkit.ledger.errors import LedgerConflict, LedgerUnavailable
from toolkit.ledger.memory import outbox_in_memory
from toolkit.ledger.runs import queries
from toolkit.ledger.vocabulary import RunStatus
from toolkit.notify.delivery import PAUSES, Delivered, Delivery
from toolkit.notify.routing import MessageRoute, new_messages, run_routes
from toolkit.notify.run_message import OPERATIONS, EndedRun, run_message
from toolkit.notify.sender import Sender
from toolkit.programs.step_environment import step_environment
from toolkit.runs.errors import Stopped
from toolkit.runs.owner import ProcessTable
from toolkit.runs.recorder import LOG_VARIABLE, LedgerWrite, RunEnds, current_user, path_text
from toolkit.threads import WorkerPool

if TYPE_CHECKING:
    from datetime import datetime

    from toolkit.clock import Clock
    from toolkit.el import CanonicalPath
    from toolkit.entities import Repository
    from toolkit.ledger.database import Ledger, Transaction
    from toolkit.notify.opening import Channels
    from toolkit.runs.recorder import RecordedRun, RunOutcome
    from toolkit.runs.stop import StopSignal
    from toolkit.variables import Variables

_LOG = logging.getLogger(__name__)

DELIVER_SECONDS = 50.0
"""So long a pass of the monitor sends; a scheduler may start the next one after a minute."""
END_SECONDS = 2.0
"""So long the end of the process waits for receivers and the outbox, all of them together."""
_LOOK_SECONDS = 0.3
"""Part of it for a look at what is left: a ledger that is locked or gone is not waited for."""
_UNSENT = "there was no time to send all"
_NO_END = frozenset({RunStatus.WAITING, RunStatus.SKIPPED})
_AT_ONCE = (0.0,)


@dataclass(frozen=True, kw_only=True, slots=True)
class MessageContent(Generic[T]):
    """Content of messages about an action's targets.

    Attributes:
        operation: in Falcon's words, for example ``REPLICATE``; empty: that of the life cycle.
        data: names of feeds, each with the path of its data; where a run is about many instances, with the directory
            or the table that they are in.
    """

    operation: str = ""
    data: Callable[[T], Sequence[tuple[str, CanonicalPath | str]]]

    @classmethod
    def of_feed(cls, operation: str, path: Callable[[T], CanonicalPath | str]) -> MessageContent[T]:
        """Return the content of messages about targets that are instances of one feed each."""
        return cls(operation=operation, data=lambda target: [(target.entity, path(target))])


@dataclass(kw_only=True)
class Messages(RunEnds, Generic[T]):
    """Writes a message for each run that ended into the outbox, and has it sent.

    Attributes:
        repository: says who gets messages.
        ledger: has the outbox; None: the action does without, and messages that cannot be sent now are lost.
        content: what messages say about data; None: nothing.
        targets: that runs may be about.
        clock: tells when a run ended.
        variables: of the process, with the secrets of channels, and the place of the log.
    """

    repository: Repository
    ledger: Ledger | None
    content: MessageContent[T] | None
    targets: Iterable[T]
    clock: Clock
    variables: Variables
    _sender: Sender = field(init=False)
    _outbox: Ledger = field(init=False)
    _by_key: Mapping[tuple[str, ...], T] = field(init=False)
    _ids: dict[int, str] = field(default_factory=dict, init=False)
    _channels: set[str] = field(default_factory=set, init=False)

    def __post_init__(self) -> None:
        self._outbox = self.ledger or outbox_in_memory()
        pauses = _AT_ONCE if self.ledger is None else PAUSES
        self._sender = Sender(partial(delivery_of, self.repository, self._outbox, self.variables, pauses))
        self._by_key = {_key_of(each): each for each in self.targets} if self.content is not None else {}

    @override
    def writes(self, run: RecordedRun, outcome: RunOutcome) -> Sequence[LedgerWrite]:
        routes = self._routes(run, outcome)
        return [self._write(run, outcome, routes)] if routes else ()

    @override
    def ended(self, run: RecordedRun, outcome: RunOutcome) -> None:
        routes = self._routes(run, outcome)
        if not routes:
            return
        self._channels.update(route.channel for route in routes)
        if self.ledger is None:
            write = self._write(run, outcome, routes)
            self._outbox.write(lambda tx: write(tx, 0))
        self._sender.wake()

    def close(self) -> tuple[str, ...]:
        """Let what waits be sent, if receivers take it now.

        Returns:
            Notes for the user, once.
        """
        if not self._sender.has_begun:
            return ()
        self._sender.close(END_SECONDS - _LOOK_SECONDS)
        channels, self._channels = self._channels, set()
        pool = WorkerPool(1, "feedctl-messages")
        try:
            states = pool.submit(self._outbox.read, outbox.channel_states).result(_LOOK_SECONDS)
        except TimeoutError:
            return ("it is unknown whether all messages were sent: the ledger did not answer in time",)
        except (LedgerUnavailable, LedgerConflict) as error:
            return (f"it is unknown whether all messages were sent: {error}",) if channels else ()
        finally:
            pool.shutdown()
        lost = "are lost" if self.ledger is None else "the next action or `feedctl monitor` sends them"
        return tuple(
            f"{each.waiting} messages wait for the channel {each.channel}: {each.error or _UNSENT}; {lost}"
            for each in states
            if each.waiting and each.channel in channels
        )

    def _routes(self, run: RecordedRun, outcome: RunOutcome) -> tuple[MessageRoute, ...]:
        if outcome.status in _NO_END:
            return ()
        return run_routes(self.repository, run.key.entity, run.key.cluster, is_last=outcome.retry_at is None)

    def _write(self, run: RecordedRun, outcome: RunOutcome, routes: Sequence[MessageRoute]) -> LedgerWrite:
        message_id = uuid.uuid4().hex
        if run.run_id is not None:
            message_id = self._ids.setdefault(run.run_id, message_id)
        expires = self.repository.settings.monitoring.expires

        def write(tx: Transaction, run_id: int) -> None:
            started_at = queries.get(tx, run_id).started_at if run_id else None
            message = run_message(self._ended_run(run, outcome, started_at), message_id)
            outbox.put(tx, new_messages(message, routes, expires, run_id=run_id or None))

        return write

    def _ended_run(self, run: RecordedRun, outcome: RunOutcome, started_at: datetime | None) -> EndedRun:
        key, environment = run.key, self.repository.environment
        target = self._by_key.get((key.entity, key.cluster, key.counterpart, key.instance_key))
        content = None if target is None else self.content
        try:
            data = [] if content is None or target is None else content.data(target)
        except FeedctlError:  # the run has failed by the same, and its message says so
            data = []
        return EndedRun(
            key=key,
            entity_type="PROCESS" if key.entity in self.repository.processes else "FEED",
            operation=(content and content.operation) or OPERATIONS.get(key.life_cycle, key.life_cycle.value.upper()),
            feeds=tuple(feed for feed, _ in data),
            paths=tuple(path_text(str(path)) for _, path in data),
            status=outcome.status,
            run_id=run.run_id,
            attempt=run.attempt,
            reason=outcome.reason,
            exit_code=outcome.exit_code,
            retry_at=outcome.retry_at,
            started_at=started_at,
            ended_at=self.clock.now(),
            user=current_user(),
            log=self.variables.get(LOG_VARIABLE, ""),
            environment="" if environment is None else environment.name,
        )


def channels_of(repository: Repository, variables: Variables) -> Channels:
    """Return the channels of a config repo, with the secrets that the process has."""
    from toolkit.notify.opening import Channels  # noqa: PLC0415 - only a sender needs clients of HTTP and mail

    return Channels(repository=repository, variables=variables, environment=step_environment(variables))


def delivery_of(
    repository: Repository, ledger: Ledger, variables: Variables, pauses: tuple[float, ...] = PAUSES
) -> Delivery:
    """Return the delivery of messages by the channels of a config repo.

    Args:
        repository: describes the channels.
        ledger: has the outbox.
        variables: of the process, with the secrets of channels.
        pauses: see `Delivery`.
    """
    channels = channels_of(repository, variables)
    table = ProcessTable()
    owner = f"{socket.gethostname()} {os.getpid()} {table.own_mark() or '?'}"
    return Delivery(
        ledger=ledger, channel_of=channels.find, owner=owner, is_gone=partial(is_gone, table), pauses=pauses
    )


def deliver(repository: Repository, ledger: Ledger, variables: Variables, process: StopSignal) -> Delivered:
    """Send what waits in the outbox, and remove what was sent or given up long ago.

    Args:
        repository: describes the channels.
        ledger: has the outbox.
        variables: of the process, with the secrets of channels.
        process: ends the sending.

    Raises:
        LedgerUnavailable: the ledger cannot be used now.
        LedgerConflict: it was busy for too long.
    """
    latest = time.monotonic() + DELIVER_SECONDS

    def deadline() -> float:
        try:
            process.check()
        except Stopped:
            return 0.0
        return latest

    delivery = delivery_of(repository, ledger, variables)
    report = delivery.run(deadline)
    delivery.ending.set()
    ledger.write(outbox.remove_old)
    return report


def is_gone(table: ProcessTable, owner: str) -> bool:
    """Return whether the process with such a name, which another feedctl wrote, has ended for certain."""
    host, _, rest = owner.partition(" ")
    pid, _, mark = rest.partition(" ")
    return pid.isdecimal() and table.has_ended(host=host, pid=int(pid[:10]), mark=mark)


def _key_of(target: T) -> tuple[str, ...]:
    return (target.entity, target.cluster, target.counterpart, target.instance_key)
