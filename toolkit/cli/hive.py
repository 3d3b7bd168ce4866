"""The commands of the entrypoints that export, import and replicate tables."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from toolkit.cli import action_options as options
from toolkit.cli.options import ConfigRepo, Env
from toolkit.cli.replication import End, NewestFirst, Source, Start, Targets
from toolkit.hive.targets import EXPORT, IMPORT, REPLICATION, SchemaChange
from toolkit.rendering.tables import ResultFormat

if TYPE_CHECKING:
    from toolkit.cli.action_command import Run
    from toolkit.hive.targets import LandingRules, TableDetail, TableItem, TableTarget

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
WholeTable = Annotated[bool, typer.Option("--whole-table", help="All partitions, rather than those of instances.")]
First = Annotated[
    str | None,
    typer.Option(
        "--start", metavar="INSTANT", help="The instances from here on; alone: this one. Default: the last one due."
    ),
]
OnSchemaChange = Annotated[
    SchemaChange,
    typer.Option(
        "--schema-change", help="What becomes of a table that is there and is another one than the one that comes."
    ),
]
External = Annotated[
    bool | None,
    typer.Option("--external/--managed", help="The kind of a table that is made. Default: as it was."),
]
Parallel = Annotated[
    int | None,
    typer.Option("--parallel", min=1, help="So many instances at once. Default: the feed's property, else 8."),
]


def hive_export(
    *,
    time: options.Time,
    to: To,
    feed: options.Feeds = None,
    cluster: options.Clusters = None,
    start: First = None,
    end: End = None,
    whole_table: WholeTable = False,
    parallel: Parallel = None,
    config_repo: ConfigRepo = None,
    env: Env = None,
    dry_run: options.DryRun = False,
    approve: options.Approve = None,
    allow_dirty: options.AllowDirty = False,
    output: options.OutputAs = ResultFormat.TEXT,
    result_file: options.ResultFileAt = None,
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
) -> int:
    """Export the partitions of instances of a table feed, or the whole table, in the layout of Hive's EXPORT TABLE."""
    from toolkit.bootstrap.hive import ExchangeOptions, export_tables
    from toolkit.bootstrap.replication import ReplicationOptions

    instances = ReplicationOptions(start=start, end=end)
    own = ExchangeOptions(place=to, instances=instances, whole_table=whole_table)
    return _executed(
        EXPORT,
        partial(export_tables, own),
        time=time,
        feeds=feed,
        clusters=cluster,
        parallel=parallel,
        config_repo=config_repo,
        env=env,
        dry_run=dry_run,
        approve=approve,
        allow_dirty=allow_dirty,
        output=output,
        result_file=result_file,
        quiet=quiet,
        verbose=verbose,
    )


def hive_import(
    *,
    time: options.Time,
    exports: From,
    feed: options.Feeds = None,
    cluster: options.Clusters = None,
    start: First = None,
    end: End = None,
    whole_table: WholeTable = False,
    schema_change: OnSchemaChange = SchemaChange.FAIL,
    external: External = None,
    parallel: Parallel = None,
    config_repo: ConfigRepo = None,
    env: Env = None,
    dry_run: options.DryRun = False,
    approve: options.Approve = None,
    allow_dirty: options.AllowDirty = False,
    output: options.OutputAs = ResultFormat.TEXT,
    result_file: options.ResultFileAt = None,
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
) -> int:
    """Import exports of a table, by feedctl or by Hive, into the table of a feed on a cluster."""
    from toolkit.bootstrap.hive import ExchangeOptions, import_tables
    from toolkit.bootstrap.replication import ReplicationOptions

    own = ExchangeOptions(
        place=exports,
        instances=ReplicationOptions(start=start, end=end),
        whole_table=whole_table,
        rules=_rules(schema_change, external=external),
    )
    return _executed(
        IMPORT,
        partial(import_tables, own),
        time=time,
        feeds=feed,
        clusters=cluster,
        parallel=parallel,
        config_repo=config_repo,
        env=env,
        dry_run=dry_run,
        approve=approve,
        allow_dirty=allow_dirty,
        output=output,
        result_file=result_file,
        quiet=quiet,
        verbose=verbose,
    )


def hive_replication(
    *,
    time: options.Time,
    feed: options.Feeds = None,
    all_feeds: options.All = False,
    group: options.Groups = None,
    tag: options.Tags = None,
    target: Targets = None,
    source: Source = None,
    start: Start = None,
    end: End = None,
    newest_first: NewestFirst = False,
    schema_change: OnSchemaChange = SchemaChange.FAIL,
    external: External = None,
    parallel: Parallel = None,
    config_repo: ConfigRepo = None,
    env: Env = None,
    dry_run: options.DryRun = False,
    approve: options.Approve = None,
    allow_dirty: options.AllowDirty = False,
    output: options.OutputAs = ResultFormat.TEXT,
    result_file: options.ResultFileAt = None,
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
) -> int:
    """Pull the partitions of table feeds from their source to their targets: those that are due and not there yet."""
    from toolkit.bootstrap.hive import replicate_tables
    from toolkit.bootstrap.replication import ReplicationOptions

    own = ReplicationOptions(source=source, start=start, end=end, newest_first=newest_first)
    return _executed(
        REPLICATION,
        partial(replicate_tables, own, _rules(schema_change, external=external)),
        time=time,
        feeds=feed,
        choice=(all_feeds, group, tag),
        clusters=target,
        all_clusters=not target,
        parallel=parallel,
        config_repo=config_repo,
        env=env,
        dry_run=dry_run,
        approve=approve,
        allow_dirty=allow_dirty,
        output=output,
        result_file=result_file,
        quiet=quiet,
        verbose=verbose,
    )


def _rules(schema_change: SchemaChange, *, external: bool | None) -> LandingRules:
    from toolkit.catalog.model import TableKind
    from toolkit.hive.targets import LandingRules

    kind = None if external is None else TableKind.EXTERNAL if external else TableKind.MANAGED
    return LandingRules(schema_change=schema_change, kind=kind)


def _executed(
    name: str,
    run: Run[TableTarget, TableItem, TableDetail],
    *,
    time: str,
    feeds: list[str] | None,
    clusters: list[str] | None,
    parallel: int | None,
    config_repo: str | None,
    env: str | None,
    dry_run: bool,
    approve: str | None,
    allow_dirty: bool,
    output: ResultFormat,
    result_file: str | None,
    quiet: bool,
    verbose: bool,
    choice: tuple[bool, list[str] | None, list[str] | None] = (False, None, None),
    all_clusters: bool = False,
) -> int:
    """Run an action with the options that all of them share; `choice` is of all feeds, by groups, or by tags."""
    from toolkit.bootstrap.action_context import ActionOptions
    from toolkit.cli.action_command import ActionCommand, detail_of, nominal_time_of, result_file_of, selection_of
    from toolkit.rendering.hive import HIVE_VIEW

    file, detail = result_file_of(result_file, config_repo, env), detail_of(quiet=quiet, verbose=verbose)
    command = ActionCommand(name=name, run=run, view=HIVE_VIEW, form=output, file=file, detail=detail)
    with command.failures_delivered():
        return command.execute(
            ActionOptions(
                selection=selection_of(feeds, *choice[1:], clusters, everything=choice[0], all_clusters=all_clusters),
                config_repo=config_repo,
                environment=env,
                nominal_time=nominal_time_of(time),
                dry_run=dry_run,
                approve=approve,
                allow_dirty=allow_dirty,
                parallel=parallel,
            )
        )
