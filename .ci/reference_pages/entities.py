"""docs/reference/entities.md: every file of a config repo, property by property."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from reference_pages.enumerations import enumeration_blocks
from reference_pages.formats import formats_table
from reference_pages.markdown import code, codes, meanings, page, prose, table
from reference_pages.not_yet import NotYet, refused
from reference_pages.properties import Property, properties
from reference_pages.values import default_of, values_of
from toolkit.entities.not_implemented import ANOTHER_STORE, STORES_WITHOUT_ADAPTER
from toolkit.entities.schema_store import SchemaName, inlined, schema

_ENTRYPOINTS = Path(__file__).resolve().parents[2] / "entrypoints"
_INTRODUCTION = """
Each table lists the properties of one kind of file. `clusters[].name` is a property of each item of the list
`clusters`; `inputs.*.feed` is one of each value of the mapping `inputs`, whose keys are free. A key that is not in the
table is an error. The template of a config repo, `config_repo_template/`, has examples.

**Required** says what must be there in the merged form, once `defaults.yaml` files and the environment's overlay are
merged in; `clusters[].validity.start` must be there when `clusters[].validity` is. In the file of an entity only `kind`
and `name` are required. `feedctl schema KIND` prints the JSON Schema for editors; `--merged` that of the merged form.

**Not yet** marks what the schema knows and no action does: the action concerned refuses it, with exit code 2.
"""
_ACTIONS = "The actions that exist today are: {}. What only other actions would read is checked, and has no effect."
_REFUSED = """
Lint has an error for each ([not-implemented](rules.md#not-implemented)), and no message suggests them. The action
concerned refuses them with exit code 2; a feed that nobody named (`--all`, `--group`, `--tag`) is skipped with the
reason, which alone is no failure, and `feedctl status` leaves it out.
"""
_WAITING = """
These are checked, shown, and read by no action that exists, so that nothing happens for them: datasources and `acl`.
"""
_OVERLAYS: Mapping[SchemaName, str] = {
    SchemaName.DEFAULTS: """
Each value is a part of such an entity: any of its properties but `kind` and `name`. Nothing in it is required.
""",
    SchemaName.ENVIRONMENT: """
`repo` has any properties of `repo.yaml`; a value of `entities` is a part of that entity: any of its properties but
`kind` and `name`. Nothing in them is required.
""",
}


def entities_page() -> str:
    """The page."""
    return page(
        "The files of a config repo",
        _INTRODUCTION,
        _ACTIONS.format(codes(script.stem for script in sorted(_ENTRYPOINTS.glob("*.py")))),
        *(block for name in SchemaName for block in _section(name)),
        "## Values",
        *enumeration_blocks(),
        "## Formats",
        formats_table(),
        "## Not implemented yet",
        _REFUSED,
        _refused_table(),
        _WAITING,
    )


def _section(name: SchemaName) -> Iterator[str]:
    yield f"## {name}"
    yield f"{meanings(SchemaName)[name.name]} {prose(schema(name)['description'])}"
    if name in _OVERLAYS:
        yield _OVERLAYS[name]
    not_yet = refused(name)
    rows = (_row(each, not_yet) for each in properties(inlined(schema(name), nesting=1)))
    yield table(("property", "value", "required", "default", "what it is"), rows)


def _row(each: Property, not_yet: Sequence[NotYet]) -> list[str]:
    refused_values = [value for one in not_yet if each.path.startswith(one.path) for value in one.values]
    whole = any(one.path == each.path and not one.values and not one.only for one in not_yet)
    described = prose(each.node["description"]) + (" **Not yet.**" if whole else "")
    return [code(each.path), values_of(each.node, refused_values), each.required, default_of(each.node), described]


def _refused_table() -> str:
    rows = [
        [name, code(each.path), codes(each.values) or each.only or "any", prose(each.instead)]
        for name in SchemaName
        for each in refused(name)
    ]
    stores = [codes(sorted(STORES_WITHOUT_ADAPTER)), prose(ANOTHER_STORE)]
    rows += [["cluster", code("interfaces.write.endpoint"), *stores], ["feed", code("locations"), *stores]]
    return table(("file", "property", "value", "what to do now"), rows)
