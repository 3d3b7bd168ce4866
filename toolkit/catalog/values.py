"""Values of partition keys by the type of the key; a metastore keeps all of them as texts (DESIGN sections 5 and 8)."""

from __future__ import annotations

import re
from datetime import date
from enum import StrEnum
from typing import TypeAlias

from toolkit.catalog.partition_name import NULL

TypedValue: TypeAlias = str | int | date | None
"""None is null. Texts are as they are; so ``3`` and ``03`` are one value of an int key and two of a string key."""

_INTEGER = re.compile(r"[+-]?[0-9]+")
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_BASE = re.compile(r"\s*([a-z]+)\s*(?:\([0-9 ,]*\))?\s*")


class KeyType(StrEnum):
    """Type as which the values of a partition key are compared."""

    STRING = "string"
    """``string``, ``varchar(n)``, ``char(n)``."""
    INT = "int"
    """``tinyint``, ``smallint``, ``int``, ``bigint``."""
    DATE = "date"
    """``date``."""
    OTHER = "other"
    """Anything else, as ``timestamp`` or ``decimal``: engines write one value in several ways, so none is compared."""

    @classmethod
    def of(cls, hive_type: str) -> KeyType:
        """The one of a type as Hive writes it, for example ``varchar(10)``."""
        found = _BASE.fullmatch(hive_type.lower())
        return _TYPES.get(found[1], cls.OTHER) if found else cls.OTHER


_TYPES = {
    **dict.fromkeys(("string", "varchar", "char"), KeyType.STRING),
    **dict.fromkeys(("tinyint", "smallint", "int", "integer", "bigint"), KeyType.INT),
    "date": KeyType.DATE,
}


class BadPartitionValue(ValueError):  # noqa: N818 - named for what was found
    """A text that is no value of its key's type, as an ``int`` key's ``abc``; a listing counts it and continues.

    Args:
        text: as the metastore has it.
        expected: the type.
    """

    def __init__(self, *, text: str, expected: KeyType) -> None:
        self.text, self.expected = text, expected
        super().__init__(f"{text!r} is no {expected}")


def typed_value(text: str, key_type: KeyType) -> TypedValue:
    """The value that a text stands for.

    Raises:
        BadPartitionValue: the text is none of that type; always for `KeyType.OTHER`, but for null.
    """
    if text == NULL:
        return None
    if key_type is KeyType.STRING:
        return text
    if key_type is KeyType.INT and _INTEGER.fullmatch(text):
        return int(text)
    if key_type is KeyType.DATE and _DATE.fullmatch(text):
        try:
            return date.fromisoformat(text)
        except ValueError:
            pass
    raise BadPartitionValue(text=text, expected=key_type)
