"""A command line program as the whole of its process."""

from __future__ import annotations

import gc
from typing import TYPE_CHECKING, NoReturn

from toolkit.cli.boundary import run_app

if TYPE_CHECKING:
    import typer

_NEW_OBJECTS = 200_000
"""So many between two looks for cycles: a command makes hardly any, and Python's 700 cost a fifth of its start."""


def run_process(app: typer.Typer) -> NoReturn:
    """Run a command line program, and end the process with its exit code.

    Args:
        app: as for `run_app`.
    """
    gc.set_threshold(_NEW_OBJECTS)
    code = run_app(app)
    gc.freeze()  # at its end Python would look at every object once more, though the memory goes back as a whole
    raise SystemExit(code)
