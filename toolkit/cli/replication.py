"""The command of the replication entrypoint."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from toolkit.cli.action_flags import FeedFlags, RunFlags, Time
from toolkit.cli.completion import cluster_names
from toolkit.cli.flags import Fields, flat

if TYPE_CHECKING:
    from toolkit.bootstrap.replication import ReplicationOptions


@dataclass(frozen=True, kw_only=True, slots=True)
class CopyFlags:
    """The instances that are copied, where to and from where."""

    target: Annotated[
        list[str] | None,
        typer.Option(
            "--target",
            metavar="NAME",
            autocompletion=cluster_names,
            help="To this cluster; may be given more than once. Default: to all targets.",
        ),
    ] = None
    source: Annotated[
        str | None,
        typer.Option(
            "--source",
            metavar="NAME",
            autocompletion=cluster_names,
            help="Only from this cluster. Default: from all sources.",
        ),
    ] = None
    start: Annotated[
        str | None,
        typer.Option(
            "--start", metavar="INSTANT", help="The instances from here on, copied before or not; alone: this one."
        ),
    ] = None
    end: Annotated[
        str | None, typer.Option("--end", metavar="INSTANT", help="With --start: only those before this time.")
    ] = None
    newest_first: Annotated[bool, typer.Option("--newest-first", help="Copy the newest instance first.")] = False

    def options(self, *, rehash: bool = False) -> ReplicationOptions:
        """Return the options of the action."""
        from toolkit.bootstrap.replication import ReplicationOptions

        return ReplicationOptions(
            source=self.source, start=self.start, end=self.end, newest_first=self.newest_first, rehash=rehash
        )


@flat
def replication(
    *,
    time: Time,
    feeds: FeedFlags,
    which: CopyFlags,
    rehash: Annotated[
        bool,
        typer.Option(
            "--rehash", help="Read the files at both ends and compare their bytes; sizes and times alone say nothing."
        ),
    ] = False,
    parallel: Annotated[
        int | None,
        typer.Option(
            "--parallel",
            min=1,
            help="Work on at most this many instances at once. Default: the feed's property, else 64.",
        ),
    ] = None,
    run: Annotated[RunFlags, Fields(but=("no_ledger",))],
) -> int:
    """Pull the instances of feeds from their sources to their targets: those that are due and were not copied yet."""
    from toolkit.bootstrap.replication import replicate
    from toolkit.cli.action_command import nominal_time_of
    from toolkit.rendering.replication import REPLICATION_VIEW
    from toolkit.replication import NAME

    command = run.command(NAME, partial(replicate, which.options(rehash=rehash)), REPLICATION_VIEW)
    with command.failures_delivered():
        selection = feeds.selection(which.target, all_clusters=not which.target)
        return command.execute(run.options(nominal_time_of(time), selection, parallel=parallel))
