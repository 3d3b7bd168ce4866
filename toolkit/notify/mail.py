"""Mails by SMTP: text and HTML, one thread for all about an instance, many over one connection."""

from __future__ import annotations

import hashlib
import io
import re
import smtplib
import socket
import ssl
from collections.abc import Callable
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.errors import MessageError
from email.headerregistry import Address
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import format_datetime
from html import escape

from typing_extensions import override

from toolkit.entities.monitoring import MailTls
from toolkit.notify.answers import AnswerStream
from toolkit.notify.channel import (
    Channel,
    ChannelSession,
    ChannelUnavailable,
    MessageRefused,
    RecipientUnavailable,
    visible,
)
from toolkit.notify.message import Message, MessageSeverity

WAIT_SECONDS = 10.0
"""So long a server may take to be connected to, and for each answer as a whole."""
_ADDRESS = re.compile(r"[^\s@<>\"(),:;\\\[\]\x00-\x20\x7f]{1,64}@[A-Za-z0-9](?:[A-Za-z0-9.-]{0,253}[A-Za-z0-9])?")
_LONGEST_ADDRESS = 100
_SAFE_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")
_PERMANENT, _SERVICE_CLOSING = 500, 421
_PRIORITY = {MessageSeverity.CRITICAL: "1 (Highest)"}


@dataclass(frozen=True, kw_only=True, slots=True)
class SmtpServer(Channel):
    """A mail server, and who sends.

    Attributes:
        host: its name or address.
        port: its port.
        tls: how the connection is encrypted; the server's certificate is checked.
        sender: the address in the header ``From``, and of the envelope.
        user: empty: no login.
        password: of the user.
        now: the time in the header ``Date``.
    """

    host: str
    port: int
    tls: MailTls
    sender: str
    user: str = ""
    password: str = field(default="", repr=False)
    now: Callable[[], datetime] = lambda: datetime.now(UTC)

    @override
    def open(self) -> SmtpSession:
        try:
            return SmtpSession(self)
        except smtplib.SMTPAuthenticationError as error:  # its text might repeat the password, encoded
            raise ChannelUnavailable(why=f"the mail server answered {error.smtp_code} to the login") from error
        except (OSError, ValueError, smtplib.SMTPException) as error:
            raise ChannelUnavailable(why=self.answer(error)) from error

    def answer(self, error: Exception) -> str:
        """Return an error, or what the server answered, as it may be shown."""
        if isinstance(error, TimeoutError):
            return f"no answer within {WAIT_SECONDS:g} s"
        if isinstance(error, smtplib.SMTPResponseException):
            return f"the mail server answered {error.smtp_code} {self.text(error.smtp_error)}"
        return visible(error, [self.password])

    def text(self, answer: bytes | str) -> str:
        """Return what the server answered as it may be shown."""
        text = answer.decode(errors="replace") if isinstance(answer, bytes) else answer
        return visible(text, [self.password])


class _LimitedSmtp(smtplib.SMTP):
    """Client that waits for no answer for ever, and keeps none without an end."""

    _answers: AnswerStream

    @override
    def getreply(self) -> tuple[int, bytes]:
        if self.file is None and self.sock is not None:
            self._answers = AnswerStream(self.sock, lambda: WAIT_SECONDS)
            self.file = io.BufferedReader(self._answers)
        else:
            self._answers.begin()
        return super().getreply()


class _LimitedSmtpTls(_LimitedSmtp, smtplib.SMTP_SSL):
    """The same over TLS."""


