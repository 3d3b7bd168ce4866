"""The command of the late-check entrypoint."""

from __future__ import annotations

from functools import partial
from typing import Annotated

import typer

from toolkit.cli import action_options as options
from toolkit.cli.options import ConfigRepo, Env
from toolkit.cli.process import All, Name, OnCluster, Parallel
from toolkit.rendering.tables import ResultFormat

Due = Annotated[
    bool,
    typer.Option("--due", help="All instances whose check is due by --time; else the instance of --time, due or not."),
]


def late_check(
    *,
    time: options.Time,
    name: Name = None,
    all_processes: All = False,
    cluster: OnCluster = None,
    due: Due = False,
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
    """Look again at what instances have read, and run those again of which data came late, by the late workflow."""
    from toolkit.actions.choosing import NO_FEED
    from toolkit.bootstrap.action_context import ActionOptions
    from toolkit.bootstrap.late_check import NAME, LateCheckOptions, check_late
    from toolkit.cli.action_command import ActionCommand, detail_of, nominal_time_of, result_file_of
    from toolkit.process_runner.choosing import ProcessChoiceMissing, ProcessSelection
    from toolkit.rendering.late_check import LATE_CHECK_VIEW

    file, detail = result_file_of(result_file, config_repo, env), detail_of(quiet=quiet, verbose=verbose)
    own = LateCheckOptions(selection=ProcessSelection(name=name, cluster=cluster), due=due)
    command = ActionCommand(
        name=NAME, run=partial(check_late, own), view=LATE_CHECK_VIEW, form=output, file=file, detail=detail
    )
    with command.failures_delivered():
        if (name is None) != all_processes or (all_processes and not due):
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
