"""`feedctl mirror`: types of mirrors, and the instances of a mirror."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from toolkit.cli import instance_options as options
from toolkit.cli.completion import mirror_types
from toolkit.cli.flags import AnswerFlags, Fields, RepoFlags, flat
from toolkit.cli.options import print_rows

if TYPE_CHECKING:
    from toolkit.entities.mirror_types import MirrorType
    from toolkit.entities.repository import Repository

app = typer.Typer(no_args_is_help=True)

_Type = Annotated[
    str, typer.Argument(metavar="TYPE", autocompletion=mirror_types, help="A type: `feedctl mirror list` prints them.")
]
_OF_OTHERS = ("force", "step", "follow", "planned", "reason")


@app.callback()
def mirror() -> None:
    """List and describe types of mirrors, write a new mirror, and show the instances of one."""


@app.command("list")
@flat
def list_types(*, repo: AnswerFlags) -> None:
    """List the types of mirrors, those of templates/ too, with what a mirror makes and the mirrors that there are."""
    from toolkit.entities.mirror import Mirror
    from toolkit.rendering.mirrors import TYPE_COLUMNS, type_row

    repository = repo.entities()
    mirrors = [each.entity for _, each in sorted(repository.mirrors.items()) if isinstance(each.entity, Mirror)]
    rows = [
        type_row(each, [mirror.name for mirror in mirrors if mirror.type == name])
        for name, each in repository.mirror_types.items()
    ]
    document = {"types": [dict(zip(TYPE_COLUMNS, row, strict=True)) for row in rows]}
    print_rows(repo.output, lambda: document, TYPE_COLUMNS, rows, nothing="no types")


@app.command("describe")
@flat
def describe(*, type_name: _Type, repo: AnswerFlags) -> None:
    """Print the values that a mirror of a type gives; what every mirror has, `feedctl schema mirror` prints."""
    from toolkit.rendering.mirrors import VALUE_COLUMNS, value_rows

    found = _type(repo.entities(), type_name)
    rows = list(value_rows(found.values))
    values = [dict(zip(VALUE_COLUMNS, row, strict=True)) for row in rows]
    document = {"type": found.name, "description": found.description, "values": values}
    print_rows(repo.output, lambda: document, VALUE_COLUMNS, rows, nothing="the type has no values")


@app.command("define")
@flat
def define(
    *,
    type_name: _Type,
    name: Annotated[str, typer.Option("--name", metavar="NAME", help="The name of the mirror.")] = "new_mirror",
    repo: RepoFlags,
) -> None:
    """Print the text of a new mirror of a type, to fill in: feedctl mirror define hdfs --name x > mirrors/x.yaml."""
    from toolkit.cli.entity_new import refuse_bad_name
    from toolkit.cli.streams import print_result
    from toolkit.clock import SystemClock
    from toolkit.rendering.mirrors import new_mirror

    refuse_bad_name(name)
    repository = repo.entities()
    start = f"{SystemClock().now().year}-01-01T00:00Z"
    print_result(new_mirror(_type(repository, type_name), name, sorted(repository.clusters), start))


@app.command("instances")
@flat
def instances(
    *,
    which: Annotated[options.InstanceFlags, Fields(but=_OF_OTHERS)],
    repo: AnswerFlags,
) -> None:
    """Show the status of the instances of the process that a mirror stands for; one without a run is waiting."""
    from toolkit.cli.instance_answers import answer, print_instances
    from toolkit.cli.option_values import BadOption
    from toolkit.entities.vocabulary import Kind
    from toolkit.management.questions import instance_status

    processes = [each.name for each in repo.entities().expanded(which.name) if each.kind is Kind.PROCESS]
    if len(processes) != 1:
        expected = f"`feedctl instance status` of what it stands for: {', '.join(processes) or 'no process'}"
        raise BadOption(option="NAME", found=which.name, expected=expected)
    print_instances(answer(replace(which, name=processes[0]), repo, instance_status), repo.output)


def _type(repository: Repository, name: str) -> MirrorType:
    from toolkit.entities.errors import UnknownName

    if name not in repository.mirror_types:
        raise UnknownName(what="type of mirrors", name=name, known=repository.mirror_types)
    return repository.mirror_types[name]
