"""The command `feedctl`."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from copy import copy
from typing import Annotated

import typer
from typer.models import TyperInfo

from toolkit import __version__
from toolkit.cli.boundary import program_name, run_app, run_process
from toolkit.cli.command_table import COMMANDS
from toolkit.cli.completion import is_completing, is_installing

_NEED_NO_COMMAND = {"", "--help", "--version"}
"""First arguments that the names of the commands and their lines of help answer."""


def _print_version(is_requested: bool) -> None:
    if is_requested:
        print(f"feedctl {__version__}")
        raise typer.Exit


def feedctl(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Manage data feeds: entities in git, one spark-submit for each action, no server."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run `feedctl` with these arguments, by default those of the process, and return the exit code."""
    return run_app(program_of(sys.argv[1:] if argv is None else argv), argv)


def run() -> None:
    """The console script."""
    run_process(program_of(sys.argv[1:]))


def program_of(argv: Sequence[str]) -> typer.Typer:
    """Return the program with the commands that these arguments need: to load all takes longer than most answers.

    Args:
        argv: a command and its arguments need this command alone. The help, the version, and a name that no command
            has, need the names and lines of help. All else needs everything: an option first, or completion, whose
            words are in the environment.
    """
    named = argv[0] if argv else ""
    if named in COMMANDS:
        return _requested(_program([named]), argv)
    if is_completing(program_name()):
        return outline() if is_installing(program_name()) else whole_program()
    return outline() if named in _NEED_NO_COMMAND or not named.startswith("-") else whole_program()


def whole_program() -> typer.Typer:
    """Return the program with all commands."""
    return _program(COMMANDS)


def outline() -> typer.Typer:
    """Return a program that has the names and the help of all commands, and runs none.

    Its help is plain text: to draw boxes, rich takes longer to load than all of feedctl.
    """
    program = _program([])
    program.rich_markup_mode = None
    for name, entry in COMMANDS.items():
        entry.add_line_to(program, name)
    return program


def _program(names: Iterable[str]) -> typer.Typer:
    program = typer.Typer(name="feedctl", no_args_is_help=True, pretty_exceptions_enable=False)
    program.callback()(feedctl)
    for name in names:
        COMMANDS[name].add_to(program, name)
    return program


def _requested(program: typer.Typer, argv: Sequence[str]) -> typer.Typer:
    """The program with the one command that is named; with all of its commands when none is."""
    named = argv[0] if argv else ""
    part = copy(program)
    part.registered_groups = [_group_of(each, argv[1:]) for each in program.registered_groups if each.name == named]
    part.registered_commands = [each for each in program.registered_commands if each.name == named]
    return part if part.registered_groups or part.registered_commands else program


def _group_of(group: TyperInfo, argv: Sequence[str]) -> TyperInfo:
    part = copy(group)
    if group.typer_instance is not None:
        part.typer_instance = _requested(group.typer_instance, argv)
    return part
