"""Being started by spark-submit: how it is known, and what it does to the standard streams."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


def gateway_port(environment: Mapping[str, str]) -> int | None:
    """The port on which spark-submit's JVM serves this driver; None when spark-submit did not start it."""
    text = environment.get("PYSPARK_GATEWAY_PORT", "")
    return int(text) if text.isdecimal() else None


def stderr_of_parent() -> bool:
    """Lead standard error to that of the parent, where the two streams of this process were joined into one.

    Returns:
        Whether it was done: not where the streams are apart, and not where the system hides the parent's files.
    """
    try:
        if not os.path.sameopenfile(1, 2):
            return False
        parents = os.open(f"/proc/{os.getppid()}/fd/2", os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC)
    except OSError:
        return False
    os.dup2(parents, 2)
    os.close(parents)
    return True
