"""Bodies of HTTP answers, read up to a limit whatever the server sends."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

from requests import Response
from requests.adapters import HTTPAdapter
from urllib3.exceptions import HTTPError

from toolkit.storage.streams import joined

if TYPE_CHECKING:
    from urllib3.response import HTTPResponse

_PIECE_BYTES = 64 << 10
_MOST_BYTES = 64 << 10
_SUCCESS = frozenset({200, 201})


def body_of(response: Response, most: int) -> bytes:
    """Read the body of an answer that was asked for as a stream.

    Raises:
        BodyTooLong: it has more bytes than `most`.
        requests.RequestException: it broke off.
    """
    return joined(response.iter_content(_PIECE_BYTES), most)


class BoundedAdapter(HTTPAdapter):
    """Sends requests; the body of a refusal or a redirection ends after 64 KiB.

    `requests` itself reads such bodies without a limit: of a redirection even when it does not follow it, and of a
    refusal that asks for a Kerberos ticket.
    """

    def send(self, *args: Any, **kwargs: Any) -> Response:  # noqa: ANN401 - those of the base, unchanged
        """Send a request."""
        response = super().send(*args, **kwargs)
        if response.status_code not in _SUCCESS:
            vars(response.raw)["stream"] = partial(_begin_of, response.raw, response.raw.stream)
        return response


def _begin_of(raw: HTTPResponse, stream: Callable[..., Iterator[bytes]], *args: Any, **kwargs: Any) -> Iterator[bytes]:  # noqa: ANN401 - those of `stream`
    """Give the begin of a body; where it breaks off, it ends: the status says enough."""
    left = _MOST_BYTES
    with suppress(HTTPError, OSError):
        for piece in stream(*args, **kwargs):
            yield piece[:left]
            left -= len(piece)
            if left <= 0:
                break
        else:
            return
    raw.close()
