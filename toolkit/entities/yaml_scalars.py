"""Plain YAML scalars, read the 1.2 way (DESIGN section 4): `NO`, `on`, `0750`, `12:30`, `2026-01-01` stay text."""

import math
import re
from functools import lru_cache

from toolkit.entities.documents import Scalar

_WORDS: dict[str, bool | None] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_DECIMAL = re.compile(r"[-+]?(?:0|[1-9][0-9]{0,39})")
_HEX = re.compile(r"0x[0-9A-Fa-f]{1,32}")
_OCTAL = re.compile(r"0o[0-7]{1,40}")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|(?:0|[1-9][0-9]*)(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")


@lru_cache(maxsize=65_536)
def plain_scalar(text: str) -> Scalar:
    """The value of a scalar without quotes, by the core schema.

    Stricter than the core schema in two ways: a number with leading zeros is text (a permission, a code), and so is
    one that no finite float can hold.
    """
    if text in _WORDS:
        return _WORDS[text]
    if not text[0].isdigit() and text[0] not in "-+.":
        return text
    return _number(text)


def _number(text: str) -> Scalar:
    if _DECIMAL.fullmatch(text):
        return int(text)
    if _HEX.fullmatch(text):
        return int(text, 16)
    if _OCTAL.fullmatch(text):
        return int(text, 8)
    return _float(text)


def _float(text: str) -> Scalar:
    if not _FLOAT.fullmatch(text) or text.lstrip("+-").isdigit():
        return text
    number = float(text)
    return number if math.isfinite(number) else text
