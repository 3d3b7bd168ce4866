"""Databases for tests; the port has no call that makes one."""

from __future__ import annotations

from toolkit.catalog.adapters.connections import Connections
from toolkit.catalog.port import CatalogSpec


def create_database(spec: CatalogSpec, name: str, location: str) -> None:
    """Have a metastore make a database in a directory."""
    struct = {"1": {"str": name}, "3": {"str": location}}
    connections = Connections(spec)
    connections.run(name, lambda java, stub: stub.create_database(java.filled(java.api.Database(), struct)))
    connections.close()
