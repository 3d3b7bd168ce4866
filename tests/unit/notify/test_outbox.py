"""Messages that wait for a broker, by sessions that do as they are told."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, field

from tests.unit.notify.messages import message
from toolkit.notify.message import InstanceMessage
from toolkit.notify.outbox import Outbox, Unsent
from toolkit.notify.stomp import BrokerError, MessageRefused


@dataclass
class FakeBroker:
    """Takes messages; what goes wrong is a list of errors, one for each connection or message, None for none."""

    at_connect: list[BrokerError | None] = field(default_factory=list)
    at_send: list[BrokerError | None] = field(default_factory=list)
    go_on: threading.Event = field(default_factory=threading.Event)
    is_requested: threading.Event = field(default_factory=threading.Event)
    got: list[int] = field(default_factory=list)
    sessions: int = 0

    def __post_init__(self) -> None:
        self.go_on.set()

    def connect(self) -> FakeBroker:
        self.is_requested.set()
        self.go_on.wait(10)
        _raise_next(self.at_connect)
        self.sessions += 1
        return self

    def send(self, message: InstanceMessage) -> None:
        _raise_next(self.at_send)
        self.got.append(int(message.keys["workflowId"]))

    def close(self) -> None:
        """It may connect again."""


def _raise_next(errors: list[BrokerError | None]) -> None:
    error = errors.pop(0) if errors else None
    if error is not None:
        raise error


def _down(times: int) -> list[BrokerError | None]:
    return [BrokerError(why="refused") for _ in range(times)]


def _soon(seconds: float = 10) -> float:
    return time.monotonic() + seconds


def test_messages_go_over_one_session_in_their_order() -> None:
    broker = FakeBroker()
    outbox = Outbox(broker.connect)
    for number in range(50):
        outbox.put(message(number))
    assert outbox.close(_soon()) is None
    assert (broker.got, broker.sessions) == (list(range(50)), 1)


def test_an_outbox_that_got_nothing_connects_to_nobody() -> None:
    broker = FakeBroker()
    assert Outbox(broker.connect).close(_soon()) is None
    assert broker.sessions == 0


def test_a_session_that_broke_is_replaced_and_the_message_sent_again() -> None:
    broker = FakeBroker(at_send=[None, BrokerError(why="broken"), None])
    outbox = Outbox(broker.connect)
    for number in range(3):
        outbox.put(message(number))
    assert outbox.close(_soon()) is None
    assert (broker.got, broker.sessions) == ([0, 1, 2], 2)


def test_a_broker_that_comes_back_gets_what_has_waited() -> None:
    broker = FakeBroker(at_connect=_down(1))
    outbox = Outbox(broker.connect)
    outbox.put(message(1))
    deadline = _soon()
    while not broker.got and time.monotonic() < deadline:
        time.sleep(0.01)
    assert outbox.close(_soon()) is None
    assert broker.got == [1]


def test_at_the_end_a_broker_that_is_down_is_given_up_at_once_with_the_number_and_the_reason() -> None:
    broker = FakeBroker(at_connect=_down(100))
    outbox = Outbox(broker.connect)
    for number in range(3):
        outbox.put(message(number))
    begun = time.monotonic()
    assert outbox.close(_soon()) == Unsent(count=3, of=3, why="refused")
    assert time.monotonic() - begun < 5
    assert broker.at_connect  # the tries were few


def test_a_broker_that_is_silent_holds_nobody_up_and_gets_nothing_after_the_end() -> None:
    broker = FakeBroker()
    broker.go_on.clear()
    outbox, begun = Outbox(broker.connect, most=2), time.monotonic()
    outbox.put(message(0))
    broker.is_requested.wait(10)
    for number in range(1, 5):
        outbox.put(message(number))
    assert time.monotonic() - begun < 5
    assert outbox.close(_soon(0.1)) == Unsent(count=5, of=5, why="2 messages were waiting already")
    broker.go_on.set()
    time.sleep(0.1)
    assert broker.got in ([], [0])  # the one under way


def test_a_message_that_the_broker_does_not_want_stops_no_other() -> None:
    broker = FakeBroker(at_send=[MessageRefused(why="too long")])
    outbox = Outbox(broker.connect)
    for number in range(3):
        outbox.put(message(number))
    assert outbox.close(_soon()) == Unsent(count=1, of=3, why="too long")
    assert broker.got == [1, 2]
