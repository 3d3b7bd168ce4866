"""The port to a Hive metastore: what an adapter does, checked by `tests/contract/metastore` (DESIGN section 5).

It knows names and locations, never files: no call removes data. There is no call that drops a database.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from toolkit.catalog.model import MetastoreEvent, Partition, Table, TableName

NOTHING: Mapping[str, str] = MappingProxyType({})
BATCH = 500
"""Partitions of one call: as many as a metastore changes in one transaction, well below its time-out."""
READ_BATCH = 1000
"""Partitions that are read by one call."""
CALL_SECONDS = 120.0
"""So long one call may take before it counts as `MetastoreUnreachable`; what it was about to do may still happen."""


@dataclass(frozen=True, kw_only=True, slots=True)
class CatalogSpec:
    """Address and options of a metastore, without secrets: each machine finds those in its own environment.

    Attributes:
        uris: the end point of a cluster's `registry` interface: ``thrift://HOST:PORT``, several with ``,`` between.
        hadoop_conf: settings by their Hadoop and Hive names (``hive.metastore.sasl.enabled`` ...), of the cluster
            entity; they stand above those of the files in HADOOP_CONF_DIR.
    """

    uris: str
    hadoop_conf: Mapping[str, str] = field(default_factory=dict, hash=False)


class Metastore(Protocol):
    """A Hive metastore; clients may be shared by threads.

    Every call raises `MetastoreUnreachable` when there is no answer in time, and `AccessDenied` when it is refused; one
    about a table raises `NoSuchDatabase` or `NoSuchTable`.
    """

    def version(self) -> str:
        """Return the version that the metastore reports, for example ``Hive 2``."""
        ...

    def databases(self) -> tuple[str, ...]:
        """The names of all databases, sorted."""
        ...

    def tables(self, database: str) -> tuple[str, ...]:
        """The names of all tables and views of a database, sorted."""
        ...

    def directories(self, database: str) -> Mapping[str, str]:
        """The location of each table of a database, by its name; views have none, and are left out."""
        ...

    def table(self, name: TableName) -> Table:
        """A table with all that is known of it."""
        ...

    def partition_names(self, name: TableName, *, matching: Mapping[str, str] = NOTHING) -> tuple[str, ...]:
        """The names of a table's partitions, sorted as texts; see `toolkit.catalog.partition_name`.

        Args:
            name: the table; one without partition keys has no names.
            matching: only partitions with these values, compared as texts; other keys may have any value.
        """
        ...

    def partitions(self, name: TableName, names: Sequence[str]) -> tuple[Partition, ...]:
        """The partitions with these names, in any order; those that are not there are left out.

        Args:
            name: the table.
            names: in Hive's spelling, as `partition_names` gives them; any number, asked for in batches.
        """
        ...

    def database_location(self, name: str) -> str:
        """The URI of the directory that a database's tables get theirs in.

        Raises:
            NoSuchDatabase: it is not there.
        """
        ...

    def last_event(self) -> int:
        """Return the number of the newest notification event; 0: the metastore keeps none."""
        ...

    def events(self, after: int, most: int) -> tuple[MetastoreEvent, ...]:
        """Return notification events, oldest first; those that the metastore has cleaned are left out.

        Args:
            after: only those with a larger number.
            most: at most so many.
        """
        ...

    def create_table(self, table: Table) -> None:
        """Make a table or view; the metastore makes its directory when that is missing.

        Raises:
            AlreadyExists: something has that name; nothing was changed.
            NoSuchDatabase: nothing was changed.
            BadMetadata: the metastore does not take it.
        """
        ...

    def alter_table(self, table: Table) -> None:
        """Have a table or view that is there look as given: location, columns, parameters. No data moves.

        Its partitions stay as they are; the statistics in the parameters are kept as given.

        Raises:
            BadMetadata: the metastore does not take it; nothing was changed.
        """
        ...

    def add_partitions(self, name: TableName, partitions: Sequence[Partition]) -> None:
        """Add partitions, all or none; readers see all of them at once. At most about `BATCH` at once.

        The metastore makes a directory that is missing; the statistics in the parameters are kept as given.

        Raises:
            AlreadyExists: one is there already; nothing was added.
            BadMetadata: one has another number of values than the table has keys, or another fault; nothing was added.
        """
        ...

    def alter_partitions(self, name: TableName, partitions: Sequence[Partition]) -> None:
        """Have partitions that are there look as given: location, columns, parameters; all or none. No data moves.

        Raises:
            NoSuchPartition: one is not there; nothing was changed.
            BadMetadata: as for `add_partitions`.
        """
        ...

    def drop_partitions(self, name: TableName, names: Sequence[str]) -> tuple[str, ...]:
        """Forget partitions; their data stay, of managed tables too. All or none; at most about `BATCH` at once.

        Returns:
            The names of those that this call dropped; the others were gone already.
        """
        ...

    def drop_table(self, name: TableName) -> None:
        """Forget a table or view, and its partitions; their data stay, of managed tables too.

        Raises:
            NoSuchTable: it is gone already.
        """
        ...

    def change_parameters(
        self, name: TableName, *, put: Mapping[str, str] = NOTHING, remove: Collection[str] = ()
    ) -> None:
        """Set and remove parameters of the table itself; those of its partitions stay, see `alter_partitions`."""
        ...

    def close(self) -> None:
        """End the connections."""
        ...
