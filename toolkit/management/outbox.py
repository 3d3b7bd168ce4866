"""Commands on messages in the outbox: sent again, or given up."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from toolkit.errors import InvalidInput
from toolkit.ledger import outbox
from toolkit.ledger.outbox import OutboxMessage, OutboxState
from toolkit.ledger.state.commands import record

if TYPE_CHECKING:
    from toolkit.el import Frequency
    from toolkit.ledger.database import Ledger, Transaction


class UnknownMessage(InvalidInput):
    """The outbox has no message with a number."""

    code = "unknown_message"

    def __init__(self, *, number: int) -> None:
        super().__init__(f"no message in the outbox has the number {number}; `feedctl outbox list --all` shows them")


class NoMessageChosen(InvalidInput):
    """A command on messages names none."""

    code = "no_message_chosen"

    def __init__(self) -> None:
        super().__init__("found neither numbers of messages nor --channel; name one of both")


def get_message(ledger: Ledger, number: int) -> OutboxMessage:
    """Return the message with a number.

    Raises:
        UnknownMessage: there is none.
        LedgerUnavailable: the ledger cannot be used now.
    """
    found = ledger.read(lambda tx: outbox.find(tx, number))
    if found is None:
        raise UnknownMessage(number=number)
    return found


def retry_messages(
    ledger: Ledger, numbers: Sequence[int], channel: str | None, expires: Frequency, who: str
) -> list[int]:
    """Have messages sent by the next action or pass of the monitor, and return their numbers.

    Args:
        ledger: has the outbox.
        numbers: of messages; one that was sent already stays so.
        channel: all messages of it that wait or were given up; None: only the numbers.
        expires: they are given up again when they have waited for so long.
        who: gives the command.

    Raises:
        NoMessageChosen: neither numbers nor a channel.
        UnknownMessage: a number is that of no message.
        LedgerUnavailable: the ledger cannot be used now.
    """

    def work(tx: Transaction) -> list[int]:
        chosen = _chosen(tx, numbers, channel, (OutboxState.WAITING, OutboxState.DEAD))
        outbox.retry(tx, chosen, expires)
        record(tx, "outbox retry", _subject(chosen, channel), who, changed=bool(chosen))
        return chosen

    return ledger.write(work)


def drop_messages(ledger: Ledger, numbers: Sequence[int], channel: str | None, who: str) -> list[int]:
    """Give up messages that wait, and return their numbers; arguments and errors are those of `retry_messages`."""

    def work(tx: Transaction) -> list[int]:
        chosen = _chosen(tx, numbers, channel, (OutboxState.WAITING,))
        outbox.drop(tx, chosen, f"dropped by {who}")
        record(tx, "outbox drop", _subject(chosen, channel), who, changed=bool(chosen))
        return chosen

    return ledger.write(work)


_MOST = 100_000


def _chosen(tx: Transaction, numbers: Sequence[int], channel: str | None, states: tuple[OutboxState, ...]) -> list[int]:
    if not numbers and channel is None:
        raise NoMessageChosen
    found: list[OutboxMessage] = []
    for number in dict.fromkeys(numbers):
        message = outbox.find(tx, number)
        if message is None:
            raise UnknownMessage(number=number)
        found.append(message)
    if channel is not None:
        found += outbox.listed(tx, states, channel=channel, most=_MOST)
    return sorted({each.outbox_id for each in found if each.state in states})


def _subject(chosen: Sequence[int], channel: str | None) -> str:
    shown = ", ".join(map(str, chosen[:10])) + (", ..." if len(chosen) > 10 else "")  # noqa: PLR2004 - enough to know
    return f"{len(chosen)} messages ({shown})" + (f" of the channel {channel}" if channel else "")
