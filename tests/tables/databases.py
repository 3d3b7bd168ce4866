"""Databases for tests; the port has no call that makes one."""

from __future__ import annotations

from toolkit.catalog.adapters.connections import Connections
from toolkit.catalog.location_policy import LocationPolicy
from toolkit.catalog.model import TableName
from toolkit.catalog.opening import open_metastore
from toolkit.catalog.port import CatalogSpec, Metastore
from toolkit.el import CanonicalPath
from toolkit.entities import Cluster, Interface, Interfaces


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


class _Anywhere(LocationPolicy):
    """Lets everything be used: for looking at what there is."""

    def why_not_stored(self, text: str) -> str:
        del text
        return ""

    def why_not_used(self, location: str, own: CanonicalPath | None) -> str:
        del location, own
        return ""


def plain_metastore(spec: CatalogSpec) -> Metastore:
    """Open a metastore without a cluster: all its locations are used."""
    cluster = Cluster(name="any", interfaces=Interfaces(write=Interface(endpoint="file:///")))
    return open_metastore(spec, _Anywhere(cluster=cluster))
