"""Documents made from the schemas themselves, so that no property can be forgotten."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from toolkit.entities import SchemaName, schema
from toolkit.entities.schema_store import inlined

_BY_FORMAT = {
    "instant": "2026-03-01T06:40Z",
    "frequency": "hours(3)",
    "timezone": "Europe/Berlin",
    "el": "now(0,0)",
    "path-template": "/data/x/${YEAR}",
    "table-uri": "catalog:db:t#ds=${YEAR}",
    "url": "hdfs://nn:8020",
    "ledger-url": "sqlite:///ledger.db",
    "local-path": "/var/log/audit.jsonl",
    "partition-expression": "*/${cluster.colo}",
    "name": "some_name",
    "variable": "some_variable",
    "argument": "/some/argument",
    "email": "a@example.com",
    "dataset-uri": "s3://bucket/orders",
    "dataset-pattern": "s3://bucket/orders/*",
    "cron": "0 6 * * mon-fri",
    "date": "2026-12-25",
    "domain": "hooks.example.com",
    "host-port": "localhost:8125",
    "webhook-url": "https://hooks.example.com/${env:FEEDCTL_WEBHOOK_WORD}",
    "permission": "0750",
}
_BY_PATTERN = {
    "VERY_HIGH": "HIGH",
    "DATASOURCE": "FEEDCTL_DATASOURCE_WORD",
    "MAIL": "FEEDCTL_MAIL_WORD",
    "WEBHOOK": "FEEDCTL_WEBHOOK_WORD",
    "A-Za-z0-9.:_-": "mail.example.com",
    "BROKER": "FEEDCTL_BROKER_WORD",
    "CATALOG": "FEEDCTL_CATALOG_WORD",
    "KAFKA": "FEEDCTL_KAFKA_WORD",
    "sqlite": "sqlite:////dir/catalog.db",
    "decimal": "decimal(9,2)",
    "@": "broker:9092",
    "^/.": "/etc/ca.pem",
    "": "word",
}
_SCALARS: dict[str, object] = {"string": "some text", "boolean": True, "integer": 7, "number": 0.5}


def full_document(name: SchemaName) -> dict[str, Any]:
    """A document in which every property of a schema has a value other than its default."""
    document = _sample(inlined(schema(name)))
    assert isinstance(document, dict)
    return document


def _sample(node: Mapping[str, Any]) -> object:
    if "const" in node:
        return node["const"]
    if "enum" in node:
        return next((each for each in reversed(node["enum"]) if each != node.get("default")), node["enum"][0])
    if "type" not in node:
        return _sample(node["then"])
    kind = node["type"][0] if isinstance(node["type"], list) else node["type"]
    if kind == "object":
        return _object(node)
    if kind == "array":
        return list(_items(node["items"]))
    return _scalar(kind, node)


def _items(node: Mapping[str, Any]) -> Iterator[object]:
    """Yield one item, or one for each of the keys that exclude each other, in it or below."""
    yield from _alternatives(_sample(node), node.get("then", node))


def _alternatives(sample: object, node: Mapping[str, Any]) -> Iterator[object]:
    excluding = [each["required"][0] for each in node.get("oneOf", ())]
    if not isinstance(sample, dict):
        yield sample
    elif excluding:
        others = {key: value for key, value in sample.items() if key not in excluding}
        for key in excluding:
            if key in sample:
                made = {key: sample[key]} if isinstance(sample[key], list) else {key: sample[key], **others}
                needs = node.get("dependentRequired", {})
                yield {each: made[each] for each in made if set(needs.get(each, ())) <= set(made)}
    else:
        yield from _with_parts(sample, node)


def _with_parts(sample: dict[str, object], node: Mapping[str, Any]) -> Iterator[object]:
    for key, value in sample.items():
        parts = list(_alternatives(value, node.get("properties", {}).get(key, {})))
        if len(parts) > 1:
            yield from ({**sample, key: each} for each in parts)
            return
    yield sample


def _object(node: Mapping[str, Any]) -> dict[str, object]:
    made = {key: _sample(each) for key, each in node.get("properties", {}).items()}
    if isinstance(node.get("additionalProperties"), Mapping):
        made["free_name"] = _sample(node["additionalProperties"])
    return made


def without_defaults(value: Any, node: Mapping[str, Any]) -> Any:  # noqa: ANN401 - any part of a document
    """The document without the values that its schema names as defaults."""
    if isinstance(value, list):
        return [without_defaults(each, node["items"]) for each in value]
    if not isinstance(value, dict):
        return value
    node = node if "properties" in node or "additionalProperties" in node else node.get("then", {})
    known = node.get("properties", {})
    other = node.get("additionalProperties")
    return {
        key: without_defaults(each, known.get(key, other or {}))
        for key, each in value.items()
        if "default" not in known.get(key, {}) or known[key]["default"] != each
    }


def _scalar(kind: str, node: Mapping[str, Any]) -> object:
    if "format" in node:
        return _BY_FORMAT[node["format"]]
    if node.get("pattern"):
        return next(value for part, value in _BY_PATTERN.items() if part in node["pattern"])
    if node.get("maxLength") == 1:
        return ";"
    value = _SCALARS[kind]
    return not value if value == node.get("default") else value


def property_pointers(node: Mapping[str, Any], prefix: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Every property that a schema without `$ref` knows, as the keys that lead to it."""
    for key, each in node.get("properties", {}).items():
        yield (*prefix, key)
        yield from property_pointers(each, (*prefix, key))
    for part in ("items", "then", "else"):
        if isinstance(node.get(part), Mapping):
            yield from property_pointers(node[part], prefix)
    if isinstance(node.get("additionalProperties"), Mapping):
        yield from property_pointers(node["additionalProperties"], (*prefix, "free_name"))


def document_pointers(value: object, prefix: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Every key of a document, as the keys that lead to it; list positions are left out."""
    if isinstance(value, Mapping):
        for key, each in value.items():
            yield (*prefix, key)
            yield from document_pointers(each, (*prefix, key))
    elif isinstance(value, list):
        for each in value:
            yield from document_pointers(each, prefix)
