"""A proxy in front of an HTTP server, which does to requests what a script says."""

from __future__ import annotations

import http.client
import socket
import struct
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import ClassVar
from urllib.parse import urlsplit

from tests.databases.port import reserved_port
from tests.testbed.dripping import Drip, Sip
from tests.testbed.faults import Effect, Fault, Script, Seen
from tests.testbed.messages import SLOW_DOWN, body_pieces, headers_to_pass, read_piece

_UPSTREAM_SECONDS = 300
_POLL_SECONDS = 0.02
_RESET = struct.pack("ii", 1, 0)  # SO_LINGER: close() sends RST


class FaultProxy(Script):
    """Passes requests to a server on this machine; it runs in threads of this process.

    Args:
        upstream: the server's port.
        onward: where redirections go instead of to what the server names; 0: they stay.
    """

    def __init__(self, upstream: int, onward: int = 0) -> None:
        super().__init__()
        self._reserved = reserved_port()
        self.port: int = self._reserved.getsockname()[1]
        self._upstream, self._onward = upstream, onward
        self._server: _Server | None = None
        self.accept()

    @property
    def endpoint(self) -> str:
        """Its address, which stays the same."""
        return f"http://127.0.0.1:{self.port}"

    def accept(self) -> None:
        """Take connections, as at first."""
        if not self._server:
            self._server = _Server(self.port, self, self._upstream, self._onward)
            loop = threading.Thread(target=self._server.serve_forever, args=(_POLL_SECONDS,), daemon=True)
            loop.start()

    def refuse(self) -> None:
        """From now on connections are refused; those that are open are reset."""
        if self._server:
            self._server.shutdown()
            self._server.server_close()
            self._server.reset_all()
            self._server = None

    def close(self) -> None:
        """Refuse for good and give the port back."""
        self.refuse()
        self._reserved.close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 128

    def __init__(self, port: int, script: Script, upstream: int, onward: int) -> None:
        self.script, self.upstream, self.onward = script, upstream, onward
        self._open: set[socket.socket] = set()
        super().__init__(("127.0.0.1", port), _Handler)

    def get_request(self) -> tuple[socket.socket, object]:
        connection, address = super().get_request()
        self._open.add(connection)
        return connection, address

    def shutdown_request(self, request: socket.socket) -> None:  # type: ignore[override]
        self._open.discard(request)
        super().shutdown_request(request)

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that went away is no news."""

    def reset_all(self) -> None:
        """End each open connection; its thread notices at its next read or write."""
        for connection in tuple(self._open):
            with suppress(OSError):  # its client may have ended it meanwhile
                connection.shutdown(socket.SHUT_RDWR)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1
    server: _Server
    _PASSED: ClassVar = ("GET", "PUT", "POST", "DELETE", "HEAD")

    def _pass(self) -> None:
        path, _, query = self.path.partition("?")
        fault = self.server.script.meet(Seen(method=self.command, path=path, query=query))
        match fault:
            case Fault(effect=Effect.SLOW_DOWN):
                self._slow_down()
            case Fault(effect=Effect.CUT_BEFORE):
                self._reset()
            case Fault(effect=Effect.SIP):
                self.rfile = Sip(self.rfile, fault)
                self._forward(None)
                self.rfile = self.rfile.inner
            case Fault(effect=Effect.DRIP | Effect.DRIP_WHOLE):
                self._forward(fault)
            case _:
                time.sleep(fault.seconds if fault else 0)
                self._forward(fault)

    do_GET = do_PUT = do_POST = do_DELETE = do_HEAD = _pass  # noqa: N815 - the names that the library wants

    def handle_expect_100(self) -> bool:
        """Without the flush the client would wait for it in vain."""
        goes_on = super().handle_expect_100()
        self.wfile.flush()
        return goes_on

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the library's name
        """Nothing; the script notes the requests."""

    def _slow_down(self) -> None:
        for _ in body_pieces(self.headers, self.rfile):
            pass
        self.send_response(http.HTTPStatus.SERVICE_UNAVAILABLE)
        self.send_header("Content-Type", "application/xml")
        self.send_header("Content-Length", str(len(SLOW_DOWN)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(SLOW_DOWN)

    def _forward(self, fault: Fault | None) -> None:
        effect = fault.effect if fault else None
        upstream = http.client.HTTPConnection("127.0.0.1", self.server.upstream, timeout=_UPSTREAM_SECONDS)
        try:
            answer = self._requested(upstream)
            if effect is Effect.CUT_AFTER:
                answer.read()
                self._reset()
            else:
                self._answer(answer, fault, cut=effect is Effect.CUT_INSIDE)
        finally:
            upstream.close()

    def _requested(self, upstream: http.client.HTTPConnection) -> http.client.HTTPResponse:
        upstream.putrequest(self.command, self.path, skip_host=True, skip_accept_encoding=True)
        for name, value in headers_to_pass(self.headers.items()):
            upstream.putheader(name, value)
        chunked = "Transfer-Encoding" in self.headers
        if chunked:
            upstream.putheader("Transfer-Encoding", "chunked")
        upstream.endheaders(body_pieces(self.headers, self.rfile), encode_chunked=chunked)
        return upstream.getresponse()

    def _answer(self, answer: http.client.HTTPResponse, fault: Fault | None, *, cut: bool) -> None:
        out = self.wfile
        if fault and fault.effect is Effect.DRIP_WHOLE:
            self.wfile = Drip(out, fault)
        self.send_response_only(answer.status, answer.reason)
        for name, value in headers_to_pass(answer.getheaders()):
            self.send_header(name, self._led_on(value) if name.lower() == "location" else value)
        chunked = answer.length is None and self.command != "HEAD"
        if chunked:
            self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        if fault and fault.effect is Effect.DRIP:
            self.wfile = Drip(out, fault)
        self._pass_body(answer, chunked=chunked, cut=cut)
        self.wfile = out

    def _led_on(self, location: str) -> str:
        onward = f"127.0.0.1:{self.server.onward}"
        return urlsplit(location)._replace(netloc=onward).geturl() if self.server.onward else location

    def _pass_body(self, answer: http.client.HTTPResponse, *, chunked: bool, cut: bool) -> None:
        while piece := read_piece(answer):
            if cut:
                piece = piece[: len(piece) // 2]
            self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece) if chunked else piece)
            if cut:
                break
        if cut:
            self._reset()
        elif chunked:
            self.wfile.write(b"0\r\n\r\n")

    def _reset(self) -> None:
        """End the connection so that the client sees a reset, not an end."""
        self.wfile.flush()
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
        self.close_connection = True


@contextmanager
def fault_proxy(upstream: int, onward: int = 0) -> Iterator[FaultProxy]:
    """A proxy before the server on this port, closed at the end."""
    proxy = FaultProxy(upstream, onward)
    try:
        yield proxy
    finally:
        proxy.close()
