"""Comparison of a table's partition keys with those that a feed names, and of their types with dates."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, ClassVar

from toolkit.catalog.errors import BadMetadata
from toolkit.catalog.formats import unsupported_reason
from toolkit.catalog.values import KeyType

if TYPE_CHECKING:
    from toolkit.catalog.model import Table
    from toolkit.el import TableUri

_DATABLE = frozenset({KeyType.STRING, KeyType.INT, KeyType.DATE})
_DATE = "${YEAR}-${MONTH}-${DAY}"


class WrongKeys(BadMetadata):
    """A table whose partition keys are not those that its feed names, or cannot be dated.

    Args:
        table: the table.
        uri: of the feed.
        wrong: what is wrong with each key, in words.
    """

    code: ClassVar[str] = "wrong_keys"
    text: ClassVar[str] = "its partition keys do not fit the feed"

    def __init__(self, *, table: Table, uri: TableUri, wrong: Iterable[str]) -> None:
        has = ", ".join(f"{key.name} {key.type}" for key in table.keys) or unsupported_reason(table) or "none"
        instead = f"correct the feed's table ({uri.text}), or its keys"
        super().__init__(about=str(table.name), detail=f"{'; '.join(wrong)}; its keys are: {has}; {instead}")


def require_keys(table: Table, uri: TableUri) -> None:
    """Return when the table has the keys that the feed names, and dates can be in those that have to.

    Raises:
        WrongKeys: all that is wrong.
    """
    if wrong := list(wrong_keys(table, uri)):
        raise WrongKeys(table=table, uri=uri, wrong=wrong)


def wrong_keys(table: Table, uri: TableUri) -> Iterator[str]:
    """Yield in words what is wrong with each key that a feed names."""
    types = {key.name.lower(): key for key in table.keys}
    for name, segment in zip(uri.partition_keys, uri.segments, strict=True):
        key = types.get(name.lower())
        if key is None:
            yield f"it has no key {name}"
        elif segment.fields and key.key_type not in _DATABLE:
            yield f"{name} is a {key.type}, which cannot be dated; expected a string, a date or an integer"
        elif segment.fields and key.key_type is KeyType.DATE and segment.text != _DATE:
            yield f"{name} is a date, so expected {name}={_DATE}"
