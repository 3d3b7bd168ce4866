"""`feedctl entity new`: the file of a new entity."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from toolkit.cli.completion import new_kinds
from toolkit.cli.flags import ConfigRepo, RepoFlags

if TYPE_CHECKING:
    from toolkit.entities.vocabulary import Kind


def new_entity(
    kind: Annotated[
        str, typer.Argument(metavar="KIND", autocompletion=new_kinds, help="What to make: cluster, feed or process.")
    ],
    name: Annotated[str, typer.Argument(metavar="NAME", help="The name of the new entity, and of its file.")],
    config_repo: ConfigRepo = None,
) -> None:
    """Write the file of a new entity, with comments and what is usual in this config repo; lint accepts it."""
    from toolkit.bootstrap.config import open_config
    from toolkit.cli.option_values import BadOption
    from toolkit.clock import SystemClock
    from toolkit.config_source import SnapshotKind
    from toolkit.config_source.creation import add_files
    from toolkit.entities import load
    from toolkit.entities.drafts import draft

    chosen = _new_kind(kind)
    refuse_bad_name(name)
    snapshot = open_config(RepoFlags(config_repo=config_repo).request())
    if snapshot.id.kind is SnapshotKind.ARCHIVE:
        raise BadOption(option="--config-repo", found=snapshot.root, expected="a directory, which can be written to")
    texts = draft(load(snapshot), snapshot.files, chosen, name, SystemClock().now())
    add_files(Path(snapshot.root), texts)
    for file in texts:
        print(f"wrote {Path(snapshot.root) / file}")
    print("next: edit what is not right for you, then feedctl lint")


def _new_kind(text: str) -> Kind:
    from toolkit.cli.option_values import BadOption
    from toolkit.entities.drafts import KINDS
    from toolkit.entities.nearest import did_you_mean

    found = next((each for each in KINDS if each == text), None)
    if found is None:
        expected = f"one of {', '.join(KINDS)}; {did_you_mean(text, KINDS)}".rstrip("; ")
        raise BadOption(option="KIND", found=text, expected=expected)
    return found


def refuse_bad_name(name: str) -> None:
    """Refuse a name that no entity can have.

    Raises:
        BadOption: it is such a name.
    """
    from toolkit.cli.option_values import BadOption
    from toolkit.el import ElError
    from toolkit.entities.formats import FORMATS

    try:
        FORMATS["name"](name)
    except ElError as error:
        raise BadOption(option="NAME", found=name, expected=error.expected) from error
