"""Messages to brokers about an action's runs, wired (Falcon overview: a message for each replicated instance)."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Generic

from typing_extensions import override

from toolkit.actions.model import T
from toolkit.actions.notifier import Notifier
from toolkit.entities.cluster import STOMP_ENDPOINT
from toolkit.entities.env_references import MissingVariable
from toolkit.errors import InvalidInput
from toolkit.ledger.vocabulary import RunStatus
from toolkit.notify.message import InstanceMessage
from toolkit.notify.outbox import Outbox
from toolkit.notify.stomp import Broker
from toolkit.runs.recorder import LOG_VARIABLE, current_user, path_text

if TYPE_CHECKING:
    from toolkit.clock import Clock
    from toolkit.el import CanonicalPath
    from toolkit.entities.cluster import Cluster, Messaging
    from toolkit.runs.recorder import RecordedRun, RunOutcome

_LOG = logging.getLogger(__name__)


def _status(status: RunStatus) -> str:
    """Consumers of Falcon's messages know nothing that timed out: to them it has failed."""
    return (RunStatus.FAILED if status is RunStatus.TIMED_OUT else status).value.upper()


END_SECONDS = 2.0
"""So long the end of the process waits for brokers, all of them together."""


@dataclass(frozen=True, kw_only=True, slots=True)
class MessageContent(Generic[T]):
    """Content of messages about an action's targets.

    Attributes:
        operation: in Falcon's words, for example ``REPLICATE``.
        path: of the instance; where a run is about many, of the directory or the table that they are in.
    """

    operation: str
    path: Callable[[T], CanonicalPath | str]


class NotStomp(InvalidInput):
    """The end point of a broker is of another protocol than the one that messages are sent by."""

    def __init__(self, *, endpoint: str) -> None:
        self.endpoint = endpoint
        super().__init__(
            f"the end point {endpoint} is none of STOMP; write the port of the broker's STOMP connector: "
            "stomp://HOST:61613, or stomp+ssl://HOST:PORT"
        )


@dataclass(kw_only=True)
class Messages(Notifier[T], Generic[T]):
    """Sends a message for each run that ended to the broker of its cluster; see `Notifier`.

    Attributes:
        content: what the messages say; None: there are none.
        clock: tells when a run ended.
        environment: has the brokers' passwords, and says where the log is.
        outboxes: by cluster; two may share one.
        notes: for the user.
    """

    content: MessageContent[T] | None
    clock: Clock
    environment: Mapping[str, str]
    outboxes: dict[str, Outbox] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    _brokers: dict[Broker, Outbox] = field(default_factory=dict, init=False)

    def open(self, clusters: Iterable[Cluster]) -> None:
        """Find out where the messages of clusters go; a broker without a usable address costs a note, nothing else."""
        for cluster in clusters:
            messaging = cluster.interfaces.messaging
            if messaging is None:
                continue
            try:
                broker = broker_of(messaging, self.environment)
            except InvalidInput as error:
                self._say(f"no messages are sent for the cluster {cluster.name}: {error}")
                continue
            self.outboxes[cluster.name] = self._brokers.setdefault(broker, Outbox(broker.connect))

    @override
    def run_ended(self, target: T, run: RecordedRun, outcome: RunOutcome) -> None:
        outbox = self.outboxes.get(target.cluster)
        if self.content is None or outbox is None:
            return
        keys = {
            "entityName": target.entity,
            "entityType": "FEED",
            "operation": self.content.operation,
            "cluster": target.cluster,
            "sourceCluster": target.counterpart,
            "feedNames": target.entity,
            "feedInstancePaths": path_text(str(self.content.path(target))),
            "nominalTime": target.instance_key,
            "status": _status(outcome.status),
            "workflowId": str(run.run_id or ""),
            "runId": str(run.attempt or ""),
            "timeStamp": f"{self.clock.now():%Y-%m-%dT%H:%M:%SZ}",
            "workflowUser": current_user(),
            "logFile": self.environment.get(LOG_VARIABLE, ""),
        }
        outbox.put(InstanceMessage(entity=target.entity, keys=keys))

    def close(self) -> tuple[str, ...]:
        """Let what waits be sent, if brokers take it now.

        Returns:
            Notes for the user, once.
        """
        deadline = time.monotonic() + END_SECONDS
        for broker, outbox in self._brokers.items():
            unsent = outbox.close(deadline)
            if unsent is not None:
                count = f"{unsent.count} of {unsent.of} messages"
                self._say(f"{count} did not reach the broker {broker}: {unsent.why}")
        self._brokers.clear()
        notes = tuple(self.notes)
        self.notes.clear()
        return notes

    def _say(self, note: str) -> None:
        _LOG.warning('event=messages_not_sent why="%s"', note)
        self.notes.append(note)


def broker_of(messaging: Messaging, environment: Mapping[str, str]) -> Broker:
    """The broker of a cluster.

    Raises:
        NotStomp: its end point is of another protocol.
        MissingVariable: its password is not there.
        BadLogin: no broker could have that password.
    """
    found = STOMP_ENDPOINT.fullmatch(messaging.endpoint)
    if found is None:
        raise NotStomp(endpoint=messaging.endpoint)
    login = messaging.credential
    if login is not None and login.env not in environment:
        raise MissingVariable(name=login.env)
    return Broker(
        host=found["address"] or found["host"],
        port=int(found["port"]),
        is_tls=found["tls"] is not None,
        user="" if login is None else login.user,
        password="" if login is None else environment[login.env],
    )
