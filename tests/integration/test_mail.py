"""Mails to a real server in a process of its own: with TLS and login, refused, late, cut, many, hostile."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from email.message import EmailMessage
from pathlib import Path

import pytest

from tests.testbed.smtp import MailServer, mail_server
from tests.unit.notify.test_message import made
from toolkit.entities.monitoring import MailTls
from toolkit.notify import mail
from toolkit.notify.channel import ChannelUnavailable, DeliveryError, MessageRefused, RecipientUnavailable
from toolkit.notify.mail import SmtpServer

WRONG = "hunter2"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MailServer]:
    """A server without TLS and login."""
    with mail_server(tmp_path_factory.mktemp("smtp")) as found:
        yield found


def plain(server: MailServer) -> SmtpServer:
    """The server as a channel."""
    return SmtpServer(host="127.0.0.1", port=server.port, tls=MailTls.NONE, sender="feedctl@example.com")


def sent(server: MailServer, *, subject: str = "s", text: str = "t", to: str = "a@example.com") -> EmailMessage:
    """Send one mail, and return it as it arrived."""
    with closing(plain(server).open()) as session:
        session.send(made(subject=subject, text=text), to)
    return server.mails[-1]


def text_of(found: EmailMessage, kind: str) -> str:
    """Return the text or the HTML of a mail."""
    part = found.get_body((kind,))
    assert isinstance(part, EmailMessage)
    return str(part.get_content())


def test_a_mail_has_text_and_html_and_the_thread_of_its_instance(server: MailServer) -> None:
    found = sent(server, subject="FAILED: clicks", text="first <b>\nsecond")
    assert (found["From"], found["To"]) == ("feedctl <feedctl@example.com>", "a@example.com")
    assert (found["Subject"], found["Message-ID"]) == ("FAILED: clicks", "<m1@example.com>")
    assert found["References"] == found["In-Reply-To"] == sent(server)["References"]
    assert found["Auto-Submitted"] == "auto-generated"
    assert text_of(found, "plain").splitlines() == ["first <b>", "second"]
    assert "first &lt;b&gt;" in text_of(found, "html")


def test_hostile_texts_of_a_megabyte_are_one_valid_mail(server: MailServer) -> None:
    hostile = "x\r\nBcc: all@example.com\r\n\r\n.\r\nMAIL FROM:<x>\N{SNOWMAN}\udc80\0" + "é" * 1_000_000
    found = sent(server, subject=hostile, text=hostile)
    assert found["Bcc"] is None
    assert str(found["Subject"]).startswith("x Bcc: all@example.com . MAIL FROM:<x>\N{SNOWMAN}")
    assert not found.defects
    assert len(str(found)) < 100_000
    assert "\N{SNOWMAN}" in text_of(found, "plain")
    assert max(len(line) for line in str(server.envelopes[-1]["data"]).splitlines()) < 998


@pytest.mark.parametrize(
    ("to", "kind", "why"),
    [
        ("nobody@example.com", MessageRefused, "the mail server answered 550 5.1.1 no such mailbox"),
        ("busy@example.com", RecipientUnavailable, "the mail server answered 450 4.2.1 mailbox busy"),
        ("closing@example.com", ChannelUnavailable, "the mail server answered 421 4.3.2 closing"),
        ("spam@example.com", MessageRefused, "the mail server answered 554 5.7.1 looks like spam"),
        ("later@example.com", RecipientUnavailable, "the mail server answered 451 4.3.0 try again"),
        ("a@example.com\r\nRCPT TO:<b@example.com>", MessageRefused, "no mail can be sent to this address"),
        ("", MessageRefused, "no mail can be sent to this address"),
    ],
)
def test_what_a_server_answers_decides_what_becomes_of_a_mail(
    server: MailServer, to: str, kind: type[DeliveryError], why: str
) -> None:
    count = len(server.mails)
    with pytest.raises(kind) as error:
        sent(server, to=to)
    assert str(error.value).startswith(why)
    assert len(server.mails) == count


def test_a_connection_that_is_cut_in_mid_data_is_tried_again(server: MailServer) -> None:
    with pytest.raises(ChannelUnavailable):
        sent(server, to="cut@example.com")
    assert sent(server, to="cut@example.com")["To"] == "cut@example.com"


def test_a_server_that_is_slow_is_waited_for_no_longer_than_so(
    server: MailServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mail, "WAIT_SECONDS", 0.3)
    begun = time.monotonic()
    with pytest.raises(ChannelUnavailable, match=r"no answer within 0\.3 s|timed out"):
        sent(server, to="slow@example.com")
    assert time.monotonic() - begun < 10


def test_after_a_refusal_the_same_connection_takes_the_next_mail(server: MailServer) -> None:
    session = plain(server).open()
    for to, kind in (("nobody@example.com", MessageRefused), ("spam@example.com", MessageRefused)):
        with pytest.raises(kind):
            session.send(made(), to)
    session.send(made(), "a@example.com")
    session.send(made(), "b@example.com")
    session.close()
    first, second = server.envelopes[-2:]
    assert first["peer"] == second["peer"]


def test_with_starttls_the_certificate_is_checked_and_the_login_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with mail_server(tmp_path / "smtp", starttls=True, login=True) as server:
        channel = replace(plain(server), tls=MailTls.STARTTLS, user=server.user, password=server.password)
        with pytest.raises(ChannelUnavailable, match="certificate verify failed"):
            channel.open()
        monkeypatch.setenv("SSL_CERT_FILE", str(server.certificate))
        with pytest.raises(ChannelUnavailable, match="535") as refused:
            replace(channel, password=WRONG).open()
        assert WRONG not in f"{refused.value} {channel!r}"
        session = channel.open()
        session.send(made(), "a@example.com")
        session.close()
        (found,) = server.envelopes
        assert (found["tls"], found["user"]) == (True, server.user)


def test_a_server_without_tls_is_not_logged_in_to_in_plain_text(server: MailServer) -> None:
    channel = replace(plain(server), tls=MailTls.STARTTLS, user="u", password=WRONG)
    with pytest.raises(ChannelUnavailable, match="STARTTLS"):
        channel.open()
