"""Writes what lint knows of Great Expectations, or FILE, from the library that is installed: `expectations.py [FILE]`.

For every type: its arguments as JSON Schema, what must be given, and whether it can validate Spark's data.
"""

from __future__ import annotations

import inspect
import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import great_expectations
from great_expectations.expectations import core, registry
from great_expectations.expectations.expectation import Expectation

FILE = Path(__file__).resolve().parent.parent / "toolkit" / "entities" / "schemas" / "expectations.json"
HOUSEKEEPING = frozenset({*Expectation.__fields__, "batch_id", "library_metadata", "windows"})
"""Of every type: what only Great Expectations itself, or its service, reads."""

BOUNDS = ("min_value", "max_value")
ASKS_NOTHING_WITHOUT = frozenset({"column_list", "column_set", "partition_object", "regex", "threshold", "type_list"})
"""Optional in Great Expectations; an expectation without them holds for any data."""

_TEXT = {"type": "string", "minLength": 1}
_BOUND = {"anyOf": [{"type": "number"}, {"type": "string", "format": "date-time"}]}
_NAMES = {
    "column": _TEXT,
    "bound": _BOUND,
    **{each: {"type": each} for each in ("boolean", "integer", "number", "string")},
}
_REPLACED: Mapping[str, Mapping[str, Any]] = {
    # Its own schema is for its web page, and narrower than what it takes; nothing is in an empty set.
    "value_set": {"type": "array", "minItems": 1, "items": {"type": ["string", "number", "boolean"]}},
    "value_pairs_set": {"type": "array", "minItems": 1, "items": {"type": "array", "minItems": 2, "maxItems": 2}},
    "column_list": {"type": "array", "minItems": 1, "items": _TEXT},
    "column_set": {"type": "array", "minItems": 1, "items": _TEXT},
    "row_condition": _TEXT,
    "condition_parser": {"type": "string", "enum": ["spark", "great_expectations"]},
    "quantile_ranges": {
        "type": "object",
        "required": ["quantiles", "value_ranges"],
        "properties": {
            "quantiles": {"type": "array", "minItems": 1, "items": {"type": "number", "minimum": 0, "maximum": 1}},
            "value_ranges": {
                "type": "array",
                "minItems": 1,
                "items": {"type": "array", "minItems": 2, "maxItems": 2, "items": {"type": ["number", "null"]}},
            },
        },
        "additionalProperties": False,
    },
}


def types() -> dict[str, Any]:
    """What is known of each type, by its name."""
    found = {each.expectation_type: _described(each) for each in _classes() if each.expectation_type}
    return dict(sorted(found.items()))


def _classes() -> Iterator[Any]:
    for _, each in inspect.getmembers(core, inspect.isclass):
        if issubclass(each, Expectation) and not inspect.isabstract(each):
            yield each


def _described(one: Any) -> dict[str, Any]:  # noqa: ANN401 - a class of a library without types
    described = one.schema()
    is_between = one.expectation_type.endswith("_between")
    hidden = HOUSEKEEPING if is_between else HOUSEKEEPING.union(BOUNDS)
    own = {
        name: each for name, each in described["properties"].items() if name in one.__fields__ and name not in hidden
    }
    is_table = one.expectation_type.startswith("expect_table_")
    arguments = {name: _argument(name, each, is_table=is_table) for name, each in sorted(own.items())}
    required = {*described.get("required", ()), *(arguments.keys() & ASKS_NOTHING_WITHOUT)}
    return {
        "spark": _on_spark(one, described),
        "arguments": arguments,
        "required": sorted(required),
        "nullable": [name for name in arguments if one.__fields__[name].allow_none and name not in required],
        "bounds": [each for each in BOUNDS if each in arguments],
    }


def _argument(name: str, schema: Mapping[str, Any], *, is_table: bool) -> Mapping[str, Any]:
    if name in _REPLACED:
        return _REPLACED[name]
    plain = {key: each for key, each in schema.items() if key not in {"title", "description", "default", "multipleOf"}}
    if "anyOf" not in plain:
        return plain
    # A mapping stands for a parameter that is given to a validation, which feedctl has no use for.
    choices = [each for each in plain.pop("anyOf") if each != {"type": "object"}]
    if len(choices) == 1:
        only = {**plain, **choices[0]}
        return {**only, "minItems": 1} if only.get("type") == "array" else only
    if is_table and name in BOUNDS:  # counts, of which only whole numbers mean anything
        return {"type": "integer"}
    return _BOUND if name in BOUNDS else {**plain, "anyOf": choices}


def _on_spark(one: Any, described: Mapping[str, Any]) -> bool:  # noqa: ANN401 - likewise
    reported = described["properties"]["metadata"]["properties"].get("supported_data_sources")
    if reported is not None:
        return "Spark" in reported["const"]
    metric = f"{one.map_metric}.unexpected_count"
    return "SparkDFExecutionEngine" in registry._registered_metrics.get(metric, {}).get("providers", {})  # noqa: SLF001


def document() -> str:
    """The file, one line for each type and each argument's schema."""
    known = types()
    names = {_text(schema): name for name, schema in _NAMES.items()}
    for each in known.values():
        each["arguments"] = {name: _shared(name, schema, names) for name, schema in each["arguments"].items()}
    defined = ",\n".join(f"  {_text(name)}: {text}" for text, name in sorted(names.items(), key=lambda one: one[1]))
    lines = ",\n".join(f"  {_text(name)}: {json.dumps(each)}" for name, each in known.items())
    version = _text(great_expectations.__version__)
    return f'{{\n "great_expectations": {version},\n "schemas": {{\n{defined}\n }},\n "types": {{\n{lines}\n }}\n}}\n'


def _shared(name: str, schema: Mapping[str, Any], names: dict[str, str]) -> str:
    """The name of a schema: that of the first argument that has it, with a number when that is taken."""
    text = _text(schema)
    if text not in names:
        numbered = (name if number == 1 else f"{name}_{number}" for number in range(1, len(names) + 2))
        names[text] = next(each for each in numbered if each not in names.values())
    return names[text]


def _text(value: object) -> str:
    return json.dumps(value, sort_keys=True)


def main(file: Path) -> int:
    """Writes the file."""
    file.write_text(document(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(Path(sys.argv[1]) if sys.argv[1:] else FILE))
