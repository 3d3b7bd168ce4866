"""`feedctl instance status|running|summary|logs|dependencies`: questions about instances."""

from __future__ import annotations

import sys

from toolkit.cli import instance_options as given
from toolkit.cli.options import ClusterName, ConfigRepo, Env, Output, OutputAs, print_json


def status(
    name: given.Name,
    start: given.Start = None,
    end: given.End = None,
    cluster: ClusterName = None,
    life_cycle: given.Cycle = None,
    filter_by: given.FilterBy = None,
    order_by: given.Ordered = given.OrderBy.INSTANCE,
    sort_order: given.Sorted = None,
    offset: given.Offset = 0,
    limit: given.Limit = None,
    all_attempts: given.AllAttempts = False,
    config_repo: ConfigRepo = None,
    env: Env = None,
    output: OutputAs = Output.TEXT,
) -> None:
    """Show the state of each instance in [start, end): what has not run yet is waiting."""
    from toolkit.cli.instance_filters import asked_range, filters_of, managed_by, view_of
    from toolkit.cli.instance_given import Given
    from toolkit.cli.instance_printing import print_instances
    from toolkit.cli.opened import opened
    from toolkit.management.questions import instance_status

    options = Given(
        filter_by=tuple(filter_by or ()),
        order_by=order_by,
        sort_order=sort_order,
        offset=offset,
        limit=limit,
        all_attempts=all_attempts,
    )
    asked, view, clusters = asked_range(start, end), view_of(options), filters_of(options.filter_by).clusters
    with opened(config_repo, env, writing=False) as (ledger, repository):
        managed = managed_by(repository, name, life_cycle, cluster, clusters)
        print_instances(instance_status(ledger, managed, asked, view), output)


def running(
    name: given.Name,
    cluster: ClusterName = None,
    life_cycle: given.EachCycle = None,
    filter_by: given.FilterBy = None,
    order_by: given.Ordered = given.OrderBy.INSTANCE,
    sort_order: given.Sorted = None,
    offset: given.Offset = 0,
    limit: given.Limit = None,
    config_repo: ConfigRepo = None,
    env: Env = None,
    output: OutputAs = Output.TEXT,
) -> None:
    """Show what of a feed or process is running now, whatever its time."""
    from toolkit.cli.instance_filters import filters_of, view_of, wanted_clusters
    from toolkit.cli.instance_given import Given
    from toolkit.cli.instance_printing import print_instances
    from toolkit.cli.opened import opened
    from toolkit.management.locations import chosen_clusters, runnable
    from toolkit.management.questions import running_instances

    options = Given(
        filter_by=tuple(filter_by or ()), order_by=order_by, sort_order=sort_order, offset=offset, limit=limit
    )
    view, filters = view_of(options), filters_of(options.filter_by)
    with opened(config_repo, env, writing=False) as (ledger, repository):
        wanted = wanted_clusters(cluster, filters.clusters)
        clusters = chosen_clusters(repository, runnable(repository, name), wanted)
        print_instances(running_instances(ledger, name, clusters, life_cycle, view), output)


def summary(
    name: given.Name,
    start: given.StartOfAll = None,
    end: given.End = None,
    cluster: ClusterName = None,
    life_cycle: given.Cycle = None,
    config_repo: ConfigRepo = None,
    env: Env = None,
    output: OutputAs = Output.TEXT,
) -> None:
    """Count the instances in [start, end) by status and cluster."""
    from toolkit.cli.instance_filters import asked_range, managed_by
    from toolkit.cli.opened import opened
    from toolkit.management.questions import instance_summary
    from toolkit.rendering.instances import SUMMARY_COLUMNS, summary_document, summary_rows
    from toolkit.rendering.tables import STATUS_STYLES, write_table

    asked = asked_range(start, end)
    with opened(config_repo, env, writing=False) as (ledger, repository):
        found = instance_summary(ledger, managed_by(repository, name, life_cycle, cluster), asked)
    if output is Output.JSON:
        print_json(summary_document(found))
    else:
        write_table(SUMMARY_COLUMNS, summary_rows(found), sys.stdout, STATUS_STYLES)


def logs(
    name: given.Name,
    start: given.Start = None,
    end: given.End = None,
    cluster: ClusterName = None,
    life_cycle: given.Cycle = None,
    filter_by: given.FilterBy = None,
    all_attempts: given.AllAttempts = False,
    config_repo: ConfigRepo = None,
    env: Env = None,
    output: OutputAs = Output.TEXT,
) -> None:
    """Show where the logs of instances and of their steps are, and what they wrote down about themselves."""
    from toolkit.cli.instance_filters import asked_range, filters_of, managed_by, view_of
    from toolkit.cli.instance_given import Given
    from toolkit.cli.opened import opened
    from toolkit.management.questions import instance_logs
    from toolkit.rendering.instances import LOG_COLUMNS, log_document, log_rows
    from toolkit.rendering.tables import STATUS_STYLES, write_table

    options = Given(filter_by=tuple(filter_by or ()), all_attempts=all_attempts)
    asked, view, clusters = asked_range(start, end), view_of(options), filters_of(options.filter_by).clusters
    with opened(config_repo, env, writing=False) as (ledger, repository):
        found = instance_logs(ledger, managed_by(repository, name, life_cycle, cluster, clusters), asked, view)
    if output is Output.JSON:
        print_json(log_document(found))
    else:
        write_table(LOG_COLUMNS, log_rows(found), sys.stdout, STATUS_STYLES)


def dependencies(
    name: given.Name,
    start: given.OneStart,
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
    from toolkit.rendering.tables import STATUS_STYLES, write_table

    instant = parse_instant(start)
    with opened(config_repo, env, writing=False) as (ledger, repository):
        entity = runnable(repository, name)
        clusters = chosen_clusters(repository, entity, () if cluster is None else (cluster,))
        found = instance_dependencies(ledger, repository, entity, clusters, instant)
    if output is Output.JSON:
        print_json(dependency_document(found))
    else:
        write_table(DEPENDENCY_COLUMNS, dependency_rows(found), sys.stdout, STATUS_STYLES)
