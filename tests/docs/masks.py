"""Comparison of the output that a page shows with the real one.

Before both are compared,

- a time of the clock, that is one on or after 2026-11-01, becomes TIME; nominal times of the pages are earlier;
- a duration in seconds or milliseconds (`1.2 s`, `350 ms`) becomes DURATION;
- a UUID, and seven or more hexadecimal digits in a row (commits, digests, plans), become ID;
- the number of a process after `pid` becomes ID;
- several blanks in a row count as one, and blanks at the end of a line as none;
- what Spark and Java write of themselves (log lines of WARN and INFO, incubator modules) is left out.

A line `...` of the page stands for any lines, also for none.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

_OF_THE_CLOCK, _FAR = "2026-11-01", "2090"
_TIME = re.compile(
    r"\b(?P<date>20\d\d-\d\d-\d\d)(?:[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?)?(?:Z|[+-]\d\d:?\d\d\b)?(?![\d-])"
)
_MASKS = (
    (re.compile(r"\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b"), "ID"),
    (re.compile(r"\b[0-9a-f]{7,128}\b"), "ID"),
    (re.compile(r"\b(pid) \d+\b"), r"\1 ID"),
    (re.compile(r"\b\d+(?:\.\d+)? ?(?:ms|s|seconds?)\b"), "DURATION"),
    (re.compile(r"(?<=\S)\s+"), " "),
    (re.compile(r"\s+$"), ""),
)
_NOISE = re.compile(
    r"\d\d/\d\d/\d\d \d\d:\d\d:\d\d (?:WARN|INFO) .*|WARNING: .*|Using Spark's default log4j profile: .*"
    r"|Setting default log level to .*|To adjust logging level use .*|Picked up _?JAVA\w*OPTIONS: .*"
)
_ANY = "..."


def masked(line: str) -> str:
    """Return the line as it is compared."""
    line = _TIME.sub(lambda match: "TIME" if _OF_THE_CLOCK <= match["date"] < _FAR else match[0], line)
    for pattern, text in _MASKS:
        line = pattern.sub(text, line)
    return line


def without_noise(lines: Sequence[str]) -> list[str]:
    """Return the lines that feedctl or another program of the page wrote."""
    return [line for line in lines if not _NOISE.fullmatch(line)]


def is_same(shown: Sequence[str], real: Sequence[str]) -> bool:
    """Return whether the real output is what the page shows."""
    parts = [r"(?:.*\n)*?" if line.strip() == _ANY else re.escape(masked(line)) + "\n" for line in trimmed(shown)]
    return re.fullmatch("".join(parts), "".join(f"{masked(line)}\n" for line in trimmed(real))) is not None


def trimmed(lines: Sequence[str]) -> Sequence[str]:
    """Return the lines without empty ones at the end."""
    end = len(lines)
    while end and not lines[end - 1].strip():
        end -= 1
    return lines[:end]
