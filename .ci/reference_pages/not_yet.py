"""The values that no action does yet, found by asking the product about documents that have every value."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from reference_pages.formats import FORMATS
from reference_pages.properties import is_choice, properties
from toolkit.entities.documents import Document, Value
from toolkit.entities.not_implemented import NotImplementedValue, not_implemented
from toolkit.entities.repo import RepoSettings
from toolkit.entities.schema_store import Schema, SchemaName, inlined, schema
from toolkit.entities.structure import Entity, structure, structure_entity
from toolkit.entities.vocabulary import Kind
from toolkit.entities.yaml_location import Pointer

_SCALARS: Mapping[str, Value] = {"string": "word", "boolean": True, "integer": 1, "number": 0.5}
_KINDS = {SchemaName(kind): kind for kind in Kind}


@dataclass(frozen=True, kw_only=True, slots=True)
class NotYet:
    """What is refused of one property.

    Attributes:
        path: as `Property.path`.
        values: those of the property's values that are refused; none: the property itself is, whatever its value.
        only: where it is refused, in words; empty: everywhere.
        instead: what to do now.
    """

    path: str
    values: tuple[str, ...]
    instead: str
    only: str = ""


@lru_cache
def refused(name: SchemaName) -> tuple[NotYet, ...]:
    """What is not implemented yet of one kind of file, in the order of its schema's values; only actions refuse."""
    if name not in _KINDS and name is not SchemaName.REPO:
        return ()
    node = inlined(schema(name), nesting=1)
    enumerations = [each.node["enum"] for each in properties(node) if "enum" in each.node]
    known = {str(value) for values in enumerations for value in values}
    turns = range(max(map(len, enumerations), default=0))
    found = [each for turn in turns for each in _found(name, _sample(node, turn))]
    return tuple(_not_yet(path, found, known) for path in dict.fromkeys(_path(each.pointer) for each in found))


def _found(name: SchemaName, document: Value) -> tuple[NotImplementedValue, ...]:
    subject = _subject(name, document) if isinstance(document, dict) else None
    return () if subject is None else not_implemented(subject)


def _subject(name: SchemaName, document: Document) -> Entity | RepoSettings | None:
    if name is SchemaName.REPO:
        return structure(document, RepoSettings)
    return structure_entity(_KINDS[name], document) if name in _KINDS else None


def _not_yet(path: str, found: Iterable[NotImplementedValue], known: Container[str]) -> NotYet:
    here = [each for each in found if _path(each.pointer) == path]
    values = dict.fromkeys(each.value.rpartition(": ")[2] for each in here)
    refused_values = tuple(value for value in values if value in known)
    _, only, words = here[0].value.partition(f"{here[0].pointer[-1]} of ")
    return NotYet(path=path, values=refused_values, instead=here[0].instead, only=f"of {words}" if only else "")


def _path(pointer: Pointer) -> str:
    return "".join("[]" if isinstance(step, int) else f".{step}" for step in pointer).lstrip(".").removesuffix("[]")


def _sample(node: Schema, turn: int) -> Value:
    """A value that the schema allows; as the turns go on, each member of every enumeration has its own."""
    if "enum" in node:
        members: Sequence[Value] = node["enum"]
        return members[turn % len(members)]
    if is_choice(node):
        return _sample(node["else"], turn)
    if node.get("type") == "array":
        return [_sample(node["items"], turn)]
    if node.get("type") == "object":
        return dict(_items(node, turn))
    return _scalar(node)


def _items(node: Schema, turn: int) -> Iterator[tuple[str, Value]]:
    """Yield the properties; of keys that exclude each other one, with those that go with it."""
    excluding = [each["required"][0] for each in node.get("oneOf", ())]
    left_out = {key for at, key in enumerate(excluding) if at != turn % len(excluding)}
    needs = node.get("dependentRequired", {})
    for key, each in node.get("properties", {}).items():
        if key not in left_out and left_out.isdisjoint(needs.get(key, ())):
            yield key, _sample(each, turn)


def _scalar(node: Schema) -> Value:
    if "format" in node:
        return FORMATS[node["format"]].example
    value: Value = node["const"] if "const" in node else _SCALARS[node["type"]]
    return value
