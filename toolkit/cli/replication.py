"""The command of the replication entrypoint."""

from __future__ import annotations

from functools import partial
from typing import Annotated

import typer

from toolkit.cli import action_options as options
from toolkit.cli.completion import cluster_names
from toolkit.cli.options import ConfigRepo, Env
from toolkit.rendering.tables import ResultFormat

Targets = Annotated[
    list[str] | None,
    typer.Option(
        "--target",
        metavar="NAME",
        autocompletion=cluster_names,
        help="To this cluster; may be given more than once. Default: to all targets.",
    ),
]
Source = Annotated[
    str | None,
    typer.Option(
        "--source",
        metavar="NAME",
        autocompletion=cluster_names,
        help="Only from this cluster. Default: from all sources.",
    ),
]
Start = Annotated[
    str | None,
    typer.Option(
        "--start", metavar="INSTANT", help="The instances from here on, copied before or not; alone: this one."
    ),
]
End = Annotated[str | None, typer.Option("--end", metavar="INSTANT", help="With --start: only those before this time.")]
NewestFirst = Annotated[bool, typer.Option("--newest-first", help="Copy the newest instance first.")]
Rehash = Annotated[
    bool,
    typer.Option(
        "--rehash", help="Read the files at both ends and compare their bytes; sizes and times alone say nothing."
    ),
]
Parallel = Annotated[
    int | None,
    typer.Option("--parallel", min=1, help="So many instances at once. Default: the feed's property, else 64."),
]


def replication(
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
    rehash: Rehash = False,
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
    """Pull the instances of feeds from their sources to their targets: those that are due and were not copied yet."""
    from toolkit.bootstrap.action_context import ActionOptions
    from toolkit.bootstrap.replication import ReplicationOptions, replicate
    from toolkit.cli.action_command import ActionCommand, detail_of, nominal_time_of, result_file_of, selection_of
    from toolkit.rendering.replication import REPLICATION_VIEW
    from toolkit.replication import NAME

    file, detail = result_file_of(result_file, config_repo, env), detail_of(quiet=quiet, verbose=verbose)
    own = ReplicationOptions(source=source, start=start, end=end, newest_first=newest_first, rehash=rehash)
    run = partial(replicate, own)
    command = ActionCommand(name=NAME, run=run, view=REPLICATION_VIEW, form=output, file=file, detail=detail)
    with command.failures_delivered():
        return command.execute(
            ActionOptions(
                selection=selection_of(feed, group, tag, target, everything=all_feeds, all_clusters=not target),
                config_repo=config_repo,
                environment=env,
                nominal_time=nominal_time_of(time),
                dry_run=dry_run,
                approve=approve,
                allow_dirty=allow_dirty,
                parallel=parallel,
            )
        )
