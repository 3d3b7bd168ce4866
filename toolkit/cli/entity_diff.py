"""`feedctl entity diff`: what the changes since a commit do."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from toolkit.cli.options import ConfigRepo, Env


class DiffFormat(StrEnum):
    """The values of `--format`."""

    TEXT = "text"
    """For people."""
    MARKDOWN = "markdown"
    """For a comment on a pull request: a short summary, and the rest to unfold."""
    JSON = "json"
    """One document, with a schema version."""


def diff_entities(
    ref: Annotated[str, typer.Argument(metavar="REF", help="The branch, tag or commit to compare with.")],
    config_repo: ConfigRepo = None,
    env: Env = None,
    time: Annotated[
        str | None,
        typer.Option("--time", metavar="INSTANT", help="When retention runs next. Default: when HEAD was committed."),
    ] = None,
    form: Annotated[DiffFormat, typer.Option("--format", help="How to print the differences.")] = DiffFormat.TEXT,
) -> None:
    """Print what is different since a commit, who depends on it, and what retention would do with the data."""
    from toolkit.cli.entity_diffing import DiffOptions, diff_config_repo, render
    from toolkit.cli.printing import print_result
    from toolkit.clock import SystemClock

    options = DiffOptions(ref=ref, config_repo=config_repo, environment=env, time=time)
    print_result(render(diff_config_repo(options, SystemClock()), form))
