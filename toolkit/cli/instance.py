"""`feedctl instance`: the instances of feeds and processes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

import typer

from toolkit.cli import instance_options as options
from toolkit.cli.instance_options import InstanceOptions
from toolkit.cli.instance_params import params
from toolkit.cli.options import ClusterName, ConfigRepo, Env, Output, OutputAs, print_rows

app = typer.Typer(no_args_is_help=True)
app.command("params")(params)


@app.callback()
def instance() -> None:
    """Look at the instances of feeds and processes: planned, running and over; pause, end and rerun them."""


@app.command("status")
def status(
    name: options.Name,
    start: options.Start = None,
    end: options.End = None,
    cluster: ClusterName = None,
    life_cycle: options.Cycle = None,
    filter_by: options.FilterBy = None,
    order_by: options.Ordered = options.OrderBy.INSTANCE,
    sort_order: options.Sorted = None,
    offset: options.Offset = 0,
    limit: options.Limit = None,
    all_attempts: options.AllAttempts = False,
    config_repo: ConfigRepo = None,
    env: Env = None,
    output: OutputAs = Output.TEXT,
) -> None:
    """Show the state of each instance in [start, end): what has not run yet is waiting."""
    from toolkit.cli.instance_answers import answer, print_instances
    from toolkit.management.questions import instance_status

    asked = InstanceOptions(
        name=name,
        start=start,
        end=end,
        cluster=cluster,
        life_cycle=life_cycle,
        filter_by=tuple(filter_by or ()),
        order_by=order_by,
        sort_order=sort_order,
        offset=offset,
        limit=limit,
        all_attempts=all_attempts,
        config_repo=config_repo,
        env=env,
    )
    print_instances(answer(asked, instance_status), output)


@app.command("running")
def running(
    name: options.Name,
    cluster: ClusterName = None,
    life_cycle: options.EachCycle = None,
    filter_by: options.FilterBy = None,
    order_by: options.Ordered = options.OrderBy.INSTANCE,
    sort_order: options.Sorted = None,
    offset: options.Offset = 0,
    limit: options.Limit = None,
    config_repo: ConfigRepo = None,
    env: Env = None,
    output: OutputAs = Output.TEXT,
) -> None:
    """Show what of a feed or process is running now, whatever its time."""
    from toolkit.cli.instance_answers import answer_running, print_instances

    asked = InstanceOptions(
        name=name,
        cluster=cluster,
        life_cycle=life_cycle,
        filter_by=tuple(filter_by or ()),
        order_by=order_by,
        sort_order=sort_order,
        offset=offset,
        limit=limit,
        config_repo=config_repo,
        env=env,
    )
    print_instances(answer_running(asked), output)


@app.command("list")
def list_instances(
    name: options.Name,
    start: options.StartOfList = None,
    end: options.End = None,
    cluster: ClusterName = None,
    life_cycle: options.RecordedCycle = None,
    filter_by: options.FilterBy = None,
    order_by: options.Ordered = options.OrderBy.INSTANCE,
    sort_order: options.Sorted = None,
    offset: options.Offset = 0,
    limit: options.Limit = None,
    all_attempts: options.AllAttempts = False,
    planned: options.Planned = False,
    config_repo: ConfigRepo = None,
    env: Env = None,
    output: OutputAs = Output.TEXT,
) -> None:
    """List a feed's instances and what is there of them, a process's with their paths, or the runs of a life cycle."""
    from toolkit.cli.instance_list import print_list

    asked = InstanceOptions(
        name=name,
        start=start,
        end=end,
        cluster=cluster,
        life_cycle=life_cycle,
        filter_by=tuple(filter_by or ()),
        order_by=order_by,
        sort_order=sort_order,
        offset=offset,
        limit=limit,
        all_attempts=all_attempts,
        config_repo=config_repo,
        env=env,
    )
    print_list(asked, output, is_planned=planned)


@app.command("summary")
def summary(
    name: options.Name,
    start: options.StartOfAll = None,
    end: options.End = None,
    cluster: ClusterName = None,
    life_cycle: options.Cycle = None,
    config_repo: ConfigRepo = None,
    env: Env = None,
    output: OutputAs = Output.TEXT,
) -> None:
    """Count the instances in [start, end) by status and cluster."""
    from toolkit.cli.instance_answers import answer
    from toolkit.management.questions import instance_summary
    from toolkit.rendering.instances import SUMMARY_COLUMNS, summary_document, summary_rows
    from toolkit.rendering.tables import STATUS_STYLES

    asked = InstanceOptions(
        name=name, start=start, end=end, cluster=cluster, life_cycle=life_cycle, config_repo=config_repo, env=env
    )
    found = answer(asked, lambda ledger, managed, asked_range, _view: instance_summary(ledger, managed, asked_range))
    print_rows(
        output,
        lambda: summary_document(found),
        SUMMARY_COLUMNS,
        summary_rows(found),
        STATUS_STYLES,
        nothing="no instances",
    )


@app.command("logs")
def logs(
    name: options.Name,
    start: options.Start = None,
    end: options.End = None,
    time: options.TimeOfLogs = None,
    step: options.StepOfLogs = None,
    follow: options.Follow = False,
    cluster: ClusterName = None,
    life_cycle: options.Cycle = None,
    filter_by: options.FilterBy = None,
    all_attempts: options.AllAttempts = False,
    config_repo: ConfigRepo = None,
    env: Env = None,
    output: OutputAs = Output.TEXT,
) -> None:
    """Show where the logs of instances and of their steps are; with --time, print those of one instance."""
    from toolkit.cli.instance_answers import answer
    from toolkit.management.questions import instance_logs
    from toolkit.rendering.instances import LOG_COLUMNS, log_document, log_rows
    from toolkit.rendering.tables import STATUS_STYLES

    asked = InstanceOptions(
        name=name,
        start=start or time,
        end=end,
        cluster=cluster,
        life_cycle=life_cycle,
        filter_by=tuple(filter_by or ()),
        all_attempts=all_attempts,
        config_repo=config_repo,
        env=env,
    )
    if time is not None or step is not None or follow:
        from toolkit.cli.instance_log_text import print_step_logs, require_fitting

        require_fitting(asked, time, output)
        print_step_logs(asked, step, follow=follow)
        return
    found = answer(asked, instance_logs)
    print_rows(output, lambda: log_document(found), LOG_COLUMNS, log_rows(found), STATUS_STYLES, nothing="nothing ran")


@app.command("dependencies")
def dependencies(
    name: options.Name,
    start: options.OneStart,
    cluster: ClusterName = None,
    config_repo: ConfigRepo = None,
    env: Env = None,
    output: OutputAs = Output.TEXT,
) -> None:
    """Show what an instance is made from, what is made from it, and how that is."""
    from toolkit.cli.opened import opened
    from toolkit.el import parse_instant
    from toolkit.management.dependencies import instance_dependencies
    from toolkit.management.locations import chosen_clusters, runnable
    from toolkit.rendering.instances import DEPENDENCY_COLUMNS, dependency_document, dependency_rows
    from toolkit.rendering.tables import STATUS_STYLES

    instant = parse_instant(start)
    with opened(config_repo, env, writing=False) as (ledger, repository):
        entity = runnable(repository, name)
        clusters = chosen_clusters(repository, entity, () if cluster is None else (cluster,))
        found = instance_dependencies(ledger, repository, entity, clusters, instant)
    rows, nothing = dependency_rows(found), "no dependencies"
    print_rows(output, lambda: dependency_document(found), DEPENDENCY_COLUMNS, rows, STATUS_STYLES, nothing=nothing)


@app.command("triage")
def triage(
    name: options.Name,
    time: options.OneTime,
    cluster: ClusterName = None,
    config_repo: ConfigRepo = None,
    env: Env = None,
    output: OutputAs = Output.TEXT,
) -> None:
    """Show why an instance is not there: what it waits for, and what that waits for, down to the causes."""
    from toolkit.cli.instance_triage import print_triage

    print_triage(name, time, cluster, config_repo, env, output)


def _command(verb: str, help_text: str) -> Callable[..., None]:
    """A command that takes nothing but the instances."""

    def command(
        name: options.Name,
        start: options.NeededStart,
        end: options.End = None,
        cluster: ClusterName = None,
        life_cycle: options.Cycle = None,
        filter_by: options.FilterBy = None,
        reason: options.Reason = None,
        config_repo: ConfigRepo = None,
        env: Env = None,
        output: OutputAs = Output.TEXT,
    ) -> None:
        from toolkit.cli.instance_answers import carry_out, print_answers

        asked = InstanceOptions(
            name=name,
            start=start,
            end=end,
            cluster=cluster,
            life_cycle=life_cycle,
            filter_by=tuple(filter_by or ()),
            config_repo=config_repo,
            env=env,
        )
        print_answers(carry_out(verb, asked, reason), output)

    command.__doc__ = help_text
    return app.command(verb)(command)


_command("suspend", "Pause instances: what waits does not start, what runs pauses before its next effect.")
_command("resume", "Let suspended instances go on.")
_command("kill", "End instances: what runs stops before its next effect, what waits never starts by itself.")


@app.command("rerun")
def rerun(
    name: options.Name,
    start: options.NeededStart,
    end: options.End = None,
    force: Annotated[
        bool, typer.Option("--force", help="From the first step; otherwise from the one that failed.")
    ] = False,
    cluster: ClusterName = None,
    life_cycle: options.Cycle = None,
    filter_by: options.FilterBy = None,
    reason: options.Reason = None,
    config_repo: ConfigRepo = None,
    env: Env = None,
    output: OutputAs = Output.TEXT,
) -> None:
    """Make instances that are over ready for another attempt."""
    from toolkit.cli.instance_answers import carry_out, print_answers

    asked = InstanceOptions(
        name=name,
        start=start,
        end=end,
        cluster=cluster,
        life_cycle=life_cycle,
        filter_by=tuple(filter_by or ()),
        config_repo=config_repo,
        env=env,
    )
    print_answers(carry_out("rerun", asked, reason, is_forced=force), output)
