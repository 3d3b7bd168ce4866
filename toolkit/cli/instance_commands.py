"""`feedctl instance suspend|resume|kill|rerun`: commands to instances."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from toolkit.cli import instance_options as given
from toolkit.cli.options import ClusterName, ConfigRepo, Env, Output, OutputAs

if TYPE_CHECKING:
    from toolkit.ledger.vocabulary import LifeCycle


@dataclass(frozen=True, slots=True)
class _Given:
    """What a command was told, in the order of its options."""

    name: str
    start: str
    end: str | None
    cluster: str | None
    life_cycle: LifeCycle | None
    filter_by: list[str] | None
    reason: str | None
    config_repo: str | None
    env: str | None
    output: Output


def _command(verb: str, told: str) -> Callable[..., None]:
    """A command that takes nothing but the instances."""

    def command(
        name: given.Name,
        start: given.NeededStart,
        end: given.End = None,
        cluster: ClusterName = None,
        life_cycle: given.Cycle = None,
        filter_by: given.FilterBy = None,
        reason: given.Reason = None,
        config_repo: ConfigRepo = None,
        env: Env = None,
        output: OutputAs = Output.TEXT,
    ) -> None:
        _carry_out(verb, _Given(name, start, end, cluster, life_cycle, filter_by, reason, config_repo, env, output))

    command.__doc__ = told
    return command


suspend = _command("suspend", "Pause instances: what waits does not start, what runs pauses before its next effect.")
resume = _command("resume", "Let suspended instances go on.")
kill = _command("kill", "End instances: what runs stops before its next effect, what waits never starts by itself.")


def rerun(
    name: given.Name,
    start: given.NeededStart,
    end: given.End = None,
    force: Annotated[
        bool, typer.Option("--force", help="From the first step; otherwise from the one that failed.")
    ] = False,
    cluster: ClusterName = None,
    life_cycle: given.Cycle = None,
    filter_by: given.FilterBy = None,
    reason: given.Reason = None,
    config_repo: ConfigRepo = None,
    env: Env = None,
    output: OutputAs = Output.TEXT,
) -> None:
    """Make instances that are over ready for another attempt."""
    told = _Given(name, start, end, cluster, life_cycle, filter_by, reason, config_repo, env, output)
    _carry_out("rerun", told, is_forced=force)


def _carry_out(verb: str, told: _Given, *, is_forced: bool = False) -> None:
    from toolkit.cli.instance_filters import asked_range, filters_of, managed_by, view_of
    from toolkit.cli.instance_given import Given
    from toolkit.cli.instance_printing import print_answers
    from toolkit.cli.opened import opened
    from toolkit.management.commands import CommandRequest, command_instances
    from toolkit.management.decisions import InstanceCommand
    from toolkit.runs.identity import current_user

    asked, filter_by = asked_range(told.start, told.end), tuple(told.filter_by or ())
    with opened(told.config_repo, told.env, writing=True) as (ledger, repository):
        request = CommandRequest(
            command=InstanceCommand(verb),
            managed=managed_by(repository, told.name, told.life_cycle, told.cluster, filters_of(filter_by).clusters),
            asked=asked,
            view=view_of(Given(filter_by=filter_by)),
            who=current_user(),
            reason=told.reason,
            is_forced=is_forced,
        )
        result = command_instances(ledger, request)
    print_answers(result, told.output)
