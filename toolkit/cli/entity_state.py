"""`feedctl entity suspend|resume|status|touch`: the state of feeds and processes that is not configuration."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from toolkit.cli.completion import entity_names
from toolkit.cli.options import ClusterName, ConfigRepo, Env, Output, OutputAs, print_json

if TYPE_CHECKING:
    from toolkit.entities.repository import Repository
    from toolkit.management.entities import EntityCommand, EntityReport

_Name = Annotated[str, typer.Argument(metavar="NAME", autocompletion=entity_names, help="A feed or a process.")]
_Reason = Annotated[str | None, typer.Option("--reason", metavar="TEXT", help="Why; it is shown and recorded.")]


def status(
    name: _Name,
    cluster: ClusterName = None,
    config_repo: ConfigRepo = None,
    env: Env = None,
    output: OutputAs = Output.TEXT,
) -> None:
    """Show whether a feed or process is submitted, running, suspended or completed, on each cluster."""
    from toolkit.cli.opened import opened
    from toolkit.management.entities import entity_report
    from toolkit.management.locations import chosen_clusters, runnable

    with opened(config_repo, env, writing=False) as (ledger, repository):
        entity = runnable(repository, name)
        clusters = chosen_clusters(repository, entity, () if cluster is None else (cluster,))
        _print(entity_report(ledger, entity, clusters), output)


def suspend(
    name: _Name,
    cluster: ClusterName = None,
    reason: _Reason = None,
    config_repo: ConfigRepo = None,
    env: Env = None,
    output: OutputAs = Output.TEXT,
) -> None:
    """Let no run of a feed or process start, on one cluster or on all; what runs goes on."""
    from toolkit.cli.opened import opened
    from toolkit.management.entities import suspend_entity

    with opened(config_repo, env, writing=True) as (ledger, repository):
        report = suspend_entity(ledger, _command(repository, name, cluster, reason))
    _print(report, output, done="suspended", already="is suspended already")


def resume(
    name: _Name,
    cluster: ClusterName = None,
    reason: _Reason = None,
    config_repo: ConfigRepo = None,
    env: Env = None,
    output: OutputAs = Output.TEXT,
) -> None:
    """Let runs of a feed or process start again."""
    from toolkit.cli.opened import opened
    from toolkit.management.entities import resume_entity

    with opened(config_repo, env, writing=True) as (ledger, repository):
        report = resume_entity(ledger, _command(repository, name, cluster, reason))
    where = "there" if cluster else "anywhere"
    _print(report, output, done="resumed", already=f"is not suspended {where} by itself")


def touch(
    name: _Name,
    config_repo: ConfigRepo = None,
    env: Env = None,
    output: OutputAs = Output.TEXT,
) -> None:
    """Say that a feed or process was scheduled anew: `feedctl status --stale` counts from now on."""
    from toolkit.cli.opened import opened
    from toolkit.management.entities import touch_entity

    with opened(config_repo, env, writing=True) as (ledger, repository):
        report = touch_entity(ledger, _command(repository, name, None, None))
    _print(report, output, done="touched", already="is so already")


def _command(repository: Repository, name: str, cluster: str | None, reason: str | None) -> EntityCommand:
    from toolkit.management.entities import EntityCommand
    from toolkit.management.locations import chosen_clusters, runnable
    from toolkit.runs.identity import current_user

    entity = runnable(repository, name)
    chosen_clusters(repository, entity, () if cluster is None else (cluster,))
    return EntityCommand(entity=entity, cluster=cluster, who=current_user(), reason=reason)


def _print(report: EntityReport, output: Output, *, done: str = "", already: str = "") -> None:
    from toolkit.rendering.overview import STATE_COLUMNS, state_document, state_rows
    from toolkit.rendering.tables import STATUS_STYLES, write_table

    if output is Output.JSON:
        print_json(state_document(report))
        return
    if report.is_changed is not None:
        print(f"{report.name} {done}" if report.is_changed else f"{report.name} {already}; nothing was changed")
    write_table(STATE_COLUMNS, state_rows(report), sys.stdout, STATUS_STYLES)
