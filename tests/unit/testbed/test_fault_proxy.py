"""The proxy, before a small server that tells what it got."""

from __future__ import annotations

import http.client
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from tests.testbed.fault_proxy import FaultProxy, fault_proxy
from tests.testbed.faults import Effect, Fault

pytestmark = pytest.mark.extended

LARGE = b"x" * 1_000_000


class Upstream(ThreadingHTTPServer):
    daemon_threads = True
    bodies: list[bytes]


class Echo(BaseHTTPRequestHandler):
    """GET answers with a large body, or a redirection; PUT with what it got, DELETE without a length."""

    server: Upstream

    def do_GET(self) -> None:
        if self.path == "/moved":
            self.send_response(307)
            self.send_header("Location", "http://localhost:1/there?x=1")
            self.send_header("Content-Length", "0")
            self.end_headers()
        else:
            self._answer(LARGE)

    do_HEAD = do_GET  # noqa: N815 - the name that the library wants

    def do_PUT(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.bodies.append(body)
        self._answer(f"{self.path} ".encode() + body)

    def do_DELETE(self) -> None:
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"no length")

    def _answer(self, body: bytes) -> None:
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the library's name
        """Nothing."""


@pytest.fixture
def upstream() -> Iterator[Upstream]:
    with Upstream(("127.0.0.1", 0), Echo) as server:
        server.bodies = []
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield server
        server.shutdown()


@pytest.fixture
def proxy(upstream: Upstream) -> Iterator[FaultProxy]:
    with fault_proxy(upstream.server_port) as started:
        yield started


@pytest.fixture
def client(proxy: FaultProxy) -> Iterator[http.client.HTTPConnection]:
    connection = http.client.HTTPConnection("127.0.0.1", proxy.port, timeout=20)
    yield connection
    connection.close()


def ask(client: http.client.HTTPConnection, method: str, path: str = "/", body: bytes = b"") -> tuple[int, bytes]:
    client.request(method, path, body)
    with client.getresponse() as answer:
        return answer.status, answer.read()


def test_requests_and_answers_pass_unchanged_over_one_connection(client: http.client.HTTPConnection) -> None:
    assert ask(client, "PUT", "/a%20b//c?x=%2F", b"1") == (200, b"/a%20b//c?x=%2F 1")
    kept = client.sock
    assert ask(client, "GET") == (200, LARGE)
    assert ask(client, "HEAD") == (200, b"")
    assert ask(client, "DELETE") == (200, b"no length")
    assert client.sock is kept


def test_a_chunked_body_passes(client: http.client.HTTPConnection, proxy: FaultProxy) -> None:
    proxy.add(Fault(effect=Effect.SLOW_DOWN, times=1))
    client.request("PUT", "/", iter([b"1", b"2"]), encode_chunked=True, headers={"Transfer-Encoding": "chunked"})
    with client.getresponse() as answer:
        assert (answer.status, b"<Code>SlowDown</Code>" in answer.read()) == (503, True)
    assert ask(client, "PUT", "/", b"next") == (200, b"/ next")


def test_slow_down_is_never_seen_by_the_server(
    client: http.client.HTTPConnection, proxy: FaultProxy, upstream: Upstream
) -> None:
    proxy.add(Fault(effect=Effect.SLOW_DOWN, times=1))
    assert ask(client, "PUT", "/", b"1")[0] == 503
    assert ask(client, "PUT", "/", b"2")[0] == 200
    assert upstream.bodies == [b"2"]


@pytest.mark.parametrize(("effect", "bodies"), [(Effect.CUT_BEFORE, []), (Effect.CUT_AFTER, [b"1"])])
def test_a_cut_connection_is_reset_before_or_after_the_effect(
    client: http.client.HTTPConnection, proxy: FaultProxy, upstream: Upstream, effect: Effect, bodies: list[bytes]
) -> None:
    proxy.add(Fault(effect=effect))
    with pytest.raises(ConnectionError):
        ask(client, "PUT", "/", b"1")
    assert upstream.bodies == bodies


def test_an_answer_is_cut_in_the_middle(client: http.client.HTTPConnection, proxy: FaultProxy) -> None:
    proxy.add(Fault(effect=Effect.CUT_INSIDE))
    with pytest.raises((ConnectionError, http.client.IncompleteRead)):
        ask(client, "GET")


def test_a_delay_takes_as_long_as_it_says(client: http.client.HTTPConnection, proxy: FaultProxy) -> None:
    proxy.add(Fault(effect=Effect.DELAY, seconds=0.2))
    began = time.monotonic()
    assert ask(client, "HEAD")[0] == 200
    assert time.monotonic() - began >= 0.2


def test_a_refusing_proxy_accepts_again_at_the_same_place(
    client: http.client.HTTPConnection, proxy: FaultProxy
) -> None:
    assert ask(client, "HEAD")[0] == 200
    proxy.refuse()
    with pytest.raises(ConnectionError):
        ask(client, "HEAD")
    client.close()
    with pytest.raises(ConnectionRefusedError):
        ask(client, "HEAD")
    client.close()
    proxy.accept()
    assert ask(client, "HEAD")[0] == 200
    assert [each.method for each in proxy.seen()] == ["HEAD", "HEAD"]


@pytest.mark.parametrize("effect", [Effect.DRIP, Effect.DRIP_WHOLE, Effect.SIP])
def test_bytes_come_and_go_in_pieces_and_unchanged(
    client: http.client.HTTPConnection, proxy: FaultProxy, upstream: Upstream, effect: Effect
) -> None:
    proxy.add(Fault(effect=effect, seconds=0.05, piece=4, times=1))
    begun = time.monotonic()
    assert ask(client, "PUT", "/", b"0123456789") == (200, b"/ 0123456789")
    assert time.monotonic() - begun > 0.14
    assert upstream.bodies == [b"0123456789"]
    assert ask(client, "PUT", "/", b"next") == (200, b"/ next")


def test_a_redirection_leads_on_to_another_proxy(upstream: Upstream) -> None:
    with fault_proxy(upstream.server_port, onward=4711) as proxy:
        connection = http.client.HTTPConnection("127.0.0.1", proxy.port, timeout=20)
        connection.request("GET", "/moved")
        with connection.getresponse() as answer:
            assert answer.headers["Location"] == "http://127.0.0.1:4711/there?x=1"
        connection.close()
