"""Arguments of each type of expectation, known without Great Expectations, whose import takes seconds.

The file beside the schemas is written from the library by ``.ci/expectations.py``, and a test compares the two.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from importlib import resources
from types import MappingProxyType
from typing import Any

from jsonschema_rs import Draft202012Validator

from toolkit.entities.documents import Value


@dataclass(frozen=True, kw_only=True, slots=True)
class ExpectationType:
    """A type of expectation.

    Attributes:
        arguments: by name, each the JSON Schema of its values.
        required: arguments without which it cannot be validated, or holds for any data.
        nullable: arguments that may be null, which says nothing.
        bounds: arguments of which at least one must say something; empty: it has none.
        on_spark: data that Spark reads can be validated by it.
    """

    arguments: Mapping[str, Mapping[str, Any]]
    required: tuple[str, ...]
    nullable: frozenset[str]
    bounds: tuple[str, ...]
    on_spark: bool

    def allows(self, argument: str, value: Value) -> bool:
        """Return whether one of its arguments may have a value."""
        if value is None and argument in self.nullable:
            return True
        return _validator(json.dumps(self.arguments[argument])).is_valid(value)


@cache
def expectation_types() -> Mapping[str, ExpectationType]:
    """Every type of Great Expectations' core, by its name."""
    file = resources.files("toolkit.entities").joinpath("schemas", "expectations.json")
    known = json.loads(file.read_text("utf-8"))
    schemas = known["schemas"]
    types = {
        name: ExpectationType(
            arguments={argument: schemas[schema] for argument, schema in each["arguments"].items()},
            required=tuple(each["required"]),
            nullable=frozenset(each["nullable"]),
            bounds=tuple(each["bounds"]),
            on_spark=each["spark"],
        )
        for name, each in known["types"].items()
    }
    return MappingProxyType(types)


@cache
def _validator(schema: str) -> Draft202012Validator:
    return Draft202012Validator(
        json.loads(schema), formats={"date-time": _is_time}, validate_formats=True, offline=True
    )


def _is_time(text: str) -> bool:
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return False
    return True
