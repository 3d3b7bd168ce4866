"""`feedctl lint`: what is wrong in the config repo."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

import typer

from toolkit.cli.completion import environment_names, rule_names
from toolkit.cli.flags import flat


class LintFormat(StrEnum):
    """The values of `--output`."""

    TEXT = "text"
    """Each finding with its line of source, for people."""
    JSON = "json"
    """One document, with a schema version."""
    SARIF = "sarif"
    """SARIF 2.1.0, for code scanning and editors."""
    GITHUB = "github"
    """GitHub's workflow commands, which show findings beside the lines of a pull request."""


@dataclass(frozen=True, kw_only=True, slots=True)
class LintFlags:
    """Options of a check of the config repo."""

    paths: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="PATHS",
            help="Show only findings about these files and folders; the whole repo is checked, and counted.",
        ),
    ] = None
    config_repo: Annotated[
        str | None,
        typer.Option(
            "--config-repo",
            metavar="DIR|ARCHIVE",
            help="The config repo. Default: FEEDCTL_REPO, else the nearest parent folder with a repo.yaml.",
        ),
    ] = None
    env: Annotated[
        str | None,
        typer.Option(
            "--env",
            metavar="NAME",
            autocompletion=environment_names,
            help="The environment to check. Default: the one of repo.yaml.",
        ),
    ] = None
    all_envs: Annotated[bool, typer.Option("--all-envs", help="Check every environment.")] = False
    form: Annotated[LintFormat, typer.Option("--output", help="The format of the findings.")] = LintFormat.TEXT
    select: Annotated[
        list[str] | None,
        typer.Option(
            "--select", metavar="RULE", autocompletion=rule_names, help="Only this rule, or glob of rules; repeatable."
        ),
    ] = None
    ignore: Annotated[
        list[str] | None,
        typer.Option(
            "--ignore", metavar="RULE", autocompletion=rule_names, help="Not this rule, or glob of rules; repeatable."
        ),
    ] = None
    baseline: Annotated[
        str | None, typer.Option("--baseline", metavar="FILE", help="Findings in this file do not count.")
    ] = None
    write_baseline: Annotated[
        bool, typer.Option("--write-baseline", help="Write the present findings to the file of --baseline.")
    ] = False
    against: Annotated[
        str | None,
        typer.Option("--against", metavar="REF", help="Also show what the changes since this commit will do."),
    ] = None
    time: Annotated[
        str | None,
        typer.Option("--time", metavar="INSTANT", help="Check for this instant. Default: when HEAD was committed."),
    ] = None
    changed_first: Annotated[
        bool,
        typer.Option("--changed-first", help="Show the findings about PATHS first, then those of all other files."),
    ] = False


@flat
def lint(flags: LintFlags) -> int:
    """Check the config repo: exit code 1 when there is an error or a warning that nothing accepts."""
    from toolkit.cli.lint_run import Prefixes, exit_code, for_terminal, keeps, lint_config_repo, render
    from toolkit.cli.streams import print_result
    from toolkit.clock import SystemClock

    report = lint_config_repo(flags, SystemClock())
    print_result(render(report, flags.form, Prefixes.of(flags.config_repo), colours=for_terminal()), keeps(flags.form))
    return exit_code(report)
