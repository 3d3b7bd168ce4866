"""The command of the entrypoint that validates an instance by hand."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import typer

from toolkit.cli.action_flags import RunFlags
from toolkit.cli.completion import cluster_names, feed_names
from toolkit.cli.flags import Fields, flat
from toolkit.cli.options import OutputAs, OutputFormat, print_answer

Feed = Annotated[str, typer.Option("--feed", metavar="NAME", autocompletion=feed_names, help="The feed.")]
Time = Annotated[
    str,
    typer.Option("--time", metavar="INSTANT", help="The instance, for example 2026-03-01T06:00Z; never the future."),
]
Cluster = Annotated[
    str | None,
    typer.Option("--cluster", metavar="NAME", autocompletion=cluster_names, help="Where, when there is more than one."),
]


@dataclass(frozen=True, kw_only=True, slots=True)
class ValidateFlags(RunFlags):
    """The run of a validation."""

    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print the expectations, and validate nothing.")] = False


@flat
def validate(
    *,
    time: Time,
    feed: Feed,
    cluster: Cluster = None,
    run: Annotated[ValidateFlags, Fields(only=("config_repo", "env", "dry_run", "allow_dirty"))],
    output: OutputAs = OutputFormat.TEXT,
) -> int:
    """Validate the data of an instance; exit code 1: a critical expectation fails, 75: the instance is not available.

    Nothing is changed, and nothing is published because of it; the ledger has the result, marked as by hand.
    """
    from toolkit.bootstrap.validate import ValidateOptions, question_of, validate_by_hand
    from toolkit.cli.action_command import nominal_time_of
    from toolkit.clock import SystemClock
    from toolkit.rendering.quality import (
        made_lines,
        question_document,
        question_lines,
        validation_document,
        validation_exit,
    )
    from toolkit.runs.stop import watched_signals

    request = ValidateOptions(
        feed=feed,
        cluster=cluster,
        nominal_time=nominal_time_of(time),
        repo=run.request(),
        dry_run=run.dry_run,
        allow_dirty=run.allow_dirty,
    )
    with watched_signals(request.repo.variables) as stop:
        if run.dry_run:
            question, notes = question_of(request, SystemClock(), stop)
            print_answer(output, question_document(question, notes), *question_lines(question, notes))
            return 0
        validation = validate_by_hand(request, SystemClock(), stop)
    document = {"verdict": validation_document(validation.result, validation.findings), "notes": list(validation.notes)}
    print_answer(output, document, *made_lines(validation.result, validation.findings, validation.notes))
    return validation_exit(validation.result, validation.findings)
