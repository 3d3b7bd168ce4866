"""How much work something is, in steps that are the same on every machine."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any


def steps(work: Callable[[], object]) -> int:
    """How many lines of Python run while something is done; each round of a loop counts."""
    count = 0

    def trace(_frame: FrameType, event: str, _argument: Any) -> Any:  # noqa: ANN401 - as sys.settrace wants it
        nonlocal count
        count += event == "line"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        work()
    finally:
        sys.settrace(before)
    return count
