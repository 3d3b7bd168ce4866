"""Progress of a named writer, as a property of the table keeps it: JSON with sequence, transaction and progress."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from toolkit.errors import Failed
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


@dataclass(frozen=True, kw_only=True, slots=True)
class WriterProgress:
    """Progress of a named writer, committed with the data.

    Attributes:
        name: of the writer.
        document: JSON.
    """

    name: str
    document: Mapping[str, object] = field(hash=False)

    def as_property(self, sequence: int, transaction: int) -> dict[str, str]:
        """Return the property of the table.

        Args:
            sequence: of the commit among those of the writer, from 1.
            transaction: id of the transaction.
        """
        document = {"sequence": sequence, "transaction": transaction, "progress": dict(self.document)}
        return {WRITER_PROPERTY + self.name: json.dumps(document)}


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
