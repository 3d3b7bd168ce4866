"""Logs: key=value lines on standard error; results never go there."""

from __future__ import annotations

import logging
import os
import sys
import time

from toolkit.printable import on_one_line
from toolkit.runs.submitted import gateway_port, stderr_of_parent


def log_to_stderr(level: int = logging.WARNING) -> None:
    """Send the logs of the process to standard error.

    spark-submit joins a Python driver's two streams into its own standard output (seen with 3.5 and 4.1), where a log
    line would break a JSON result; then standard error is led to the parent's own.
    """
    if gateway_port(os.environ) is not None:
        stderr_of_parent()
    handler = logging.StreamHandler(sys.stderr)
    formatter = _OneLine("ts=%(asctime)sZ level=%(levelname)s logger=%(name)s %(message)s", "%Y-%m-%dT%H:%M:%S")
    formatter.converter = time.gmtime  # instants in UTC, as everywhere in feedctl
    handler.setFormatter(formatter)
    logging.basicConfig(handlers=[handler], level=level)


class _OneLine(logging.Formatter):
    """An entry is one line, whatever is quoted in it; only a traceback has more of its own."""

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 - named by logging
        return on_one_line(super().formatMessage(record))
