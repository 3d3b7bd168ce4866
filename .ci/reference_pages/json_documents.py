"""docs/reference/json.md: what feedctl prints and writes for programs, key by key."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from reference_pages.markdown import code, page, prose, table
from reference_pages.properties import Property, properties
from reference_pages.values import values_of
from toolkit.entities.schema_store import Schema, inlined
from toolkit.rendering.document_schemas import DocumentName, document_schema

_INTRODUCTION = """
One may build on these documents. `feedctl schema NAME` prints the JSON Schema of each; the tests check what is printed
against it. `feeds[].limit` is a key of each item of the list `feeds`, `counts.*` a value of a mapping whose keys are
free. Text is UTF-8; what is not printable is an escape, and so is each byte of a name that is no Unicode (`\\udce9`).

**Stable.** A key keeps its name, its type and its meaning, and what is always there stays there, as long as
`schema_version` is the same. When that has to change, `schema_version` rises by one, and the
[changelog](../../CHANGELOG.md) says so under **BREAKING**. At any time there may be **more**: keys, forms of a
document, codes, words where a table lists words. So pass over what you do not know, and do not depend on the order of
keys. `message`, `why`, `note`, `hint` and `notes` are for people: their words may change. Lines of the audit file have
no version; the same holds for them. What other commands print with `--output json` has `schema_version` too, and no
promise yet.

An **instant** is UTC to the minute (`2026-03-01T06:40Z`), a **moment** UTC to the second or finer
(`2026-03-01T06:40:05Z`). What is not marked `always` may be missing; the text of its form says when.

**Events** have no document: they are rows of the table [event](ledger.md#event) of the ledger, numbered without gaps.
"""


def json_page() -> str:
    """The page."""
    return page(
        "What feedctl prints for programs", _INTRODUCTION, *(block for name in DocumentName for block in _section(name))
    )


def _section(name: DocumentName) -> Iterator[str]:
    schema = document_schema(name)
    yield f"## {name}"
    yield prose(schema["description"])
    for form in (each["$ref"].rsplit("/", 1)[1] for each in schema["anyOf"]):
        definitions = {each: _once(node, f"#/$defs/{each}") for each, node in schema["$defs"].items()}
        node = inlined({**definitions[form], "$defs": definitions})
        yield f"### {name}: {form}"
        yield prose(node["description"])
        yield table(("key", "value", "always", "what it is"), map(_row, properties(node)))


def _once(node: Any, itself: str) -> Any:  # noqa: ANN401 - any part of a schema
    """A definition that holds more of its own kind, as the nodes of a tree do, with those left as objects."""
    if isinstance(node, list):
        return [_once(each, itself) for each in node]
    if not isinstance(node, dict):
        return node
    if node.get("$ref") == itself:
        return {"type": "object", "description": "The same again.", **{key: node[key] for key in node if key != "$ref"}}
    return {key: _once(value, itself) for key, value in node.items()}


def _row(each: Property) -> list[str]:
    return [code(each.path), _values(each.node), each.required, prose(each.node["description"])]


def _values(node: Schema) -> str:
    """An instant or a moment by that name; that a value may be null is said behind it."""
    nullable = isinstance(node["type"], list)
    kind = node["type"][0] if nullable else node["type"]
    plain = {
        **node,
        "type": kind,
        **({"enum": [each for each in node["enum"] if each is not None]} if "enum" in node else {}),
    }
    return (node.get("title") or values_of(plain)) + (" or null" if nullable else "")
