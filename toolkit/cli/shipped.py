"""Files that feedctl ships: entrypoints, a config repo's template (`feedctl init`), schemas (`feedctl schema`)."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path
from typing import Annotated

import typer

import toolkit
from toolkit.cli.completion import entrypoint_names, schema_names
from toolkit.errors import InvalidInput

_PACKAGE = Path(toolkit.__file__).parent


class NotShipped(InvalidInput):
    """A file that feedctl should hand out is not there.

    Args:
        name: the file, relative to what feedctl ships.
        known: what is there instead.
    """

    def __init__(self, *, name: str, known: list[str]) -> None:
        self.name, self.known = name, known
        there = f"known: {', '.join(known)}" if known else "this installation ships none; install the wheel"
        super().__init__(f"there is no {name}; {there}")


def shipped(name: str) -> Path:
    """A file or folder that feedctl ships: inside the wheel, or beside the package in a checkout.

    Raises:
        NotShipped: there is none of that name.
    """
    for root in (_PACKAGE / "_shipped", _PACKAGE.parent):
        if (root / name).exists():
            return root / name
    raise NotShipped(name=name, known=[])


def entrypoints() -> dict[str, Path]:
    """The spark-submit scripts of all actions, by their names.

    Raises:
        NotShipped: this installation has none.
    """
    return {path.stem: path for path in sorted(shipped("entrypoints").glob("*.py"))}


def entrypoint(name: str) -> Path:
    """The spark-submit script of an action.

    Raises:
        NotShipped: no action has that name.
    """
    scripts = entrypoints()
    if name not in scripts:
        raise NotShipped(name=f"entrypoint {name!r}", known=list(scripts))
    return scripts[name]


def create(
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="The folder to make; it must be new or empty.")],
    data_root: Annotated[
        Path | None,
        typer.Option("--data-root", metavar="DIR", help="Where the local data is, or will be. Default: DIR-data."),
    ] = None,
    minimal: Annotated[
        bool, typer.Option("--minimal", help="One cluster and one feed to begin with, instead of a whole example.")
    ] = False,
) -> None:
    """Make a config repo from a template, as a git repository."""
    from toolkit.cli.shipped import shipped
    from toolkit.config_source.creation import create_repo

    target = directory.resolve()  # `..` in an end point would make every command refuse the repo
    root = (data_root or target.with_name(f"{target.name}-data")).resolve()
    create_repo(shipped("config_repo_minimal" if minimal else "config_repo_template"), target, root)
    subject = "it" if minimal else "its environment dev"
    print(f"{target} is a config repo; {subject} works on local files below {root}")
    print(f"next: cd {shlex.quote(str(directory))} && feedctl entity list")


def print_schema(
    kind: Annotated[
        str,
        typer.Argument(
            metavar="KIND",
            autocompletion=schema_names,
            help="A kind of file (cluster, feed, process, datasource, repo, defaults, environment or holds), or what "
            "feedctl prints and writes for programs (retention, lint, migration, status, instance, run or audit).",
        ),
    ],
    merged: Annotated[
        bool, typer.Option("--merged", help="Print the form of a file after defaults and environment are merged in.")
    ] = False,
) -> None:
    """Print the JSON Schema of a kind of file, or of what feedctl prints and writes for programs."""
    from toolkit.cli.option_values import BadOption
    from toolkit.entities.nearest import suggestion
    from toolkit.entities.schema_store import Form, SchemaName, schema
    from toolkit.rendering.document_schemas import DocumentName, document_schema

    known = [*SchemaName, *DocumentName]
    if kind not in known:
        expected = f"one of {', '.join(known)}; {suggestion(kind, known)}".rstrip("; ")
        raise BadOption(option="KIND", found=kind, expected=expected)
    if kind in list(SchemaName):
        found = schema(SchemaName(kind), Form.MERGED if merged else Form.AUTHORED)
    elif merged:
        raise BadOption(option="--merged", found=kind, expected=f"a file: one of {', '.join(SchemaName)}")
    else:
        found = document_schema(DocumentName(kind))
    json.dump(dict(found), sys.stdout, indent=2)
    sys.stdout.write("\n")


def print_entrypoint(
    name: Annotated[
        str, typer.Argument(metavar="NAME", autocompletion=entrypoint_names, help="The action, for example retention.")
    ],
) -> None:
    """Print the path of an action's script: spark-submit "$(feedctl entrypoint retention)" ..."""
    print(entrypoint(name))
