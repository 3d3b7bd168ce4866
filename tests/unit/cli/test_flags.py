from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import typer
from typer.testing import CliRunner

from toolkit.cli.flags import Fields, flat


@dataclass(frozen=True, kw_only=True, slots=True)
class _Where:
    path: Annotated[str, typer.Argument(metavar="PATH")]
    depth: Annotated[int, typer.Option("--depth")] = 3
    hidden: Annotated[bool, typer.Option("--hidden")] = False


@dataclass(frozen=True, kw_only=True, slots=True)
class _Deep(_Where):
    depth: Annotated[int, typer.Option("--depth", help="So deep.")]


app = typer.Typer()


@app.command("all")
@flat
def _all(*, start: Annotated[str, typer.Option("--start")] = "now", where: _Where) -> None:
    """Look everywhere."""
    typer.echo(f"{start} {where}")


@app.command("some")
@flat
def _some(where: Annotated[_Deep, Fields(but=("hidden",))]) -> None:
    typer.echo(f"{where}")


def _output(*arguments: str) -> str:
    return CliRunner().invoke(app, list(arguments)).output


def test_a_dataclass_among_the_parameters_stands_for_an_option_of_each_field() -> None:
    assert _output("all", "here", "--depth", "1") == "now _Where(path='here', depth=1, hidden=False)\n"
    assert _output("all", "here", "--start", "x", "--hidden") == "x _Where(path='here', depth=3, hidden=True)\n"


def test_a_field_that_a_command_does_not_have_keeps_its_default() -> None:
    assert _output("some", "here", "--depth", "1") == "_Deep(path='here', depth=1, hidden=False)\n"
    assert "No such option: --hidden" in _output("some", "here", "--depth", "1", "--hidden")


def test_a_field_that_lost_its_default_is_needed() -> None:
    assert "Missing option '--depth'" in _output("some", "here")


def test_the_help_has_the_options_in_the_order_of_the_fields_and_the_docstring_of_the_function() -> None:
    text = _output("all", "--help")
    assert "Look everywhere." in text
    assert text.index("--start") < text.index("--depth") < text.index("--hidden")
