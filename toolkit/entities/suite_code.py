"""Arguments of expectations that Spark or a library would run or fetch: a suite holds expectations, not code."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from toolkit.entities.yaml_location import Pointer

SUITE_SQL_VARIABLE = "FEEDCTL_ALLOW_SUITE_SQL"
"""Environment variable of the operator: `1` allows SQL in suites. Nothing in a config repo sets it."""

ROWS_QUERY, ROW_CONDITION = "unexpected_rows_query", "row_condition"
_PARSED_CONDITION = "great_expectations"
"""The `condition_parser` with which Great Expectations itself parses a condition, into one comparison of a column."""
_ADDED = "expect_multicolumn_sum_to_equal"
"""Great Expectations writes its columns into an SQL expression; for Spark 3 without quotes."""
_PLAIN_COLUMN = re.compile(r"[\w .-]+")
_REFERENCES = frozenset({"$ref", "$dynamicRef", "$recursiveRef"})
_NAMES = frozenset({"$id", "id"})
"""Names of a schema, new and old: what stands within a named part refers to that name, which the library looks up."""


@dataclass(frozen=True, kw_only=True, slots=True)
class SuiteCode:
    """An argument that is not just a value.

    Attributes:
        pointer: below the arguments of the expectation.
        message: what it does.
        is_sql: the operator can allow it; False: it is always refused.
    """

    pointer: Pointer
    message: str
    is_sql: bool


def allows_suite_sql(variables: Mapping[str, str]) -> bool:
    """Return whether the operator's environment allows SQL in suites."""
    return variables.get(SUITE_SQL_VARIABLE) == "1"


def code_in(expectation_type: str, kwargs: Mapping[str, Any]) -> Iterator[SuiteCode]:
    """Find the arguments of an expectation that are SQL, or that would fetch a file or an address.

    Args:
        expectation_type: as Great Expectations names it.
        kwargs: its arguments, with or without values for their variables.
    """
    condition = kwargs.get(ROW_CONDITION)
    if condition is not None and not isinstance(condition, str):
        yield SuiteCode(pointer=(ROW_CONDITION,), message=f"{ROW_CONDITION} is no text", is_sql=False)
    elif condition is not None and kwargs.get("condition_parser") != _PARSED_CONDITION:
        yield SuiteCode(pointer=(ROW_CONDITION,), message=f"{ROW_CONDITION} is SQL", is_sql=True)
    if kwargs.get(ROWS_QUERY) is not None:
        yield SuiteCode(pointer=(ROWS_QUERY,), message=f"{ROWS_QUERY} is SQL", is_sql=True)
    if expectation_type == _ADDED:
        yield from _odd_columns(kwargs.get("column_list"))
    yield from _outside_references(kwargs.get("json_schema"), ("json_schema",))


def _odd_columns(columns: object) -> Iterator[SuiteCode]:
    for place, name in enumerate(columns if isinstance(columns, list | tuple) else ()):
        if not (isinstance(name, str) and _PLAIN_COLUMN.fullmatch(name)):
            message = (
                f"the column {name!r} becomes part of an SQL expression: expected letters, digits, `_`, `.` and `-`"
            )
            yield SuiteCode(pointer=("column_list", place), message=message, is_sql=False)


def _outside_references(schema: object, pointer: Pointer) -> Iterator[SuiteCode]:
    """A reference that is not within its schema is a file or an address that each worker of Spark would read."""
    if isinstance(schema, Mapping):
        for key, value in schema.items():
            place = (*pointer, key)
            if key in _REFERENCES and not (isinstance(value, str) and value.startswith("#")):
                message = f"{key} {value!r} would be fetched: expected a reference within the schema, `#/...`"
                yield SuiteCode(pointer=place, message=message, is_sql=False)
            elif key in _NAMES and isinstance(value, str) and len(pointer) > 1:
                message = f"{key} {value!r} would be fetched: expected only at the beginning of the whole schema"
                yield SuiteCode(pointer=place, message=message, is_sql=False)
            yield from _outside_references(value, place)
    elif isinstance(schema, list | tuple):
        for position, value in enumerate(schema):
            yield from _outside_references(value, (*pointer, position))
