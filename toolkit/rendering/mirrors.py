"""Types of mirrors as tables, and the text of a new mirror."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from toolkit.entities.yaml_scalars import plain_scalar
from toolkit.printable import on_one_line

if TYPE_CHECKING:
    from toolkit.entities.mirror_types import MirrorType

TYPE_COLUMNS = ("type", "from", "makes", "mirrors", "description")
VALUE_COLUMNS = ("value", "required", "type", "default", "description")


def type_row(each: MirrorType, mirrors: Sequence[str]) -> tuple[str, str, str, str, str]:
    """Return the cells of a type: where it is from, what it makes and which mirrors are of it."""
    makes = [str(entity["kind"]) for entity in each.entities]
    return (
        each.name,
        "feedctl" if each.layer is None else each.layer.file,
        ", ".join(makes),
        ", ".join(mirrors) or "-",
        each.description,
    )


def value_rows(values: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, str, str, str, str]]:
    """Yield the cells of each value of a type; the parts of a mapping follow it."""
    for key, each in values["properties"].items():
        allowed = each if "enum" in each else each.get("items", {})
        kind = " | ".join(map(str, allowed["enum"])) if "enum" in allowed else each.get("format", each["type"])
        required = "yes" if key in values.get("required", ()) else ""
        default = json.dumps(each["default"]) if "default" in each else ""
        yield f"{prefix}{key}", required, f"list of {kind}" if "items" in each else kind, default, each["description"]
        if "properties" in each:
            yield from value_rows(each, f"{prefix}{key}.")


def new_mirror(own_type: MirrorType, name: str, clusters: Sequence[str], start: str) -> str:
    """Return the text of a mirror to fill in: what is required has an example, what is not is a comment.

    Args:
        own_type: its type.
        name: its name.
        clusters: of the config repo; the first is the source, the last the target.
        start: its first instance.
    """
    source, target = (clusters[0], clusters[-1]) if clusters else ("SOURCE", "TARGET")
    lines = [
        f"# mirrors/{name}.yaml: {on_one_line(own_type.description)}",
        "kind: mirror",
        f"name: {name}",
        "description: say what it is, and for whom",
        f"type: {own_type.name}",
        f"cluster: {target} # it runs here",
        f"validity: {{start: {start}, end: 2099-01-01T00:00Z}} # no instance at the end or after it",
        "frequency: days(1) # minutes(n), hours(n), days(n) or months(n)",
        "# retry: {policy: periodic, delay: minutes(10), attempts: 3}",
        "values:",
    ]
    required = own_type.values.get("required", ())
    for key, node in own_type.values["properties"].items():
        side = target if key.startswith("target") else source
        text = _flow(_example(node, side if key.endswith("cluster") else key))
        lines.append(f"  {'' if key in required else '# '}{key}: {text} # {on_one_line(node['description'])}")
    return "\n".join(lines) + "\n"


_BY_FORMAT = {"frequency": "days(7)", "instant": "2026-01-01T00:00Z", "timezone": "UTC", "email": "team@example.com"}
_PLAIN = re.compile(r"[A-Za-z/][A-Za-z0-9_/.()-]*")
_BY_TYPE: Mapping[str, Any] = {"integer": 3, "number": 0.5, "boolean": True}


def _example(node: Mapping[str, Any], word: str) -> object:
    """Return a value that a type allows."""
    if "default" in node or "enum" in node:
        return node["default"] if "default" in node else node["enum"][0]
    if "properties" in node:
        return {key: _example(each, key) for key, each in node["properties"].items()}
    if "items" in node:
        return [_example(node["items"], word)]
    if node["type"] != "string":
        return node.get("minimum", _BY_TYPE[node["type"]])
    if "pattern" in node or node.get("format") == "path-template":
        return f"/data/{word}" + ("" if "pattern" in node else "/${YEAR}/${MONTH}/${DAY}")
    return f"catalog:db:{word}" if node.get("format") == "table-uri" else _BY_FORMAT.get(node.get("format", ""), word)


def _flow(value: object) -> str:
    """Return a value as YAML on one line; a text that YAML would read as something else has quotes."""
    if isinstance(value, dict):
        return f"{{{', '.join(f'{key}: {_flow(each)}' for key, each in value.items())}}}"
    if isinstance(value, list):
        return f"[{', '.join(map(_flow, value))}]"
    is_plain = isinstance(value, str) and _PLAIN.fullmatch(value) and plain_scalar(value) == value
    return str(value) if is_plain else json.dumps(value, ensure_ascii=False)
