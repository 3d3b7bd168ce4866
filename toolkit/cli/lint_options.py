"""The options of `feedctl lint`."""

from __future__ import annotations

from typing import Annotated

import typer

from toolkit.cli.lint_format import LintFormat

Paths = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="PATHS", help="Show only findings of these files and folders; the whole repo is checked all the same."
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
    str | None, typer.Option("--env", metavar="NAME", help="The environment to check. Default: the one of repo.yaml.")
]
AllEnvs = Annotated[bool, typer.Option("--all-envs", help="Check every environment.")]
Format = Annotated[LintFormat, typer.Option("--format", help="How to print the findings.")]
Select = Annotated[
    list[str] | None, typer.Option("--select", metavar="RULE", help="Only this rule, or glob of rules; repeatable.")
]
Ignore = Annotated[
    list[str] | None, typer.Option("--ignore", metavar="RULE", help="Not this rule, or glob of rules; repeatable.")
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
    bool, typer.Option("--changed-first", help="Show the findings of PATHS first, then those of all other files.")
]
