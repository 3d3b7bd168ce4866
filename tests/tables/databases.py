"""Databases for tests; the port has no call that makes one."""

from __future__ import annotations

from toolkit.catalog.adapters.connections import Connections
from toolkit.catalog.model import TableName
from toolkit.catalog.port import CatalogSpec


def create_database(spec: CatalogSpec, name: str, location: str) -> None:
    """Have a metastore make a database in a directory."""
    struct = {"1": {"str": name}, "3": {"str": location}}
    connections = Connections(spec)
    connections.run(name, lambda java, stub: stub.create_database(java.filled(java.api.Database(), struct)))
    connections.close()


def make_privileges(spec: CatalogSpec, name: TableName) -> None:
    """Have a metastore make what it keeps privileges in by asking for those of a table.

    One that is new makes it when Spark makes a table, and on PostgreSQL waits for its own locks then, for ever.
    """
    table = 3  # HiveObjectType.TABLE
    struct = {"1": {"i32": table}, "2": {"str": name.database}, "3": {"str": name.table}}
    connections = Connections(spec)
    connections.run(
        str(name),
        lambda java, stub: stub.get_privilege_set(java.filled(java.api.HiveObjectRef(), struct), "nobody", None),
    )
    connections.close()
