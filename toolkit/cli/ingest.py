"""The command of the ingest entrypoint."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from toolkit.cli.action_flags import Clusters, FeedFlags, RunFlags, Time
from toolkit.cli.flags import Fields, flat

if TYPE_CHECKING:
    from toolkit.bootstrap.ingest import IngestOptions


class IngestEngine(StrEnum):
    """Processes that read the records and write the data files."""

    LOCAL = "local"
    """This process."""
    SPARK = "spark"
    """Executors of Spark; this process commits what they wrote."""


@dataclass(frozen=True, kw_only=True, slots=True)
class InputFlags:
    """The records that are read, and for how long."""

    stdin: Annotated[
        bool, typer.Option("--stdin", help="Read standard input instead of the feed's source; not under spark-submit.")
    ] = False
    stdin_name: Annotated[
        str | None,
        typer.Option(
            "--stdin-name",
            metavar="NAME",
            help="With --stdin: the same input under the same name again goes on behind what was committed.",
        ),
    ] = None
    engine: Annotated[
        IngestEngine,
        typer.Option(
            "--engine", help="Who reads a directory: this process, or Spark's executors, for a backlog of gigabytes."
        ),
    ] = IngestEngine.LOCAL
    max_seconds: Annotated[
        float | None,
        typer.Option("--max-seconds", min=1, help="End after the commit that is under way then; the next run goes on."),
    ] = None
    accept_table: Annotated[
        bool,
        typer.Option(
            "--accept-table",
            help="Accept a table that lacks commits which the ledger knows: restored from a backup, or dropped.",
        ),
    ] = False

    def options(self) -> IngestOptions:
        """Return the options of the action.

        Raises:
            BadOption: a name without standard input, or executors with it.
        """
        from toolkit.bootstrap.ingest import IngestOptions
        from toolkit.cli.option_values import BadOption

        if self.stdin_name is not None and not self.stdin:
            raise BadOption(option="--stdin-name", found="no --stdin", expected="--stdin as well")
        if self.stdin and self.engine is IngestEngine.SPARK:
            raise BadOption(option="--engine", found="spark with --stdin", expected="local: one process reads a pipe")
        stream = os.fdopen(sys.stdin.fileno(), "rb", closefd=False) if self.stdin else None
        return IngestOptions(
            max_seconds=self.max_seconds,
            stdin=stream,
            stdin_name=self.stdin_name or "",
            accepts_table=self.accept_table,
            on_executors=self.engine is IngestEngine.SPARK,
        )


@flat
def ingest(
    *,
    time: Time,
    feeds: FeedFlags,
    cluster: Clusters = None,
    what: InputFlags,
    run: Annotated[RunFlags, Fields(but=("plan_out", "apply_plan", "no_ledger"))],
) -> int:
    """Commit the records that the sources of feeds have now to their tables, each exactly once, and end."""
    from toolkit.ingest.extra import require_extra

    require_extra()
    from toolkit.bootstrap.ingest import ingest as ingested
    from toolkit.bootstrap.ingest_setup import configured
    from toolkit.cli.action_command import nominal_time_of
    from toolkit.ingest_job.targets import NAME
    from toolkit.rendering.ingest import INGEST_VIEW

    command = run.command(NAME, partial(ingested, what.options(), setup=configured), INGEST_VIEW)
    with command.failures_delivered():
        return command.execute(run.options(nominal_time_of(time), feeds.selection(cluster)))
