"""The command `feedctl`."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from copy import copy
from typing import Annotated

import typer
from typer.models import TyperInfo

from toolkit import __version__
from toolkit.cli import (
    admin,
    backfill,
    dataset,
    doctor,
    el,
    entity,
    event,
    explain,
    export,
    hold,
    instance,
    ledger,
    lint,
    migrate,
    quality,
    retention,
    shipped,
    status,
    table,
    verify,
)
from toolkit.cli.boundary import run_app, run_process
from toolkit.cli.completion import entrypoint_names
from toolkit.cli.run import app as run_calls

app = typer.Typer(name="feedctl", no_args_is_help=True, pretty_exceptions_enable=False)
app.add_typer(entity.app, name="entity")
app.add_typer(instance.app, name="instance")
app.add_typer(ledger.app, name="ledger")
app.add_typer(run_calls, name="run")
app.add_typer(el.app, name="el")
app.add_typer(dataset.app, name="dataset")
app.add_typer(event.app, name="event")
app.add_typer(explain.app, name="explain")
app.add_typer(hold.app, name="hold")
app.add_typer(admin.app, name="admin")
app.add_typer(retention.app, name="retention")
app.add_typer(migrate.app, name="migrate")
app.add_typer(export.app, name="export")
app.add_typer(table.app, name="table")
app.add_typer(quality.app, name="quality")
app.command("status")(status.status)
app.command("backfill")(backfill.backfill)
app.command("doctor")(doctor.doctor)
app.command("verify")(verify.verify)
app.command("lint")(lint.lint)
app.command("init")(shipped.create)
app.command("schema")(shipped.print_schema)


def _print_version(is_requested: bool) -> None:
    if is_requested:
        print(f"feedctl {__version__}")
        raise typer.Exit


@app.callback()
def feedctl(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Look after data feeds: entities in git, one spark-submit for each action, no server."""


@app.command("entrypoint")
def print_entrypoint(
    name: Annotated[
        str, typer.Argument(metavar="NAME", autocompletion=entrypoint_names, help="The action, for example retention.")
    ],
) -> None:
    """Print the path of an action's script: spark-submit "$(feedctl entrypoint retention)" ..."""
    from toolkit.cli.shipped import entrypoint

    print(entrypoint(name))


def main(argv: Sequence[str] | None = None) -> int:
    """Run `feedctl` with these arguments, by default those of the process, and return the exit code."""
    return run_app(app if argv is None else app_of(app, argv), argv)


def run() -> None:
    """The console script."""
    run_process(app_of(app, sys.argv[1:]))


def app_of(program: typer.Typer, argv: Sequence[str]) -> typer.Typer:
    """The program with the one command that is asked for: to build all of them takes longer than most take to answer.

    Args:
        program: of many commands.
        argv: when its first is the name of none of them, all are wanted: for the help, or to say what there is.
    """
    named = argv[0] if argv else ""
    part = copy(program)
    part.registered_groups = [_group_of(each, argv[1:]) for each in program.registered_groups if each.name == named]
    part.registered_commands = [each for each in program.registered_commands if each.name == named]
    return part if part.registered_groups or part.registered_commands else program


def _group_of(group: TyperInfo, argv: Sequence[str]) -> TyperInfo:
    part = copy(group)
    if group.typer_instance is not None:
        part.typer_instance = app_of(group.typer_instance, argv)
    return part
