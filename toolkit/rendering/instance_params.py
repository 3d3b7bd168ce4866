"""Properties of instances' workflows: as rows of a table and as a JSON document, without secrets."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from toolkit.el import format_instant
from toolkit.linter.secret_values import value_without_secrets
from toolkit.rendering.tables import cell

if TYPE_CHECKING:
    from toolkit.process_runner.resolution import ResolvedInstance

PARAMS_COLUMNS = ("cluster", "property", "value")


def params_rows(found: Iterable[ResolvedInstance]) -> Iterator[Sequence[str]]:
    """A row for each property."""
    for each in found:
        yield from ((cell(each.cluster), cell(name), cell(value)) for name, value in shown_properties(each).items())


def params_document(name: str, found: Iterable[ResolvedInstance]) -> dict[str, object]:
    """The properties on each cluster as JSON."""
    instances = [
        {"cluster": each.cluster, "instance": format_instant(each.nominal_time), "properties": shown_properties(each)}
        for each in found
    ]
    return {"name": name, "instances": instances}


def shown_properties(each: ResolvedInstance) -> Mapping[str, str]:
    """Return the workflow's properties, with asterisks for secrets by name or shape."""
    return {name: value_without_secrets(name, value) for name, value in each.properties.items()}
