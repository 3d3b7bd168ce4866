"""`feedctl lint`: what is wrong in the config repo."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from toolkit.cli.completion import environment_names, rule_names


class LintFormat(StrEnum):
    """The values of `--format`."""

    TEXT = "text"
    """Each finding with its line of source, for people."""
    JSON = "json"
    """One document, with a schema version."""
    SARIF = "sarif"
    """SARIF 2.1.0, for code scanning and editors."""
    GITHUB = "github"
    """GitHub's workflow commands, which show findings beside the lines of a pull request."""


Paths = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="PATHS",
        help="Show only findings about these files and folders; the whole repo is checked, and counted.",
    ),
]
Repo = Annotated[
    str | None,
    typer.Option(
        "--config-repo",
        "--repo",
        metavar="DIR|ARCHIVE",
        help="The config repo. Default: FEEDCTL_REPO, else the nearest parent folder with a repo.yaml.",
    ),
]
Env = Annotated[
    str | None,
    typer.Option(
        "--env",
        metavar="NAME",
        autocompletion=environment_names,
        help="The environment to check. Default: the one of repo.yaml.",
    ),
]
AllEnvs = Annotated[bool, typer.Option("--all-envs", help="Check every environment.")]
Format = Annotated[LintFormat, typer.Option("--format", help="How to print the findings.")]
Select = Annotated[
    list[str] | None,
    typer.Option(
        "--select", metavar="RULE", autocompletion=rule_names, help="Only this rule, or glob of rules; repeatable."
    ),
]
Ignore = Annotated[
    list[str] | None,
    typer.Option(
        "--ignore", metavar="RULE", autocompletion=rule_names, help="Not this rule, or glob of rules; repeatable."
    ),
]
BaselineName = Annotated[
    str | None, typer.Option("--baseline", metavar="FILE", help="Findings that this file knows do not count.")
]
WriteBaseline = Annotated[
    bool, typer.Option("--write-baseline", help="Write the present findings to the file of --baseline.")
]
Against = Annotated[
    str | None, typer.Option("--against", metavar="REF", help="Also say what the changes since this commit will do.")
]
Time = Annotated[
    str | None,
    typer.Option("--time", metavar="INSTANT", help="Check for this instant. Default: when HEAD was committed."),
]
ChangedFirst = Annotated[
    bool, typer.Option("--changed-first", help="Show the findings about PATHS first, then those of all other files.")
]


def lint(
    paths: Paths = None,
    config_repo: Repo = None,
    env: Env = None,
    all_envs: AllEnvs = False,
    form: Format = LintFormat.TEXT,
    select: Select = None,
    ignore: Ignore = None,
    baseline: BaselineName = None,
    write_baseline: WriteBaseline = False,
    against: Against = None,
    time: Time = None,
    changed_first: ChangedFirst = False,
) -> int:
    """Check the config repo: exit code 1 when there is an error or a warning that nothing accepts."""
    from toolkit.cli.linting import LintOptions, Prefixes, exit_code, for_terminal, keeps, lint_config_repo, render
    from toolkit.cli.streams import print_result
    from toolkit.clock import SystemClock

    options = LintOptions(
        paths=tuple(paths or ()),
        changed_first=changed_first,
        config_repo=config_repo,
        environment=env,
        all_environments=all_envs,
        select=tuple(select or ()),
        ignore=tuple(ignore or ()),
        baseline=baseline,
        write_baseline=write_baseline,
        against=against,
        time=time,
    )
    report = lint_config_repo(options, SystemClock())
    print_result(render(report, form, Prefixes.of(config_repo), colours=for_terminal()), keeps(form))
    return exit_code(report)
