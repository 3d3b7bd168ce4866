"""``${YEAR}`` and the like in the arguments of expectations: which there are, and how they are filled in."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from toolkit.el.fields import Field
from toolkit.entities.yaml_location import Pointer

PREVIOUS_ROWS = "previous.row_count"
"""The number of rows of the last validated instance before this one."""

INSTANCE_KEY = "instance.key"
"""The instance's own time in UTC, ``2026-03-01T06:40Z``."""

CLUSTER_NAME = "cluster.name"
"""Variable with the name of the cluster that the data is on."""

_DATE_FIELDS = tuple(map(str, Field))
VARIABLES = (*_DATE_FIELDS, INSTANCE_KEY, CLUSTER_NAME, PREVIOUS_ROWS)
"""All variables of a suite; date fields are in the feed's `path_timezone`, as in its paths."""

_VARIABLE = re.compile(r"\$\{([^{}]*)\}")


def variables_in(value: object, pointer: Pointer = ()) -> Iterator[tuple[Pointer, str]]:
    """The name of each variable in a value, in lists and mappings too, and where it is."""
    if isinstance(value, str):
        yield from ((pointer, name) for name in _VARIABLE.findall(value))
    elif isinstance(value, Mapping):
        for key, each in value.items():
            yield from variables_in(each, (*pointer, key))
    elif isinstance(value, list | tuple):
        for index, each in enumerate(value):
            yield from variables_in(each, (*pointer, index))


def substituted(value: Any, values: Mapping[str, str | int]) -> Any:  # noqa: ANN401 - whatever an argument may be
    """A value with its variables filled in; a text that is one variable, and nothing else, becomes its number or text.

    Args:
        value: an argument of an expectation, or a part of one.
        values: of the variables, by name. A date field is a text of two digits, of four for the year; alone it becomes
            a whole number.

    Raises:
        KeyError: a variable that has no value.
    """
    if isinstance(value, str):
        alone = _VARIABLE.fullmatch(value)
        if alone is not None:
            name = alone[1]
            return int(values[name]) if name in _DATE_FIELDS else values[name]
        return _VARIABLE.sub(lambda found: str(values[found[1]]), value)
    if isinstance(value, Mapping):
        return {key: substituted(each, values) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [substituted(each, values) for each in value]
    return value
