"""Printing a result to standard output."""

from __future__ import annotations

import logging
import sys

from toolkit.cli.boundary import silence

_LOG = logging.getLogger(__name__)


def encoded(text: str) -> bytes:
    """UTF-8; a name that is not valid Unicode stands as an escape, which JSON understands as well."""
    return text.encode("utf-8", "backslashreplace")


def print_result(text: str) -> None:
    """Print to standard output; that nobody reads it any more must not hide what the run did."""
    try:
        sys.stdout.flush()
        sys.stdout.buffer.write(encoded(text))
        sys.stdout.buffer.flush()
    except OSError as error:
        _LOG.warning("event=result_not_printed reason=%s", error)
        silence(1)
