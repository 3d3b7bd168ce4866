"""Meanings of SQL states and of error numbers of the databases."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from toolkit.jdbc.errors import (
    ConstraintViolated,
    DatabaseError,
    DatabaseTimeout,
    DatabaseUnreachable,
    LoginRefused,
    NoSuchField,
    NoSuchRelation,
    PermissionRefused,
    TransactionConflict,
)

_Kind = type[DatabaseError] | type[DatabaseUnreachable] | type[DatabaseTimeout]

_BY_NUMBER: Mapping[int, _Kind] = {
    **dict.fromkeys((1044, 1142, 1143, 1227, 1370), PermissionRefused),
    1054: NoSuchField,
    1146: NoSuchRelation,
    **dict.fromkeys((1205, 1213), TransactionConflict),
    **dict.fromkeys((1317, 1969, 3024), DatabaseTimeout),
}
"""Error numbers of MySQL and MariaDB, whose states are often only 42000; PostgreSQL has no numbers."""
_BY_STATE: Mapping[str, _Kind] = {
    "42501": PermissionRefused,
    "42703": NoSuchField,
    "42S22": NoSuchField,
    "42P01": NoSuchRelation,
    "42S02": NoSuchRelation,
    "3F000": NoSuchRelation,
    "57014": DatabaseTimeout,
    "70100": DatabaseTimeout,
    "53300": DatabaseUnreachable,
}
_BY_CLASS: Mapping[str, _Kind] = {
    "08": DatabaseUnreachable,
    "23": ConstraintViolated,
    "28": LoginRefused,
    "40": TransactionConflict,
    "57": DatabaseUnreachable,
}
"""The first two characters of a state are its class."""


def meaning(state: str, number: int, exceptions: Sequence[str], text: str) -> _Kind:
    """Return the error that a failure is.

    Args:
        state: the SQL state; empty: none was given.
        number: the vendor's error number.
        exceptions: names of the Java classes, outermost first.
        text: what the driver says.
    """
    if any("SocketTimeoutException" in each for each in exceptions):
        return DatabaseTimeout
    if state.startswith("08") and "password" in text:  # the server asks for one, and there is none
        return LoginRefused
    found = _BY_NUMBER.get(number) or _BY_STATE.get(state) or _BY_CLASS.get(state[:2])
    if found is None and any("java.net." in each for each in exceptions):
        return DatabaseUnreachable
    return found or DatabaseError
