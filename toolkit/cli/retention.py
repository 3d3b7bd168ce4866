"""The command of the retention entrypoint, and `feedctl retention`: what it would do, without Spark."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated

import typer

from toolkit.cli.action_flags import Clusters, FeedFlags, RunFlags, Time
from toolkit.cli.completion import entity_names
from toolkit.cli.flags import Fields, flat
from toolkit.cli.options import OutputAs, OutputFormat, print_answer

if TYPE_CHECKING:
    from datetime import datetime

    from toolkit.actions.selection import EntitySelection

app = typer.Typer(no_args_is_help=True)


@app.callback()
def look() -> None:
    """Show what retention would do, and why, and change nothing; `spark-submit` of the entrypoint evicts."""


@dataclass(frozen=True, kw_only=True, slots=True)
class WhereFlags:
    """The clusters that retention works on."""

    cluster: Clusters = None
    all_clusters: Annotated[
        bool, typer.Option("--all-clusters", help="Each feed on all its clusters that the environment allows.")
    ] = False


def evict(time: str, feeds: FeedFlags, where: WhereFlags, run: RunFlags) -> int:
    """Evict, or with `run.dry_run` print the plan."""
    from toolkit.bootstrap.retention import evict as evicted
    from toolkit.cli.action_command import nominal_time_of
    from toolkit.rendering.retention import RETENTION_VIEW
    from toolkit.retention import NAME

    command = run.command(NAME, evicted, RETENTION_VIEW)
    with command.failures_delivered():
        selection = feeds.selection(where.cluster, all_clusters=where.all_clusters)
        return command.execute(run.options(nominal_time_of(time), selection))


@flat
def retention(time: Time, feeds: FeedFlags, where: WhereFlags, run: RunFlags) -> int:
    """Evict the instances that are older than the retention limit of their feed."""
    return evict(time, feeds, where, run)


@app.command("plan")
@flat
def plan(
    time: Time,
    feeds: FeedFlags,
    where: WhereFlags,
    run: Annotated[RunFlags, Fields(but=("dry_run", "approve", "apply_plan", "allow_dirty"))],
) -> int:
    """Print the plan and touch nothing: what the entrypoint prints with --dry-run, without starting Java."""
    return evict(time, feeds, where, replace(run, dry_run=True))


@app.command("explain")
@flat
def explain(
    *,
    what: Annotated[
        str, typer.Argument(metavar="PATH|FEED", autocompletion=entity_names, help="A path or URI, or a feed's name.")
    ],
    instance: Annotated[
        str | None,
        typer.Option("--instance", metavar="INSTANT", help="The instance of the feed; needed with a feed's name."),
    ] = None,
    cluster: Clusters = None,
    time: Annotated[
        str | None, typer.Option("--time", metavar="INSTANT", help="For a run at this time. Default: now.")
    ] = None,
    run: Annotated[RunFlags, Fields(only=("config_repo", "env", "no_ledger"))],
    output: OutputAs = OutputFormat.TEXT,
) -> int:
    """Show whether a path or an instance is evicted or stays, and by which rule; exit code 1: unknown."""
    from toolkit.bootstrap.retention_explain import explain as explained
    from toolkit.cli.action_command import nominal_time_of
    from toolkit.clock import SystemClock
    from toolkit.el import format_instant
    from toolkit.rendering.retention import explanation_document, explanation_lines
    from toolkit.result import ExitCode
    from toolkit.retention.explain import RetentionDecision
    from toolkit.runs.stop import NeverStopped

    clock = SystemClock()
    at = clock.now().replace(second=0, microsecond=0) if time is None else nominal_time_of(time)
    requested = _requested(what, instance)
    selection = _selection(None if isinstance(requested, str) else what, tuple(cluster or ()))
    options = replace(run, dry_run=True).options(at, selection)
    found = explained(requested, options, clock, NeverStopped())
    document = {"time": format_instant(at), "explanations": [explanation_document(each) for each in found]}
    print_answer(output, document, *(line for each in found for line in explanation_lines(each)))
    is_unknown = any(each.decision is RetentionDecision.UNKNOWN for each in found)
    return ExitCode.FAILED if is_unknown else ExitCode.DONE


def _selection(feed: str | None, clusters: tuple[str, ...]) -> EntitySelection:
    """A feed, or for a path any, on these clusters or on all."""
    from toolkit.actions.selection import EntitySelection

    names = () if feed is None else (feed,)
    return EntitySelection(names=names, everything=not names, clusters=clusters, all_clusters=not clusters)


def _requested(what: str, instance: str | None) -> str | datetime:
    """The path, or the instance of a feed; names of feeds have no slash."""
    from toolkit.cli.option_values import BadOption, MissingOption, instant_of

    if "/" in what:
        if instance is not None:
            raise BadOption(option="--instance", found=instance, expected="nothing: a path is an instance by itself")
        return what
    if instance is None:
        raise MissingOption(option="--instance", command="retention explain")
    return instant_of("--instance", instance)
