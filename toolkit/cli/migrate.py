"""`feedctl migrate`: entities of other systems become files of a config repo."""

from __future__ import annotations

import shlex
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from toolkit.cli.options import print_json
from toolkit.result import ExitCode

if TYPE_CHECKING:
    from toolkit.migration.report import Report

app = typer.Typer(no_args_is_help=True)


class ReportFormat(StrEnum):
    """The values of `--report`."""

    TEXT = "text"
    """A line for each text of the XML, for people."""
    JSON = "json"
    """One document, with a schema version."""
    MARKDOWN = "markdown"
    """Tables, for a page or a pull request."""


@app.callback()
def migrate() -> None:
    """Convert entities of other systems."""


@app.command("falcon")
def falcon(
    xml: Annotated[
        list[Path],
        typer.Argument(metavar="XML...", help="Falcon's entities: files, and folders of such, in any order."),
    ],
    into: Annotated[
        Path,
        typer.Option(
            "--into",
            metavar="DIR",
            help="The config repo: new, empty, or one that gets new files only.",
        ),
    ],
    report: Annotated[ReportFormat, typer.Option("--report", help="How to print what became of each text.")] = (
        ReportFormat.TEXT
    ),
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Report only; write nothing.")] = False,
) -> int:
    """Make a config repo from Falcon's XML, and report what became of each element; exit code 2 writes nothing.

    Exit code 1: it was written, and `feedctl lint` finds something that no comment accepts; the report lists it.
    """
    from toolkit.bootstrap.migration import migration, write
    from toolkit.cli.streams import say
    from toolkit.clock import SystemClock

    made = migration(xml, into, SystemClock())
    if not dry_run:
        write(into, made)
        init = "" if made.plan.existing.files else "git init && "
        say(f"next: cd {shlex.quote(str(into))} && {init}feedctl lint")
    _print(made.report, report, str(into), is_written=not dry_run)
    return ExitCode.FAILED if made.report.refused else ExitCode.DONE


def _print(found: Report, form: ReportFormat, into: str, *, is_written: bool) -> None:
    from toolkit.cli.streams import print_result
    from toolkit.rendering.migration import report_document, report_lines, report_markdown

    if form is ReportFormat.JSON:
        print_json(report_document(found, into, is_written=is_written))
        return
    lines = report_lines if form is ReportFormat.TEXT else report_markdown
    print_result(f"{line}\n" for line in lines(found, into, is_written=is_written))
