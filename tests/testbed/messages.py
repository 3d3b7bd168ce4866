"""Reading and passing on HTTP messages, piece by piece."""

from __future__ import annotations

import http.client
from collections.abc import Iterable, Iterator
from email.message import Message
from io import BufferedIOBase

_PIECE = 65_536
_OF_ONE_CONNECTION = {"connection", "keep-alive", "transfer-encoding", "expect", "te", "trailer", "upgrade"}
SLOW_DOWN = (
    b'<?xml version="1.0" encoding="UTF-8"?>\n'
    b"<Error><Code>SlowDown</Code><Message>Please reduce your request rate.</Message>"
    b"<RequestId>FAULTPROXY</RequestId><HostId>faultproxy</HostId></Error>"
)
"""What S3 says when it wants fewer requests."""


def headers_to_pass(headers: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return those that are not about one connection alone."""
    return [(name, value) for name, value in headers if name.lower() not in _OF_ONE_CONNECTION]


def body_pieces(headers: Message, body: BufferedIOBase) -> Iterator[bytes]:
    """The body of a request, to its end."""
    if "Transfer-Encoding" in headers:
        yield from _chunks(body)
        return
    left = int(headers.get("Content-Length") or 0)
    while left and (piece := body.read(min(left, _PIECE))):
        left -= len(piece)
        yield piece


def read_piece(answer: http.client.HTTPResponse) -> bytes:
    """The next piece of an answer, empty at its end."""
    return answer.read1(_PIECE)


def _chunks(body: BufferedIOBase) -> Iterator[bytes]:
    while size := int(body.readline().partition(b";")[0], 16):
        yield body.read(size)
        body.readline()
    while body.readline().strip():
        pass
