"""Mail servers, web servers, brokers and programs that get messages, and harm who sends them."""

from __future__ import annotations

import base64
import socket
import subprocess
import sys
import threading
import time
import tracemalloc
import zlib
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import replace
from datetime import UTC, datetime
from email import message_from_bytes
from email.policy import SMTP
from pathlib import Path

import pytest

from tests.liveness import has_process
from tests.testbed.waiting import becomes_true
from tests.unit.notify.test_message import made
from toolkit.entities.monitoring import MailTls
from toolkit.metrics import definitions
from toolkit.metrics.graphite import GraphiteSink
from toolkit.metrics.samples import Sample
from toolkit.metrics.sink import MetricsNotSent, MetricsSink
from toolkit.metrics.statsd import StatsdSink
from toolkit.notify import mail, stomp, webhook
from toolkit.notify.channel import Channel, ChannelUnavailable
from toolkit.notify.command import CommandChannel
from toolkit.notify.mail import SmtpServer
from toolkit.notify.stomp import Broker
from toolkit.notify.webhook import Webhook

Talk = Callable[[socket.socket], None]
PASSWORD = "hunter2"


@contextmanager
def answering(talk: Talk, host: str = "127.0.0.1") -> Iterator[int]:
    """Serve connections one after the other, and return the port."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.create_server((host, 0), family=family) as server:

        def serve() -> None:
            with suppress(OSError):
                while True:
                    connection, _ = server.accept()
                    with connection, suppress(OSError):
                        talk(connection)

        threading.Thread(target=serve, daemon=True).start()
        yield server.getsockname()[1]
        server.shutdown(socket.SHUT_RDWR)


def smtp(port: int) -> SmtpServer:
    """A mail server that asks for a login."""
    host, sender = "127.0.0.1", "feedctl@example.com"
    return SmtpServer(host=host, port=port, tls=MailTls.NONE, sender=sender, user="u", password=PASSWORD)


def hook(port: int, host: str = "127.0.0.1") -> Webhook:
    """A web server."""
    return Webhook(url=f"http://{host}:{port}/services/T0ABCDEF/x9QmT2?v=1", allowed_hosts=(host,))


def broker(port: int) -> Broker:
    """A broker."""
    return Broker(host="127.0.0.1", port=port)


def error_of(channel: Channel) -> str:
    """Send a message, and return why it was not taken."""
    with pytest.raises(ChannelUnavailable) as error, closing(channel.open()) as session:
        session.send(made(), "a@example.com")
    return str(error.value)


def at_login(answer: Callable[[bytes], bytes]) -> Talk:
    """Answer what is login at the login."""

    def talk(connection: socket.socket) -> None:
        connection.sendall(b"220 x\r\n")
        connection.recv(1000)
        connection.sendall(b"250-x\r\n250 AUTH PLAIN\r\n")
        connection.sendall(answer(connection.recv(1000).strip()) + b"\r\n")
        connection.recv(1000)

    return talk


def dripping(begin: bytes, drop: bytes) -> Talk:
    """Answer in pieces that each come in time."""

    def talk(connection: socket.socket) -> None:
        connection.sendall(begin)
        while True:
            connection.sendall(drop)
            time.sleep(0.05)

    return talk


def endless(begin: bytes, piece: bytes) -> Talk:
    """Answer without an end, as fast as it is read."""

    def talk(connection: socket.socket) -> None:
        connection.sendall(begin)
        for _ in range(500):
            connection.sendall(piece * (1_000_000 // len(piece)))

    return talk


@pytest.mark.parametrize(
    ("channel", "begin", "drop"),
    [
        (smtp, b"", b"220-x\r\n"),
        (smtp, b"220-", b"x"),
        (hook, b"HTTP/1.1 200 OK\r\nX: ", b"x"),
        (hook, b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n", b"x"),
        (broker, b"CONNECTED\n", b"a:b\n"),
        (broker, b"", b"\n"),
    ],
)
def test_an_answer_in_small_pieces_is_waited_for_as_a_whole(
    channel: Callable[[int], Channel], begin: bytes, drop: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module, name in ((mail, "WAIT_SECONDS"), (webhook, "ANSWER_SECONDS"), (stomp, "WAIT_SECONDS")):
        monkeypatch.setattr(module, name, 0.5)
    begun = time.monotonic()
    with answering(dripping(begin, drop)) as port:
        error_of(channel(port))
    assert 0.4 < time.monotonic() - begun < 30


@pytest.mark.parametrize(
    ("channel", "begin", "piece"),
    [
        (smtp, b"", b"220-" + b"x" * 1000 + b"\r\n"),
        (hook, b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
        (hook, b"HTTP/1.1 500 x\r\n", b"X: " + b"x" * 60_000 + b"\r\n"),
        (hook, b"HTTP/1.1 500 x\r\nContent-Length: 5000000000\r\n\r\n", b"x"),
        (broker, b"CONNECTED\n", b"a:" + b"b" * 8000 + b"\n"),
    ],
)
def test_an_answer_of_gigabytes_is_not_kept(channel: Callable[[int], Channel], begin: bytes, piece: bytes) -> None:
    tracemalloc.start()
    try:
        with answering(endless(begin, piece)) as port:
            error_of(channel(port))
        assert tracemalloc.get_traced_memory()[1] < 20_000_000
    finally:
        tracemalloc.stop()


def test_a_compressed_answer_is_not_unpacked() -> None:
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    body = packer.compress(b"unpacked" * 1_000_000) + packer.flush()
    head = f"HTTP/1.1 500 x\r\nContent-Encoding: gzip\r\nContent-Length: {len(body)}\r\n\r\n".encode()

    def talk(connection: socket.socket) -> None:
        connection.recv(65_536)
        connection.sendall(head + body)

    with answering(talk) as port:
        assert "unpacked" not in error_of(hook(port))


@pytest.mark.parametrize("answer", [b"334 abc", b"334 \xff=a", b"334 ", b"nonsense"])
def test_nonsense_at_the_login_is_an_error_of_the_channel(answer: bytes) -> None:
    with answering(at_login(lambda _: answer)) as port:
        assert PASSWORD not in error_of(smtp(port))


def test_a_mail_server_that_repeats_the_login_is_not_quoted() -> None:
    with answering(at_login(lambda login: b"535 " + login)) as port:
        error = error_of(smtp(port))
    assert error == "the mail server answered 535 to the login"
    assert base64.b64encode(f"\0u\0{PASSWORD}".encode()).decode() not in error


def test_a_part_of_a_secret_url_is_not_quoted() -> None:
    def talk(connection: socket.socket) -> None:
        connection.recv(65_536)
        connection.sendall(b"HTTP/1.1 404 x\r\nContent-Length: 33\r\n\r\nno team T0ABCDEF, no token x9QmT2")

    with answering(talk) as port:
        assert error_of(hook(port)) == "the server answered 404 no team ***, no token ***"


def test_cookies_are_not_sent_back() -> None:
    got: list[bytes] = []

    def talk(connection: socket.socket) -> None:
        got.append(connection.recv(65_536))
        connection.sendall(b"HTTP/1.1 200 x\r\nSet-Cookie: a=b\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")

    with answering(talk) as port, closing(hook(port).open()) as session:
        session.send(made(), "")
        session.send(made(), "")
    assert len(got) == 2
    assert not any(b"cookie" in each.lower() for each in got)


@pytest.mark.parametrize(
    "subject",
    [
        "=?utf-8?q?a=0d=0aBcc:_b@example.net?=",
        "=?utf-8?b?YQ0KQmNjOiBiQHguY29t?=",
        "==?utf-8?q?a=0d=0a=0d=0abody?= " + "\N{SNOWMAN}" * 60,
        "x =?utf-8?q?=1b[31m=e2=80=ae?= y",
    ],
)
def test_an_encoded_word_in_a_subject_adds_no_header(subject: str) -> None:
    sent = mail.mail_of(made(subject=subject), "a@example.com", "f@example.com", datetime(2026, 3, 1, tzinfo=UTC))
    found = message_from_bytes(sent.as_bytes(), policy=SMTP)
    assert found.keys() == sent.keys()
    assert found["Bcc"] is None
    assert str(found["Subject"]).isprintable()
    assert str(found["Subject"]) == subject.replace("=?", "= ?")


def test_a_host_may_be_an_address_in_brackets() -> None:
    def talk(connection: socket.socket) -> None:
        connection.recv(65_536)
        connection.sendall(b"HTTP/1.1 200 x\r\nContent-Length: 0\r\n\r\n")

    with answering(talk, "::1") as port, closing(hook(port, "[::1]").open()) as session:
        session.send(made(), "")


@pytest.mark.parametrize(
    "url",
    [
        "https://hooks.example.com@evil.example.net/",
        "https://hooks.example.com:x@evil.example.net/",
        "https://evil.example.net\\@hooks.example.com/",
        "https://hooks.example.com.evil.example.net/",
        "https://hooks.example.com./",
        "https://hooks.example.com%2eevil.example.net/",
        "https://hooks.example.com\N{FULLWIDTH FULL STOP}/",
        "https://ⓗooks.example.com/",
        "ftp://hooks.example.com/",
        "//hooks.example.com/",
    ],
)
def test_a_host_that_only_looks_like_an_allowed_one_gets_nothing(url: str) -> None:
    with pytest.raises(ChannelUnavailable, match="allowed_hosts"):
        Webhook(url=url, allowed_hosts=("hooks.example.com",)).open()


def program(script: str, *, seconds: float = 20) -> CommandChannel:
    """A program as a channel."""
    return CommandChannel(arguments=(sys.executable, "-c", script), environment={}, seconds=seconds)


def test_errors_of_a_program_are_not_kept_whole() -> None:
    tracemalloc.start()
    try:
        script = "import sys; [sys.stderr.write('x' * 1_000_000) for _ in range(300)]; sys.exit('\\nlast')"
        with pytest.raises(ChannelUnavailable, match="ended with 1: last"):
            program(script).send(made(), "")
        assert tracemalloc.get_traced_memory()[1] < 20_000_000
    finally:
        tracemalloc.stop()


def test_a_program_that_leaves_another_behind_has_taken_the_message() -> None:
    script = "import subprocess, sys; subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(45)'])"
    begun = time.monotonic()
    program(script, seconds=40).send(made(), "")
    assert time.monotonic() - begun < 30


def test_a_program_ends_with_the_process_that_started_it(tmp_path: Path) -> None:
    """A sender's thread is abandoned at the end of an action: its program would stay for ever."""
    file = tmp_path / "alive"
    slow = f"import time; open({str(file)!r}, 'w').write('begun'); time.sleep(600)"
    code = f"""
import sys, threading, time
from pathlib import Path
from tests.unit.notify.test_message import made
from toolkit.notify.command import CommandChannel
channel = CommandChannel(arguments=(sys.executable, "-c", {slow!r}), environment={{}})
threading.Thread(target=channel.send, args=(made(), ""), daemon=True).start()
while not (Path({str(file)!r}).exists() and Path({str(file)!r}).read_text()):
    time.sleep(0.05)
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
    assert becomes_true(lambda: not has_process(slow), seconds=60)


@pytest.mark.parametrize("sink", [StatsdSink(address="a..b:1"), GraphiteSink(address="a..b:1")])
def test_a_server_of_metrics_whose_name_is_none_is_an_error(sink: MetricsSink) -> None:
    with pytest.raises(MetricsNotSent, match="label"):
        sink.send([Sample(definitions.UP, (), 1)])


def test_a_program_that_does_not_read_is_ended_in_time() -> None:
    with pytest.raises(ChannelUnavailable, match="did not end"):
        program("import time; time.sleep(30)", seconds=0.5).send(
            replace(made(), facts={f"f{n}": "x" * 8000 for n in range(90)}), ""
        )
