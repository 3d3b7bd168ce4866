"""What Spark says when it fails, without the stack traces of two languages."""

from __future__ import annotations

import re

_LONGEST = 400
_CAUSE = re.compile(r"most recent failure: (?P<cause>.*)", re.DOTALL)
_LOST_TASK = re.compile(r"Lost task [\d.]+ in stage [\d.]+ \(TID \d+\) ")


def why(error: Exception) -> str:
    """One line: the Python error of an executor when there is one, else the first line of Java's message."""
    text = str(getattr(error, "java_exception", None) or error)
    match = _CAUSE.search(text)
    cause = _LOST_TASK.sub("", match["cause"] if match else text)
    lines = [line.strip() for line in cause.splitlines() if line.strip()]
    own = [line for line in lines if not line.startswith(("at ", "File ", "...", "Driver stacktrace"))]
    first = own[0] if own else type(error).__name__
    if "Traceback (most recent call last)" in cause:
        first = f"{first.partition(': org.')[0]}: {_last_of_traceback(lines)}"
    return first[:_LONGEST]


def _last_of_traceback(lines: list[str]) -> str:
    """The line that names the error: the last one before Java's own stack begins."""
    python = []
    for line in lines:
        if line.startswith("at "):
            break
        python.append(line)
    return python[-1]
