"""Rules about suites: their types and arguments are those of Great Expectations, which nothing here imports."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from operator import itemgetter

from toolkit.el.fields import Field
from toolkit.entities.documents import Value
from toolkit.entities.expectation_types import ExpectationType, expectation_types
from toolkit.entities.nearest import did_you_mean, suggestion
from toolkit.entities.quality import Expectation, Suite
from toolkit.entities.suite_code import SUITE_SQL_VARIABLE, code_in
from toolkit.entities.suite_variables import (
    CLUSTER_NAME,
    INSTANCE_KEY,
    PREVIOUS_ROWS,
    VARIABLES,
    substituted,
    variables_in,
)
from toolkit.entities.yaml_location import Pointer
from toolkit.linter.findings import Hit
from toolkit.linter.rule import Check, LintContext

_RESULT_ARGUMENTS = frozenset(
    {"result_format", "unexpected_index_column_names", "include_unexpected_rows", "catch_exceptions"}
)
"""A suite must not set how much of the data a result repeats: rows would reach the driver, the ledger, a page."""

_SAMPLES: Mapping[str, str | int] = {
    **{str(field): text for field, text in zip(Field, ("2026", "03", "01", "06", "40"), strict=True)},
    INSTANCE_KEY: "2026-03-01T06:40Z",
    CLUSTER_NAME: "primary",
    PREVIOUS_ROWS: 1000,
}
"""Sample values of variables for checks of arguments: an instance like any other."""


@dataclass(frozen=True, kw_only=True, slots=True)
class _Placed:
    """An expectation in its file."""

    suite: Suite
    position: int
    expectation: Expectation

    @property
    def type(self) -> ExpectationType | None:
        return expectation_types().get(self.expectation.type)

    def argument(self, name: str) -> Value:
        """The value of an argument, for an instance like any other; None when it is not given."""
        value: Value = substituted(self.expectation.kwargs.get(name), _SAMPLES)
        return value

    def hit(self, message: str, hint: str = "", *, at: Pointer = (), on_key: bool = False) -> Hit:
        pointer = ("expectations", self.position, *at)
        return Hit(subject=self.suite.path, pointer=pointer, message=message, hint=hint, on_key=on_key)


def _expectations(context: LintContext) -> Iterator[_Placed]:
    for _, suite in sorted(context.repository.suites.items()):
        for position, each in enumerate(suite.expectations):
            yield _Placed(suite=suite, position=position, expectation=each)


def _fillable(context: LintContext) -> Iterator[tuple[_Placed, ExpectationType]]:
    """The expectations of known types whose variables, if any, are known."""
    for each in _expectations(context):
        is_filled = all(name in _SAMPLES for _, name in variables_in(each.expectation.kwargs))
        if each.type is not None and is_filled:
            yield each, each.type


def known_type(context: LintContext) -> Iterator[Hit]:
    """The type of an expectation is one of Great Expectations', which Spark can do."""
    types = expectation_types()
    for each in _expectations(context):
        name = each.expectation.type
        if name not in types:
            message = f"found the type {name!r}, which Great Expectations does not have"
            yield each.hit(message, did_you_mean(name, types), at=("type",))
        elif not types[name].on_spark:
            message = f"{name} cannot be validated by Spark: Great Expectations has it for databases or pandas only"
            yield each.hit(message, "write it with another type", at=("type",))


def known_arguments(context: LintContext) -> Iterator[Hit]:
    """The arguments of an expectation are those of its type, and none that says something is missing."""
    for each, kind in _fillable(context):
        given = each.expectation.kwargs
        for name in sorted(given.keys() - kind.arguments.keys()):
            yield _unknown_argument(each, name, kind)
        for name in kind.required:
            if given.get(name) is None:
                message = f"missing argument {name!r} of {each.expectation.type}"
                yield each.hit(message, f"without it the expectation asks nothing; expected {_expected(kind, name)}")
        if kind.bounds and all(given.get(name) is None for name in kind.bounds):
            message = f"{each.expectation.type} has neither {' nor '.join(kind.bounds)}: any data passes"
            yield each.hit(message, "give at least one of them")
        if given.get("mostly") == 0:
            yield each.hit(f"{each.expectation.type} with mostly 0: any data passes", at=("kwargs", "mostly"))
        if given.get("row_condition") is not None and given.get("condition_parser") is None:
            message = "missing argument 'condition_parser', which goes with 'row_condition'"
            yield each.hit(
                message, 'give great_expectations, for a condition such as col("n") > 0', at=("kwargs", "row_condition")
            )


def _unknown_argument(each: _Placed, name: str, kind: ExpectationType) -> Hit:
    if name in _RESULT_ARGUMENTS:
        message = f"found the argument {name!r}: what a result tells of the data is not for a suite to say"
        return each.hit(message, "remove it", at=("kwargs", name), on_key=True)
    message = f"{each.expectation.type} has no argument {name!r}"
    return each.hit(message, suggestion(name, kind.arguments), at=("kwargs", name), on_key=True)


