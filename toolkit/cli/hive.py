"""The commands of the entrypoints that export, import and replicate tables."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from toolkit.cli.action_flags import Clusters, FeedFlags, RunFlags, Time
from toolkit.cli.flags import Fields, flat
from toolkit.cli.replication import CopyFlags
from toolkit.hive.targets import EXPORT, IMPORT, REPLICATION, SchemaChange

if TYPE_CHECKING:
    from collections.abc import Callable

    from toolkit.actions.selection import EntitySelection
    from toolkit.bootstrap.hive import ExchangeOptions
    from toolkit.cli.action_command import Run
    from toolkit.hive.targets import ImportRules, TableDetail, TableItem, TableTarget

To = Annotated[
    str,
    typer.Option(
        "--to",
        metavar="URI",
        help="The directory that gets a directory for each instance; with --whole-table, the export itself.",
    ),
]
From = Annotated[
    str,
    typer.Option(
        "--from",
        metavar="URI",
        help="The directory with the exports of instances; with --whole-table, an export by feedctl or by Hive itself.",
    ),
]
Parallel = Annotated[
    int | None,
    typer.Option(
        "--parallel", min=1, help="Work on at most this many instances at once. Default: the feed's property, else 8."
    ),
]
_Feed = Annotated[FeedFlags, Fields(only=("feed",))]
_Run = Annotated[RunFlags, Fields(but=("no_ledger",))]


@dataclass(frozen=True, kw_only=True, slots=True)
class ExchangeFlags:
    """The instances of a table that are exported or imported, on which cluster."""

    cluster: Clusters = None
    start: Annotated[
        str | None,
        typer.Option(
            "--start", metavar="INSTANT", help="The instances from here on; alone: this one. Default: the last one due."
        ),
    ] = None
    end: Annotated[
        str | None, typer.Option("--end", metavar="INSTANT", help="With --start: only those before this time.")
    ] = None
    whole_table: Annotated[
        bool, typer.Option("--whole-table", help="All partitions, rather than those of instances.")
    ] = False

    def options(self, place: str, rules: ImportRules | None = None) -> ExchangeOptions:
        """Return the options of the action, which writes to or reads from this place."""
        from toolkit.bootstrap.hive import ExchangeOptions
        from toolkit.bootstrap.replication import ReplicationOptions
        from toolkit.hive.targets import ImportRules

        instances = ReplicationOptions(start=self.start, end=self.end)
        return ExchangeOptions(
            place=place, instances=instances, whole_table=self.whole_table, rules=rules or ImportRules()
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class ImportFlags:
    """The table that is made or changed for what is imported."""

    schema_change: Annotated[
        SchemaChange,
        typer.Option(
            "--schema-change", help="What becomes of a table that is there and is another one than the one that comes."
        ),
    ] = SchemaChange.FAIL
    external: Annotated[
        bool | None, typer.Option("--external/--managed", help="The kind of a table that is made. Default: as it was.")
    ] = None

    def rules(self) -> ImportRules:
        """Return the rules for the table."""
        from toolkit.catalog.model import TableKind
        from toolkit.hive.targets import ImportRules

        kind = None if self.external is None else TableKind.EXTERNAL if self.external else TableKind.MANAGED
        return ImportRules(schema_change=self.schema_change, kind=kind)


@flat
def hive_export(*, time: Time, to: To, feeds: _Feed, which: ExchangeFlags, parallel: Parallel = None, run: _Run) -> int:
    """Export the partitions of instances of a table feed, or the whole table, in the layout of Hive's EXPORT TABLE."""
    from toolkit.bootstrap.hive import export_tables

    export = partial(export_tables, which.options(to))
    return _executed(EXPORT, export, run, time, lambda: feeds.selection(which.cluster), parallel)


@flat
def hive_import(
    *,
    time: Time,
    exports: From,
    feeds: _Feed,
    which: ExchangeFlags,
    table: ImportFlags,
    parallel: Parallel = None,
    run: _Run,
) -> int:
    """Import exports of a table, by feedctl or by Hive, into the table of a feed on a cluster."""
    from toolkit.bootstrap.hive import import_tables

    taken = partial(import_tables, which.options(exports, table.rules()))
    return _executed(IMPORT, taken, run, time, lambda: feeds.selection(which.cluster), parallel)


@flat
def hive_replication(
    *, time: Time, feeds: FeedFlags, which: CopyFlags, table: ImportFlags, parallel: Parallel = None, run: _Run
) -> int:
    """Pull the partitions of table feeds from their source to their targets: those that are due and not there yet."""
    from toolkit.bootstrap.hive import replicate_tables

    copied, clusters = partial(replicate_tables, which.options(), table.rules()), which.target
    chosen = partial(feeds.selection, clusters, all_clusters=not clusters)
    return _executed(REPLICATION, copied, run, time, chosen, parallel)


def _executed(
    name: str,
    action: Run[TableTarget, TableItem, TableDetail],
    run: RunFlags,
    time: str,
    selection: Callable[[], EntitySelection],
    parallel: int | None,
) -> int:
    from toolkit.cli.action_command import nominal_time_of
    from toolkit.rendering.hive import HIVE_VIEW

    command = run.command(name, action, HIVE_VIEW)
    with command.failures_delivered():
        return command.execute(run.options(nominal_time_of(time), selection(), parallel=parallel))
