"""The schemas of the config repo's files, in the forms that editors and the loader need (DESIGN section 4)."""

import json
from collections.abc import Callable, Mapping
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


def inlined(document: Schema) -> dict[str, Any]:
    """The schema without `$ref`, which costs the validator a look-up for each value."""
    definitions = document.get("$defs", {})
    plain = _inline({key: value for key, value in document.items() if key != "$defs"}, definitions)
    assert isinstance(plain, dict)  # noqa: S101 - a mapping stays a mapping
    return plain


def _inline(node: Any, definitions: Schema) -> Any:  # noqa: ANN401 - any part of a schema
    if isinstance(node, list):
        return [_inline(each, definitions) for each in node]
    if not isinstance(node, Mapping):
        return node
    if "$ref" in node:
        target = definitions[node["$ref"].rsplit("/", 1)[1]]
        node = {**target, **{key: value for key, value in node.items() if key != "$ref"}}
    return {key: _inline(value, definitions) for key, value in node.items()}


_IDENTITY = ("kind", "name")
_COMPLETENESS = ("required", "minItems", "minProperties", "dependentRequired", "if", "then", "else")


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
