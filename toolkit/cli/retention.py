"""The command of the retention entrypoint, and `feedctl retention`: what it would do, without Spark."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from toolkit.cli import action_options as options
from toolkit.cli.completion import entity_names
from toolkit.cli.options import ConfigRepo, Env, Output, OutputAs, print_json
from toolkit.rendering.tables import ResultFormat

if TYPE_CHECKING:
    from datetime import datetime

    from toolkit.actions.choosing import EntitySelection

app = typer.Typer(no_args_is_help=True)


@app.callback()
def look() -> None:
    """Say what retention would do, and why; nothing is changed: `spark-submit` of the entrypoint evicts."""


def retention(
    *,
    time: options.Time,
    feed: options.Feeds = None,
    all_feeds: options.All = False,
    group: options.Groups = None,
    tag: options.Tags = None,
    cluster: options.Clusters = None,
    all_clusters: options.AllClusters = False,
    config_repo: ConfigRepo = None,
    env: Env = None,
    dry_run: options.DryRun = False,
    approve: options.Approve = None,
    allow_dirty: options.AllowDirty = False,
    no_ledger: options.NoLedger = False,
    output: options.OutputAs = ResultFormat.TEXT,
    result_file: options.ResultFileAt = None,
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
) -> int:
    """Evict the instances that are older than the retention limit of their feed."""
    from toolkit.bootstrap.action_context import ActionOptions
    from toolkit.bootstrap.retention import evict
    from toolkit.cli.action_command import ActionCommand, detail_of, nominal_time_of, result_file_of, selection_of
    from toolkit.rendering.retention import RETENTION_VIEW
    from toolkit.retention import NAME

    file, detail = result_file_of(result_file, config_repo, env), detail_of(quiet=quiet, verbose=verbose)
    command = ActionCommand(name=NAME, run=evict, view=RETENTION_VIEW, form=output, file=file, detail=detail)
    with command.failures_delivered():
        selection = selection_of(feed, group, tag, cluster, everything=all_feeds, all_clusters=all_clusters)
        return command.execute(
            ActionOptions(
                selection=selection,
                config_repo=config_repo,
                environment=env,
                nominal_time=nominal_time_of(time),
                dry_run=dry_run,
                approve=approve,
                allow_dirty=allow_dirty,
                no_ledger=no_ledger,
            )
        )


@app.command("plan")
def plan(
    *,
    time: options.Time,
    feed: options.Feeds = None,
    all_feeds: options.All = False,
    group: options.Groups = None,
    tag: options.Tags = None,
    cluster: options.Clusters = None,
    all_clusters: options.AllClusters = False,
    config_repo: ConfigRepo = None,
    env: Env = None,
    no_ledger: options.NoLedger = False,
    output: options.OutputAs = ResultFormat.TEXT,
    result_file: options.ResultFileAt = None,
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
) -> int:
    """Print the plan and touch nothing: what the entrypoint prints with --dry-run, without starting Java."""
    return retention(
        time=time,
        feed=feed,
        all_feeds=all_feeds,
        group=group,
        tag=tag,
        cluster=cluster,
        all_clusters=all_clusters,
        config_repo=config_repo,
        env=env,
        dry_run=True,
        no_ledger=no_ledger,
        output=output,
        result_file=result_file,
        quiet=quiet,
        verbose=verbose,
    )


@app.command("explain")
def explain(
    what: Annotated[
        str,
        typer.Argument(metavar="PATH|FEED", autocompletion=entity_names, help="A path or URI, or a feed's name."),
    ],
    instance: Annotated[
        str | None, typer.Option("--instance", metavar="INSTANT", help="Of the feed; needed with a feed's name.")
    ] = None,
    cluster: options.Clusters = None,
    time: Annotated[
        str | None, typer.Option("--time", metavar="INSTANT", help="For a run at this time. Default: now.")
    ] = None,
    config_repo: ConfigRepo = None,
    env: Env = None,
    no_ledger: options.NoLedger = False,
    output: OutputAs = Output.TEXT,
) -> int:
    """Say whether a path or an instance goes or stays, and by which rule; exit code 1: nobody can tell."""
    from toolkit.bootstrap.action_context import ActionOptions
    from toolkit.bootstrap.retention_explain import explain as explained
    from toolkit.cli.action_command import nominal_time_of
    from toolkit.clock import SystemClock
    from toolkit.el import format_instant
    from toolkit.printable import on_one_line
    from toolkit.rendering.retention import explanation_document, explanation_lines
    from toolkit.result import ExitCode
    from toolkit.retention.explain import Verdict
    from toolkit.runs.stop import NeverStopped

    clock = SystemClock()
    at = clock.now().replace(second=0, microsecond=0) if time is None else nominal_time_of(time)
    asked = _asked(what, instance)
    asking = ActionOptions(
        selection=_selection(None if isinstance(asked, str) else what, tuple(cluster or ())),
        config_repo=config_repo,
        environment=env,
        nominal_time=at,
        dry_run=True,
        approve=None,
        allow_dirty=False,
        no_ledger=no_ledger,
    )
    found = explained(asked, asking, clock, NeverStopped())
    if output is Output.JSON:
        print_json({"time": format_instant(at), "explanations": [explanation_document(each) for each in found]})
    else:
        for each in found:
            print(*map(on_one_line, explanation_lines(each)), sep="\n")
    is_unknown = any(each.verdict is Verdict.UNKNOWN for each in found)
    return ExitCode.FAILED if is_unknown else ExitCode.DONE


def _selection(feed: str | None, clusters: tuple[str, ...]) -> EntitySelection:
    """A feed, or for a path any, on these clusters or on all."""
    from toolkit.actions.choosing import EntitySelection

    names = () if feed is None else (feed,)
    return EntitySelection(names=names, everything=not names, clusters=clusters, all_clusters=not clusters)


def _asked(what: str, instance: str | None) -> str | datetime:
    """The path, or the instance of a feed; names of feeds have no slash."""
    from toolkit.cli.option_values import BadOption, MissingOption, instant_of

    if "/" in what:
        if instance is not None:
            raise BadOption(option="--instance", found=instance, expected="nothing: a path is an instance by itself")
        return what
    if instance is None:
        raise MissingOption(option="--instance", command="retention explain")
    return instant_of("--instance", instance)
