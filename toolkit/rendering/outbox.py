"""Messages in the outbox: as rows of a table, as lines, and as JSON documents."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from toolkit.ledger.errors import moment
from toolkit.notify.message import Message, NotAMessage

if TYPE_CHECKING:
    from datetime import datetime

    from toolkit.ledger.outbox import ChannelState, OutboxMessage

OUTBOX_COLUMNS = ("message", "state", "channel", "recipient", "subject", "created-at", "tries", "error")


def outbox_rows(found: Iterable[OutboxMessage]) -> Iterator[tuple[str, ...]]:
    """Yield messages as rows of `OUTBOX_COLUMNS`."""
    for each in found:
        place = (str(each.outbox_id), str(each.state), each.channel, each.recipient)
        yield (*place, _subject(each), moment(each.created_at), str(each.tries), each.error or "")


def channel_lines(states: Iterable[ChannelState]) -> Iterator[str]:
    """Yield the channels that cannot send now."""
    for each in states:
        if each.failures:
            again = f"; next try at {moment(each.next_try_at)}" if each.next_try_at else ""
            yield f"channel {each.channel}: {each.failures} failures in a row, {each.waiting} wait{again}: {each.error}"


def message_lines(message: OutboxMessage) -> Iterator[str]:
    """Yield a message in full."""
    document = message_document(message)
    yield from (f"{name}: {value}" for name, value in document.items() if value is not None and name != "body")
    yield ""
    try:
        yield Message.from_json(message.body).text
    except NotAMessage as error:
        yield str(error)


def message_document(message: OutboxMessage) -> dict[str, object]:
    """Return a message as JSON."""
    return {
        "message": message.outbox_id,
        "id": message.message_id,
        "state": str(message.state),
        "channel": message.channel,
        "recipient": message.recipient or None,
        "subject": _subject(message) or None,
        "created_at": moment(message.created_at),
        "expires_at": moment(message.expires_at),
        "sent_at": _time(message.sent_at),
        "dead_at": _time(message.dead_at),
        "tries": message.tries,
        "error": message.error,
        "run_id": message.run_id,
        "alert_id": message.alert_id,
    }


def body_document(message: OutboxMessage) -> dict[str, object]:
    """Return a message as JSON, with what it says; one that cannot be read says nothing."""
    try:
        Message.from_json(message.body)
    except NotAMessage:
        return {**message_document(message), "body": None}
    return {**message_document(message), "body": json.loads(message.body)}


def channel_document(state: ChannelState) -> dict[str, object]:
    """Return the state of a channel as JSON."""
    return {
        "channel": state.channel,
        "waiting": state.waiting,
        "failures": state.failures,
        "next_try_at": _time(state.next_try_at),
        "error": state.error,
    }


def _subject(message: OutboxMessage) -> str:
    try:
        return Message.from_json(message.body).subject
    except NotAMessage:
        return ""


def _time(value: datetime | None) -> str | None:
    return None if value is None else moment(value)
