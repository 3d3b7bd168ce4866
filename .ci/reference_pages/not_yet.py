"""The values that no action does yet, found by asking the product about documents that have every value."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from reference_pages.formats import FORMATS
from reference_pages.properties import is_choice, properties
from toolkit.entities.not_implemented import NotImplementedValue, not_implemented
from toolkit.entities.repo import RepoSettings
from toolkit.entities.schema_store import Schema, SchemaName, inlined, schema
from toolkit.entities.structure import Entity, structure, structure_entity
from toolkit.entities.vocabulary import Kind
from toolkit.entities.yaml_location import Pointer

_SCALARS: dict[str, object] = {"string": "word", "boolean": True, "integer": 1, "number": 0.5}


@dataclass(frozen=True, kw_only=True, slots=True)
class NotYet:
    """A value that is refused.

    Attributes:
        path: of the property, as `Property.path`.
        value: one of the property's values, or the property itself.
        instead: what to do now.
    """

    path: str
    value: str
    instead: str

    def is_whole(self, path: str) -> bool:
        """Whether it is this property, whatever its value."""
        return self.path == path and path.endswith(self.value)


def refused(name: SchemaName) -> tuple[NotYet, ...]:
    """What is not implemented yet of one kind of file."""
    node = inlined(schema(name))
    turns = range(max(len(each.node.get("enum", ())) for each in properties(node)) + 1)
    subjects = (_subject(name, _sample(node, turn)) for turn in turns)
    found = (_not_yet(each) for subject in subjects if subject for each in not_implemented(subject))
    return tuple(dict.fromkeys(found))


def _subject(name: SchemaName, document: object) -> Entity | RepoSettings | None:
    if not isinstance(document, dict):
        return None
    if name is SchemaName.REPO:
        return structure(document, RepoSettings)
    return structure_entity(Kind(name), document) if name in list(Kind) else None


def _not_yet(found: NotImplementedValue) -> NotYet:
    value = found.value.rpartition(": ")[2]
    return NotYet(path=_path(found.pointer), value=value, instead=found.instead)


def _path(pointer: Pointer) -> str:
    return "".join("[]" if isinstance(step, int) else f".{step}" for step in pointer).lstrip(".").removesuffix("[]")


def _sample(node: Schema, turn: int) -> object:
    """A value that the schema allows; the turns go through the members of every enumeration."""
    if "enum" in node:
        return node["enum"][turn % len(node["enum"])]
    if is_choice(node):
        return _sample(node["else"], turn)
    if node.get("type") == "array":
        return [_sample(node["items"], turn)]
    if node.get("type") == "object":
        return dict(_items(node, turn))
    return _scalar(node)


def _items(node: Schema, turn: int) -> Iterator[tuple[str, object]]:
    for key, each in node.get("properties", {}).items():
        yield key, _sample(each, turn)


def _scalar(node: Schema) -> object:
    if "const" in node:
        return node["const"]
    if "format" in node:
        return FORMATS[node["format"]].example
    return _SCALARS[node["type"]]
