"""The command of the process entrypoint."""

from __future__ import annotations

from functools import partial
from typing import Annotated

import typer

from toolkit.cli import action_options as options
from toolkit.cli.completion import cluster_names, process_names
from toolkit.cli.options import ConfigRepo, Env
from toolkit.rendering.tables import ResultFormat

Name = Annotated[
    str | None, typer.Option("--process", metavar="NAME", autocompletion=process_names, help="The process.")
]
All = Annotated[bool, typer.Option("--all", help="With --due: all processes of the cluster.")]
OnCluster = Annotated[
    str | None,
    typer.Option(
        "--cluster", metavar="NAME", autocompletion=cluster_names, help="Where; needed when there is more than one."
    ),
]
Due = Annotated[
    bool, typer.Option("--due", help="All instances up to --time that are due; else the one of --time alone.")
]
Wait = Annotated[
    bool,
    typer.Option(
        "--wait",
        help="Wait for inputs until the timeout, and for retries; else exit, and a later --due goes on.",
    ),
]
Force = Annotated[
    bool, typer.Option("--force", help="From the first step on, also when the instance has succeeded already.")
]
Parallel = Annotated[
    int | None,
    typer.Option(
        "--parallel", min=1, help="So many instances at once at most. Default: what the processes allow, at most 32."
    ),
]


def process(
    *,
    time: options.Time,
    name: Name = None,
    all_processes: All = False,
    cluster: OnCluster = None,
    due: Due = False,
    wait: Wait = False,
    force: Force = False,
    parallel: Parallel = None,
    config_repo: ConfigRepo = None,
    env: Env = None,
    dry_run: options.DryRun = False,
    allow_dirty: options.AllowDirty = False,
    output: options.OutputAs = ResultFormat.TEXT,
    result_file: options.ResultFileAt = None,
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
) -> int:
    """Run an instance of a process, or all that are due: wait for inputs, run the steps, announce the outputs."""
    from toolkit.actions.choosing import NO_FEED
    from toolkit.bootstrap.action_context import ActionOptions
    from toolkit.bootstrap.process import ProcessOptions, run_processes
    from toolkit.cli.action_command import ActionCommand, detail_of, nominal_time_of, result_file_of
    from toolkit.process_runner.choosing import ProcessChoiceMissing, ProcessSelection
    from toolkit.process_runner.targets import NAME
    from toolkit.rendering.process import PROCESS_VIEW

    file, detail = result_file_of(result_file, config_repo, env), detail_of(quiet=quiet, verbose=verbose)
    own = ProcessOptions(selection=ProcessSelection(name=name, cluster=cluster), due=due, waits=wait, is_forced=force)
    command = ActionCommand(
        name=NAME, run=partial(run_processes, own), view=PROCESS_VIEW, form=output, file=file, detail=detail
    )
    with command.failures_delivered():
        if (name is None) != all_processes or (all_processes and not due) or (due and force):
            raise ProcessChoiceMissing
        return command.execute(
            ActionOptions(
                selection=NO_FEED,
                config_repo=config_repo,
                environment=env,
                nominal_time=nominal_time_of(time),
                dry_run=dry_run,
                approve=None,
                allow_dirty=allow_dirty,
                parallel=parallel,
            )
        )
