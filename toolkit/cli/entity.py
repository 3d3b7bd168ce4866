"""`feedctl entity`: what is in the config repo."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from toolkit.cli import entity_state
from toolkit.cli.completion import entity_names
from toolkit.cli.entity_diff import diff_entities
from toolkit.cli.options import ClusterName, ConfigRepo, Env, Output, OutputAs, print_json

if TYPE_CHECKING:
    from toolkit.entities.structure import Entity

app = typer.Typer(no_args_is_help=True)
app.command("diff")(diff_entities)
app.command("status")(entity_state.status)
app.command("suspend")(entity_state.suspend)
app.command("resume")(entity_state.resume)
app.command("touch")(entity_state.touch)

EntityName = Annotated[str, typer.Argument(metavar="NAME", autocompletion=entity_names, help="The name of the entity.")]


@app.callback()
def entity() -> None:
    """List, show, compare and look up entities; suspend and resume feeds and processes."""


@app.command("list")
def list_entities(
    kind: Annotated[
        str | None, typer.Option(metavar="KIND", help="Only this kind: cluster, feed, process or datasource.")
    ] = None,
    tag: Annotated[list[str] | None, typer.Option(metavar="KEY=VALUE", help="Only with this tag; repeatable.")] = None,
    group: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Only feeds of this group; repeatable.")
    ] = None,
    owner: Annotated[str | None, typer.Option(metavar="NAME", help="Only of this owner.")] = None,
    config_repo: ConfigRepo = None,
    env: Env = None,
    output: OutputAs = Output.TEXT,
) -> None:
    """List the entities, those of a kind, tag, group or owner."""
    from toolkit.bootstrap.config import load_repository
    from toolkit.cli.filters import kind_of, tags_of
    from toolkit.entities.repository import Selection
    from toolkit.rendering.tables import write_table

    selection = Selection(kind=kind_of(kind), tags=tags_of(tag or []), groups=tuple(group or ()), owner=owner)
    repository = load_repository(config_repo, env)
    rows = [_row(each, repository.file_of(each.name)) for each in repository.select(selection)]
    if output is Output.JSON:
        print_json({"entities": rows})
        return
    columns = ("kind", "name", "owner", "groups", "tags", "file")
    write_table(columns, ([_cell(row[column]) for column in columns] for row in rows), sys.stdout)


@app.command("show")
def show_entity(
    name: EntityName,
    config_repo: ConfigRepo = None,
    env: Env = None,
    origins: Annotated[bool, typer.Option("--origins", help="Print the file and line of every value.")] = False,
    output: OutputAs = Output.TEXT,
) -> None:
    """Print an entity with defaults and environment merged in."""
    from toolkit.bootstrap.config import load_repository
    from toolkit.rendering.documents import leaf_rows, yaml_text
    from toolkit.rendering.tables import write_table

    repository = load_repository(config_repo, env)
    document = repository.merged(name)
    found = repository.origins(name) if origins else {}
    rows = list(leaf_rows(document, {pointer: str(origin) for pointer, origin in found.items()}))
    if output is Output.JSON:
        places = {"origins": {path: place for path, _, place in rows}} if origins else {}
        print_json({"entity": document, **places})
    elif origins:
        write_table(("key", "value", "from"), rows, sys.stdout)
    else:
        sys.stdout.write(yaml_text(document))


@app.command("dependencies")
def show_dependencies(
    name: EntityName,
    config_repo: ConfigRepo = None,
    env: Env = None,
    transitive: Annotated[bool, typer.Option("--transitive", help="Also what those depend on, and so on.")] = False,
    output: OutputAs = Output.TEXT,
) -> None:
    """Print what an entity depends on, and what depends on it."""
    from toolkit.bootstrap.config import load_repository
    from toolkit.rendering.tables import write_table

    repository = load_repository(config_repo, env)
    graph = repository.graph
    sides = {
        "depends on": graph.depends_on(name, transitive=transitive),
        "is depended on by": graph.depended_on_by(name, transitive=transitive),
    }
    if output is Output.JSON:
        keyed = {side.replace(" ", "_"): list(names) for side, names in sides.items()}
        print_json({"entity": name, "transitive": transitive, **keyed})
        return
    rows = [(name, side, repository.entity(each).KIND, each) for side, names in sides.items() for each in names]
    write_table(("entity", "relation", "kind", "name"), rows, sys.stdout)


@app.command("lookup")
def look_up(
    path: Annotated[str, typer.Option("--path", metavar="PATH|URI", help="A path on a cluster, or a URI.")],
    config_repo: ConfigRepo = None,
    env: Env = None,
    cluster: ClusterName = None,
    output: OutputAs = Output.TEXT,
) -> None:
    """Print which feeds a path belongs to."""
    from toolkit.bootstrap.config import load_repository
    from toolkit.rendering.documents import owner_rows
    from toolkit.rendering.tables import write_table

    rows = owner_rows(load_repository(config_repo, env).lookup_path(path, cluster))
    if output is Output.JSON:
        print_json({"path": path, "owners": rows})
    elif rows:
        columns = ("feed", "cluster", "location", "first", "end", "template")
        write_table(columns, ([row[column] or "-" for column in columns] for row in rows), sys.stdout)
    else:
        print(f"{path} belongs to no feed")


def _row(each: Entity, file: str) -> dict[str, object]:
    groups = list(getattr(each, "groups", ()))
    return {
        "kind": each.KIND,
        "name": each.name,
        "owner": each.owner,
        "groups": groups,
        "tags": dict(each.tags),
        "file": file,
    }


def _cell(value: object) -> str:
    if isinstance(value, Mapping):
        return ",".join(f"{key}={each}" for key, each in value.items()) or "-"
    if isinstance(value, Sequence) and not isinstance(value, str):
        return ",".join(value) or "-"
    return str(value) if value is not None else "-"
