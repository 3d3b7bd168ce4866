"""Errors of a metastore, under names that every adapter shares.

CatalogError               has a stable `code`, what it is `about` and often a `detail`
├── NoSuchDatabase         the database is not there                    no_such_database
├── NoSuchTable            the table is not there                       no_such_table
├── NoSuchPartition        a partition is not there                     no_such_partition
├── AlreadyExists          a table or partition is there already        already_exists
├── AccessDenied           the metastore refused this identity          permission_denied
├── BadMetadata            the metastore refused what it was given      bad_metadata
├── ReadOnlyCatalog        a mutating call on one opened for reading    read_only
├── UnsupportedMetastore   this adapter cannot talk to that version     unsupported_metastore
├── UnsupportedTable       feedctl leaves such a table alone            unsupported_table
├── ForeignLocation        an address that is not the cluster's         foreign_location
├── MetastoreFailure       any other answer                             metastore_failure
└── MetastoreUnreachable   no answer, or too late (retriable)           unreachable
"""

from __future__ import annotations

from typing import ClassVar

from toolkit.errors import Failed, FeedctlError, InvalidInput, Unavailable


class CatalogError(FeedctlError):
    """Base of what a `Metastore` raises; `code` is stable and meant for programs.

    Args:
        about: what the call was about: a database, a table, ``DATABASE.TABLE/PARTITION``, or the metastore's address.
        detail: what the metastore itself said, when it said more than the class does.
    """

    code: ClassVar[str] = "metastore_failure"
    text: ClassVar[str] = "the metastore refused"

    def __init__(self, *, about: str, detail: str = "") -> None:
        self.about, self.detail = about, detail
        super().__init__(f"{about}: {self.text}{f' ({detail})' if detail else ''}")


class NoSuchDatabase(CatalogError, Failed):  # noqa: N818 - the family of toolkit.errors is named for what happened
    """The database is not there."""

    code = "no_such_database"
    text = "the metastore has no such database; check the name, or have it created"


class NoSuchTable(CatalogError, Failed):  # noqa: N818
    """The table is not there, but its database is."""

    code = "no_such_table"
    text = "the metastore has no such table; check the name, or have it created"


class NoSuchPartition(CatalogError, Failed):  # noqa: N818
    """A partition that was to be changed is not there; nothing was changed."""

    code = "no_such_partition"
    text = "the table has no such partition (any more); look again"


class CatalogAlreadyExists(CatalogError, Failed):  # noqa: N818
    """A table or a partition that was to be added is there already; nothing was added."""

    code = "already_exists"
    text = "it is already there; look again"


class AccessDenied(CatalogError, Failed):  # noqa: N818
    """The metastore, or the storage behind it, refused the identity that the run has."""

    code = "permission_denied"
    text = "permission denied; give the user of this run access, then run again"


class BadMetadata(CatalogError, Failed):  # noqa: N818
    """The metastore refused what it was to write."""

    code = "bad_metadata"
    text = "the metastore does not take this; nothing was changed"


class ReadOnlyCatalog(CatalogError, Failed):  # noqa: N818
    """A mutating call reached a metastore that was opened for reading, as a dry run does."""

    code = "read_only"
    text = "the metastore is open for reading only; nothing was touched"


class UnsupportedMetastore(CatalogError, Failed):  # noqa: N818
    """The adapter cannot talk to a metastore of that version."""

    code = "unsupported_metastore"
    text = "this metastore cannot be used"


class UnsupportedTable(CatalogError, InvalidInput):  # noqa: N818
    """Feedctl does nothing with the data of such a table."""

    code = "unsupported_table"
    text = "such a table is left alone"


class ForeignLocation(CatalogError, Failed):  # noqa: N818
    """A location, the address of a schema or the query of a view leads to a store that is not the cluster's."""

    code = "foreign_location"
    text = "it is not used, and nothing was touched there"


class MetastoreFailure(CatalogError, Failed):  # noqa: N818
    """The metastore failed in a way that has no name of its own; not known to be retriable."""

    code = "metastore_failure"
    text = "the metastore failed"


class MetastoreUnreachable(CatalogError, Unavailable):  # noqa: N818
    """The metastore did not answer, or not in time; what was asked for may still happen. Trying again can help."""

    code = "unreachable"
    text = "the metastore does not answer; try again later"
