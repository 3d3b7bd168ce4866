"""docs/reference/commands.md: the command line of feedctl and of the entrypoints, and the exit codes."""

from __future__ import annotations

import runpy
from collections.abc import Iterator
from pathlib import Path

import typer
from typer.core import TyperArgument, TyperGroup, TyperOption

from reference_pages.markdown import code, meanings, page, prose, table
from toolkit.cli.examples import example_of
from toolkit.cli.main import whole_program
from toolkit.result import ExitCode

_ENTRYPOINTS = Path(__file__).resolve().parents[2] / "entrypoints"
_INTRODUCTION = """
`--help` after any command prints the same. Results go to standard output, logs and errors to standard error.
"""
_ACTIONS = """
Each action is a script for `spark-submit`; `feedctl entrypoint NAME` prints where it lies.
"""
_EXIT_CODES = "They are the same for `feedctl` and the entrypoints; a scheduler may rely on them."


def commands_page() -> str:
    """The page."""
    return page(
        "Commands",
        _INTRODUCTION,
        "## feedctl",
        *_program(whole_program(), "feedctl"),
        "## Entrypoints",
        _ACTIONS,
        *_entrypoints(),
        "## Exit codes",
        _EXIT_CODES,
        _exit_codes(),
    )


def _program(program: typer.Typer, name: str) -> Iterator[str]:
    command = typer.main.get_command(program)
    return _command(typer.Context(command, info_name=name))


def _entrypoints() -> Iterator[str]:
    for script in sorted(_ENTRYPOINTS.glob("*.py")):
        yield f"### {script.stem}"
        yield from _program(runpy.run_path(str(script))["app"], f'spark-submit "$(feedctl entrypoint {script.stem})"')


def _command(context: typer.Context) -> Iterator[str]:
    """A command and those below it; a group gets no heading of its own."""
    command = context.command
    yield prose(command.help or "")
    if isinstance(command, TyperGroup):
        yield from _parameters(context)
        for name, each in command.commands.items():
            yield f"### {context.command_path} {name}"
            yield from _command(typer.Context(each, info_name=name, parent=context))
        return
    yield f"```\n{_usage(context)}\n\n{_example(context)}\n```"
    yield from _parameters(context)


def _example(context: typer.Context) -> str:
    """Return the example of a command; that of an entrypoint is known by its script."""
    if context.parent is None:
        return example_of((), f"{context.command_path.removesuffix(')' + chr(34)).rpartition(' ')[2]}.py")
    return example_of(context.command_path.split()[1:], "feedctl")


def _usage(context: typer.Context) -> str:
    """The command with all that it needs; the rest is `[OPTIONS]`."""
    needed = [label for label, _, required in _labelled(context) if required]
    return " ".join([context.command_path, *needed, "[OPTIONS]"])


def _parameters(context: typer.Context) -> Iterator[str]:
    rows = [[code(label), prose(text)] for label, text, _ in _labelled(context) if label != "--help"]
    if rows:
        yield table(("argument or option", "what it is"), rows)


def _labelled(context: typer.Context) -> Iterator[tuple[str, str, bool]]:
    """Each argument and option: how it is written, its help, and whether it is required."""
    for each in context.command.get_params(context):
        record = each.get_help_record(context)
        if record is not None and isinstance(each, TyperArgument | TyperOption):
            label = each.metavar if isinstance(each, TyperArgument) else record[0]
            yield label or record[0], record[1], each.required


def _exit_codes() -> str:
    words = meanings(ExitCode)
    return table(("code", "name", "meaning"), ([str(each.value), each.name, words[each.name]] for each in ExitCode))
