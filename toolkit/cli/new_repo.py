"""`feedctl init`: a config repo to begin with."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer


def create(
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="The folder to make; it must be new or empty.")],
    data_root: Annotated[
        Path | None,
        typer.Option("--data-root", metavar="DIR", help="Local data of the dev environment. Default: DIR-data."),
    ] = None,
) -> None:
    """Make a config repo from the template, as a git repository."""
    from toolkit.cli.shipped import shipped
    from toolkit.config_source.creation import create_repo

    target = directory.resolve()  # `..` in an end point would make every command refuse the repo
    root = (data_root or target.with_name(f"{target.name}-data")).resolve()
    create_repo(shipped("config_repo_template"), target, root)
    print(f"{target} is a config repo; its environment dev works on local files below {root}")
    print(f"next: cd {shlex.quote(str(directory))} && feedctl entity list")
