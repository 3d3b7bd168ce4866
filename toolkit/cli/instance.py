"""`feedctl instance`: the instances of feeds and processes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

import typer

from toolkit.cli import instance_options as options
from toolkit.cli.flags import AnswerFlags, Fields, flat
from toolkit.cli.instance_options import InstanceFlags
from toolkit.cli.instance_params import params
from toolkit.cli.options import ClusterName, print_rows

app = typer.Typer(no_args_is_help=True)
app.command("params")(params)

_OF_LOGS = ("step", "follow")
_RANGE = ("name", "time", "start", "end", "cluster", "life_cycle")
_COMMANDED = (*_RANGE, "filter_by", "reason")


@app.callback()
def instance() -> None:
    """Show the instances of feeds and processes: planned, running and over; suspend, kill and rerun them."""


@app.command("status")
@flat
def status(
    which: Annotated[InstanceFlags, Fields(but=("force", *_OF_LOGS, "planned", "reason"))], repo: AnswerFlags
) -> None:
    """Show the status of each instance in [start, end); one without a run is waiting."""
    from toolkit.cli.instance_answers import answer, print_instances
    from toolkit.management.questions import instance_status

    print_instances(answer(which, repo, instance_status), repo.output)


@app.command("running")
@flat
def running(
    which: Annotated[
        options.RunningFlags,
        Fields(but=("time", "start", "end", "force", *_OF_LOGS, "all_attempts", "planned", "reason")),
    ],
    repo: AnswerFlags,
) -> None:
    """Show the instances of a feed or process that are running now, whatever their time."""
    from toolkit.cli.instance_answers import answer_running, print_instances

    print_instances(answer_running(which, repo), repo.output)


@app.command("list")
@flat
def list_instances(
    which: Annotated[options.ListedFlags, Fields(but=("force", *_OF_LOGS, "reason"))], repo: AnswerFlags
) -> None:
    """List the instances of a feed with their data, of a process with their paths, or the runs of a life cycle."""
    from toolkit.cli.instance_list import print_list

    print_list(which, repo)


@app.command("summary")
@flat
def summary(which: Annotated[options.CountedFlags, Fields(only=_RANGE)], repo: AnswerFlags) -> None:
    """Count the instances in [start, end) by status and cluster."""
    from toolkit.cli.instance_answers import answer
    from toolkit.management.questions import instance_summary
    from toolkit.rendering.instances import SUMMARY_COLUMNS, summary_document, summary_rows
    from toolkit.rendering.tables import STATUS_STYLES

    found = answer(which, repo, lambda ledger, managed, requested, _view: instance_summary(ledger, managed, requested))
    print_rows(
        repo.output,
        lambda: summary_document(found),
        SUMMARY_COLUMNS,
        summary_rows(found),
        STATUS_STYLES,
        nothing="no instances",
    )


@app.command("logs")
@flat
def logs(
    which: Annotated[options.LoggedFlags, Fields(only=(*_RANGE, *_OF_LOGS, "filter_by", "all_attempts"))],
    repo: AnswerFlags,
) -> None:
    """Show where the logs of instances and of their steps are; with --time, print those of one instance."""
    from toolkit.cli.instance_answers import answer
    from toolkit.management.questions import instance_logs
    from toolkit.rendering.instances import LOG_COLUMNS, log_document, log_rows
    from toolkit.rendering.tables import STATUS_STYLES

    if which.time is not None or which.step is not None or which.follow:
        from toolkit.cli.instance_log_text import print_step_logs

        print_step_logs(which, repo)
        return
    found = answer(which, repo, instance_logs)
    document, rows = lambda: log_document(found), log_rows(found)
    print_rows(repo.output, document, LOG_COLUMNS, rows, STATUS_STYLES, nothing="nothing ran")


@app.command("dependencies")
@flat
def dependencies(*, name: options.Name, time: options.OneTime, cluster: ClusterName = None, repo: AnswerFlags) -> None:
    """Show the inputs of an instance, what is made from it, and the status of each."""
    from toolkit.el import parse_instant
    from toolkit.management.dependencies import instance_dependencies
    from toolkit.management.locations import chosen_clusters, runnable
    from toolkit.rendering.instances import DEPENDENCY_COLUMNS, dependency_document, dependency_rows
    from toolkit.rendering.tables import STATUS_STYLES

    instant = parse_instant(time)
    with repo.opened(writing=False) as (ledger, repository):
        entity = runnable(repository, name)
        clusters = chosen_clusters(repository, entity, () if cluster is None else (cluster,))
        found = instance_dependencies(ledger, repository, entity, clusters, instant)
    document, rows = lambda: dependency_document(found), dependency_rows(found)
    print_rows(repo.output, document, DEPENDENCY_COLUMNS, rows, STATUS_STYLES, nothing="no dependencies")


@app.command("triage")
@flat
def triage(*, name: options.Name, time: options.OneTime, cluster: ClusterName = None, repo: AnswerFlags) -> None:
    """Show why an instance is not available: what it waits for, and what that waits for, down to the causes."""
    from toolkit.cli.instance_triage import print_triage

    print_triage(name, time, cluster, repo)


def _command(verb: str, help_text: str) -> Callable[..., None]:
    """Add a command that takes nothing but the instances."""

    def command(which: Annotated[options.CommandedFlags, Fields(only=_COMMANDED)], repo: AnswerFlags) -> None:
        from toolkit.cli.instance_answers import carry_out, print_answers

        print_answers(carry_out(verb, which, repo), repo.output)

    command.__doc__ = help_text
    return app.command(verb)(flat(command))


_command("suspend", "Suspend instances: waiting ones do not start, running ones pause before their next effect.")
_command("resume", "Resume suspended instances.")
_command("kill", "Kill instances: running ones stop before their next effect, waiting ones never start by themselves.")


@app.command("rerun")
@flat
def rerun(which: Annotated[options.CommandedFlags, Fields(only=(*_COMMANDED, "force"))], repo: AnswerFlags) -> None:
    """Make finished instances ready for another attempt."""
    from toolkit.cli.instance_answers import carry_out, print_answers

    print_answers(carry_out("rerun", which, repo), repo.output)
