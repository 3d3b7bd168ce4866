"""JSON that another program wrote, read at a bounded cost: answers of servers, and files in data directories.

Python's own reader takes any length, makes an object of 50 to 200 bytes of each value of two bytes, and ends with a
`RecursionError` where values are nested deep.
"""

from __future__ import annotations

import json
import re
from itertools import islice

MOST_BYTES = 16 << 20
MOST_VALUES = 1_000_000

_MARK = re.compile(rb'"(?:[^"\\]++|\\.)*+"?|([\[{,])', re.DOTALL)
"""A text, or a character that begins a value or stands before one."""


class BadJson(ValueError):  # noqa: N818 - named for what was found
    """A text is no JSON, or more of it than is read."""


def parse_json(text: bytes, *, most_bytes: int = MOST_BYTES, most_values: int = MOST_VALUES) -> object:
    """Parse JSON within limits of length, depth and number of values.

    Args:
        text: in UTF-8, UTF-16 or UTF-32.
        most_bytes: the longest text that is parsed.
        most_values: the most values of all lists and objects together.

    Raises:
        BadJson: it is no JSON, or exceeds a limit; the message repeats nothing of the text.
    """
    if len(text) > most_bytes:
        raise BadJson(_more_than(most_bytes))
    if _has_more_values(text, most_values):
        message = f"it has more than {most_values:,} values"
        raise BadJson(message)
    try:
        found: object = json.loads(text)
    except RecursionError as error:
        message = "its values are nested too deep"
        raise BadJson(message) from error
    except ValueError as error:
        message = f"it is no JSON, or was cut: {error}"
        raise BadJson(message) from error
    return found


def _more_than(most_bytes: int) -> str:
    size = f"{most_bytes >> 20} MiB" if most_bytes >> 20 else f"{most_bytes:,} bytes"
    return f"it has more than {size}"


def _has_more_values(text: bytes, most: int) -> bool:
    """Count what stands before values; those inside of texts are left out only when all together are too many."""
    if sum(text.count(mark) for mark in (b",", b"[", b"{")) <= most:
        return False
    marks = (found for found in _MARK.finditer(text) if found[1])
    return next(islice(marks, most, None), None) is not None
