"""Webhooks to a real HTTP server, and programs that get messages."""

from __future__ import annotations

import hashlib
import hmac
import json
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from tests.liveness import has_process
from tests.testbed.waiting import becomes_true
from tests.unit.notify.test_message import made
from toolkit.entities.monitoring import WebhookFormat
from toolkit.notify import webhook
from toolkit.notify.channel import ChannelUnavailable, DeliveryError, MessageRefused
from toolkit.notify.command import CommandChannel
from toolkit.notify.message import Message, MessageEvent, MessageSeverity
from toolkit.notify.webhook import Webhook

KEY = "k: y"


@dataclass
class Received:
    """Requests that a server got, and what it answers."""

    status: int = 200
    answer: bytes = b"ok"
    seconds: float = 0.0
    headers: dict[str, str] = field(default_factory=dict)
    paths: list[str] = field(default_factory=list)
    bodies: list[bytes] = field(default_factory=list)
    got: list[dict[str, str]] = field(default_factory=list)
    peers: set[int] = field(default_factory=set)
    port: int = 0

    @property
    def url(self) -> str:
        """The URL of the hook."""
        return f"http://127.0.0.1:{self.port}/hook/s3cr3t-part?token=t0ken"


@contextmanager
def serving() -> Iterator[Received]:
    """A server while the body runs."""
    received = Received()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            received.paths.append(self.path)
            received.bodies.append(self.rfile.read(int(self.headers["Content-Length"])))
            received.got.append(dict(self.headers.items()))
            received.peers.add(self.client_address[1])
            time.sleep(received.seconds)
            self.send_response(received.status)
            for name, value in {"Content-Length": str(len(received.answer)), **received.headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(received.answer)

        def log_message(self, *_: object) -> None:
            """Print nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads, server.block_on_close = True, False
        received.port = server.server_address[1]
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield received
        finally:
            server.shutdown()
            thread.join()


def send(url: str, *messages: Message, style: WebhookFormat = WebhookFormat.JSON, hosts: str = "127.0.0.1") -> None:
    """Send messages over one session."""
    session = Webhook(url=url, allowed_hosts=(hosts,), style=style, secret=KEY, now=lambda: 1_000_000.4).open()
    try:
        for each in messages or (made(),):
            session.send(each, "")
    finally:
        session.close()


def test_a_message_arrives_signed_and_over_one_connection() -> None:
    with serving() as received:
        send(received.url, made(), made(text="two"))
    assert received.paths == ["/hook/s3cr3t-part?token=t0ken"] * 2
    assert len(received.peers) == 1
    assert Message.from_json(received.bodies[0].decode()) == made()
    headers = received.got[0]
    signed = b"1000000." + received.bodies[0]
    assert headers["X-Feedctl-Timestamp"] == "1000000"
    expected = hmac.new(KEY.encode(), signed, hashlib.sha256).hexdigest()
    assert headers["X-Feedctl-Signature"] == f"sha256={expected}"
    assert headers["Content-Type"] == "application/json"
    assert headers["X-Feedctl-Message-Id"] == received.got[1]["X-Feedctl-Message-Id"]


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, MessageRefused),
        (413, MessageRefused),
        (401, ChannelUnavailable),
        (404, ChannelUnavailable),
        (429, ChannelUnavailable),
        (500, ChannelUnavailable),
        (302, ChannelUnavailable),
    ],
)
def test_what_a_server_answers_decides_what_becomes_of_a_message(status: int, kind: type[DeliveryError]) -> None:
    with serving() as received:
        received.status, received.headers = status, {"Location": f"http://127.0.0.1:{received.port}/other"}
        received.answer = b"no\x1b[31m token=t0ken k: y /hook/s3cr3t-part" + b"x" * 100_000
        with pytest.raises(kind) as error:
            send(received.url)
    assert len(received.paths) == 1
    assert str(error.value).startswith(f"the server answered {status}")
    assert len(str(error.value)) < 300
    assert not any(secret in str(error.value) for secret in ("t0ken", "s3cr3t", KEY, "\x1b"))


def test_a_host_that_the_repo_does_not_allow_gets_nothing() -> None:
    with serving() as received, pytest.raises(ChannelUnavailable, match="allowed_hosts"):
        send(received.url, hosts="hooks.example.com")
    assert received.paths == []


@pytest.mark.parametrize("url", ["http://127.0.0.1:1/s3cr3t", "http://127.0.0.1:99999/s3cr3t"])
def test_a_server_that_is_not_there_is_an_error_without_the_url(url: str) -> None:
    with pytest.raises(ChannelUnavailable) as error:
        send(url)
    assert "s3cr3t" not in str(error.value)


def test_a_server_that_is_slow_is_waited_for_no_longer_than_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(webhook, "ANSWER_SECONDS", 0.2)
    begun = time.monotonic()
    with serving() as received:
        received.seconds = 30
        with pytest.raises(ChannelUnavailable, match="timed out"):
            send(received.url)
        assert time.monotonic() - begun < 20


def test_a_login_of_a_netrc_is_not_sent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    netrc = tmp_path / "netrc"
    netrc.write_text("machine 127.0.0.1 login me password hunter2\n")
    monkeypatch.setenv("NETRC", str(netrc))
    with serving() as received:
        send(received.url)
    assert "Authorization" not in received.got[0]


ALERT = replace(
    made(subject="clicks is late <now>", text="a & b", facts={"kind": "sla", "openedAt": "2026-03-01T06:00Z"}),
    event=MessageEvent.ALERT_OPENED,
    time="2026-03-01T06:10Z",
    cluster="primary",
    entity_type="FEED",
    instance_key="2026-03-01T05:00Z",
)
CLOSED = replace(ALERT, event=MessageEvent.ALERT_CLOSED, severity=MessageSeverity.INFO, time="2026-03-01T07:00Z")
PARTLY = replace(CLOSED, facts={"kind": "several", "openInThread": 3})


def bodies(style: WebhookFormat) -> list[Any]:
    """Return the bodies of an alert that opens and closes."""
    with serving() as received:
        send(received.url, ALERT, PARTLY, CLOSED, style=style)
    assert not any("X-Feedctl-Signature" in each for each in received.got) or style is WebhookFormat.JSON
    return [json.loads(each) for each in received.bodies]


def test_slack_gets_text_that_forges_no_link() -> None:
    opened, _, closed = bodies(WebhookFormat.SLACK)
    assert opened["text"] == "clicks is late &lt;now&gt;"
    assert opened["attachments"][0]["text"] == "a &amp; b"
    assert opened["attachments"][0]["color"] != closed["attachments"][0]["color"]


def test_teams_gets_an_adaptive_card() -> None:
    card = bodies(WebhookFormat.TEAMS)[0]["attachments"][0]
    assert card["contentType"] == "application/vnd.microsoft.card.adaptive"
    assert [each["type"] for each in card["content"]["body"]] == ["TextBlock", "TextBlock", "FactSet"]
    assert {"title": "kind", "value": "sla"} in card["content"]["body"][2]["facts"]


def test_pagerduty_gets_one_incident_that_is_resolved() -> None:
    opened, partly, closed = bodies(WebhookFormat.PAGERDUTY)
    assert [each["event_action"] for each in (opened, partly, closed)] == ["trigger", "trigger", "resolve"]
    assert opened["dedup_key"] == partly["dedup_key"] == closed["dedup_key"] == "alert/clicks/primary"
    assert opened["routing_key"] == KEY
    assert opened["payload"]["severity"] == "critical"
    assert opened["payload"]["class"] == "sla"


def test_alertmanager_gets_one_alert_that_ends() -> None:
    (opened,), (partly,), (closed,) = bodies(WebhookFormat.ALERTMANAGER)
    assert opened["labels"] == partly["labels"] == closed["labels"]
    assert opened["labels"]["cluster"] == "primary"
    assert (opened["startsAt"], opened["endsAt"]) == ("2026-03-01T06:00:00Z", "2026-03-03T06:10:00Z")
    assert (partly["endsAt"], closed["endsAt"]) == ("2026-03-03T07:00:00Z", "2026-03-01T07:00:00Z")


def test_a_message_with_a_time_that_is_none_is_refused() -> None:
    with serving() as received, pytest.raises(MessageRefused):
        send(received.url, replace(ALERT, time="soon"), style=WebhookFormat.ALERTMANAGER)
    assert received.paths == []


def command(script: str, *, seconds: float = 20) -> CommandChannel:
    """A program as a channel."""
    environment = {"MARK": "1"}
    return CommandChannel(arguments=(sys.executable, "-c", script), environment=environment, seconds=seconds)


def test_a_program_gets_the_message_and_only_its_variables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FEEDCTL_MAIL_PASSWORD", "hunter2")
    file = tmp_path / "got"
    script = f"import os, sys; open({str(file)!r}, 'w').write(sys.stdin.read() + '|' + ','.join(os.environ))"
    command(script).open().send(made(text="\N{SNOWMAN}"), "")
    message, _, names = file.read_text().rpartition("|")
    assert Message.from_json(message) == made(text="\N{SNOWMAN}")
    assert set(names.split(",")) <= {"MARK", "LC_CTYPE"}


@pytest.mark.parametrize(
    ("script", "kind", "why"),
    [
        ("raise SystemExit(65)", MessageRefused, "exit 65"),
        ("import sys; sys.exit('bad\\x1b[31m token=t0ken')", ChannelUnavailable, "ended with 1: bad"),
        ("import os; os.close(0); os._exit(0)", None, ""),
        ("import os; os.kill(os.getpid(), 9)", ChannelUnavailable, "exit -9"),
    ],
)
def test_the_exit_code_of_a_program_decides_what_becomes_of_a_message(
    script: str, kind: type[DeliveryError] | None, why: str
) -> None:
    channel = command(script)
    if kind is None:
        channel.send(made(), "")
        return
    with pytest.raises(kind, match=why) as error:
        channel.send(made(), "")
    assert "t0ken" not in str(error.value)
    assert "\x1b" not in str(error.value)


def test_a_program_that_hangs_is_killed_with_what_it_started(tmp_path: Path) -> None:
    child = f"import time; time.sleep(600)  # {tmp_path}"
    script = f"import subprocess, sys, time; subprocess.Popen([sys.executable, '-c', {child!r}]); time.sleep(60)"
    begun = time.monotonic()
    with pytest.raises(ChannelUnavailable, match=r"did not end within 0\.5 s"):
        command(script, seconds=0.5).send(made(), "")
    assert time.monotonic() - begun < 30
    assert becomes_true(lambda: not has_process(child), seconds=60)


def test_a_program_that_is_not_there_is_an_error() -> None:
    with pytest.raises(ChannelUnavailable, match="cannot be started"):
        CommandChannel(arguments=("/no/such/program",), environment={}).send(made(), "")
