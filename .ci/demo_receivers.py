"""Receivers of messages for the demo of monitoring, and what they got: `demo_receivers.py FOLDER`.

A mail server, an HTTP server and a subscriber of an ActiveMQ, each real. FOLDER/ports has their addresses as variables
of a shell once all of them listen; each message goes to `mail`, `webhook` and `stomp` in that folder, as it came.
"""

from __future__ import annotations

import asyncio
import signal
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from aiosmtpd.smtp import SMTP, Envelope, Session

from tests.testbed.activemq import ActiveMQ, Subscriber
from tests.testbed.client import Testbed
from tests.testbed.controller import Controller


class MailFile:
    """Handler of mails that appends each to a file."""

    def __init__(self, file: Path) -> None:
        self._file = file

    async def handle_DATA(self, server: SMTP, session: Session, envelope: Envelope) -> str:  # noqa: N802 - aiosmtpd's
        """Take a mail."""
        del server, session
        content = envelope.content if isinstance(envelope.content, bytes) else b""
        _append(self._file, content.replace(b"\r\n", b"\n"))
        return "250 OK"


def webhook_handler(file: Path) -> type[BaseHTTPRequestHandler]:
    """Return a handler that appends each POST to a file."""

    class WebhookFile(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            _append(file, f"POST {self.path}\n{self.headers}".encode() + body + b"\n")
            self.send_response(204)
            self.end_headers()

        def log_message(self, *_arguments: object) -> None:
            """Say nothing."""

    return WebhookFile


def read_topics(subscriber: Subscriber, file: Path) -> None:
    """Append what the topics of the broker get to a file, until the process ends."""
    while True:
        message = subscriber.next()
        headers = "".join(f"{key}: {value}\n" for key, value in message.headers.items())
        _append(file, f"{headers}\n{message.body}\n".encode())


def _append(file: Path, text: bytes) -> None:
    with file.open("ab") as opened:
        opened.write(text)


async def serve_mail(folder: Path, ports: dict[str, int]) -> None:
    """Take mails, and say by a file that all receivers listen."""
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: SMTP(MailFile(folder / "mail")), "127.0.0.1", 0)
    known = {"smtp": server.sockets[0].getsockname()[1], **ports}
    (folder / "ports.new").write_text("".join(f"{name}={port}\n" for name, port in known.items()))
    (folder / "ports.new").rename(folder / "ports")
    await server.serve_forever()


def main(folder: Path) -> None:
    """Receive until the process is ended."""
    testbed = Testbed(controller=Controller.this_process())
    try:
        broker = ActiveMQ.of(testbed)
        subscriber = Subscriber(broker.port)
        subscriber._connection.settimeout(None)  # noqa: SLF001 - tests wait for a while, the demo as long as it takes
        web = ThreadingHTTPServer(("127.0.0.1", 0), webhook_handler(folder / "webhook"))
        threading.Thread(target=read_topics, args=(subscriber, folder / "stomp"), daemon=True).start()
        threading.Thread(target=web.serve_forever, daemon=True).start()
        asyncio.run(serve_mail(folder, {"web": web.server_port, "stomp": broker.port}))
    finally:
        testbed.end()


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())
    main(Path(sys.argv[1]))
