"""What values a property can have, in words."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping
from typing import Any

from reference_pages.formats import FORMATS
from reference_pages.markdown import code
from reference_pages.properties import is_choice
from toolkit.entities.schema_store import Schema

_TYPES = {
    "string": "text",
    "number": "number",
    "integer": "whole number",
    "boolean": "true or false",
    "object": "mapping",
    "null": "null",
}


def values_of(node: Schema, not_yet: Collection[str] = ()) -> str:
    """The values that a schema allows; those in `not_yet` are marked."""
    limits = [describe(node[key]) for key, describe in _LIMITS.items() if key in node]
    return ", ".join([_kind(node, not_yet), *limits])


def default_of(node: Schema) -> str:
    """The schema's default, or nothing."""
    return code(_scalar(node["default"])) if "default" in node else ""


def _scalar(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _kind(node: Schema, not_yet: Collection[str]) -> str:
    if "const" in node:
        return code(node["const"])
    if "enum" in node:
        return ", ".join(code(each) + (" (not yet)" if each in not_yet else "") for each in node["enum"])
    if is_choice(node):
        return f"{_kind(node['else'], not_yet)}, or a mapping"
    if "format" in node:
        return _format(node["format"])
    return _typed(node, not_yet)


def _format(name: str) -> str:
    _ = FORMATS[name]  # each format is explained
    return f"[{name}](#formats)"


def _typed(node: Schema, not_yet: Collection[str]) -> str:
    if isinstance(node["type"], list):
        return ", ".join(_typed({**node, "type": each}, not_yet) for each in node["type"])
    if node["type"] == "array" and "items" not in node:
        return "list"
    if node["type"] == "array":
        return f"list of {_inner(node['items'], not_yet)}"
    if isinstance(node.get("additionalProperties"), Mapping):
        return f"mapping to {_inner(node['additionalProperties'], not_yet)}"
    return _TYPES[node["type"]]


def _inner(node: Schema, not_yet: Collection[str]) -> str:
    return "mappings" if node.get("type") == "object" else values_of(node, not_yet)


_LIMITS: Mapping[str, Callable[[Any], str]] = {
    "exclusiveMinimum": lambda limit: f"more than {limit}",
    "minimum": lambda limit: f"at least {limit}",
    "maximum": lambda limit: f"at most {limit}",
    "minItems": lambda limit: f"at least {limit}",
    "minProperties": lambda limit: f"at least {limit} key",
    "uniqueItems": lambda _: "each once",
    "propertyNames": lambda keys: (
        f"keys: {_format(keys['format'])}" if "format" in keys else f"keys matching {code(keys['pattern'])}"
    ),
    "pattern": lambda pattern: f"matching {code(pattern)}",
}
