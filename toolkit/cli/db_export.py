"""The command of the entrypoint that exports to databases."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from toolkit.cli.action_flags import Clusters, FeedFlags, RunFlags, Time
from toolkit.cli.flags import Fields, flat

if TYPE_CHECKING:
    from toolkit.bootstrap.replication import ReplicationOptions


@dataclass(frozen=True, kw_only=True, slots=True)
class ExportedFlags:
    """The instances that are exported."""

    start: Annotated[
        str | None,
        typer.Option(
            "--start",
            metavar="INSTANT",
            help="The instances from here on; alone: this one. Default: new ones, and those that are not done yet.",
        ),
    ] = None
    end: Annotated[
        str | None, typer.Option("--end", metavar="INSTANT", help="With --start: only those before this time.")
    ] = None

    def options(self) -> ReplicationOptions:
        """Return the options of the action."""
        from toolkit.bootstrap.replication import ReplicationOptions

        return ReplicationOptions(start=self.start, end=self.end)


@flat
def db_export(
    *,
    time: Time,
    feeds: FeedFlags,
    cluster: Clusters = None,
    which: ExportedFlags,
    run: Annotated[RunFlags, Fields(but=("no_ledger",))],
) -> int:
    """Export instances of feeds to tables of databases, each as a whole and once."""
    from toolkit.bootstrap.db_export import export_to_databases
    from toolkit.cli.action_command import nominal_time_of
    from toolkit.exchange.export_targets import NAME
    from toolkit.rendering.db_export import DB_EXPORT_VIEW

    command = run.command(NAME, partial(export_to_databases, which.options()), DB_EXPORT_VIEW)
    with command.failures_delivered():
        return command.execute(run.options(nominal_time_of(time), feeds.selection(cluster)))
