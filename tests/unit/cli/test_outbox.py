"""`feedctl outbox list|show|retry|drop`."""

from __future__ import annotations

import pytest

from tests.contract.ledger.test_delivery import FakeChannel, delivery, put
from tests.unit.cli.running import Feedctl
from toolkit.ledger.database import Ledger
from toolkit.ledger.state.commands import recent
from toolkit.notify.channel import ChannelUnavailable, MessageRefused

pytestmark = pytest.mark.usefixtures("repo", "cli_ledger")

JSON = ("--output", "json")


def listed(feedctl: Feedctl, *options: str) -> list[tuple[str, str]]:
    """Return id and state of the messages that are listed."""
    found = feedctl("outbox", "list", *options, *JSON).document["messages"]
    return [(each["id"], each["state"]) for each in found]


@pytest.fixture
def found(cli_ledger: Ledger) -> None:
    """One message that was sent, one that was refused, and one that waits for a channel that is down."""
    put(cli_ledger, 1, 2)
    put(cli_ledger, 3, channel="chat")
    mail = FakeChannel(at_send=[None, MessageRefused(why="no such mailbox\x1b[31m")])
    delivery(cli_ledger, mail=mail, chat=FakeChannel(at_open=[ChannelUnavailable(why="it is down")])).run()


@pytest.mark.usefixtures("found")
def test_messages_that_were_not_sent_are_listed_newest_first(feedctl: Feedctl) -> None:
    assert listed(feedctl) == [("m3", "waiting"), ("m2", "dead")]
    assert listed(feedctl, "--all") == [("m3", "waiting"), ("m2", "dead"), ("m1", "sent")]
    assert listed(feedctl, "--state", "sent") == [("m1", "sent")]
    assert listed(feedctl, "--channel", "mail") == [("m2", "dead")]
    assert listed(feedctl, "--all", "--limit", "1") == [("m3", "waiting")]
    ran = feedctl("outbox", "list")
    assert "no such mailbox\\u001b[31m" in ran.out
    assert "note: channel chat: 1 failures in a row, 1 wait; next try at " in ran.err
    assert "it is down" in ran.err


@pytest.mark.usefixtures("found")
def test_a_message_is_shown_with_its_text(feedctl: Feedctl) -> None:
    shown = feedctl("outbox", "show", "2").out.splitlines()
    assert "state: dead" in shown
    assert shown[-1] == "t"
    assert feedctl("outbox", "show", "2", *JSON).document["message"]["body"]["subject"] == "s"
    ran = feedctl("outbox", "show", "9")
    assert (ran.code, "no message in the outbox has the number 9" in ran.err) == (2, True)


@pytest.mark.usefixtures("found")
def test_messages_are_sent_again_or_dropped_by_number_or_channel(feedctl: Feedctl, cli_ledger: Ledger) -> None:
    assert feedctl("outbox", "retry", "1", "2", *JSON).document["messages"] == [2]
    assert listed(feedctl) == [("m3", "waiting"), ("m2", "waiting")]
    assert feedctl("outbox", "drop", "--channel", "chat", *JSON).document["messages"] == [3]
    assert feedctl("outbox", "drop", "--channel", "chat", *JSON).document["messages"] == []
    assert listed(feedctl) == [("m3", "dead"), ("m2", "waiting")]
    chat = FakeChannel()
    assert feedctl("outbox", "retry", "--channel", "chat").out == "1 messages are sent again\n"
    delivery(cli_ledger, mail=FakeChannel(), chat=chat).run()
    assert chat.got == [("m3", "a")]
    commands = cli_ledger.read(lambda tx: recent(tx, 10))
    assert [each.command for each in commands] == ["outbox retry", "outbox drop", "outbox drop", "outbox retry"]
    assert [each.has_changed for each in commands] == [True, False, True, True]


def test_a_command_needs_a_message(feedctl: Feedctl) -> None:
    for command in ("retry", "drop"):
        ran = feedctl("outbox", command)
        assert (ran.code, "--channel" in ran.err) == (2, True)
    assert feedctl("outbox", "list").err == "no messages\n"
