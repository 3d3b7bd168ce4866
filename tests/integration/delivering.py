"""A process that sends what waits in an outbox to a mail server, and is killed by a test.

    python -m tests.integration.delivering LEDGER-URL PORT READY-FILE [DIES-AFTER]

It writes its number to READY-FILE when all is loaded, and begins then. It kills itself after so many mails.
"""

from __future__ import annotations

import os
import signal
import socket
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path

import sqlalchemy as sa

from tests.databases.ledgers import open_ledger
from toolkit.bootstrap.messages import is_gone
from toolkit.entities.monitoring import MailTls
from toolkit.ledger.database import Ledger
from toolkit.notify.channel import Channel, ChannelSession
from toolkit.notify.delivery import Delivery
from toolkit.notify.mail import SmtpServer
from toolkit.notify.message import Message
from toolkit.runs.owner import ProcessTable


def mail_delivery(ledger: Ledger, port: int) -> Delivery:
    """Return the delivery of a process by a mail server on this machine."""
    server = SmtpServer(host="127.0.0.1", port=port, tls=MailTls.NONE, sender="feedctl@example.com")
    table = ProcessTable()
    return Delivery(
        ledger=ledger,
        channel_of=lambda _: server,
        owner=f"{socket.gethostname()} {os.getpid()} {table.own_mark()}",
        is_gone=partial(is_gone, table),
        pauses=(0.0,),
    )


class DyingChannel:
    """A channel, and its session, that kills its process after so many mails."""

    def __init__(self, channel: Channel, most: int, _name: str) -> None:
        self._channel, self._left = channel, most

    def open(self) -> ChannelSession:
        self._session = self._channel.open()
        return self

    def send(self, message: Message, recipient: str) -> None:
        self._session.send(message, recipient)
        self._left -= 1
        if not self._left:
            os.kill(os.getpid(), signal.SIGKILL)

    def close(self) -> None:
        self._session.close()


if __name__ == "__main__":
    opened = open_ledger(sa.make_url(sys.argv[1]))
    delivery = mail_delivery(opened, int(sys.argv[2]))
    if sys.argv[4:]:
        channel = delivery.channel_of("mail")
        assert channel is not None
        delivery = replace(delivery, channel_of=partial(DyingChannel, channel, int(sys.argv[4])))
    Path(sys.argv[3]).write_text(str(os.getpid()))
    print(delivery.run())  # noqa: T201 - for who looks at a failure
