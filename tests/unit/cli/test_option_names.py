"""Tests of one vocabulary of options: one name for one thing, old names still work, foreign ones are answered."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
import typer
from typer.core import TyperGroup

from tests.unit.cli.running import Feedctl
from toolkit.cli.main import whole_program
from toolkit.cli.option_names import OLD_NAMES

_TIMES = {"--time", "--start", "--end", "--since"}
"""Options whose value is an instant; `--since` is when an event was recorded."""


@cache
def _commands() -> dict[str, dict[str, str]]:
    """Return the options of each command, by its words, with what stands for their values."""

    def walk(context: typer.Context, words: tuple[str, ...]) -> Iterator[tuple[str, dict[str, str]]]:
        command = context.command
        if isinstance(command, TyperGroup):
            for name, each in command.commands.items():
                yield from walk(typer.Context(each, info_name=name, parent=context), (*words, name))
        else:
            parameters = command.get_params(context)
            yield " ".join(words), {option: str(each.metavar) for each in parameters for option in each.opts}

    return dict(walk(typer.Context(typer.main.get_command(whole_program()), info_name="feedctl"), ()))


def test_instants_and_formats_have_one_name_in_every_command() -> None:
    found = {
        name: {option for option, value in options.items() if value == "INSTANT"} - _TIMES
        for name, options in _commands().items()
    }
    odd = {name: options for name, options in found.items() if options}
    assert odd == {name: {"--instance"} for name in ("restore", "retention explain")}, "as retention has it"
    assert [name for name, options in _commands().items() if {"--format", "--key"} & options.keys()] == []


def test_every_old_name_belongs_to_commands_that_have_the_new_one_and_not_the_old() -> None:
    for place, names in OLD_NAMES.items():
        there = [options for name, options in _commands().items() if name == place or name.startswith(f"{place} ")]
        for old, new in names.items():
            assert any(new in options for options in there), place
            assert not any(old in options for options in there), place


def test_old_names_do_what_the_new_ones_do(feedctl: Feedctl, repo: Path) -> None:
    common = ("lint", "--time", "2026-03-20T12:00Z")
    new = feedctl(*common, "--output", "json", "--config-repo", str(repo))
    assert feedctl(*common, "--format=json", "--repo", str(repo)) == new
    assert new.code == 0


@pytest.mark.usefixtures("repo")
def test_the_old_name_of_an_instance_is_understood(feedctl: Feedctl) -> None:
    for option in ("--time", "--key"):
        ran = feedctl("quality", "show", "clicks", option, "yesterday")
        assert (ran.code, ran.out) == (2, "")
        assert ran.err.startswith('feedctl: "yesterday": at character 1')


@pytest.mark.parametrize(
    ("arguments", "meant"),
    [
        ("quality show clicks --date 2026-03-20", "--time"),
        ("quality show clicks --instance 2026-03-20", "--time"),
        ("retention plan --when 2026-03-20", "--time"),
        ("instance list clicks --from 2026-03-20", "--start"),
        ("instance list clicks --until 2026-03-20", "--end"),
        ("status --profile prod", "--env"),
        ("status --project x", "--config-repo"),
        ("status --format json", "--output"),
        ("status --fromat json", "--output"),
        ("retention plan --clustre x", "--all-clusters or --cluster"),
        ("hold add clicks --message why", "--reason"),
        ("dataset gc --preview", "--dry-run"),
    ],
)
def test_an_unknown_option_is_answered_with_the_one_that_means_it(feedctl: Feedctl, arguments: str, meant: str) -> None:
    ran = feedctl(*arguments.split())
    assert (ran.code, ran.out) == (2, "")
    assert f"; did you mean {meant}?; see feedctl {arguments.split(maxsplit=1)[0]} " in ran.err


def test_an_option_that_nothing_is_like_is_named(feedctl: Feedctl) -> None:
    assert feedctl("status", "--zzz").err == "feedctl: No such option: --zzz; see feedctl status --help\n"
