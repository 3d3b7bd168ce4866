"""Tests of the example with which each command's help begins: every command has one, and it can be typed."""

from __future__ import annotations

import runpy
import shlex
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import typer

from tests.unit.cli.running import Feedctl
from toolkit.cli.examples import ACTIONS, EXAMPLES, example_of
from toolkit.cli.main import whole_program

_ENTRYPOINTS = Path(__file__).parents[3] / "entrypoints"
_WIDTH = 78


@cache
def _program() -> Any:  # noqa: ANN401 - typer exports no base of groups and commands
    return typer.main.get_command(whole_program())


def _below(command: Any, words: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:  # noqa: ANN401
    yield words
    for name, each in getattr(command, "commands", {}).items():
        yield from _below(each, (*words, name))


def _parse(command: Any, arguments: list[str]) -> None:  # noqa: ANN401
    """Read the arguments as the command does before it runs."""
    while arguments and arguments[0] in getattr(command, "commands", {}):
        command = command.commands[arguments.pop(0)]
    command.make_context("example", arguments)


def test_every_command_and_group_has_an_example_and_nothing_else_has() -> None:
    assert {" ".join(words) for words in _below(_program())} == set(EXAMPLES)
    assert {each.stem for each in _ENTRYPOINTS.glob("*.py")} == set(ACTIONS)


@pytest.mark.parametrize("name", [name for name in EXAMPLES if name])
def test_an_example_is_of_its_command_and_has_options_that_it_takes(name: str) -> None:
    shown = example_of(name.split(), "feedctl")
    program, *arguments = shlex.split(shown.replace("\\\n", ""))
    assert program == "feedctl"
    assert " ".join(arguments).startswith(name)
    _parse(_program(), arguments)
    assert max(map(len, shown.splitlines())) <= _WIDTH


@pytest.mark.parametrize("name", ACTIONS)
def test_an_example_of_an_action_has_options_that_it_takes(name: str) -> None:
    shown = example_of((), f"{name}.py")
    start, script, *arguments = shlex.split(shown.replace("\\\n", ""))
    assert (start, script) == ("spark-submit", f"$(feedctl entrypoint {name})")
    _parse(typer.main.get_command(runpy.run_path(str(_ENTRYPOINTS / f"{name}.py"))["app"]), arguments)
    assert max(map(len, shown.splitlines())) <= _WIDTH


@pytest.mark.parametrize(
    ("arguments", "purpose", "example"),
    [
        ((), "Manage data feeds", "feedctl init my-feeds"),
        (("lint",), "Check the config repo", "feedctl lint --all-envs"),
        (("instance",), "Show the instances of feeds", "feedctl instance triage clicks_hourly_job"),
        (("hold", "add"), "Hold the instances of a feed", "feedctl hold add clicks --start"),
    ],
)
def test_the_help_begins_with_the_purpose_and_the_example(
    feedctl: Feedctl, arguments: tuple[str, ...], purpose: str, example: str
) -> None:
    shown = feedctl(*arguments, "--help").out
    places = [shown.index(each) for each in ("Usage: ", purpose, "Example:", example, "--help")]
    assert places == sorted(places)
