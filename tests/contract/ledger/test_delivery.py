"""Delivery of what waits in the outbox, by channels that do as they are told."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace

import pytest
import sqlalchemy as sa

from tests.contract.ledger.test_outbox import with_hand_clock
from tests.databases.ledgers import open_ledger
from tests.unit.notify.test_message import made
from toolkit.el import Frequency
from toolkit.ledger import outbox
from toolkit.ledger.database import Ledger
from toolkit.ledger.outbox import NewMessage, OutboxState
from toolkit.notify.channel import ChannelUnavailable, DeliveryError, MessageRefused, RecipientUnavailable
from toolkit.notify.delivery import LATE, Delivered, Delivery
from toolkit.notify.message import Message

TWO_DAYS = Frequency.parse("days(2)")


@dataclass
class FakeChannel:
    """Takes messages; what goes wrong is a list of errors, one for each opening or message, None for none."""

    at_open: list[DeliveryError | None] = field(default_factory=list)
    at_send: list[DeliveryError | None] = field(default_factory=list)
    go_on: threading.Event = field(default_factory=threading.Event)
    got: list[tuple[str, str]] = field(default_factory=list)
    opened: int = 0
    closed: int = 0

    def __post_init__(self) -> None:
        self.go_on.set()

    def open(self) -> FakeChannel:
        _raise_next(self.at_open)
        self.opened += 1
        return self

    def send(self, message: Message, recipient: str) -> None:
        self.go_on.wait(60)
        _raise_next(self.at_send)
        self.got.append((message.message_id, recipient))

    def close(self) -> None:
        self.closed += 1


def _raise_next(errors: list[DeliveryError | None]) -> None:
    error = errors.pop(0) if errors else None
    if error is not None:
        raise error


def put(ledger: Ledger, *numbers: int, channel: str = "mail", recipient: str = "a", body: str | None = None) -> None:
    """Write messages with numbers."""

    def new(number: int) -> NewMessage:
        message_id = f"m{number}"
        text = replace(made(), message_id=message_id).as_json() if body is None else body
        return NewMessage(message_id=message_id, channel=channel, recipient=recipient, body=text, expires=TWO_DAYS)

    ledger.write(lambda tx: outbox.put(tx, map(new, numbers)))


def delivery(ledger: Ledger, **channels: FakeChannel) -> Delivery:
    """Return a delivery by these channels."""
    return Delivery(ledger=ledger, channel_of=channels.get, owner="host 1", is_gone=lambda _: False)


def states(ledger: Ledger) -> list[tuple[str, OutboxState, str | None]]:
    """Return id, state and error of all messages, oldest first."""
    found = ledger.read(lambda tx: outbox.listed(tx, OutboxState))
    return [(each.message_id, each.state, each.error) for each in reversed(found)]


def test_messages_go_over_one_session_in_their_order_and_once(ledger: Ledger) -> None:
    mail, chat = FakeChannel(), FakeChannel()
    put(ledger, *range(250))
    put(ledger, 7, channel="chat", recipient="")
    sends = delivery(ledger, mail=mail, chat=chat)
    assert sends.run().sent == 251
    assert sends.run() == Delivered()
    assert mail.got == [(f"m{number}", "a") for number in range(250)]
    assert chat.got == [("m7", "")]
    assert (mail.opened, mail.closed) == (1, 1)


def test_a_session_that_broke_is_replaced_and_the_message_sent_again(ledger: Ledger) -> None:
    mail = FakeChannel(at_send=[None, ChannelUnavailable(why="broken"), None])
    put(ledger, 1, 2, 3)
    assert delivery(ledger, mail=mail).run().failures == {}
    assert [name for name, _ in mail.got] == ["m1", "m2", "m3"]
    assert (mail.opened, mail.closed) == (2, 2)


def test_a_channel_that_is_down_stops_no_other_and_is_tried_again_after_a_pause(ledger: Ledger) -> None:
    ledger, clock = with_hand_clock(ledger)
    mail, chat = FakeChannel(at_open=[ChannelUnavailable(why="down")] * 2), FakeChannel()
    put(ledger, 1, 2)
    put(ledger, 1, channel="chat")
    sends = delivery(ledger, mail=mail, chat=chat)
    report = sends.run()
    assert (report.sent, report.failures) == (1, {"mail": "down"})
    assert sends.run() == Delivered()
    clock.forward(5)
    assert sends.run().failures == {"mail": "down"}
    clock.forward(14)
    assert sends.run() == Delivered()
    clock.forward(1)
    assert sends.run().sent == 2
    assert [name for name, _ in mail.got] == ["m1", "m2"]


def test_a_message_that_breaks_each_session_does_not_keep_others_waiting_for_long(ledger: Ledger) -> None:
    ledger, clock = with_hand_clock(ledger)

    class Breaking(FakeChannel):
        def send(self, message: Message, recipient: str) -> None:
            if message.message_id == "m1":
                raise ChannelUnavailable(why="broken pipe")
            super().send(message, recipient)

    mail = Breaking()
    put(ledger, 1, 2, 3)
    sends, passes = delivery(ledger, mail=mail), 0
    while not mail.got:
        sends.run()
        clock.forward(301)
        passes += 1
    assert passes == 4
    assert mail.got == [("m2", "a"), ("m3", "a")]


def test_many_messages_that_break_each_session_do_not_keep_others_waiting_either(ledger: Ledger) -> None:
    ledger, clock = with_hand_clock(ledger)
    poison = {f"m{number}" for number in range(10)}

    class Breaking(FakeChannel):
        def send(self, message: Message, recipient: str) -> None:
            if message.message_id in poison:
                raise ChannelUnavailable(why="broken pipe")
            super().send(message, recipient)

    mail = Breaking()
    put(ledger, *range(12))
    sends = delivery(ledger, mail=mail)
    for _ in range(31):
        sends.run()
        clock.forward(301)
    assert mail.got == [("m10", "a"), ("m11", "a")]


def test_a_message_under_way_at_the_deadline_is_marked_and_its_channel_is_not_blamed(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("toolkit.notify.delivery._GRACE_SECONDS", 60.0)  # more than a busy machine needs
    deadline = math.inf

    class Slow(FakeChannel):
        def send(self, message: Message, recipient: str) -> None:
            nonlocal deadline
            super().send(message, recipient)
            if len(self.got) == 5:
                deadline = time.monotonic()  # it comes while this message is under way
                time.sleep(0.5)

    mail = Slow()
    put(ledger, *range(100))
    sends = delivery(ledger, mail=mail)
    report = sends.run(lambda: deadline)
    sends.ending.set()
    assert report.failures == {}
    sent = [each for each, state, _ in states(ledger) if state is OutboxState.SENT]
    assert 0 < len(sent) < 100
    assert sent == [name for name, _ in mail.got]
    assert delivery(ledger, mail=mail).run().sent == 100 - len(sent)
    assert len(mail.got) == 100


def test_a_recipient_that_is_busy_keeps_only_its_own_messages_waiting(ledger: Ledger) -> None:
    mail = FakeChannel(at_send=[RecipientUnavailable(why="mailbox full")])
    put(ledger, 1, 2, recipient="a")
    put(ledger, 3, recipient="b")
    sends = delivery(ledger, mail=mail)
    assert sends.run().sent == 1
    assert mail.got == [("m3", "b")]
    assert sends.run().sent == 2
    assert mail.got[1:] == [("m1", "a"), ("m2", "a")]


def test_what_is_refused_or_is_no_message_is_given_up_and_stops_no_other(ledger: Ledger) -> None:
    mail = FakeChannel(at_send=[MessageRefused(why="no such mailbox")])
    put(ledger, 1, 3)
    put(ledger, 2, body="{}")
    report = delivery(ledger, mail=mail).run()
    assert (report.sent, report.refused) == (1, 2)
    (first, second, third) = states(ledger)
    assert first == ("m1", OutboxState.DEAD, "no such mailbox")
    assert second == ("m3", OutboxState.SENT, None)
    assert third[:2] == ("m2", OutboxState.DEAD)


def test_a_message_expires_and_one_of_a_channel_that_is_gone_too(ledger: Ledger) -> None:
    ledger, clock = with_hand_clock(ledger)
    put(ledger, 1)
    sends = delivery(ledger)
    assert "no channel 'mail'" in sends.run().failures["mail"]
    clock.forward(48 * 3600 - 1)
    assert sends.run().expired == 0
    clock.forward(1)
    assert sends.run().expired == 1
    ((_, state, error),) = states(ledger)
    assert state is OutboxState.DEAD
    assert "no channel 'mail'" in str(error)


def test_a_receiver_that_hangs_is_left_at_the_deadline_and_rests(ledger: Ledger) -> None:
    mail, chat = FakeChannel(), FakeChannel()
    mail.go_on.clear()
    put(ledger, 1, 2)
    put(ledger, 1, channel="chat")
    sends, begun = delivery(ledger, mail=mail, chat=chat), time.monotonic()
    report = sends.run(lambda: begun + 0.3)
    assert 0.3 <= time.monotonic() - begun < 15
    assert (report.sent, report.failures) == (1, {"mail": LATE})
    assert delivery(ledger, mail=FakeChannel()).run() == Delivered()
    mail.go_on.set()
    _until(lambda: bool(mail.closed))
    assert [name for name, _ in mail.got] == ["m1"]
    assert [state for _, state, _ in states(ledger)] == [OutboxState.SENT, OutboxState.WAITING, OutboxState.SENT]


def _until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


@pytest.mark.both_databases
def test_many_senders_at_once_send_each_message_once(ledger_url: sa.URL) -> None:
    ledgers, mail = [open_ledger(ledger_url) for _ in range(8)], FakeChannel()
    put(ledgers[0], *range(100))
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda ledger: delivery(ledger, mail=mail).run(), ledgers))
    for each in ledgers:
        each.close()
    assert [name for name, _ in mail.got] == [f"m{number}" for number in range(100)]
