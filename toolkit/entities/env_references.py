"""References to environment variables, ``${env:NAME}``, in values of `repo.yaml`: no secret stands there.

A pull request chooses the variable, and the runner's environment holds more secrets than the ledger's
password. So a reference stands only where its value is never shown and is sent nowhere else: as the password of the
ledger, and, for the folders that HOME and XDG_... name, in paths of files.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import partial
from urllib.parse import quote

from toolkit.el import ElError
from toolkit.errors import InvalidInput

_REFERENCE = re.compile(r"\$\{env:(?P<name>[A-Za-z_][A-Za-z0-9_]*)\}")
_BEGUN = re.compile(r"\$\{[^}]*\}?")
_PASSWORDS = (
    re.compile(rf"(?P<before>\A[\w.+:-]*://[^/@:?$]*:){_REFERENCE.pattern}(?=@)"),
    re.compile(
        rf"(?P<before>\A[\w.+:-]*://[^/?]*/[^?]*\?(?:[^$]*&)?(?i:(?:ssl)?password=)){_REFERENCE.pattern}(?=&|\Z)"
    ),
)
"""The whole password of a URL: in front of its host, or among its options, where libpq takes it too."""
_FOLDERS = (re.compile(r"(?P<before>)\$\{env:(?P<name>HOME|XDG_[A-Z_]+)\}"),)
"""Names a folder of the user, of the XDG Base Directory specification, and no secret."""
_SQLITE = "sqlite:"


class MissingVariable(InvalidInput):
    """A value of the config repo names an environment variable that is not set.

    Args:
        name: the variable.
    """

    def __init__(self, *, name: str) -> None:
        self.name = name
        super().__init__(f"${{env:{name}}}: the environment variable {name} is not set; set it, then start again")


def expand_path(text: str, environment: Mapping[str, str]) -> str:
    """The path of a file with the folders of the user, HOME and XDG_..., in the place of the references.

    Args:
        text: the path; a value that looks like a reference is not looked at again.
        environment: the variables by name.

    Raises:
        ElError: it refers to any other variable, whose value would be shown.
        MissingVariable: a variable is not set; one that is set to nothing is set.
    """
    check_path_references(text)
    return _expanded(text, environment, _FOLDERS, str)


def expand_url(url: str, environment: Mapping[str, str]) -> str:
    """A ledger's URL with its password, percent-encoded, in the place of the reference.

    A password may have ``@``, ``/`` or ``%`` in it, which would end or change it: variables hold it as it is.

    Raises:
        ElError: a reference is no whole password, or in the path of a SQLite file no folder of the user.
        MissingVariable: a variable is not set; one that is set to nothing is set.
    """
    if url.startswith(_SQLITE):
        return expand_path(url, environment)
    check_password_references(url)
    return _expanded(url, environment, _PASSWORDS, partial(quote, safe=""))


def _expanded(
    text: str, environment: Mapping[str, str], places: tuple[re.Pattern[str], ...], written: Callable[[str], str]
) -> str:
    def value(reference: re.Match[str]) -> str:
        if reference["name"] not in environment:
            raise MissingVariable(name=reference["name"])
        return reference["before"] + written(environment[reference["name"]])

    for each in places:
        text = each.sub(value, text)
    return text


def check_references(text: str) -> None:
    """Every ``${`` begins a reference to an environment variable.

    Raises:
        ElError: it begins something else, which would stay in the value as it is.
    """
    for begun in _BEGUN.finditer(text):
        if not _REFERENCE.fullmatch(begun.group()):
            expected = "a reference to an environment variable: ${env:NAME}"
            raise ElError(text=text, position=begun.start(), found=begun.group(), expected=expected)


def check_path_references(text: str) -> None:
    """Every reference in the path of a file is to HOME or XDG_...

    Raises:
        ElError: it is to another variable, whose value everybody would see who sees the path.
    """
    _refuse_other(text, _FOLDERS, "in a path: ${env:HOME} or ${env:XDG_...}; name the file itself")


def check_password_references(url: str) -> None:
    """Every reference in a URL is its whole password.

    Raises:
        ElError: it stands for a host, a user or a path, so that its value would be shown, or would choose who gets
            the password.
    """
    expected = "one as the whole password alone, USER:${env:NAME}@HOST; write the rest of the URL itself"
    _refuse_other(url, _PASSWORDS, expected)


def check_ledger_references(url: str) -> None:
    """Every reference in a ledger's URL is one that `expand_url` gives a value.

    Raises:
        ElError: it is none.
    """
    (check_path_references if url.startswith(_SQLITE) else check_password_references)(url)


def _refuse_other(text: str, allowed: tuple[re.Pattern[str], ...], expected: str) -> None:
    """No more of the text is shown than the reference: there may be a password beside it."""
    known = {found.end() for each in allowed for found in each.finditer(text)}
    for each in _REFERENCE.finditer(text):
        if each.end() not in known:
            raise ElError(text=each.group(), found="a reference where its value would be seen", expected=expected)
