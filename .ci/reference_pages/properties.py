"""The properties that a schema knows, flattened: path, values, when it is required."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from reference_pages.markdown import code
from reference_pages.unexplained import UnexplainedError
from toolkit.entities.schema_store import Schema


@dataclass(frozen=True, kw_only=True, slots=True)
class Property:
    """One property of a kind of file.

    Attributes:
        path: `clusters[].retention.limit`; `*` stands for any key, `[]` for the items of a list.
        node: its schema.
        required: `yes`, a condition, or nothing.
    """

    path: str
    node: Schema
    required: str


def properties(node: Schema, prefix: str = "") -> Iterator[Property]:
    """Every property below a mapping, in the schema's order."""
    required = {**_conditions(node), **dict.fromkeys(node.get("required", ()), "yes")}
    for key, each in node.get("properties", {}).items():
        path = prefix + (f'"{key}"' if "." in key else key)
        yield Property(path=path, node=each, required=required.get(key, ""))
        yield from _below(each, path)


def _below(node: Schema, path: str) -> Iterator[Property]:
    yield from properties(node, f"{path}.")
    if "items" in node:
        yield from _below(node["items"], f"{path}[]")
    if is_choice(node):
        yield from properties(node["then"], f"{path}.")
    if isinstance(node.get("additionalProperties"), Mapping):
        yield from _below(node["additionalProperties"], f"{path}.*")


def is_choice(node: Schema) -> bool:
    """Return whether a value is either a mapping, as `then` says, or what `else` says."""
    return bool(node.get("if") == {"type": "object"})


def _conditions(node: Schema) -> dict[str, str]:
    """The properties that are required in some cases, and in which."""
    found = {each: f"with {code(key)}" for key, needed in node.get("dependentRequired", {}).items() for each in needed}
    match node.get("oneOf", ()):
        case [{"required": [one]}, {"required": [two]}]:
            found |= {one: f"without {code(two)}", two: f"without {code(one)}"}
        case _:  # more keys than two
            pass
    match node.get("if"):
        case None | {"type": "object"}:  # the latter is a choice
            pass
        case {"not": {"required": [other]}}:
            found |= dict.fromkeys(node["then"]["required"], f"without {code(other)}")
        case {"not": {"anyOf": [{"required": [one]}, {"required": [two]}]}}:
            found |= dict.fromkeys(node["then"]["required"], f"without {code(one)} and {code(two)}")
        case {"properties": {"policy": {"const": policy}}}:
            found |= dict.fromkeys(node["else"]["required"], f"unless {code(f'policy: {policy}')}")
        case other:
            raise UnexplainedError(what=f"the condition {other}", where=".ci/reference_pages/properties.py")
    return found
