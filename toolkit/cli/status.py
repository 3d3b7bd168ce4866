"""`feedctl status`: how everything is, on one screen."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from toolkit.cli.flags import AnswerFlags, flat
from toolkit.cli.options import OutputFormat, print_json

if TYPE_CHECKING:
    from toolkit.el import Frequency
    from toolkit.management.overview import Overview


@flat
def status(
    *,
    stale: Annotated[
        bool,
        typer.Option(
            "--stale",
            help="Only what has not succeeded within its period, and old holds; exit code 1 when there is any.",
        ),
    ] = False,
    time: Annotated[
        str | None, typer.Option("--time", metavar="INSTANT", help="What is due by then counts. Default: now.")
    ] = None,
    repo: AnswerFlags,
) -> int:
    """Show the last success of each retention, replication and process, what runs, failed, waits and is late."""
    from toolkit.el import parse_instant
    from toolkit.management.overview import overview
    from toolkit.rendering.overview import overview_document
    from toolkit.result import ExitCode

    at = None if time is None else parse_instant(time)
    with repo.opened(writing=False) as (ledger, repository):
        found, reminder = overview(ledger, repository, at), repository.settings.hold_reminder
    if repo.output is OutputFormat.JSON:
        print_json(overview_document(found))
    elif stale:
        _print_stale(found, reminder)
    else:
        _print(found)
    return ExitCode.FAILED if stale and (found.stale or found.old_holds) else ExitCode.DONE


def _print(found: Overview) -> None:
    from toolkit.rendering.overview import OVERVIEW_COLUMNS, STATE_STYLES, overview_rows, safe_mode_line
    from toolkit.rendering.tables import write_table

    if found.safe_mode.is_on:
        print(safe_mode_line(found.safe_mode))
    write_table(OVERVIEW_COLUMNS, overview_rows(found), sys.stdout, STATE_STYLES)


def _print_stale(found: Overview, reminder: Frequency) -> None:
    from toolkit.rendering.overview import old_hold_lines, safe_mode_line, stale_lines

    if found.safe_mode.is_on:
        print(safe_mode_line(found.safe_mode))
    for line in stale_lines(found):
        print(line)
    for line in old_hold_lines(found, reminder):
        print(line)
    if not found.stale and not found.old_holds:
        print(f"nothing is stale: {len(found.rows)} looked at")
