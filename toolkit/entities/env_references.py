"""References to environment variables, ``${env:NAME}``, in values of `repo.yaml`: no secret stands there."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import partial
from urllib.parse import quote

from toolkit.el import ElError
from toolkit.errors import InvalidInput

_REFERENCE = re.compile(r"\$\{env:(?P<name>[A-Za-z_][A-Za-z0-9_]*)\}")
_BEGUN = re.compile(r"\$\{[^}]*\}?")
_USER_INFO = re.compile(r"(?<=://)[^/@]*(?=@)")


class MissingVariable(InvalidInput):
    """A value of the config repo names an environment variable that is not set.

    Args:
        name: the variable.
    """

    def __init__(self, *, name: str) -> None:
        self.name = name
        super().__init__(f"${{env:{name}}}: the environment variable {name} is not set; set it, then start again")


def expand_env(text: str, environment: Mapping[str, str]) -> str:
    """The text with the variables' values, as they are, in the place of the references.

    Args:
        text: any text; a value that looks like a reference is not looked at again.
        environment: the variables by name.

    Raises:
        MissingVariable: a variable is not set; one that is set to nothing is set.
    """
    return _expanded(text, environment, str)


def expand_url(url: str, environment: Mapping[str, str]) -> str:
    """A URL with the variables' values; those in its user name and password are percent-encoded.

    A password may have ``@``, ``/`` or ``%`` in it, which would end or change it: variables hold it as it is.

    Raises:
        MissingVariable: a variable is not set; one that is set to nothing is set.
    """
    encoded = partial(quote, safe="")
    return expand_env(_USER_INFO.sub(lambda part: _expanded(part.group(), environment, encoded), url), environment)


def _expanded(text: str, environment: Mapping[str, str], written: Callable[[str], str]) -> str:
    def value(reference: re.Match[str]) -> str:
        if reference["name"] not in environment:
            raise MissingVariable(name=reference["name"])
        return written(environment[reference["name"]])

    return _REFERENCE.sub(value, text)


def check_references(text: str) -> None:
    """Every ``${`` begins a reference to an environment variable.

    Raises:
        ElError: it begins something else, which would stay in the value as it is.
    """
    for begun in _BEGUN.finditer(text):
        if not _REFERENCE.fullmatch(begun.group()):
            expected = "a reference to an environment variable: ${env:NAME}"
            raise ElError(text=text, position=begun.start(), found=begun.group(), expected=expected)
