"""The command of the trigger entrypoint."""

from __future__ import annotations

from functools import partial
from typing import Annotated

import typer

from toolkit.cli.action_flags import Time
from toolkit.cli.completion import process_names
from toolkit.cli.flags import flat
from toolkit.cli.process import OnCluster, Parallel, ProcessRunFlags


@flat
def trigger(
    *,
    time: Time,
    due: Annotated[bool, typer.Option("--due", help="All processes of the cluster that have a trigger.")] = False,
    process: Annotated[
        str | None,
        typer.Option("--process", metavar="NAME", autocompletion=process_names, help="This process alone."),
    ] = None,
    cluster: OnCluster = None,
    decide_only: Annotated[
        bool,
        typer.Option("--decide-only", help="Create the runs as ready, and leave them to `process.py --due`."),
    ] = False,
    poll: Annotated[bool, typer.Option("--poll", help="Poll data first.")] = False,
    parallel: Parallel = None,
    run: ProcessRunFlags,
) -> int:
    """Start the processes whose data was updated: decide by the ledger's events, then run what is ready."""
    from toolkit.bootstrap.trigger import NAME, TriggerOptions, run_triggers
    from toolkit.cli.action_command import nominal_time_of
    from toolkit.process_runner.selection import ProcessSelection, TriggerChoiceMissing
    from toolkit.rendering.process import PROCESS_VIEW

    own = TriggerOptions(selection=ProcessSelection(name=process, cluster=cluster), decide_only=decide_only, poll=poll)
    command = run.command(NAME, partial(run_triggers, own), PROCESS_VIEW)
    with command.failures_delivered():
        if (process is None) != due:
            raise TriggerChoiceMissing
        return command.execute(run.options(nominal_time_of(time), parallel=parallel))
