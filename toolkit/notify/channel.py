"""Channel: a way on which messages reach people and programs; one adapter a module."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from toolkit.errors import FeedctlError
from toolkit.linter.secret_values import text_without_secrets
from toolkit.notify.message import Message
from toolkit.printable import on_one_line

LONGEST_ANSWER = 200
"""So many characters of a receiver's answer are shown."""


class DeliveryError(FeedctlError):
    """A message was not delivered.

    Args:
        why: what happened, on one line and without secrets.
    """

    def __init__(self, *, why: str) -> None:
        self.why = why
        super().__init__(why)


class ChannelUnavailable(DeliveryError):  # noqa: N818 - a state of the other side
    """The channel cannot send now; the message may have arrived, and is sent again later."""

    retriable = True


class RecipientUnavailable(DeliveryError):  # noqa: N818 - a state of the other side
    """The recipient takes no message now; others may."""

    retriable = True


class MessageRefused(DeliveryError):  # noqa: N818 - named for what happened
    """The receiver does not take this message, and would not later."""


class ChannelSession(Protocol):
    """A connection of a channel, used by one thread."""

    def send(self, message: Message, recipient: str) -> None:
        """Send a message, and return when the receiver has it.

        Raises:
            MessageRefused: it would not be taken later either.
            RecipientUnavailable: this recipient may take it later.
            ChannelUnavailable: the session is of no use any more; the receiver may have the message.
        """
        ...

    def close(self) -> None:
        """End the session; never an error."""
        ...


class Channel(Protocol):
    """A way on which messages are sent."""

    def open(self) -> ChannelSession:
        """Open a session.

        Raises:
            ChannelUnavailable: there is none to be had now.
        """
        ...


def visible(answer: object, secrets: Iterable[str] = ()) -> str:
    """Return what a receiver answered, or an error, as it may be shown: it might repeat a password."""
    text = str(answer) or type(answer).__name__
    for secret in filter(None, secrets):
        text = text.replace(secret, "***")
    return on_one_line(text_without_secrets(text[: 10 * LONGEST_ANSWER])[:LONGEST_ANSWER])
