"""Errors of actions on tables."""

from __future__ import annotations

from toolkit.errors import Failed
from toolkit.storage import StorageError

INCOMPATIBLE = "incompatible_table"


class InstanceNotAvailable(Exception):  # noqa: N818 - no error: the run waits for it
    """Instance that is not available yet.

    Args:
        instance: its key.
        why: what is missing, in words.
    """

    def __init__(self, *, instance: str, why: str) -> None:
        self.instance, self.why = instance, f"{instance} is not available yet: {why}"
        super().__init__(self.why)


class IncompatibleTable(Failed):
    """Table definition that differs from that of the table at the target; nothing was changed.

    Args:
        table: which.
        found: the differences.
        rule: that was asked for.
    """

    code = INCOMPATIBLE

    def __init__(self, *, table: str, found: list[str], rule: str) -> None:
        self.table, self.found = table, tuple(found)
        super().__init__(
            f"{table}: what comes has {'; '.join(found)}; nothing was changed under --schema-change {rule}. "
            "Change the table, or choose another --schema-change"
        )


class Overlapping(StorageError, Failed):  # noqa: N818 - the family of toolkit.errors is named for what happened
    """Table that would be copied over itself."""

    code = "overlapping"
    text = "the data that come are in the table's own directory, or around it; nothing was changed. Name another place"


class NoExport(StorageError, Failed):  # noqa: N818
    """Directory without a complete export of a table."""

    code = "no_export"
    text = "is no whole export of a table; export it again, or name another directory"


class NotOurs(StorageError, Failed):  # noqa: N818
    """Directory for an export that has other files in it."""

    code = "not_ours"
    text = "it has something in it that no export of feedctl wrote; name an empty or a new directory"
