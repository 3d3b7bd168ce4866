"""Messages in the outbox: written once, claimed by one sender, marked, given up, on both databases."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
import sqlalchemy as sa

from tests.contract.ledger_jobs.plans import executed, scans
from tests.databases.ledgers import HandClock, open_ledger
from toolkit.el import Frequency
from toolkit.ledger import outbox
from toolkit.ledger.database import Ledger, Transaction
from toolkit.ledger.outbox import CLAIM_SECONDS, NewMessage, OutboxMessage, OutboxState

pytestmark = pytest.mark.both_databases

HOUR = Frequency.parse("hours(1)")
PAUSES = (10.0, 60.0)


def new(number: int, *, channel: str = "mail", recipient: str = "a@example.com") -> NewMessage:
    """A message with a number."""
    return NewMessage(message_id=f"m{number}", channel=channel, recipient=recipient, body=f"{number}", expires=HOUR)


def with_hand_clock(ledger: Ledger) -> tuple[Ledger, HandClock]:
    """Return the ledger with a clock that is moved by hand."""
    clock = HandClock()
    return replace(ledger, clock=clock), clock


def put(ledger: Ledger, *messages: NewMessage) -> None:
    """Write messages in a transaction of their own."""
    ledger.write(lambda tx: outbox.put(tx, messages))


def waiting(ledger: Ledger, channel: str = "mail") -> list[OutboxMessage]:
    """Return the messages of a channel that wait."""
    return list(ledger.read(lambda tx: outbox.waiting(tx, channel)))


def claims(ledger: Ledger, owner: str, *gone: str) -> bool:
    """Return whether a process gets the channel of mails."""
    return ledger.write(lambda tx: outbox.claim(tx, "mail", owner, gone.__contains__))


def test_a_message_is_there_once_for_each_recipient_and_expires(ledger: Ledger) -> None:
    ledger, clock = with_hand_clock(ledger)
    put(ledger, new(1), new(1), new(1, recipient="b@example.com"), new(2))
    put(ledger, replace(new(1), body="other"))
    found = waiting(ledger)
    assert [(each.message_id, each.recipient, each.body) for each in found] == [
        ("m1", "a@example.com", "1"),
        ("m1", "b@example.com", "1"),
        ("m2", "a@example.com", "2"),
    ]
    assert {(each.expires_at - each.created_at).total_seconds() for each in found} == {3600}
    clock.forward(3599)
    assert ledger.write(outbox.expire) == 0
    clock.forward(1)
    assert ledger.write(outbox.expire) == 3
    assert waiting(ledger) == []
    dead = ledger.read(lambda tx: outbox.listed(tx, [OutboxState.DEAD]))
    assert {(each.state, each.error) for each in dead} == {(OutboxState.DEAD, outbox.EXPIRED)}


def test_a_message_that_would_outlive_the_calendar_is_kept_for_years(ledger: Ledger) -> None:
    put(ledger, replace(new(1), expires=Frequency.parse("months(119988)")))
    (found,) = waiting(ledger)
    assert 3000 < (found.expires_at - found.created_at).days < 4000


def test_a_transaction_that_fails_leaves_no_message(ledger: Ledger) -> None:
    def fails(tx: Transaction) -> None:
        outbox.put(tx, [new(1)])
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        ledger.write(fails)
    assert waiting(ledger) == []


def test_one_process_sends_until_it_gives_back_is_silent_or_dies(ledger: Ledger) -> None:
    ledger, clock = with_hand_clock(ledger)
    put(ledger, new(1), new(2))
    assert claims(ledger, "one")
    assert not claims(ledger, "two")
    clock.forward(CLAIM_SECONDS - 1)
    first, second = waiting(ledger)
    assert ledger.write(lambda tx: outbox.note(tx, first, "one"))
    clock.forward(CLAIM_SECONDS - 1)
    assert not claims(ledger, "two")
    clock.forward(1)
    assert claims(ledger, "two")
    assert not ledger.write(lambda tx: outbox.note(tx, second, "one"))
    ledger.write(lambda tx: outbox.release(tx, "mail", "one"))
    assert not claims(ledger, "one")
    assert claims(ledger, "one", "two")
    ledger.write(lambda tx: outbox.release(tx, "mail", "one"))
    assert claims(ledger, "three")


def test_a_channel_that_fails_rests_longer_each_time(ledger: Ledger) -> None:
    ledger, clock = with_hand_clock(ledger)
    put(ledger, new(1), new(2, channel="chat"))
    for pause in (10, 60, 60):
        assert ledger.read(outbox.channels_due) == ["chat", "mail"]
        assert claims(ledger, "one")
        ledger.write(lambda tx: outbox.release(tx, "mail", "one", error="it is down", pauses=PAUSES))
        clock.forward(pause - 1)
        assert ledger.read(outbox.channels_due) == ["chat"]
        assert not claims(ledger, "one")
        clock.forward(1)
    (_, mail) = ledger.read(outbox.channel_states)
    assert (mail.channel, mail.waiting, mail.failures, mail.error) == ("mail", 1, 3, "it is down")
    assert claims(ledger, "one")
    ledger.write(lambda tx: outbox.release(tx, "mail", "one"))
    assert [each.failures for each in ledger.read(outbox.channel_states)] == [0, 0]


def test_what_was_given_up_is_sent_again_or_dropped_by_command(ledger: Ledger) -> None:
    put(ledger, new(1), new(2))
    assert claims(ledger, "one")
    one, two = waiting(ledger)
    ledger.write(lambda tx: outbox.note(tx, one, "one", error="no such mailbox", is_refused=True))
    ledger.write(lambda tx: outbox.note(tx, two, "one", error="busy"))
    (left,) = waiting(ledger)
    assert (left.message_id, left.tries, left.error) == ("m2", 1, "busy")
    ledger.write(lambda tx: outbox.release(tx, "mail", "one", error="down", pauses=PAUSES))
    assert ledger.write(lambda tx: outbox.retry(tx, [one.outbox_id, two.outbox_id], HOUR)) == 2
    assert [each.message_id for each in waiting(ledger)] == ["m1", "m2"]
    assert claims(ledger, "one")
    assert ledger.write(lambda tx: outbox.drop(tx, [two.outbox_id], "dropped by me")) == 1
    found = ledger.read(lambda tx: outbox.find(tx, two.outbox_id))
    assert found is not None
    assert (found.state, found.error) == (OutboxState.DEAD, "dropped by me")


def test_messages_that_are_over_for_a_month_are_removed(ledger: Ledger) -> None:
    ledger, clock = with_hand_clock(ledger)
    put(ledger, new(1), new(2))
    first, _ = waiting(ledger)
    ledger.write(lambda tx: outbox.note(tx, first, "one"))
    clock.forward(outbox.KEPT.total_seconds())
    put(ledger, new(3))
    assert ledger.write(outbox.remove_old) == 0
    clock.forward(1)
    assert ledger.write(outbox.remove_old) == 1
    assert [each.message_id for each in waiting(ledger)] == ["m2", "m3"]


def test_of_many_senders_at_once_one_gets_the_channel(ledger_url: sa.URL) -> None:
    ledgers = [open_ledger(ledger_url) for _ in range(8)]
    put(ledgers[0], new(1))
    with ThreadPoolExecutor(8) as pool:
        won = list(pool.map(lambda number: claims(ledgers[number], f"process {number}"), range(8)))
    for each in ledgers:
        each.close()
    assert won.count(True) == 1


def test_looking_for_work_reads_no_message_that_is_over(ledger: Ledger) -> None:
    put(ledger, *map(new, range(3)))
    with executed(ledger) as statements:
        ledger.read(outbox.channels_due)
        ledger.read(outbox.channel_states)
        waiting(ledger)
        ledger.write(outbox.expire)
    assert scans(ledger, statements) == []
