"""docs/reference/commands.md: the command line of feedctl and of the entrypoints, and the exit codes."""

from __future__ import annotations

import runpy
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TypeAlias

import typer
from typer.core import TyperArgument, TyperCommand, TyperGroup, TyperOption

from reference_pages.markdown import code, meanings, page, prose, table
from toolkit.cli.main import app as feedctl
from toolkit.result import ExitCode

_ENTRYPOINTS = Path(__file__).resolve().parents[2] / "entrypoints"
_INTRODUCTION = """
`--help` after any command prints the same. Results go to standard output, logs and errors to standard error.
"""
_ACTIONS = """
Each action is a script for `spark-submit`; `feedctl entrypoint NAME` prints where it is. Options of Spark stand before it.
"""
_EXIT_CODES = "A scheduler may rely on them, for `feedctl` as for the entrypoints."

Command: TypeAlias = TyperCommand | TyperGroup


def commands_page() -> str:
    """The page."""
    return page(
        "Commands",
        _INTRODUCTION,
        "## feedctl",
        *_blocks(typer.main.get_command(feedctl), "feedctl", "feedctl"),
        "## Entrypoints",
        _ACTIONS,
        *(block for script in sorted(_ENTRYPOINTS.glob("*.py")) for block in _entrypoint(script)),
        "## Exit codes",
        _EXIT_CODES,
        table(("code", "name", "meaning"), _exit_codes()),
    )
