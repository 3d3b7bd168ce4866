"""moto's server as the test bed wants it: `python -m tests.testbed.s3_process PORT`."""

from __future__ import annotations

import contextlib
import http
import io
import json
import sys
import threading
from collections.abc import Callable, Iterable
from typing import Any

from moto.core.models import DEFAULT_ACCOUNT_ID
from moto.moto_server.werkzeug_app import DomainDispatcherApplication, MotoRequestHandler, create_backend_app
from moto.s3.models import s3_backends
from werkzeug.serving import make_server
from werkzeug.test import run_wsgi_app

from tests.testbed.s3_paths import FILL

_Wsgi = Callable[[dict[str, Any], Callable[..., Any]], Iterable[bytes]]


def filling(otherwise: _Wsgi) -> _Wsgi:
    """An application that answers `FILL` and leaves all else to the other."""

    def application(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        if environ["PATH_INFO"] != FILL:
            return otherwise(environ, start_response)
        wanted = json.loads(environ["wsgi.input"].read(int(environ["CONTENT_LENGTH"])))
        for key in wanted["keys"]:
            s3_backends[DEFAULT_ACCOUNT_ID]["aws"].put_object(wanted["bucket"], key, b"")
        start_response("200 OK", [("Content-Length", "0")])
        return []

    return application


# moto looks and writes in two steps: without this, of two writers with `If-None-Match` both can win.
_conditional = threading.Lock()


class _KeepAlive(MotoRequestHandler):
    """Unlike moto's own it keeps connections open and writes nothing for a request."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def make_environ(self) -> dict[str, Any]:
        """The request with all of its body: what a view does not read would be taken for the next request."""
        environ = super().make_environ()
        body = environ["wsgi.input"]
        chunked = environ.get("wsgi.input_terminated", False)
        content = body.read() if chunked else body.read(int(self.headers.get("Content-Length", "0")))
        environ["wsgi.input"] = io.BytesIO(content)
        return environ

    def run_wsgi(self) -> None:
        """One request; werkzeug's own waits 10 ms for data that a client might still send, and then closes."""
        if self.headers.get("Expect", "").lower() == "100-continue":
            self.send_response_only(http.HTTPStatus.CONTINUE)
            self.end_headers()
        conditional = "If-None-Match" in self.headers or "If-Match" in self.headers
        with _conditional if conditional else contextlib.nullcontext():
            pieces, status, headers = run_wsgi_app(self.server.app, self.make_environ(), buffered=True)
        body = b"".join(pieces)
        if self.command != "HEAD":
            headers["Content-Length"] = str(len(body))
        self._write_answer(status, headers.items(), b"" if self.command == "HEAD" else body)

    def _write_answer(self, status: str, headers: Iterable[tuple[str, str]], body: bytes) -> None:
        lines = [
            f"HTTP/1.1 {status}",
            f"Date: {self.date_time_string()}",
            *(f"{name}: {value}" for name, value in headers),
        ]
        self.wfile.write("\r\n".join([*lines, "", ""]).encode("latin1") + body)

    def handle_expect_100(self) -> bool:
        """Nothing; `run_wsgi` answers that."""
        return True

    def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
        """Nothing: a hundred thousand requests would fill the log."""


def serve(port: int) -> None:
    """Serve until the process ends."""
    application = filling(DomainDispatcherApplication(create_backend_app))
    make_server("127.0.0.1", port, application, threaded=True, request_handler=_KeepAlive).serve_forever()


if __name__ == "__main__":
    serve(int(sys.argv[1]))
