"""Fields of results: one definition of each gives its key in a JSON document and its column in a table."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from operator import attrgetter
from typing import Any, Generic, TypeVar

from toolkit.ledger.errors import moment
from toolkit.rendering.tables import cell

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class ResultColumn:
    """A field of a result.

    Attributes:
        key: in the document; empty: the field is only in the table.
        of: attribute with the value, perhaps of an attribute (``run.cluster``), or a function of the result; with a
            ``?`` behind it, an empty text is null in the document.
        heading: in the table; empty: the field is only in the document.
        text: of the cell, when it is not the value.
    """

    key: str
    of: str | Callable[[Any], object]
    heading: str = ""
    text: Callable[[Any], object] | None = None


class Columns(Generic[_T]):
    """The fields of a kind of result, in their order.

    Args:
        columns: a text stands for a field of the document: ``key=attribute``, or the name that is both.
    """

    def __init__(self, *columns: ResultColumn | str) -> None:
        self._columns = [each if isinstance(each, ResultColumn) else _of_text(each) for each in columns]
        self._values = [(each.key, _getter(each.of)) for each in self._columns if each.key]
        self._cells = [_getter(each.of if each.text is None else each.text) for each in self._columns if each.heading]
        self.headings: Sequence[str] = tuple(each.heading for each in self._columns if each.heading)

    def without(self, *headings: str) -> Columns[_T]:
        """Return the fields that do not have these headings."""
        return Columns(*(each for each in self._columns if not each.heading or each.heading not in headings))

    def document(self, result: _T) -> dict[str, object]:
        """Return the document of a result; moments are texts, to the second."""
        return {key: _value(of(result)) for key, of in self._values}

    def documents(self, results: Iterable[_T]) -> list[dict[str, object]]:
        """Return the document of each result."""
        return [self.document(each) for each in results]

    def cells(self, result: _T) -> list[str]:
        """Return the row of a result."""
        return [cell(_value(of(result))) for of in self._cells]

    def rows(self, results: Iterable[_T]) -> Iterator[list[str]]:
        """Yield the row of each result."""
        return map(self.cells, results)


def _of_text(text: str) -> ResultColumn:
    key, _, attribute = text.partition("=")
    return ResultColumn(key.removesuffix("?"), attribute or key)


def _getter(of: str | Callable[[Any], object]) -> Callable[[Any], object]:
    if not isinstance(of, str):
        return of
    attribute: Callable[[Any], object] = attrgetter(of.removesuffix("?"))
    return (lambda result: attribute(result) or None) if of.endswith("?") else attribute


def _value(value: object) -> object:
    if isinstance(value, datetime):
        return moment(value)
    if isinstance(value, Mapping):
        return dict(value)
    return list(value) if isinstance(value, tuple | range) else value
