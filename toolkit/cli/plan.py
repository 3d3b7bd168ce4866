"""`feedctl plan`: plan files that `--plan-out` wrote."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from toolkit.cli.flags import Fields, RepoFlags, flat

app = typer.Typer(no_args_is_help=True)


class PlanFormat(StrEnum):
    """The values of `--output`."""

    TEXT = "text"
    """A line for each item."""
    MARKDOWN = "markdown"
    """Headings and tables, for a pull request."""
    JSON = "json"
    """The file itself, when it is as it was written."""


@app.callback()
def plans() -> None:
    """Show plan files, which `--plan-out` of an action writes and `--apply-plan` applies."""


@app.command("show")
@flat
def show(
    *,
    file: Annotated[str, typer.Argument(metavar="FILE", help="A path or the URI of a file that --plan-out wrote.")],
    form: Annotated[PlanFormat, typer.Option("--output", help="The format.")] = PlanFormat.TEXT,
    repo: Annotated[RepoFlags, Fields(only=("config_repo",))],
) -> None:
    """Show a plan file; exit code 3: it is not as it was written."""
    from toolkit.actions.plan_file import MOST_BYTES, PlanFile
    from toolkit.cli.delivery import read_file
    from toolkit.cli.streams import print_result
    from toolkit.rendering.plan_file import plan_lines, plan_markdown

    found = PlanFile.parse(read_file(file, repo.request(), "FILE", MOST_BYTES))
    if form is PlanFormat.JSON:
        print_result(found.lines())
        return
    lines = plan_markdown(found) if form is PlanFormat.MARKDOWN else plan_lines(found)
    print_result(f"{line}\n" for line in lines)
