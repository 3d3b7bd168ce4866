"""Options that the entrypoints of all actions share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from toolkit.cli.completion import cluster_names, feed_names, group_names, tag_texts
from toolkit.cli.flags import RepoFlags
from toolkit.rendering.tables import ResultFormat

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime

    from toolkit.actions.model import D, I, T
    from toolkit.actions.plan_file import PlanFile
    from toolkit.actions.selection import EntitySelection
    from toolkit.bootstrap.action_context import ActionOptions
    from toolkit.cli.action_command import ActionCommand, Run
    from toolkit.rendering.action_result import ActionView

Time = Annotated[
    str,
    typer.Option(
        "--time", metavar="INSTANT", help="The nominal time, for example 2026-03-01T06:40Z; never the future."
    ),
]
Clusters = Annotated[
    list[str] | None,
    typer.Option(
        "--cluster",
        metavar="NAME",
        autocompletion=cluster_names,
        help="On this cluster; may be given more than once. Needed when environment and feed leave more than one.",
    ),
]


@dataclass(frozen=True, kw_only=True, slots=True)
class FeedFlags:
    """The feeds that an action works on."""

    feed: Annotated[
        list[str] | None,
        typer.Option("--feed", metavar="NAME", autocompletion=feed_names, help="A feed; may be given more than once."),
    ] = None
    all_feeds: Annotated[bool, typer.Option("--all", help="All feeds of the config repo.")] = False
    group: Annotated[
        list[str] | None,
        typer.Option(
            "--group", metavar="NAME", autocompletion=group_names, help="Feeds in this group (in all of them)."
        ),
    ] = None
    tag: Annotated[
        list[str] | None,
        typer.Option(
            "--tag", metavar="KEY=VALUE", autocompletion=tag_texts, help="Feeds with this tag (with all of them)."
        ),
    ] = None

    def selection(self, clusters: Sequence[str] | None, *, all_clusters: bool = False) -> EntitySelection:
        """Return which entities on which clusters the options ask for.

        Raises:
            InvalidInput: not exactly one way of choosing, or a tag that is none.
        """
        from toolkit.actions.selection import EntitySelection
        from toolkit.cli.option_values import tags_of

        return EntitySelection(
            names=tuple(self.feed or ()),
            everything=self.all_feeds,
            groups=tuple(self.group or ()),
            tags=tuple(tags_of(self.tag or ()).items()),
            clusters=tuple(clusters or ()),
            all_clusters=all_clusters,
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class RunFlags(RepoFlags):
    """The run of an action: what it may do, and how its result is delivered."""

    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print the plan and touch nothing.")] = False
    approve: Annotated[
        str | None, typer.Option("--approve", metavar="DIGEST", help="Accept exactly this plan, over its limits too.")
    ] = None
    plan_out: Annotated[
        str | None,
        typer.Option("--plan-out", metavar="PATH|URI", help="Write the plan to this file, and touch nothing else."),
    ] = None
    apply_plan: Annotated[
        str | None,
        typer.Option(
            "--apply-plan",
            metavar="PATH|URI",
            help="Do only what this file of --plan-out says as well; give the other options as they were.",
        ),
    ] = None
    allow_dirty: Annotated[bool, typer.Option("--allow-dirty", help="Act on a checkout with uncommitted changes.")] = (
        False
    )
    no_ledger: Annotated[
        bool,
        typer.Option(
            "--no-ledger",
            help="Act without the ledger: no lease, no record but the audit file, no holds of `feedctl hold`.",
        ),
    ] = False
    output: Annotated[ResultFormat, typer.Option("--output", help="The format of the result.")] = ResultFormat.TEXT
    result_file: Annotated[
        str | None,
        typer.Option(
            "--result-file",
            metavar="PATH|URI",
            help="Write the JSON result to this file as well, on any store, atomically.",
        ),
    ] = None
    quiet: Annotated[
        bool, typer.Option("--quiet", help="Text: only what needs attention; nothing when all is well.")
    ] = False
    verbose: Annotated[bool, typer.Option("--verbose", help="Text: a line for each item, instead of ranges.")] = False

    def command(self, name: str, run: Run[T, I, D], view: ActionView[T, I, D]) -> ActionCommand[T, I, D]:
        """Return the command of an action, with its result delivered as the options say.

        Raises:
            InvalidInput: the result file cannot be written, or both `--quiet` and `--verbose` were given.
            Unavailable: the store of the result file does not answer.
        """
        from toolkit.cli.action_command import ActionCommand, detail_of
        from toolkit.cli.delivery import ResultFile

        file = None if self.result_file is None else ResultFile.parse(self.result_file, self.request())
        detail = detail_of(quiet=self.quiet, verbose=self.verbose)
        return ActionCommand(name=name, run=run, view=view, form=self.output, file=file, detail=detail)

    def options(
        self, time: datetime, selection: EntitySelection | None = None, *, parallel: int | None = None
    ) -> ActionOptions:
        """Return the options of the run.

        Args:
            time: nominal.
            selection: which feeds on which clusters; None: the action is not about feeds.
            parallel: so many targets at once; None: as many as suit the action.
        """
        from toolkit.actions.selection import NO_FEED
        from toolkit.bootstrap.action_context import ActionOptions
        from toolkit.bootstrap.plan_files import PlanOptions

        return ActionOptions(
            selection=selection or NO_FEED,
            repo=self.request(),
            nominal_time=time,
            dry_run=self.dry_run or self.plan_out is not None,
            approve=self.approve,
            allow_dirty=self.allow_dirty,
            no_ledger=self.no_ledger,
            parallel=parallel,
            plan=PlanOptions(keep=self._keep_plan(), file=self._plan_file()),
        )

    def _keep_plan(self) -> Callable[[PlanFile], None] | None:
        """Return what writes the plan of the dry run; None: it is not written."""
        if self.plan_out is None:
            return None
        from toolkit.cli.delivery import ResultFile

        file = ResultFile.parse(self.plan_out, self.request(), "--plan-out")
        return lambda plan: file.write(plan.lines())

    def _plan_file(self) -> PlanFile | None:
        """Read the plan that is applied.

        Raises:
            InvalidInput: it cannot be read, or an option contradicts it.
            Refused: it is no plan file, or it was edited.
        """
        if self.apply_plan is None:
            return None
        from toolkit.actions.plan_file import MOST_BYTES, PlanFile
        from toolkit.cli.delivery import read_file
        from toolkit.cli.option_values import BadOption

        contradicts = "--plan-out" if self.plan_out is not None else "--no-ledger" if self.no_ledger else ""
        if contradicts:
            # Only the ledger knows whether the file was applied before.
            raise BadOption(option="--apply-plan", found=f"{contradicts} as well", expected="one of them")
        return PlanFile.parse(read_file(self.apply_plan, self.request(), "--apply-plan", MOST_BYTES))
