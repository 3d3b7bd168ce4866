"""The environment variables of this process: read at its boundary alone, and handed down from there."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TypeAlias

Variables: TypeAlias = Mapping[str, str]
"""Environment variables of a process."""


def process_variables() -> Variables:
    """Return the variables of this process, as they are now.

    Only what begins a process calls it: a command, `toolkit.jobs`, a task on an executor; `.ci/structure` checks that.
    """
    return dict(os.environ)


def set_process_variable(name: str, value: str) -> None:
    """Set a variable of this process, for libraries that read it there at each new connection."""
    os.environ[name] = value
