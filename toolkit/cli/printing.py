"""Printing a result to standard output."""

from __future__ import annotations

import logging
import sys
from enum import Enum, auto

from toolkit.cli.boundary import silence
from toolkit.printable import printable, styled

_LOG = logging.getLogger(__name__)


class Keeps(Enum):
    """What stays in a result of that which a text of others may not have."""

    NOTHING = auto()
    """Text, markdown, JSON."""
    STYLES = auto()
    """Colours, in which rich has set the words."""
    COMMANDS = auto()
    """Workflow commands of GitHub, which are the result."""


def encoded(text: str, keeps: Keeps = Keeps.NOTHING) -> bytes:
    """UTF-8; what is not printable, or no Unicode, stands as an escape, which JSON understands as well."""
    shown = styled(text) if keeps is Keeps.STYLES else printable(text, commands=keeps is Keeps.COMMANDS)
    return shown.encode("utf-8", "backslashreplace")


def print_result(text: str, keeps: Keeps = Keeps.NOTHING) -> None:
    """Print to standard output; that nobody reads it any more must not hide what the run did."""
    try:
        sys.stdout.flush()
        sys.stdout.buffer.write(encoded(text, keeps))
        sys.stdout.buffer.flush()
    except OSError as error:
        _LOG.warning("event=result_not_printed reason=%s", error)
        silence(1)
