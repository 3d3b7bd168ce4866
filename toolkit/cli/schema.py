"""`feedctl schema`: the schemas of the config repo's files, for editors."""

from __future__ import annotations

import json
import sys
from typing import Annotated

import typer


def print_schema(
    kind: Annotated[
        str,
        typer.Argument(
            metavar="KIND",
            help="What the schema is of: cluster, feed, process, datasource, repo, defaults, environment or holds.",
        ),
    ],
    merged: Annotated[
        bool, typer.Option("--merged", help="The form after defaults and environment are merged in.")
    ] = False,
) -> None:
    """Print the JSON Schema of a kind of file."""
    from toolkit.cli.filters import BadOption
    from toolkit.entities.nearest import suggestion
    from toolkit.entities.schema_store import Form, SchemaName, schema

    if kind not in list(SchemaName):
        expected = f"one of {', '.join(SchemaName)}; {suggestion(kind, list(SchemaName))}".rstrip("; ")
        raise BadOption(option="KIND", found=kind, expected=expected)
    json.dump(dict(schema(SchemaName(kind), Form.MERGED if merged else Form.AUTHORED)), sys.stdout, indent=2)
    sys.stdout.write("\n")
