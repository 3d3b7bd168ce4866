"""docs/reference/entities.md: every file of a config repo, property by property."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Sequence
from enum import StrEnum

from reference_pages.formats import formats_table
from reference_pages.markdown import code, codes, meanings, page, prose, table
from reference_pages.not_yet import NotYet, refused
from reference_pages.properties import Property, properties
from reference_pages.values import default_of, values_of
from toolkit.entities import vocabulary
from toolkit.entities.schema_store import SchemaName, inlined, schema

_INTRODUCTION = """
Each table lists the properties of one kind of file. `clusters[].name` is a property of each item of the list `clusters`;
`inputs.*.feed` one of each value of the mapping `inputs`, whose keys are free.

**Required** is what must be there in the merged form, when what holds it is there: after `defaults.yaml` files and the
environment's overlay are merged in. In the file of an entity only `kind` and `name` are required. A key that is not in
the table is an error. `feedctl schema KIND` prints the JSON Schema of the authored form, for editors; `--merged` that of
the merged form.

**Not yet** marks what the schema knows and no action does: the action concerned refuses it, with exit code 2.
"""

_DEFAULTS = """
The mappings are parts of entities: any of the properties below, `kind` and `name` left out. Nothing in them is required.
"""


def entities_page() -> str:
    """The page."""
    kinds = [block for name in SchemaName for block in _section(name)]
    return page(
        "The files of a config repo",
        _INTRODUCTION,
        *kinds,
        "## Values",
        *_value_blocks(),
        "## Formats",
        formats_table(),
        "## Not implemented yet",
        _refused_table(),
    )


def _section(name: SchemaName) -> Iterator[str]:
    yield f"## {name}"
    yield f"{meanings(SchemaName)[name.name]} {prose(schema(name)['description'])}"
    if name in {SchemaName.DEFAULTS, SchemaName.ENVIRONMENT}:
        yield _DEFAULTS
    not_yet = refused(name)
    rows = (_row(each, not_yet) for each in _properties(name))
    yield table(("property", "value", "required", "default", "what it is"), rows)


def _properties(name: SchemaName) -> Iterator[Property]:
    return properties(inlined(schema(name)))


def _row(each: Property, not_yet: Sequence[NotYet]) -> list[str]:
    marked = [one.value for one in not_yet if each.path.startswith(one.path)]
    described = prose(each.node["description"])
    whole = " **Not yet.**" if any(one.is_whole(each.path) for one in not_yet) else ""
    return [code(each.path), values_of(each.node, marked), each.required, default_of(each.node), described + whole]


def _value_blocks() -> Iterator[str]:
    yield "What the words mean that some properties can have."
    for members in _enumerations():
        places = [
            f"{name} {code(each.path)}"
            for name in SchemaName
            for each in _properties(name)
            if set(each.node.get("enum", ())) == set(members)
        ]
        if places:
            yield f"**{'; '.join(places)}**: {prose(inspect.getdoc(members) or '')}"
            words = meanings(members)
            yield table(("value", "meaning"), ([code(each.value), words[each.name]] for each in members))


def _enumerations() -> Iterator[type[StrEnum]]:
    """Those that the vocabulary defines, in its order."""
    for each in vars(vocabulary).values():
        if isinstance(each, type) and issubclass(each, StrEnum) and each is not StrEnum:
            yield each


def _refused_table() -> str:
    rows = (
        [name, code(each.path), "any" if each.is_whole(each.path) else codes([each.value]), prose(each.instead)]
        for name in SchemaName
        for each in refused(name)
    )
    return table(("file", "property", "value", "what to do now"), rows)
