"""`feedctl explain`: why something did, or did not, happen."""

from __future__ import annotations

from typing import Annotated

import typer

from toolkit.cli.completion import entity_names
from toolkit.cli.flags import AnswerFlags, flat
from toolkit.cli.options import ClusterName, print_answer

app = typer.Typer(no_args_is_help=True)


@app.callback()
def explain() -> None:
    """Explain why a trigger did, or did not, start a process; `feedctl retention explain` explains evictions."""


@app.command("trigger")
@flat
def trigger(
    *,
    process: Annotated[
        str, typer.Argument(metavar="PROCESS", autocompletion=entity_names, help="A process with a trigger.")
    ],
    cluster: ClusterName = None,
    key: Annotated[
        str | None,
        typer.Option("--time", metavar="INSTANT", help="The process instance. Default: those that updates wait for."),
    ] = None,
    repo: AnswerFlags,
) -> None:
    """Show which event satisfies each entry of a trigger, what is missing, and why events were ignored."""
    from toolkit.clock import SystemClock
    from toolkit.management.trigger_answers import trigger_answer
    from toolkit.process_runner.selection import ProcessSelection, sites
    from toolkit.rendering.triggers import answer_document, answer_lines

    with repo.opened(writing=False) as (ledger, repository):
        (site,) = sites(repository, ProcessSelection(name=process, cluster=cluster))
        answer = trigger_answer(ledger, repository, site, key, SystemClock().now())
    print_answer(repo.output, answer_document(answer), *answer_lines(answer))
