"""JSON Schemas of OpenLineage events, from the classes that its project generates from its specification.

Each facet is held against the class of the schema that its own `_schemaURL` names.
"""

from __future__ import annotations

import importlib
import pkgutil
import types
import typing
from collections.abc import Iterator, Mapping
from enum import Enum
from functools import cache
from typing import Any

import attr
import jsonschema
from openlineage.client import generated

_BASE = "BaseFacet"
_EVENTS = ("RunEvent", "JobEvent", "DatasetEvent")
_FORMATS = {"eventTime": "date-time", "nominalStartTime": "date-time", "nominalEndTime": "date-time", "runId": "uuid"}
_URIS = ("producer", "_producer", "schemaURL", "_schemaURL", "url")


def faults(event: Mapping[str, Any]) -> list[str]:
    """Return what is wrong with an event: the place and the reason."""
    of_event = _classes()[event["schemaURL"]]
    assert of_event.__name__ in _EVENTS
    checked = [(event, of_event), *((facet, _classes()[facet["_schemaURL"]]) for facet in _facets(event))]
    return [
        f"{cls.__name__} {'/'.join(map(str, error.absolute_path))}: {error.message}"
        for value, cls in checked
        for error in _validator(cls).iter_errors(value)
    ]


@cache
def _classes() -> dict[str, type]:
    found: dict[str, type] = {}
    for each in pkgutil.iter_modules(generated.__path__):
        module = importlib.import_module(f"{generated.__name__}.{each.name}")
        for cls in vars(module).values():
            if isinstance(cls, type) and cls.__module__ == module.__name__ and "_get_schema" in vars(cls):
                found[cls._get_schema()] = cls  # type: ignore[attr-defined]
    return found


def _facets(value: object) -> Iterator[Mapping[str, Any]]:
    if isinstance(value, Mapping):
        if "_schemaURL" in value:
            yield value
        for each in value.values():
            yield from _facets(each)
    elif isinstance(value, list):
        for each in value:
            yield from _facets(each)


@cache
def _validator(cls: type) -> jsonschema.Draft202012Validator:
    return jsonschema.Draft202012Validator(_of_class(cls), format_checker=jsonschema.FormatChecker())


def _of_class(cls: type, within: tuple[type, ...] = ()) -> dict[str, Any]:
    hints = typing.get_type_hints(cls)
    names = [each.name for each in attr.fields(cls)]
    required = [each.name for each in attr.fields(cls) if each.default is attr.NOTHING]
    if hasattr(cls, "_producer") or "_producer" in names:
        required += ["_producer", "_schemaURL"]
    is_open = cls.__name__ in {_BASE, "DatasetFacet", "RunFacet", "JobFacet", "InputDatasetFacet", "OutputDatasetFacet"}
    return {
        "type": "object",
        "required": sorted(set(required)),
        "properties": {name: _of_type(hints[name], (*within, cls)) | _of_text(name) for name in names},
        "additionalProperties": is_open,
    }


def _of_text(name: str) -> dict[str, Any]:
    if name in _URIS:
        return {"pattern": r"^[a-z][a-z0-9+.-]*:\S+$"}
    return {"format": _FORMATS[name]} if name in _FORMATS else {}


def _of_type(hint: Any, within: tuple[type, ...]) -> dict[str, Any]:  # noqa: ANN401, PLR0911 - any annotation, and a case for each kind
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin in {typing.Union, types.UnionType}:
        return {"anyOf": [_of_type(each, within) for each in arguments if each is not type(None)]}
    if origin is list:
        return {"type": "array", "items": _of_type(arguments[0], within)}
    if origin is dict:
        return {"type": "object", "additionalProperties": _of_type(arguments[1], within)}
    if isinstance(hint, type) and issubclass(hint, Enum):
        return {"enum": [each.value for each in hint]}
    if isinstance(hint, type) and attr.has(hint):
        if hint.__name__.endswith("Facet"):
            return {"type": "object", "required": ["_producer", "_schemaURL"]}  # held against its own class
        return {} if hint in within else _of_class(hint, within)
    plain = {str: "string", int: "integer", bool: "boolean", float: "number"}
    return {"type": plain[hint]} if hint in plain else {}
