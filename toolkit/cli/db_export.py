"""The command of the entrypoint that exports to databases."""

from __future__ import annotations

from functools import partial
from typing import Annotated

import typer

from toolkit.cli.action_flags import Clusters, FeedFlags, RunFlags, Time
from toolkit.cli.flags import Fields, flat


@flat
def db_export(
    *,
    time: Time,
    feeds: FeedFlags,
    cluster: Clusters = None,
    start: Annotated[
        str | None,
        typer.Option(
            "--start",
            metavar="INSTANT",
            help="The instances from here on; alone: this one. Default: new ones, and those that are not done yet.",
        ),
    ] = None,
    end: Annotated[
        str | None, typer.Option("--end", metavar="INSTANT", help="With --start: only those before this time.")
    ] = None,
    run: Annotated[RunFlags, Fields(but=("no_ledger",))],
) -> int:
    """Export instances of feeds to tables of databases, each as a whole and once."""
    from toolkit.bootstrap.db_export import export_to_databases
    from toolkit.bootstrap.replication import ReplicationOptions
    from toolkit.cli.action_command import nominal_time_of
    from toolkit.exchange.export_targets import NAME
    from toolkit.rendering.db_export import DB_EXPORT_VIEW

    command = run.command(NAME, partial(export_to_databases, ReplicationOptions(start=start, end=end)), DB_EXPORT_VIEW)
    with command.failures_delivered():
        return command.execute(run.options(nominal_time_of(time), feeds.selection(cluster)))
