"""Progress of a named writer, as a property of the table keeps it: JSON with sequence, transaction and progress."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from toolkit.errors import Failed, InvalidInput
from toolkit.ingest.port import WRITER_PROPERTY

if TYPE_CHECKING:
    from toolkit.ingest.port import TableState

T = TypeVar("T")


class UnreadableProgress(Failed):
    """A property of a table is no progress.

    Args:
        name: of the property.
        text: its beginning.
    """

    code = "unreadable_progress"

    def __init__(self, *, name: str, text: str) -> None:
        self.name, self.text = name, text
        super().__init__(
            f"the table property {name} is no progress of a source: {text!r}; another program has changed it: set it "
            f"to its value of an earlier metadata file of the table"
        )


class WrongProgress(InvalidInput):
    """Progress that a table cannot keep.

    Args:
        name: of the writer.
        found: what it has.
        expected: what it has to be.
    """

    code = "wrong_progress"

    def __init__(self, *, name: str, found: str, expected: str) -> None:
        self.name, self.found, self.expected = name, found, expected
        super().__init__(f"the progress of writer {name!r} has {found}, expected {expected}; nothing was committed")


@dataclass(frozen=True, kw_only=True, slots=True)
class WriterProgress:
    """Progress of a named writer, committed with the data.

    Attributes:
        name: of the writer.
        document: JSON, as it is when the object is made.

    Raises:
        WrongProgress: there is no name, or the document is no JSON.
    """

    name: str
    document: Mapping[str, object] = field(hash=False)
    _text: str = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Check the name, and write the document as JSON: an error in the committer would end all of its group."""
        if not self.name:
            raise WrongProgress(name=self.name, found="no name", expected="the name of a writer")
        try:
            text = json.dumps(dict(self.document), allow_nan=False)
        except (TypeError, ValueError, RecursionError) as error:
            raise WrongProgress(
                name=self.name, found=f"a document that is no JSON ({error})", expected="JSON"
            ) from None
        object.__setattr__(self, "_text", text)

    def as_property(self, sequence: int, transaction: int) -> dict[str, str]:
        """Return the property of the table.

        Args:
            sequence: of the commit among those of the writer, from 1.
            transaction: id of the transaction.
        """
        counted = f'{{"sequence": {sequence}, "transaction": {transaction}, "progress": {self._text}}}'
        return {WRITER_PROPERTY + self.name: counted}


def progress_of(state: TableState | None, name: str) -> dict[str, Any]:
    """Return the progress of a named writer; empty when the table has none.

    Raises:
        UnreadableProgress: it has something else under the name.
    """
    return _recorded(state, name, "progress", {})


def sequence_of(state: TableState, name: str) -> int:
    """Return the sequence of a writer's last commit; 0: there was none.

    Raises:
        UnreadableProgress: the table has something else under the name.
    """
    return _recorded(state, name, "sequence", 0)


def _recorded(state: TableState | None, name: str, key: str, without: T) -> T:
    """Return a value of the property of a writer, of the type of the value without one."""
    prop = f"{WRITER_PROPERTY}{name}"
    text = None if state is None or not name else state.properties.get(prop)
    if text is None:
        return without
    try:
        found = json.loads(text)[key]
    except (ValueError, KeyError, TypeError) as error:
        raise UnreadableProgress(name=prop, text=text[:100]) from error
    if not isinstance(found, type(without)):
        raise UnreadableProgress(name=prop, text=text[:100])
    return found
