"""The command `feedctl backfill`: a process over a range of its instances."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from toolkit.cli.completion import process_names
from toolkit.cli.flags import flat
from toolkit.cli.process import OnCluster, ProcessRunFlags
from toolkit.process_runner.backfill import BackfillEvents, Only

if TYPE_CHECKING:
    from toolkit.process_runner.backfill import Backfill

Process = Annotated[str, typer.Argument(metavar="PROCESS", autocompletion=process_names, help="The process.")]
Start = Annotated[str, typer.Option("--start", metavar="INSTANT", help="The first instance.")]
End = Annotated[
    str | None, typer.Option("--end", metavar="INSTANT", help="Only those before this time. Default: --start alone.")
]
OnlyWhich = Annotated[
    Only | None,
    typer.Option(
        "--only",
        help="Those that failed, those that never began, or all, also those that succeeded. Default: what has not "
        "succeeded.",
    ),
]
OfEvents = Annotated[
    BackfillEvents,
    typer.Option(
        "--events",
        help="Announce the update of each instance, of the newest alone, or of none: that is what triggers count.",
    ),
]
InOrder = Annotated[
    str | None,
    typer.Option(
        "--order",
        metavar="FIFO|LIFO|LAST_ONLY",
        help="The oldest first, the newest first, or the newest alone. Default: the process's.",
    ),
]
MaxParallel = Annotated[
    int | None,
    typer.Option("--max-parallel", min=1, help="Run at most this many at once, within `parallel` of the process."),
]
KeepGoing = Annotated[bool, typer.Option("--keep-going", help="Go on after an instance that failed.")]
Force = Annotated[bool, typer.Option("--force", help="Each from its first step on, whatever succeeded before.")]
Wait = Annotated[bool, typer.Option("--wait", help="Wait for inputs until the timeout, and for retries.")]


@flat
def backfill(
    *,
    process: Process,
    start: Start,
    end: End = None,
    only: OnlyWhich = None,
    order: InOrder = None,
    events: OfEvents = BackfillEvents.ALL,
    max_parallel: MaxParallel = None,
    keep_going: KeepGoing = False,
    force: Force = False,
    wait: Wait = False,
    cluster: OnCluster = None,
    run: ProcessRunFlags,
) -> int:
    """Run the instances of a process from --start up to --end that have not succeeded yet."""
    from toolkit.bootstrap.process import ProcessOptions, run_processes
    from toolkit.clock import SystemClock
    from toolkit.process_runner.selection import ProcessSelection
    from toolkit.rendering.process import PROCESS_VIEW

    requested = replace(
        _range(start, end, order),
        only=only,
        at_once=max_parallel,
        keeps_going=keep_going,
        is_forced=force,
        events=events,
    )
    own = ProcessOptions(selection=ProcessSelection(name=process, cluster=cluster), backfill=requested, waits=wait)
    command = run.command("backfill", partial(run_processes, own), PROCESS_VIEW)
    with command.failures_delivered():
        now = SystemClock().now().replace(second=0, microsecond=0)
        return command.execute(run.options(now, parallel=max_parallel))


def _range(start: str, end: str | None, order: str | None) -> Backfill:
    """Return the backfill of a range of instances, in an order.

    Raises:
        BadOption: a time that is none, an end that is not after the start, or an order that there is not.
    """
    from toolkit.cli.option_values import BadOption, instant_of
    from toolkit.entities.vocabulary import Order
    from toolkit.process_runner.backfill import Backfill

    if order is not None and order not in set(Order):
        raise BadOption(option="--order", found=order, expected=f"one of {', '.join(Order)}")
    first = instant_of("--start", start)
    last = first + timedelta(minutes=1) if end is None else instant_of("--end", end)
    if end is not None and last <= first:
        raise BadOption(option="--end", found=end, expected=f"a time after --start {start}")
    return Backfill(first=first, end=last, order=None if order is None else Order(order))
