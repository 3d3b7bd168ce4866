"""The command of the late-check entrypoint."""

from __future__ import annotations

from functools import partial
from typing import Annotated

import typer

from toolkit.cli.action_flags import Time
from toolkit.cli.flags import flat
from toolkit.cli.process import Parallel, ProcessFlags, ProcessRunFlags


@flat
def late_check(
    *,
    time: Time,
    which: ProcessFlags,
    due: Annotated[
        bool,
        typer.Option(
            "--due", help="All instances whose check is due by --time; else the instance of --time, due or not."
        ),
    ] = False,
    parallel: Parallel = None,
    run: ProcessRunFlags,
) -> int:
    """Check the inputs of past instances for late data, and run the late workflow of those that have some."""
    from toolkit.bootstrap.late_check import NAME, LateCheckOptions, check_late
    from toolkit.cli.action_command import nominal_time_of
    from toolkit.rendering.late_check import LATE_CHECK_VIEW

    own = LateCheckOptions(selection=which.selection, due=due)
    command = run.command(NAME, partial(check_late, own), LATE_CHECK_VIEW)
    with command.failures_delivered():
        which.refuse_unclear(due=due)
        return command.execute(run.options(nominal_time_of(time), parallel=parallel))
