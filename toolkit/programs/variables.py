"""Environment of a step: the properties of its instance, and secrets that come from elsewhere."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from toolkit.entities import Credential
from toolkit.errors import InvalidInput
from toolkit.planning.step_settings import is_operators
from toolkit.programs.port import StepCall
from toolkit.programs.step_environment import LISTED_VARIABLE, OFFERED, offers
from toolkit.programs.step_log import private

PROPERTIES_VARIABLE = "FEEDCTL_PROPERTIES"
"""In the environment of a step: the file that has all properties, as one JSON object."""

_LONGEST = (1 << 17) - 1
"""Octets of a variable with its name that Linux hands to a program (MAX_ARG_STRLEN, without the final zero)."""


_OPERATORS = "that variable is the operator's: it says what programs load, or whom feedctl trusts; take another name"

_NOT_OFFERED = f"which the operator does not offer to steps: call it {OFFERED}..., or list it in {LISTED_VARIABLE}"


class UnusableProperty(InvalidInput):
    """No variable can hold a property."""

    def __init__(self, *, name: str, why: str) -> None:
        super().__init__(f"the property {name!r} cannot be handed to a program: {why}")


class SecretUnavailable(InvalidInput):
    """A secret is not where the entity says; the message has its place, never its text."""

    def __init__(self, *, name: str, place: str, why: str) -> None:
        super().__init__(f"the secret {name} is to come from {place}, {why}")


class UnusableSecret(InvalidInput):
    """A secret would be a variable that is the operator's."""

    def __init__(self, *, name: str) -> None:
        super().__init__(f"the secret {name} cannot be handed to a program: {_OPERATORS}")


def properties_file(call: StepCall) -> Path:
    """Return the path of a step's properties file, beside its log."""
    return call.log.with_name(f"{call.log.name}.properties.json")


def property_variables(call: StepCall) -> dict[str, str]:
    """The properties as variables, and the file with all of them.

    One that is too long for a variable is only in the file (a year of hourly paths can be), and the log says so.

    Raises:
        UnusableProperty: a program could not be told one of them as it is.
    """
    for name, text in call.properties.items():
        _require_usable(name, text)
    file = private(properties_file(call))
    file.write_text(json.dumps(dict(call.properties), ensure_ascii=False), encoding="utf-8")
    long = [name for name, text in call.properties.items() if len(f"{name}={text}".encode()) > _LONGEST]
    with private(call.log).open("a", encoding="utf-8") as log:
        log.writelines(
            f"feedctl: the property {name} is too long for a variable; it is in the file of {PROPERTIES_VARIABLE}\n"
            for name in long
        )
    short = {name: text for name, text in call.properties.items() if name not in long}
    return {**short, PROPERTIES_VARIABLE: str(file)}


def _require_usable(name: str, text: str) -> None:
    if is_operators(name):
        raise UnusableProperty(name=name, why=_OPERATORS)
    if not name or "=" in name:
        raise UnusableProperty(name=name, why="a variable's name is not empty and has no =")
    if "\0" in name + text:
        raise UnusableProperty(name=name, why="it has a zero character")
    try:
        f"{name}{text}".encode()
    except UnicodeEncodeError:
        raise UnusableProperty(name=name, why="it has half a character, which UTF-8 cannot hold") from None


def secret_variables(call: StepCall) -> dict[str, str]:
    """The secrets of a workflow that are in variables and files of this machine.

    Those in a Hadoop credential provider are for `providers`: only Java reads them.

    Raises:
        SecretUnavailable: one is not there.
        UnusableSecret: one has the name of a variable that is the operator's.
    """
    references = call.workflow.secrets.items()
    return {name: _found(name, each, call.variables) for name, each in references if each.alias is None}


def providers(call: StepCall) -> tuple[str, ...]:
    """The Hadoop credential providers that the secrets of a workflow are in."""
    found = (each.provider for each in call.workflow.secrets.values() if each.alias is not None)
    return tuple(dict.fromkeys(each for each in found if each))


def _found(name: str, reference: Credential, variables: Mapping[str, str]) -> str:
    if is_operators(name):
        raise UnusableSecret(name=name)
    if reference.env is not None:
        if not offers(reference.env, variables):
            raise SecretUnavailable(name=name, place=f"the variable {reference.env}", why=_NOT_OFFERED)
        if reference.env not in variables:
            raise SecretUnavailable(name=name, place=f"the variable {reference.env}", why="which is not set")
        return variables[reference.env]
    if reference.file is None:
        raise SecretUnavailable(name=name, place="nowhere", why="give env, file or alias")
    try:
        text = Path(reference.file).read_text(encoding="utf-8").rstrip("\r\n")
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) and error.strerror else "no text in UTF-8"
        raise SecretUnavailable(name=name, place=f"the file {reference.file}", why=f"which says: {why}") from error
    if "\0" in text:
        raise SecretUnavailable(name=name, place=f"the file {reference.file}", why="which has a zero character")
    return text