def argument_values(context: LintContext) -> Iterator[Hit]:
    """The values of arguments are of the types that Great Expectations takes."""
    for each, kind in _fillable(context):
        for name in sorted(each.expectation.kwargs.keys() & kind.arguments.keys()):
            value = each.argument(name)
            is_missing = value is None and name in kind.required
            if not is_missing and not kind.allows(name, value):
                found = "null" if value is None else _shown(value)
                message = f"{name}: found {found}, expected {_expected(kind, name)}"
                yield each.hit(message, at=("kwargs", name))


def _shown(value: Value) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return f"the number {value}"
    if isinstance(value, str):
        return f"the text {value!r}"
    if not value:
        return "nothing in it"
    return "a mapping" if isinstance(value, Mapping) else "a list with other items"


def _expected(kind: ExpectationType, name: str) -> str:
    return _words(kind.arguments[name])


def _words(schema: Mapping[str, object]) -> str:
    """A schema of an argument in words; only what the file of types has."""
    choices = schema.get("anyOf")
    if isinstance(choices, list):
        return " or ".join(map(_words, choices))
    allowed = schema.get("enum")
    if isinstance(allowed, list):
        return " or ".join(allowed)
    if schema.get("format") == "date-time":
        return "a date or a time such as 2026-03-01 06:40:00"
    kind = schema.get("type")
    words = _TYPES[kind] if isinstance(kind, str) else "a value"
    if "minimum" in schema and "maximum" in schema:
        return f"{words} from {schema['minimum']:g} to {schema['maximum']:g}"
    return f"{words}, at least {schema['minimum']:g}" if "minimum" in schema else words


_TYPES = {
    "string": "text",
    "number": "a number",
    "integer": "a whole number",
    "boolean": "true or false",
    "object": "a mapping",
    "array": "a list that is not empty",
}


def ordered_bounds(context: LintContext) -> Iterator[Hit]:
    """The lower bound of an expectation is not above its upper bound."""
    for each, kind in _fillable(context):
        if not kind.bounds or any(name == PREVIOUS_ROWS for _, name in variables_in(each.expectation.kwargs)):
            continue
        low, high = (each.argument(name) for name in kind.bounds)
        if _is_above(low, high):
            message = f"min_value {low} is above max_value {high}: no data passes"
            yield each.hit(message, "swap them", at=("kwargs", "min_value"))
        elif low is not None and low == high and any(each.argument(f"strict_{end}") is True for end in ("min", "max")):
            message = f"min_value and max_value are {low}, and one of them is excluded: no data passes"
            yield each.hit(message, "remove strict_min or strict_max", at=("kwargs", "min_value"))


def _is_above(low: Value, high: Value) -> bool:
    if isinstance(low, int | float) and isinstance(high, int | float):
        return low > high
    return isinstance(low, str) and isinstance(high, str) and low > high


def known_variables(context: LintContext) -> Iterator[Hit]:
    """The variables of an expectation are such that something fills them in."""
    for each in _expectations(context):
        for pointer, name in variables_in(each.expectation.kwargs):
            if name not in VARIABLES:
                message = f"found ${{{name}}}, which nothing fills in"
                yield each.hit(message, suggestion(name, VARIABLES), at=("kwargs", *pointer))


def no_code(context: LintContext) -> Iterator[Hit]:
    """An argument of an expectation is a value: no SQL, and nothing that would be fetched."""
    for each in _expectations(context):
        for code in code_in(each.expectation.type, each.expectation.kwargs):
            if not (code.is_sql and context.allows_suite_sql):
                yield each.hit(code.message, _SQL if code.is_sql else "remove it", at=("kwargs", *code.pointer))


_SQL = (
    f"a run refuses it unless the operator sets {SUITE_SQL_VARIABLE}=1; use another type, or for a condition "
    "`condition_parser: great_expectations`"
)


def repeated(context: LintContext) -> Iterator[Hit]:
    """An expectation is in a suite once."""
    first: dict[tuple[str, str], int] = {}
    for each in _expectations(context):
        own = each.expectation
        expectation_text = f"{own.type} {sorted(own.kwargs.items(), key=itemgetter(0))!r}"
        position = first.setdefault((each.suite.name, expectation_text), each.position)
        if position != each.position:
            message = f"{own.type} with these arguments is expectations[{position}] too"
            yield each.hit(message, "remove one of them: it would be counted twice")


CHECKS: Mapping[str, Check] = {
    "expectation-type": known_type,
    "expectation-argument": known_arguments,
    "expectation-value": argument_values,
    "expectation-bounds": ordered_bounds,
    "expectation-variable": known_variables,
    "suite-code": no_code,
    "duplicate-expectation": repeated,
}