class SmtpSession(ChannelSession):
    """A connection to a mail server that has accepted who sends.

    Args:
        server: the other end.

    Raises:
        OSError: it cannot be reached, or its certificate is wrong.
        ValueError: its name is none, the login is not ASCII, or what the server says at the login is nonsense.
        SMTPException: it does not want this sender.
    """

    def __init__(self, server: SmtpServer) -> None:
        self._server = server
        with ExitStack() as unfinished:
            self._connection = self._connected()
            unfinished.callback(self._connection.close)
            if server.tls is MailTls.STARTTLS:
                self._connection.starttls(context=ssl.create_default_context())
            if server.user:
                self._connection.login(server.user, server.password)
            unfinished.pop_all()

    def _connected(self) -> smtplib.SMTP:
        """The name of this machine is given: to look for the full one may take many seconds."""
        server, name = self._server, socket.gethostname()
        if server.tls is MailTls.TLS:
            context = ssl.create_default_context()
            return _LimitedSmtpTls(server.host, server.port, name, timeout=WAIT_SECONDS, context=context)
        return _LimitedSmtp(server.host, server.port, name, timeout=WAIT_SECONDS)

    @override
    def send(self, message: Message, recipient: str) -> None:
        """Send a mail to an address."""
        server = self._server
        try:
            mail = mail_of(message, recipient, server.sender, server.now())
            self._connection.send_message(mail, server.sender, [recipient])
        except smtplib.SMTPRecipientsRefused as error:
            code, answer = next(iter(error.recipients.values()), (_PERMANENT, b""))
            raise self._refusal(code, f"the mail server answered {code} {server.text(answer)}") from error
        except smtplib.SMTPDataError as error:
            raise self._refusal(error.smtp_code, server.answer(error)) from error
        except smtplib.SMTPNotSupportedError as error:
            raise MessageRefused(why=server.answer(error)) from error
        except (MessageError, ValueError) as error:
            raise MessageRefused(why=f"no mail can be sent to this address: {visible(error)}") from error
        except (OSError, smtplib.SMTPException) as error:
            raise ChannelUnavailable(why=server.answer(error)) from error

    @staticmethod
    def _refusal(code: int, why: str) -> Exception:
        if code == _SERVICE_CLOSING:
            return ChannelUnavailable(why=why)
        return MessageRefused(why=why) if code >= _PERMANENT else RecipientUnavailable(why=why)

    @override
    def close(self) -> None:
        with suppress(OSError, smtplib.SMTPException):
            self._connection.quit()
        self._connection.close()


def mail_of(message: Message, recipient: str, sender: str, now: datetime) -> EmailMessage:
    """Return a message as a mail.

    Raises:
        ValueError: an address is none.
        MessageError: a header cannot be written.
    """
    mail, domain = EmailMessage(policy=SMTP), sender.rpartition("@")[2]
    mail["From"] = _address(sender, "feedctl")
    mail["To"] = _address(recipient)
    # The library decodes such words, and would write the line ends in them as they are.
    mail["Subject"] = message.subject.replace("=?", "= ?")
    mail["Date"] = format_datetime(now)
    mail["Message-ID"] = f"<{_id(message.message_id)}@{domain}>"
    if message.thread:
        # The root of the thread was never sent; mail programs bring together what refers to it.
        thread = f"<thread-{hashlib.sha256(message.thread.encode(errors='replace')).hexdigest()[:32]}@{domain}>"
        mail["References"] = mail["In-Reply-To"] = thread
    mail["Auto-Submitted"] = "auto-generated"
    if message.severity in _PRIORITY:
        mail["X-Priority"] = _PRIORITY[message.severity]
    mail.set_content(message.text + "\n")
    mail.add_alternative(_html(message), subtype="html")
    return mail


def _address(text: str, name: str = "") -> Address:
    """Return an address as a header takes it; the parser of the library fails by errors of several kinds."""
    if _ADDRESS.fullmatch(text) is None:
        message = f"{text[:_LONGEST_ADDRESS]!r} is none"
        raise ValueError(message)
    user, _, domain = text.rpartition("@")
    return Address(name, user, domain)


def _id(text: str) -> str:
    """Return the id if it may stand in a header, else its digest."""
    return text if _SAFE_ID.fullmatch(text) else hashlib.sha256(text.encode(errors="replace")).hexdigest()[:32]


def _html(message: Message) -> str:
    rows = "".join(
        f"<tr><th align=left>{escape(key)}</th><td>{escape(str(value))}</td></tr>\n"
        for key, value in message.facts.items()
        if value not in {None, ""}
    )
    subject, text = escape(message.subject), escape(message.text)
    return f"<html><body>\n<h3>{subject}</h3>\n<pre>{text}</pre>\n<table>\n{rows}</table>\n</body></html>\n"
