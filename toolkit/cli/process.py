"""The command of the process entrypoint."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from toolkit.cli.action_flags import RunFlags, Time
from toolkit.cli.completion import cluster_names, process_names
from toolkit.cli.flags import Fields, flat

if TYPE_CHECKING:
    from toolkit.process_runner.selection import ProcessSelection

OnCluster = Annotated[
    str | None,
    typer.Option(
        "--cluster", metavar="NAME", autocompletion=cluster_names, help="Where; needed when there is more than one."
    ),
]
Parallel = Annotated[
    int | None,
    typer.Option(
        "--parallel",
        min=1,
        help="Run at most this many instances at once. Default: what the processes allow, at most 32.",
    ),
]
ProcessRunFlags = Annotated[RunFlags, Fields(but=("approve", "plan_out", "apply_plan", "no_ledger"))]


@dataclass(frozen=True, kw_only=True, slots=True)
class ProcessFlags:
    """The processes that an action works on."""

    name: Annotated[
        str | None, typer.Option("--process", metavar="NAME", autocompletion=process_names, help="The process.")
    ] = None
    all_processes: Annotated[bool, typer.Option("--all", help="With --due: all processes of the cluster.")] = False
    cluster: OnCluster = None

    @property
    def selection(self) -> ProcessSelection:
        """The processes."""
        from toolkit.process_runner.selection import ProcessSelection

        return ProcessSelection(name=self.name, cluster=self.cluster)

    def refuse_unclear(self, *, due: bool, may_be_due: bool = True) -> None:
        """Refuse options that do not go together.

        Args:
            due: all instances that are due are meant, and not one alone.
            may_be_due: the other options go with that.

        Raises:
            ProcessChoiceMissing: not exactly one way of choosing.
        """
        from toolkit.process_runner.selection import ProcessChoiceMissing

        if (self.name is None) != self.all_processes or (self.all_processes and not due) or (due and not may_be_due):
            raise ProcessChoiceMissing


@flat
def process(
    *,
    time: Time,
    which: ProcessFlags,
    due: Annotated[
        bool, typer.Option("--due", help="All instances up to --time that are due; else the one of --time alone.")
    ] = False,
    wait: Annotated[
        bool,
        typer.Option(
            "--wait", help="Wait for inputs until the timeout, and for retries; else exit, and a later --due goes on."
        ),
    ] = False,
    force: Annotated[
        bool, typer.Option("--force", help="From the first step on, also when the instance has succeeded already.")
    ] = False,
    properties: Annotated[
        bool, typer.Option("--properties", help="With --dry-run: also the properties that the steps are told.")
    ] = False,
    parallel: Parallel = None,
    run: ProcessRunFlags,
) -> int:
    """Run an instance of a process, or all that are due: wait for inputs, run the steps, announce the outputs."""
    from toolkit.bootstrap.process import ProcessOptions, run_processes
    from toolkit.cli.action_command import nominal_time_of
    from toolkit.process_runner.targets import NAME
    from toolkit.rendering.process import process_view

    own = ProcessOptions(selection=which.selection, due=due, waits=wait, is_forced=force)
    shown = replace(run, verbose=True) if properties and not run.quiet else run  # else they are cut like any long list
    command = shown.command(NAME, partial(run_processes, own), process_view(properties=properties))
    with command.failures_delivered():
        which.refuse_unclear(due=due, may_be_due=not force)
        return command.execute(run.options(nominal_time_of(time), parallel=parallel))
