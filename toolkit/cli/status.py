"""`feedctl status`: how everything is, on one screen."""

from __future__ import annotations

import sys
from collections.abc import Collection
from dataclasses import dataclass
from time import sleep
from typing import TYPE_CHECKING, Annotated

import typer

from toolkit.cli.completion import tag_texts
from toolkit.cli.flags import AnswerFlags, flat
from toolkit.cli.options import OutputFormat, print_json

if TYPE_CHECKING:
    from datetime import datetime

    from toolkit.el import Frequency
    from toolkit.ledger.database import Ledger
    from toolkit.management.entity_filter import EntityFilter
    from toolkit.management.overview import Overview
    from toolkit.management.situation import OpenAlerts

_SHOWN, _LISTED = 10, 1000
"""Rows of each list on the screen, and in a document or check."""
_CLEAR = "\x1b[2J\x1b[H"
"""Clears a terminal (ECMA-48)."""


@dataclass(frozen=True, kw_only=True, slots=True)
class FilterFlags:
    """The entities that are shown."""

    owner: Annotated[str | None, typer.Option("--owner", metavar="NAME", help="Only entities of this owner.")] = None
    tag: Annotated[
        list[str] | None,
        typer.Option("--tag", metavar="KEY=VALUE", autocompletion=tag_texts, help="Only with this tag; repeatable."),
    ] = None
    pipeline: Annotated[
        list[str] | None,
        typer.Option(
            "--pipeline",
            metavar="NAME",
            help="Only processes of this pipeline and feeds that they write or read; repeatable.",
        ),
    ] = None
    domain: Annotated[
        list[str] | None,
        typer.Option(
            "--domain",
            metavar="NAME",
            help="Only processes of this business domain and feeds that they write; repeatable.",
        ),
    ] = None

    def filter(self) -> EntityFilter:
        """Return the filter.

        Raises:
            BadOption: a tag that is none.
        """
        from toolkit.cli.option_values import tags_of
        from toolkit.management.entity_filter import EntityFilter

        return EntityFilter(
            owner=self.owner,
            tags=tags_of(self.tag or []),
            pipelines=tuple(self.pipeline or ()),
            domains=tuple(self.domain or ()),
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class ViewFlags:
    """View of the installation, and whether its state is the exit code."""

    stale: Annotated[
        bool,
        typer.Option(
            "--stale",
            help="Only what has not succeeded within its period, and old holds; exit code 1 when there is any.",
        ),
    ] = False
    check: Annotated[
        bool,
        typer.Option(
            "--check",
            help="Only open alerts, a line each; exit code 1 when there is any, or the monitor does not run.",
        ),
    ] = False
    max_age: Annotated[
        str,
        typer.Option("--max-age", metavar="FREQUENCY", help="How old the monitor's newest pass may be for --check."),
    ] = "hours(1)"
    entities: Annotated[
        bool, typer.Option("--entities", help="A table with a row for each retention, replication and process.")
    ] = False
    time: Annotated[
        str | None, typer.Option("--time", metavar="INSTANT", help="What is due by then counts. Default: now.")
    ] = None
    watch: Annotated[
        int | None,
        typer.Option("--watch", metavar="SECONDS", min=1, help="Show it again every so many seconds, until Ctrl-C."),
    ] = None

    @property
    def instant(self) -> datetime | None:
        """The instant of `--time`; None: now.

        Raises:
            ElError: it is none.
        """
        from toolkit.el import parse_instant

        return None if self.time is None else parse_instant(self.time)


@flat
def status(*, view: ViewFlags, chosen: FilterFlags, repo: AnswerFlags) -> int:
    """Show what runs, waits, is late, failed in the last 24 hours and is due next, on each cluster."""
    _refuse_mixed(view, repo.output)
    wanted = chosen.filter()
    while True:
        code = _once(view, wanted, repo)
        if view.watch is None:
            return code
        sys.stdout.flush()
        try:
            sleep(view.watch)
        except KeyboardInterrupt:
            return code
        if sys.stdout.isatty():
            sys.stdout.write(_CLEAR)


def _refuse_mixed(view: ViewFlags, output: OutputFormat) -> None:
    from toolkit.cli.option_values import BadOption

    chosen = [f"--{name}" for name in ("stale", "check", "entities") if getattr(view, name)]
    if len(chosen) > 1:
        raise BadOption(option=chosen[0], found=chosen[1], expected="one of --stale, --check and --entities")
    if view.watch is not None and output is OutputFormat.JSON:
        raise BadOption(option="--watch", found="--output json", expected="--output text")


def _once(view: ViewFlags, wanted: EntityFilter, repo: AnswerFlags) -> int:
    from toolkit.management.overview import overview
    from toolkit.management.situation import situation
    from toolkit.rendering.situation import situation_document, write_situation
    from toolkit.result import ExitCode

    at = view.instant
    if view.check and wanted.takes_all and repo.output is OutputFormat.TEXT:  # the entities need not be loaded
        with repo.opened_with_settings(writing=False) as (ledger, _):
            return _check(view, ledger, None)
    with repo.opened(writing=False) as (ledger, repository):
        names = None if wanted.takes_all else wanted.names(repository)
        if repo.output is OutputFormat.TEXT and view.check:
            return _check(view, ledger, names)
        if repo.output is OutputFormat.TEXT and (view.stale or view.entities):
            return _print_actions(view, overview(ledger, repository, at, names), repository.settings.hold_reminder)
        limit = _LISTED if repo.output is OutputFormat.JSON else _SHOWN
        found = situation(ledger, repository, at, names, limit=limit)
        is_fine = not view.check or _checked(view, ledger, names).is_fine
    if repo.output is OutputFormat.JSON:
        print_json(situation_document(found))
    else:
        write_situation(found, sys.stdout)
    is_fine = is_fine and not (view.stale and found.overview.needs_attention)
    return ExitCode.DONE if is_fine else ExitCode.FAILED


def _check(view: ViewFlags, ledger: Ledger, names: Collection[str] | None) -> int:
    from toolkit.rendering.situation import check_lines
    from toolkit.result import ExitCode

    found = _checked(view, ledger, names)
    for line in check_lines(found):
        print(line)
    return ExitCode.DONE if found.is_fine else ExitCode.FAILED


def _checked(view: ViewFlags, ledger: Ledger, names: Collection[str] | None) -> OpenAlerts:
    from toolkit.el import Frequency
    from toolkit.management.situation import check_alerts

    return check_alerts(ledger, names, Frequency.parse(view.max_age), view.instant, limit=_LISTED)


def _print_actions(view: ViewFlags, found: Overview, reminder: Frequency) -> int:
    from toolkit.rendering.overview import OVERVIEW_COLUMNS, STATE_STYLES, overview_rows, safe_mode_line
    from toolkit.rendering.tables import write_table
    from toolkit.result import ExitCode

    if found.safe_mode.is_on:
        print(safe_mode_line(found.safe_mode))
    if view.entities:
        write_table(OVERVIEW_COLUMNS, overview_rows(found), sys.stdout, STATE_STYLES)
        return ExitCode.DONE
    _print_stale(found, reminder)
    return ExitCode.FAILED if found.needs_attention else ExitCode.DONE


def _print_stale(found: Overview, reminder: Frequency) -> None:
    from toolkit.rendering.overview import old_hold_lines, stale_lines

    for line in stale_lines(found):
        print(line)
    for line in old_hold_lines(found, reminder):
        print(line)
    if not found.needs_attention:
        print(f"nothing is stale: {len(found.rows)} looked at")
