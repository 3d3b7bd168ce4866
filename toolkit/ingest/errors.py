"""Errors of streaming ingest; each wrong order of calls has its own class."""

from __future__ import annotations

from toolkit.errors import Failed, InvalidInput, Unavailable


class CatalogUnreachable(Unavailable):
    """The catalog of tables, or the store behind it, gave no answer.

    Args:
        place: its address, without secrets.
        cause: the error in the library's words.
    """

    code = "catalog_unreachable"

    def __init__(self, *, place: str, cause: str) -> None:
        self.place, self.cause = place, cause
        super().__init__(f"the catalog {place} does not answer: {cause}; nothing was lost, run it again when it is up")


class NoSuchIngestTable(InvalidInput):
    """The table is not there, and it was not to be created.

    Args:
        table: ``catalog.namespace.table``.
    """

    code = "no_such_table"

    def __init__(self, *, table: str) -> None:
        self.table = table
        super().__init__(f"there is no table {table}; create it, or connect with `create` and its columns")


class TableMismatch(InvalidInput):
    """A table is not as the config or the caller says: columns, types or partition columns differ.

    Args:
        table: ``catalog.namespace.table``.
        found: what the table has.
        expected: what was expected.
    """

    code = "table_mismatch"

    def __init__(self, *, table: str, found: str, expected: str) -> None:
        self.table, self.found, self.expected = table, found, expected
        super().__init__(f"table {table} has {found}, expected {expected}; nothing was written")


class SchemaChanged(Failed):
    """The columns of the table changed since the rows were converted; nothing of the transaction was committed.

    Args:
        table: ``catalog.namespace.table``.
        change: what changed.
    """

    code = "schema_changed"

    def __init__(self, *, table: str, change: str) -> None:
        self.table, self.change = table, change
        super().__init__(
            f"the columns of {table} changed in the middle of a transaction: {change}; nothing of it was committed: "
            f"connect again and write the records again"
        )


class CommitConflict(Failed):
    """Another commit came first; nothing was committed, and trying again on the new state helps.

    Args:
        table: ``catalog.namespace.table``.
    """

    code = "commit_conflict"
    retriable = True

    def __init__(self, *, table: str) -> None:
        self.table = table
        super().__init__(f"another commit to {table} came first; nothing was committed; try again")


class TableLocked(CommitConflict):
    """Others hold the lock of a table in the Hive metastore, and may be at work; nothing was committed.

    Args:
        table: ``catalog.namespace.table``.
        holders: the locks, with who has them and since when.
    """

    code = "table_locked"

    def __init__(self, *, table: str, holders: tuple[str, ...]) -> None:
        self.holders = holders
        super().__init__(table=table)
        found = "; ".join(holders) or "a lock of its database"
        message = (
            f"{table} is locked in the metastore: {found}; nothing was committed; try again later. If the holder has "
            f"ended, the metastore removes its lock after hive.txn.timeout when hive.compactor.initiator.on is set; "
            f"else delete it from HIVE_LOCKS"
        )
        self.args = (message,)


class CommitUnknown(Unavailable):
    """No answer to a commit came; it may have happened, which is looked up before anything else is done.

    Args:
        table: ``catalog.namespace.table``.
        cause: the error in the library's words.
    """

    code = "commit_unknown"

    def __init__(self, *, table: str, cause: str) -> None:
        self.table, self.cause = table, cause
        super().__init__(
            f"no answer to a commit to {table}: {cause}; the next commit looks up whether it happened, do not write "
            f"the records again before"
        )


class StoreFailed(Failed):
    """The store of a table refused a data file: a full disk, no permission.

    Args:
        table: ``catalog.namespace.table``.
        cause: the error in the store's words.
    """

    code = "store_failed"

    def __init__(self, *, table: str, cause: str) -> None:
        self.table, self.cause = table, cause
        super().__init__(f"a data file of {table} could not be written: {cause}; nothing of it is visible")


class LocationIsShared(Failed):
    """Another table has its metadata at the location of a table, or below it: no file there is left over for certain.

    Args:
        table: ``catalog.namespace.table``.
        found: a metadata file of the other table.
    """

    code = "location_is_shared"

    def __init__(self, *, table: str, found: str) -> None:
        self.table, self.found = table, found
        super().__init__(
            f"no left-over file of {table} is removed: at its location is the metadata file {found} of another table, "
            f"or of one that was dropped; move the other table away, or remove that file and the data that it names"
        )


class BadRecords(InvalidInput):
    """Records are no rows of the table, and none may be rejected; nothing of them was written.

    Args:
        table: ``catalog.namespace.table``.
        reasons: of the first of them, with their places.
        count: of all of them.
    """

    code = "bad_records"

    def __init__(self, *, table: str, reasons: tuple[str, ...], count: int) -> None:
        self.table, self.reasons, self.count = table, reasons, count
        noun = "record is" if count == 1 else "records are"
        super().__init__(f"{count} {noun} no row of {table}: {'; '.join(reasons)}; nothing of them was written")


class DataLost(Failed):
    """The records that follow the progress in a source are not there any more.

    Args:
        source: its name.
        expected: the offset where reading should go on.
        found: what is there.
    """

    code = "data_lost"

    def __init__(self, *, source: str, expected: str, found: str) -> None:
        self.source, self.expected, self.found = source, expected, found
        super().__init__(
            f"{source}: reading should go on at {expected}, but there is {found}: data was removed before it was "
            f"ingested, or the source was made anew; see `on_data_loss`"
        )


class UnitChanged(Failed):
    """A part of a source is not what it was when it was looked at, or read.

    Args:
        unit: its name.
        change: what changed.
    """

    code = "unit_changed"

    def __init__(self, *, unit: str, change: str) -> None:
        self.unit, self.change = unit, change
        super().__init__(f"{unit} changed while it was ingested: {change}; it was left as it is")


class RecordTooLong(InvalidInput):
    """A record has more bytes than one may have.

    Args:
        unit: in which part of the source.
        position: of the record.
        limit: in bytes.
    """

    code = "record_too_long"

    def __init__(self, *, unit: str, position: int, limit: int) -> None:
        self.unit, self.position, self.limit = unit, position, limit
        super().__init__(
            f"{unit}: the record at {position} has more than {limit} bytes, the most of one record; split it, or "
            f"raise `commit.bytes` of the feed's `ingest`"
        )


class ProgressMoved(Failed):
    """Another writer of the same name committed since this one began; nothing of this transaction was committed.

    Args:
        table: ``catalog.namespace.table``.
        name: of the writer.
        found: the sequence that the table has.
        expected: the sequence that this writer began from.
    """

    code = "progress_moved"

    def __init__(self, *, table: str, name: str, found: int, expected: int) -> None:
        self.table, self.name, self.found, self.expected = table, name, found, expected
        super().__init__(
            f"{table}: writer {name!r} is at commit {found}, expected {expected}: another of this name writes; nothing "
            f"was committed: connect again and go on from its progress"
        )
