"""The command of the mirror entrypoint: a run of the process that a mirror stands for."""

from __future__ import annotations

from functools import partial
from typing import Annotated

import typer

from toolkit.cli.action_flags import Time
from toolkit.cli.flags import flat
from toolkit.cli.process import ProcessRunFlags


@flat
def run_mirror(
    *,
    time: Time,
    name: Annotated[str, typer.Option("--mirror", metavar="NAME", help="The mirror.")],
    due: Annotated[
        bool, typer.Option("--due", help="All instances up to --time that are due; else the one of --time alone.")
    ] = False,
    force: Annotated[bool, typer.Option("--force", help="Also when the instance has succeeded already.")] = False,
    approve: Annotated[
        str | None,
        typer.Option("--approve", metavar="DIGEST", help="Remove exactly what a refused run names, over max_delete."),
    ] = None,
    run: ProcessRunFlags,
) -> int:
    """Run an instance of a mirror; --dry-run prints what it would change at the target."""
    from toolkit.bootstrap.process import ProcessOptions, run_processes
    from toolkit.cli.action_command import nominal_time_of
    from toolkit.process_runner.selection import ProcessSelection
    from toolkit.process_runner.targets import NAME
    from toolkit.rendering.process import PROCESS_VIEW

    selection = ProcessSelection(name=name, cluster=None, must_mirror=True)
    own = ProcessOptions(selection=selection, due=due, is_forced=force, approve=approve)
    command = run.command(NAME, partial(run_processes, own), PROCESS_VIEW)
    with command.failures_delivered():
        return command.execute(run.options(nominal_time_of(time)))
