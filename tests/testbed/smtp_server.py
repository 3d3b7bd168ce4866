"""A mail server as a process of its own: aiosmtpd, which answers as the address of a recipient says.

    python -m tests.testbed.smtp_server FOLDER [--starttls] [--login]

It writes its port to FOLDER/port, and each mail that it takes as a line of JSON to FOLDER/mails.jsonl.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import ssl
import time
from pathlib import Path

from aiosmtpd.smtp import SMTP, AuthResult, Envelope, LoginPassword, Session

USER, PASSWORD = "feedctl", "p: \\w"
_ANSWERS = {"nobody": "550 5.1.1 no such mailbox", "busy": "450 4.2.1 mailbox busy", "closing": "421 4.3.2 closing"}
_AT_DATA = {"spam": "554 5.7.1 looks like spam", "later": "451 4.3.0 try again"}
SLOW_SECONDS = 30


class Handler:
    """Takes mails, or does what the recipient's name says."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    async def handle_RCPT(  # noqa: N802 - aiosmtpd names it so
        self, server: SMTP, session: Session, envelope: Envelope, address: str, options: list[str]
    ) -> str:
        """Answer for a recipient."""
        del server, session, options
        answer = _ANSWERS.get(_name(address))
        if answer is None:
            envelope.rcpt_tos.append(address)
        return answer or "250 OK"

    async def handle_DATA(self, server: SMTP, session: Session, envelope: Envelope) -> str:  # noqa: N802 - as above
        """Take a mail."""
        name = _name(envelope.rcpt_tos[0])
        if name == "cut" and not (self._folder / "cut").exists():
            (self._folder / "cut").touch()
            if isinstance(server.transport, asyncio.Transport):
                server.transport.abort()
            return "250 OK"
        if name == "slow":
            await asyncio.sleep(SLOW_SECONDS)
        if name in _AT_DATA:
            return _AT_DATA[name]
        content = envelope.content if isinstance(envelope.content, bytes) else b""
        mail = {
            "to": envelope.rcpt_tos,
            "data": content.decode("utf-8", "surrogateescape"),
            "tls": session.ssl is not None,
            "user": getattr(session.auth_data, "login", b"").decode(),
            "peer": session.peer[1] if session.peer else None,
            "time": time.time(),
        }
        with (self._folder / "mails.jsonl").open("a") as file:
            file.write(json.dumps(mail) + "\n")
        return "250 OK"


def _name(address: str) -> str:
    return address.partition("@")[0]


def _login(server: SMTP, session: Session, envelope: Envelope, mechanism: str, data: LoginPassword) -> AuthResult:
    del server, session, envelope, mechanism
    is_known = data.login == USER.encode() and data.password == PASSWORD.encode()
    return AuthResult(success=is_known, handled=False, auth_data=data)


def main() -> None:
    """Serve until the process is ended."""
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--starttls", action="store_true")
    parser.add_argument("--login", action="store_true")
    parser.add_argument("--port", type=int, default=0)
    options = parser.parse_args()
    folder: Path = options.folder
    context = None
    if options.starttls:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(folder / "certificate.pem", folder / "key.pem")
    asyncio.run(_serve(options, context))


async def _serve(options: argparse.Namespace, context: ssl.SSLContext | None) -> None:
    folder: Path = options.folder

    def protocol() -> SMTP:
        return SMTP(
            Handler(folder),
            tls_context=context,
            authenticator=_login if options.login else None,
            auth_required=options.login,
            auth_require_tls=options.starttls,
        )

    server = await asyncio.get_running_loop().create_server(protocol, "127.0.0.1", options.port)
    (folder / "port.new").write_text(str(server.sockets[0].getsockname()[1]))
    (folder / "port.new").rename(folder / "port")
    await server.serve_forever()


if __name__ == "__main__":
    main()
