"""The command of the entrypoint that imports from databases."""

from __future__ import annotations

from functools import partial
from typing import Annotated

import typer

from toolkit.cli.action_flags import Clusters, FeedFlags, RunFlags, Time
from toolkit.cli.flags import Fields, flat


@flat
def db_import(
    *,
    time: Time,
    feeds: FeedFlags,
    cluster: Clusters = None,
    start: Annotated[
        str | None,
        typer.Option(
            "--start", metavar="INSTANT", help="The instances from here on, imported before or not; alone: this one."
        ),
    ] = None,
    end: Annotated[
        str | None, typer.Option("--end", metavar="INSTANT", help="With --start: only those before this time.")
    ] = None,
    whole: Annotated[
        bool, typer.Option("--whole", help="Read all rows, also for feeds that merge new rows with the last instance.")
    ] = False,
    inconsistent_splits: Annotated[
        bool,
        typer.Option(
            "--inconsistent-splits",
            help="Read by several connections although the database cannot show all of them one moment.",
        ),
    ] = False,
    run: Annotated[RunFlags, Fields(but=("approve", "plan_out", "apply_plan", "no_ledger"))],
) -> int:
    """Import the due instances of feeds from the tables of their datasources."""
    from toolkit.bootstrap.db_import import ImportOptions, import_rows
    from toolkit.bootstrap.replication import ReplicationOptions
    from toolkit.cli.action_command import nominal_time_of
    from toolkit.exchange.import_targets import NAME
    from toolkit.rendering.db_import import IMPORT_VIEW

    own = ImportOptions(
        instances=ReplicationOptions(start=start, end=end), whole=whole, inconsistent_splits=inconsistent_splits
    )
    command = run.command(NAME, partial(import_rows, own), IMPORT_VIEW)
    with command.failures_delivered():
        return command.execute(run.options(nominal_time_of(time), feeds.selection(cluster)))
