"""The schemas of the config repo's files, in the forms that editors and the loader need (DESIGN section 4)."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from importlib import resources
from types import MappingProxyType
from typing import Any

Schema = Mapping[str, Any]
"""A JSON Schema, draft 2020-12."""


class SchemaName(StrEnum):
    """Kind of document that a schema describes."""

    CLUSTER = "cluster"
    """A file under clusters/."""
    FEED = "feed"
    """A file under feeds/."""
    PROCESS = "process"
    """A file under processes/."""
    DATASOURCE = "datasource"
    """A file under datasources/."""
    REPO = "repo"
    """repo.yaml."""
    DEFAULTS = "defaults"
    """A defaults.yaml."""
    ENVIRONMENT = "environment"
    """A file under environments/."""
    HOLDS = "holds"
    """holds.yaml."""
    SUITE = "suite"
    """A file under expectations/."""
    CALENDAR = "calendar"
    """A file under calendars/."""
    MIRROR = "mirror"
    """A file under mirrors/."""
    TEMPLATE = "template"
    """A file under templates/."""


class Form(StrEnum):
    """Completeness of a document."""

    MERGED = "merged"
    """Defaults and environment are merged in: all that is required is there, nothing is null."""
    AUTHORED = "authored"
    """As a person writes it: only kind and name are required, null removes what a default says."""
    OVERLAY = "overlay"
    """A part of a defaults.yaml or of an environment: nothing is required, kind and name are not there."""


@lru_cache
def schema(name: SchemaName, form: Form = Form.MERGED) -> Schema:
    """Return one schema as a document of its own; treat it as read-only."""
    stored = json.loads(resources.files("toolkit.entities").joinpath("schemas", f"{name}.json").read_text("utf-8"))
    relaxed = _FORMS[Form.MERGED if name is SchemaName.SUITE else form]  # nothing is merged into a suite
    return MappingProxyType(relaxed(stored))


NESTING = 4
"""How deep a definition that refers to itself may be nested in a document: conditions of triggers."""


def inlined(document: Schema, nesting: int = NESTING) -> dict[str, Any]:
    """The schema without `$ref`, which costs the validator a look-up for each value.

    Args:
        document: a schema.
        nesting: a definition that refers to itself is there so many times, one in another; a property of the
            innermost that refers to it again is left out.
    """
    inlining = _Inlining(document.get("$defs", {}), nesting)
    plain = inlining.of({key: value for key, value in document.items() if key != "$defs"}, ())
    assert isinstance(plain, dict)  # noqa: S101 - a mapping stays a mapping
    return plain


@dataclass(frozen=True, slots=True)
class _Inlining:
    """The definitions that are put in the place of references."""

    definitions: Schema
    nesting: int

    def of(self, node: Any, within: tuple[str, ...]) -> Any:  # noqa: ANN401 - any part of a schema
        if isinstance(node, list):
            return [self.of(each, within) for each in node]
        if not isinstance(node, Mapping):
            return node
        if "$ref" in node:
            name = _referred(node)
            node = {**self.definitions[name], **{key: value for key, value in node.items() if key != "$ref"}}
            within = (*within, name)
        return {key: self.of(self._shallow(value, within), within) for key, value in node.items()}

    def _shallow(self, node: Any, within: tuple[str, ...]) -> Any:  # noqa: ANN401 - any part of a schema
        """Leave out properties whose items would be nested too deep."""
        if not isinstance(node, Mapping) or len(within) < self.nesting:
            return node
        return {key: each for key, each in node.items() if within.count(_referred_by_items(each)) < self.nesting}


def _referred(node: Schema) -> str:
    return str(node["$ref"]).rsplit("/", 1)[1]


def _referred_by_items(node: object) -> str:
    items = node.get("items") if isinstance(node, Mapping) else None
    return _referred(items) if isinstance(items, Mapping) and "$ref" in items else ""


_IDENTITY = ("kind", "name")
_COMPLETENESS = ("required", "minItems", "minProperties", "dependentRequired", "if", "then", "else", "oneOf")


def _merged(stored: dict[str, Any]) -> dict[str, Any]:
    return stored


def _authored(stored: dict[str, Any]) -> dict[str, Any]:
    relaxed = _relaxed_object(stored)
    required = [key for key in _IDENTITY if key in stored.get("required", ())]
    for key in required:
        relaxed["properties"][key] = stored["properties"][key]
    return {**relaxed, "required": required} if required else relaxed


def _overlay(stored: dict[str, Any]) -> dict[str, Any]:
    relaxed = _relaxed_object(stored)
    if "kind" in stored["properties"]:
        kept = {key: value for key, value in relaxed["properties"].items() if key not in _IDENTITY}
        return {**relaxed, "properties": kept}
    return relaxed


_FORMS: dict[Form, Callable[[dict[str, Any]], dict[str, Any]]] = {
    Form.MERGED: _merged,
    Form.AUTHORED: _authored,
    Form.OVERLAY: _overlay,
}


def _relaxed_object(node: dict[str, Any]) -> dict[str, Any]:
    """The schema of a mapping without what only a complete document can keep, its values nullable."""
    relaxed = dict(node)
    if "if" not in node or "properties" in node:
        relaxed = {key: value for key, value in node.items() if key not in _COMPLETENESS}
    if "properties" in node:
        relaxed["properties"] = {key: _nullable(value) for key, value in node["properties"].items()}
    if isinstance(node.get("additionalProperties"), dict):
        relaxed["additionalProperties"] = _nullable(node["additionalProperties"])
    if "$defs" in node:
        relaxed["$defs"] = {key: _nullable(value) for key, value in node["$defs"].items()}
    return relaxed


def _nullable(node: dict[str, Any]) -> dict[str, Any]:
    if "if" in node and "type" not in node:  # a choice by type; its parts are small and complete
        return {**node, "if": {"type": "null"}, "then": True, "else": {k: node[k] for k in ("if", "then", "else")}}
    relaxed = _relaxed_object(node)
    if "items" in node:
        relaxed["items"] = _item(node["items"])
    if "type" in node:
        types = node["type"] if isinstance(node["type"], list) else [node["type"]]
        relaxed["type"] = [*(each for each in types if each != "null"), "null"]
    if "enum" in node:
        relaxed["enum"] = [*node["enum"], None]
    return relaxed


def _item(node: dict[str, Any]) -> dict[str, Any]:
    """A list's item is there or not, never null; a named one keeps its name, by which it is merged."""
    relaxed = _relaxed_object(node)
    if "name" in node.get("required", ()):
        relaxed["required"] = ["name"]
        relaxed["properties"]["name"] = node["properties"]["name"]
    return relaxed
