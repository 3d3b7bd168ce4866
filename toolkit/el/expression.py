"""Expressions as text: `today(-3, -20)`, a function and its arguments."""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass
from functools import lru_cache

from toolkit.el.errors import ElError
from toolkit.el.functions import Function, Parameter, Weekday

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_SPACE = re.compile(r"\s*")
_ARGUMENT = re.compile(r"""[^\s,()'"]+|'[^'()]*'|"[^"()]*\"""")
_INTEGER = re.compile(r"[+-]?[0-9]{1,9}")
_CACHED = 4096


@dataclass(frozen=True, kw_only=True, slots=True)
class Expression:
    """A call of an EL function, checked.

    Args:
        function: what is called.
        arguments: one number for each of `function.parameters`; a week day is a `Weekday`.
        text: the text that was parsed.
    """

    function: Function
    arguments: tuple[int, ...]
    text: str

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, kw_only=True, slots=True)
class _Argument:
    text: str
    position: int


@lru_cache(maxsize=_CACHED)
def parse_expression(text: str) -> Expression:
    """The expression that the text writes; spaces between its parts do not matter.

    Raises:
        ElError: an unknown function, the wrong number or kind of arguments, or another shape.
    """
    name, position = _read(_NAME, text, _skip_space(text, 0), "the name of a function, as in now(0,0)")
    function = _function(text, name, position - len(name))
    arguments, end = _read_arguments(text, position)
    _check_count(text, function, arguments, end)
    rest = _skip_space(text, end)
    if rest != len(text):
        raise ElError(text=text, position=rest, found=text[rest:], expected="nothing more after ')'")
    numbers = tuple(
        _number(text, function, parameter, argument)
        for parameter, argument in zip(function.parameters, arguments, strict=True)
    )
    return Expression(function=function, arguments=numbers, text=text)


def _function(text: str, name: str, position: int) -> Function:
    try:
        return Function(name)
    except ValueError as error:
        by_key = {function.casefold(): function for function in Function}
        nearest = [by_key[key] for key in difflib.get_close_matches(name.casefold(), by_key)]
        hint = f"{' or '.join(nearest)}; the functions are " if nearest else "one of "
        raise ElError(text=text, position=position, found=name, expected=hint + ", ".join(Function)) from error


def _read_arguments(text: str, position: int) -> tuple[list[_Argument], int]:
    """The arguments as they are written, and where the text goes on after the closing parenthesis."""
    _, position = _read(re.compile(r"\("), text, _skip_space(text, position), "'('")
    position = _skip_space(text, position)
    arguments: list[_Argument] = []
    while arguments or not text.startswith(")", position):
        piece, position = _read(_ARGUMENT, text, position, "an argument: a whole number or the name of a week day")
        arguments.append(_Argument(text=piece, position=position - len(piece)))
        mark, position = _read(re.compile(r"[,)]"), text, _skip_space(text, position), "',' or ')'")
        if mark == ")":
            return arguments, position
        position = _skip_space(text, position)
    return arguments, position + 1


def _check_count(text: str, function: Function, arguments: list[_Argument], end: int) -> None:
    wanted, found = len(function.parameters), len(arguments)
    if wanted == found:
        return
    position = arguments[wanted].position if found > wanted else end - 1
    words = f"{found} argument{'' if found == 1 else 's'}"
    raise ElError(text=text, position=position, found=words, expected=function.signature)


def _number(text: str, function: Function, parameter: Parameter, argument: _Argument) -> int:
    if parameter is Parameter.WEEKDAY:
        return _weekday(text, argument)
    if not _INTEGER.fullmatch(argument.text):
        expected = f"a whole number of at most 9 digits for '{parameter}' in {function.signature}"
        raise ElError(text=text, position=argument.position, found=argument.text, expected=expected)
    number = int(argument.text)
    if parameter is Parameter.RANK and number > 0:
        expected = "0 or less: latest(0) is the newest available instance, latest(-1) the one before it"
        raise ElError(text=text, position=argument.position, found=argument.text, expected=expected)
    if parameter in (Parameter.COUNT, Parameter.LIMIT) and number < 0:
        expected = f"0 or more for '{parameter}' in {function.signature}"
        raise ElError(text=text, position=argument.position, found=argument.text, expected=expected)
    return number


def _weekday(text: str, argument: _Argument) -> Weekday:
    try:
        return Weekday[argument.text.strip("'\"")]
    except KeyError as error:
        expected = f"one of {', '.join(day.name for day in Weekday)}"
        raise ElError(text=text, position=argument.position, found=argument.text, expected=expected) from error


def _skip_space(text: str, position: int) -> int:
    match = _SPACE.match(text, position)
    return match.end() if match else position


def _read(pattern: re.Pattern[str], text: str, position: int, expected: str) -> tuple[str, int]:
    match = pattern.match(text, position)
    if match is None:
        raise ElError(text=text, position=position, found=text[position:], expected=expected)
    return match.group(), match.end()
