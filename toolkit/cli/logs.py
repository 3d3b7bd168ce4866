"""Logs: key=value lines on standard error; results never go there."""

from __future__ import annotations

import logging
import os
import sys
import time

from toolkit.runs.submitted import gateway_port, stderr_of_parent


def log_to_stderr(level: int = logging.WARNING) -> None:
    """Send the logs of the process to standard error.

    spark-submit joins a Python driver's two streams into its own standard output (seen with 3.5 and 4.1), where a log
    line would break a JSON result; then standard error is led to the parent's own.
    """
    if gateway_port(os.environ) is not None:
        stderr_of_parent()
    handler = logging.StreamHandler(sys.stderr)
    formatter = logging.Formatter(
        "ts=%(asctime)sZ level=%(levelname)s logger=%(name)s %(message)s", "%Y-%m-%dT%H:%M:%S"
    )
    formatter.converter = time.gmtime  # instants in UTC, as everywhere in feedctl
    handler.setFormatter(formatter)
    logging.basicConfig(handlers=[handler], level=level)
