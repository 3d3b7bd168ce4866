"""STOMP as far as it is spoken, by a server that answers what the test says."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.unit.notify.test_message import made
from toolkit.notify import stomp
from toolkit.notify.channel import ChannelUnavailable, DeliveryError, MessageRefused
from toolkit.notify.stomp import BadLogin, Broker

PASSWORD, ODD = "hunter2", "p:\\w"
CONNECTED = b"CONNECTED\nversion:1.2\n\n\0\n"


@contextmanager
def answering(*answers: bytes) -> Iterator[tuple[int, list[bytes]]]:
    """The port of a server that answers each frame with the next of these, then hangs up; and what it got."""
    got: list[bytes] = []

    def serve() -> None:
        connection, _ = server.accept()
        with connection:
            for answer in answers:
                frame = b""
                while not frame.endswith(b"\0"):
                    frame += connection.recv(1) or b"\0"
                got.append(frame)
                connection.sendall(answer)

    with socket.create_server(("127.0.0.1", 0)) as server:
        thread = threading.Thread(target=serve)
        thread.start()
        yield server.getsockname()[1], got
        thread.join(60)


def test_hostile_values_stay_one_header_each_and_no_frame_ends_early() -> None:
    hostile = "a:b\nstatus:FORGED\r\n\n\0\\c\udc80ä"
    with answering(CONNECTED, b"\n\nRECEIPT\nreceipt-id:1\n\n\0") as (port, got):
        session = Broker(host="127.0.0.1", port=port).open()
        facts: dict[str, object] = {"feedInstancePaths": hostile, "logFile": hostile, "destination": "/queue/other"}
        session.send(made(facts=facts), "FALCON.clicks")
        session.close()
    head, _, body = got[1].partition(b"\n\n")
    lines = head.decode().split("\n")
    assert lines[0] == "SEND"
    assert [line for line in lines if line.startswith("destination:")] == ["destination:/topic/FALCON.clicks"]
    assert [line for line in lines if line.startswith("status:")] == ["status:FAILED"]
    assert "logFile:a\\cb\\nstatus\\cFORGED\\r\\n\\n \\\\c?ä" in lines
    assert all(line.count(":") == 1 for line in lines[1:])
    entries = json.loads(body.removesuffix(b"\0"))["map"]["entry"]
    assert dict(each["string"] for each in entries)["logFile"] == "a:b\nstatus:FORGED\r\n\n \\c?ä"
    assert got[1].count(b"\0") == 1


def test_who_asks_is_said_and_a_backslash_of_a_password_arrives() -> None:
    with answering(CONNECTED) as (port, got):
        Broker(host="127.0.0.1", port=port, user="u", password=ODD).open().close()
    assert got == [b"CONNECT\naccept-version:1.2\nhost:127.0.0.1\nheart-beat:0,0\nlogin:u\npasscode:p:\\\\w\n\n\0"]


@pytest.mark.parametrize("password", ["a\nb", "a\rb", "a\0b"])
def test_a_password_that_would_end_its_line_is_refused_and_not_shown(password: str) -> None:
    with pytest.raises(BadLogin) as refused:
        Broker(host="h", port=1, user="u", password=password)
    assert password not in str(refused.value)


def test_a_password_is_in_no_text_of_a_broker() -> None:
    broker = Broker(host="::1", port=1, is_tls=True, user="u", password=PASSWORD)
    assert "hunter2" not in f"{broker!r} {broker}"
    assert str(broker) == "stomp+ssl://[::1]:1"


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (b"ERROR\nmessage:no hunter2 \x1b[31mhere\n\nlong text\0", r"the broker answered no *** \u001b[31mhere"),
        (b"", "the broker ended the connection"),
        (b"HTTP/1.1 400 Bad Request\r\n\r\n", "the broker answered HTTP/1.1 400 Bad Request"),
        (b"\0\0\0\xf0\x01ActiveMQ" + b"x" * 9000, "the other end speaks no STOMP"),
        (b"\n" * 2000, "the broker answered "),
    ],
)
def test_whatever_else_answers_is_an_error_that_may_be_printed(answer: bytes, why: str) -> None:
    with answering(answer) as (port, _), pytest.raises(ChannelUnavailable) as error:
        Broker(host="127.0.0.1", port=port, user="u", password=PASSWORD).open()
    assert str(error.value).startswith(why)


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (b"ERROR\nmessage:too long\n\n\0", MessageRefused),
        (b"RECEIPT\nreceipt-id:7\n\n\0", ChannelUnavailable),
        (b"", ChannelUnavailable),
    ],
)
def test_without_its_receipt_a_message_has_not_arrived(answer: bytes, kind: type[DeliveryError]) -> None:
    with answering(CONNECTED, answer) as (port, _):
        session = Broker(host="127.0.0.1", port=port).open()
        with pytest.raises(DeliveryError) as error:
            session.send(made(), "FALCON.clicks")
        session.close()
    assert type(error.value) is kind


def test_an_answer_that_does_not_come_is_waited_for_no_longer_than_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stomp, "WAIT_SECONDS", 0.05)
    server = socket.create_server(("127.0.0.1", 0))
    with server, pytest.raises(ChannelUnavailable, match=r"no answer within 0\.05 s"):
        Broker(host="127.0.0.1", port=server.getsockname()[1]).open()


@pytest.mark.parametrize("host", ["a" * 70 + ".example", ".."])
def test_a_host_that_is_none_is_an_error(host: str) -> None:
    with pytest.raises(ChannelUnavailable):
        Broker(host=host, port=61613).open()
