"""Bodies of HTTP answers, read up to a limit whatever the server sends."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from requests import RequestException, Response
from requests.adapters import HTTPAdapter

from toolkit.storage.streams import joined

_PIECE_BYTES = 64 << 10
_MOST_SAID = 64 << 10
_SUCCESS = frozenset({200, 201})


def body_of(response: Response, most: int) -> bytes:
    """Read the body of an answer that was asked for as a stream.

    Raises:
        BodyTooLong: it has more bytes than `most`.
        requests.RequestException: it broke off.
    """
    return joined(response.iter_content(_PIECE_BYTES), most)


class BoundedAdapter(HTTPAdapter):
    """Sends requests; of the body of a refusal or a redirection 64 KiB are read at once, and no more ever.

    `requests` itself reads such bodies without a limit before it gives the answer back: of a redirection even when
    it does not follow it, and of a refusal that asks for a Kerberos ticket.
    """

    def send(self, *args: Any, **kwargs: Any) -> Response:  # noqa: ANN401 - those of the base, unchanged
        """Send a request."""
        response = super().send(*args, **kwargs)
        if response.status_code not in _SUCCESS:
            _keep_begin(response)
        return response


def _keep_begin(response: Response) -> None:
    """Read the begin of a body in place of the whole: `content`, `json` and `text` then give this."""
    found = bytearray()
    with suppress(RequestException):  # the status says enough
        for piece in response.iter_content(_PIECE_BYTES):
            found += piece
            if len(found) >= _MOST_SAID:
                response.raw.close()
                break
    response._content = bytes(found[:_MOST_SAID])  # noqa: SLF001 - `requests` has no other way to give one
    response._content_consumed = True  # type: ignore[attr-defined]  # noqa: SLF001
