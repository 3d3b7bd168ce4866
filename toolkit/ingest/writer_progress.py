"""Progress of a source, as a property of the table keeps it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from toolkit.errors import Failed
from toolkit.ingest.port import WRITER_PROPERTY

if TYPE_CHECKING:
    from toolkit.ingest.port import TableState
    from toolkit.ingest_job.source import Progress


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


def progress_of(state: TableState | None, name: str) -> Progress:
    """Return the progress of a named writer; empty when the table has none.

    Raises:
        UnreadableProgress: it has something else under the name.
    """
    key = f"{WRITER_PROPERTY}{name}"
    text = None if state is None or not name else state.properties.get(key)
    if text is None:
        return {}
    try:
        progress = json.loads(text)["progress"]
    except (ValueError, KeyError, TypeError) as error:
        raise UnreadableProgress(name=key, text=text[:100]) from error
    if not isinstance(progress, dict):
        raise UnreadableProgress(name=key, text=text[:100])
    return progress
