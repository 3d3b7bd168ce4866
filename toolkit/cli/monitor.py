"""`feedctl monitor`: looks for what is late, tells who wants to know, and ends."""

from __future__ import annotations

from typing import Annotated

import typer

from toolkit.cli.flags import AnswerFlags, flat
from toolkit.cli.options import json_text, print_answer


@flat
def monitor(
    *,
    time: Annotated[
        str | None,
        typer.Option(
            "--time", metavar="INSTANT", help="The time as of which it decides; never the future. Default: now."
        ),
    ] = None,
    no_send: Annotated[
        bool, typer.Option("--no-send", help="Leave the messages in the outbox; a later pass sends them.")
    ] = False,
    doctor: Annotated[
        bool, typer.Option("--doctor", help="Check the installation as `feedctl doctor` does; problems are alerts.")
    ] = False,
    result_file: Annotated[
        str | None,
        typer.Option(
            "--result-file",
            metavar="PATH|URI",
            help="Write the JSON result to this file as well, on any store, atomically.",
        ),
    ] = None,
    repo: AnswerFlags,
) -> int:
    """Look for late data and failures, record and tell them; exit code 4: something is unknown or not delivered."""
    from toolkit.bootstrap.monitor import MonitorOptions, run_monitor
    from toolkit.cli.action_command import nominal_time_of
    from toolkit.cli.delivery import ResultFile
    from toolkit.clock import SystemClock
    from toolkit.rendering.monitor import monitor_document, monitor_exit, monitor_lines
    from toolkit.runs.stop import watched_signals

    clock, request = SystemClock(), repo.request()
    file = None if result_file is None else ResultFile.parse(result_file, request)
    at = clock.now().replace(second=0, microsecond=0) if time is None else nominal_time_of(time)
    with watched_signals(request.variables) as process:
        options = MonitorOptions(nominal_time=at, repo=request, send=not no_send, doctor=doctor)
        found = run_monitor(options, clock, process)
    document = monitor_document(found)
    if file is not None:
        file.write([json_text(document)])
    print_answer(repo.output, document, *monitor_lines(found))
    return monitor_exit(found)
