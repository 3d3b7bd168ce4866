"""The options that several commands share, and their JSON output."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated

import typer


class Output(StrEnum):
    """How a command prints its result."""

    TEXT = "text"
    """For people."""
    JSON = "json"
    """One document, with a schema version."""


ConfigRepo = Annotated[
    str | None,
    typer.Option(
        "--config-repo",
        metavar="DIR|ARCHIVE",
        help="The config repo. Default: FEEDCTL_REPO, else the nearest parent folder with a repo.yaml.",
    ),
]
Env = Annotated[str | None, typer.Option("--env", metavar="NAME", help="The environment to lay over the entities.")]
ClusterName = Annotated[str | None, typer.Option("--cluster", metavar="NAME", help="Only this cluster.")]
OutputAs = Annotated[Output, typer.Option("--output", help="How to print the result.")]


def print_json(document: Mapping[str, object]) -> None:
    """Print one JSON document, with the version of its schema first."""
    from toolkit.result import SCHEMA_VERSION

    # Not json.dump: it writes each word by itself, which takes longer than all else for a long list.
    text = json.dumps({"schema_version": SCHEMA_VERSION, **document}, indent=2, ensure_ascii=False)
    sys.stdout.write(f"{text}\n")
