"""Waiting for a server to be ready, and asking one for its state."""

from __future__ import annotations

import http.client
import json
import time
from collections.abc import Callable, Mapping

_POLL_SECONDS = 0.1
_ANSWER_SECONDS = 5


def becomes_true(condition: Callable[[], bool], *, seconds: float) -> bool:
    """Return whether the condition holds within the time."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(_POLL_SECONDS)
    return True


def state(port: int, path: str) -> Mapping[str, object]:
    """The JSON object that a server on this machine answers with; an empty one while it does not answer."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=_ANSWER_SECONDS)
    try:
        connection.request("GET", path)
        answer = connection.getresponse()
        found = json.loads(answer.read()) if answer.status < http.HTTPStatus.MULTIPLE_CHOICES else {}
    except (OSError, http.client.HTTPException, ValueError):
        return {}
    finally:
        connection.close()
    return found if isinstance(found, dict) else {}
