"""`feedctl entity`: what is in the config repo."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from toolkit.cli.completion import entity_names, group_names, tag_texts
from toolkit.cli.entity_diff import diff_entities
from toolkit.cli.entity_new import new_entity
from toolkit.cli.flags import AnswerFlags, RepoFlags, flat
from toolkit.cli.options import ClusterName, OutputAs, OutputFormat, print_json, print_rows
from toolkit.cli.streams import say

if TYPE_CHECKING:
    from toolkit.entities.repository import Repository
    from toolkit.entities.structure import Entity
    from toolkit.management.entities import EntityCommand, EntityReport

app = typer.Typer(no_args_is_help=True)
app.command("diff")(diff_entities)
app.command("new")(new_entity)

EntityName = Annotated[str, typer.Argument(metavar="NAME", autocompletion=entity_names, help="The name of the entity.")]
_Name = Annotated[str, typer.Argument(metavar="NAME", autocompletion=entity_names, help="A feed or a process.")]
_Reason = Annotated[str | None, typer.Option("--reason", metavar="TEXT", help="Why; it is shown and recorded.")]


@app.callback()
def entity() -> None:
    """List, show, compare, look up and add entities; suspend and resume feeds and processes."""


@app.command("status")
@flat
def status(*, name: _Name, cluster: ClusterName = None, repo: AnswerFlags) -> None:
    """Show whether a feed or process is submitted, running, suspended or completed, on each cluster."""
    from toolkit.management.entities import entity_report
    from toolkit.management.locations import chosen_clusters, runnable

    with repo.opened(writing=False) as (ledger, repository):
        entity = runnable(repository, name)
        clusters = chosen_clusters(repository, entity, () if cluster is None else (cluster,))
        _print_report(entity_report(ledger, entity, clusters), repo.output)


@app.command("suspend")
@flat
def suspend(*, name: _Name, cluster: ClusterName = None, reason: _Reason = None, repo: AnswerFlags) -> None:
    """Suspend a feed or process on one cluster or on all: no run starts, running ones go on."""
    from toolkit.management.entities import suspend_entity

    with repo.opened(writing=True) as (ledger, repository):
        report = suspend_entity(ledger, _command(repository, name, cluster, reason))
    _print_report(report, repo.output, done="suspended", already="is suspended already")


@app.command("resume")
@flat
def resume(*, name: _Name, cluster: ClusterName = None, reason: _Reason = None, repo: AnswerFlags) -> None:
    """Resume a suspended feed or process: its runs start again."""
    from toolkit.management.entities import resume_entity

    with repo.opened(writing=True) as (ledger, repository):
        report = resume_entity(ledger, _command(repository, name, cluster, reason))
    where = "there" if cluster else "anywhere"
    _print_report(report, repo.output, done="resumed", already=f"is not suspended {where} by itself")


@app.command("touch")
@flat
def touch(*, name: _Name, repo: AnswerFlags) -> None:
    """Record that a feed or process was scheduled again: `feedctl status --stale` counts from now on."""
    from toolkit.management.entities import touch_entity

    with repo.opened(writing=True) as (ledger, repository):
        report = touch_entity(ledger, _command(repository, name, None, None))
    _print_report(report, repo.output, done="touched", already="is so already")


@app.command("list")
@flat
def list_entities(
    *,
    kind: Annotated[
        str | None, typer.Option(metavar="KIND", help="Only this kind: cluster, feed, process, datasource or mirror.")
    ] = None,
    tag: Annotated[
        list[str] | None,
        typer.Option(metavar="KEY=VALUE", autocompletion=tag_texts, help="Only with this tag; repeatable."),
    ] = None,
    group: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", autocompletion=group_names, help="Only feeds of this group; repeatable."),
    ] = None,
    owner: Annotated[str | None, typer.Option(metavar="NAME", help="Only of this owner.")] = None,
    pipeline: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Only processes of this pipeline; repeatable.")
    ] = None,
    letters: Annotated[
        str, typer.Option("--name", metavar="LETTERS", help="Only names that have these letters in this order.")
    ] = "",
    repo: AnswerFlags,
) -> None:
    """List the entities, those of a kind, tag, group, owner or pipeline."""
    from toolkit.cli.option_values import kind_of, tags_of
    from toolkit.entities.repository import Selection

    selection = Selection(
        kind=kind_of(kind),
        tags=tags_of(tag or []),
        groups=tuple(group or ()),
        owner=owner,
        pipelines=tuple(pipeline or ()),
        letters=letters,
    )
    repository = repo.entities()
    rows = [_row(each, repository.file_of(each.name)) for each in repository.select(selection)]
    columns = ("kind", "name", "owner", "groups", "tags", "file")
    cells = ([_cell(row[each]) for each in columns] for row in rows)
    print_rows(repo.output, lambda: {"entities": rows}, columns, cells, nothing="no such entities")


@app.command("show")
@flat
def show_entity(
    *,
    name: EntityName,
    repo: RepoFlags,
    origins: Annotated[bool, typer.Option("--origins", help="Print the file and line of every value.")] = False,
    expanded: Annotated[
        bool, typer.Option("--expanded", help="Of a mirror, print the entities that it stands for.")
    ] = False,
    output: OutputAs = OutputFormat.TEXT,
) -> None:
    """Print an entity with defaults and environment merged in."""
    from toolkit.entities.layers import origins as origins_in
    from toolkit.rendering.documents import leaf_rows, yaml_text
    from toolkit.rendering.tables import write_table

    repository = repo.entities()
    shown: list[dict[str, object]] = []
    for entry in repository.shown(name, expanded=expanded):
        found = origins_in(entry.layers, entry.document) if origins else {}
        rows = list(leaf_rows(entry.document, {pointer: str(origin) for pointer, origin in found.items()}))
        places = {"origins": {path: place for path, _, place in rows}} if origins else {}
        shown.append({"entity": entry.document, **places})
        if output is OutputFormat.JSON:
            continue
        if expanded and not origins:
            print("---")
        if origins:
            write_table(("key", "value", "from"), rows, sys.stdout)
        else:
            sys.stdout.write(yaml_text(entry.document))
    if output is OutputFormat.JSON:
        print_json({"entities": shown} if expanded else shown[0])


@app.command("dependencies")
@flat
def show_dependencies(
    *,
    name: EntityName,
    repo: RepoFlags,
    transitive: Annotated[bool, typer.Option("--transitive", help="Also what those depend on, and so on.")] = False,
    output: OutputAs = OutputFormat.TEXT,
) -> None:
    """Print what an entity depends on, and what depends on it."""
    repository = repo.entities()
    graph = repository.graph
    sides = {
        "depends on": graph.depends_on(name, transitive=transitive),
        "is depended on by": graph.depended_on_by(name, transitive=transitive),
    }
    keyed = {side.replace(" ", "_"): list(names) for side, names in sides.items()}
    rows = ((name, side, repository.entity(each).KIND, each) for side, names in sides.items() for each in names)
    document = {"entity": name, "transitive": transitive, **keyed}
    print_rows(output, lambda: document, ("entity", "relation", "kind", "name"), rows, nothing="no dependencies")


@app.command("lookup")
@flat
def look_up(
    *,
    path: Annotated[
        str,
        typer.Option(
            "--path", metavar="PATH|URI|PARTITION", help="A path on a cluster, a URI, or DATABASE.TABLE/KEY=VALUE/..."
        ),
    ],
    repo: RepoFlags,
    cluster: ClusterName = None,
    output: OutputAs = OutputFormat.TEXT,
) -> None:
    """Print which feeds a path, or a partition of a table, belongs to.

    Where no location fits a path, the metastores are asked whose partition it is.
    """
    from toolkit.bootstrap.lookup import look_up as looked_up
    from toolkit.rendering.documents import owner_rows
    from toolkit.rendering.tables import write_table

    found = looked_up(repo.entities(), path, cluster)
    rows = owner_rows(found.owners)
    if output is OutputFormat.JSON:
        print_json({"path": path, "owners": rows})
    elif rows:
        columns = ("feed", "cluster", "location", "first", "end", "template")
        write_table(columns, ([row[column] or "-" for column in columns] for row in rows), sys.stdout)
    elif not found.problems:
        print(f"{path} belongs to no feed")
    for problem in found.problems[1:]:
        say(f"feedctl: {problem}")
    if found.problems:
        raise found.problems[0]


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


def _command(repository: Repository, name: str, cluster: str | None, reason: str | None) -> EntityCommand:
    from toolkit.management.entities import EntityCommand
    from toolkit.management.locations import chosen_clusters, runnable
    from toolkit.runs.recorder import current_user

    entity = runnable(repository, name)
    chosen_clusters(repository, entity, () if cluster is None else (cluster,))
    return EntityCommand(entity=entity, cluster=cluster, who=current_user(), reason=reason)


def _print_report(report: EntityReport, output: OutputFormat, *, done: str = "", already: str = "") -> None:
    from toolkit.rendering.overview import STATE_COLUMNS, state_document, state_rows
    from toolkit.rendering.tables import STATUS_STYLES

    if report.is_changed is not None and output is OutputFormat.TEXT:
        print(f"{report.name} {done}" if report.is_changed else f"{report.name} {already}; nothing was changed")
    print_rows(
        output, lambda: state_document(report), STATE_COLUMNS, state_rows(report), STATUS_STYLES, nothing="no clusters"
    )
