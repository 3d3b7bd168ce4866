"""Each test of Iceberg tables has an empty catalog, on SQLite; the extended tier repeats it on others.

Those are a PostgreSQL database, and a Hive metastore; there it is a database of the metastore that is empty.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest

from tests.contract.ingest_table.tables import address, emptied
from tests.databases.postgresql import PostgresServer
from toolkit.catalog.port import CatalogSpec
from toolkit.ingest.endpoint import CatalogAddress
from toolkit.ingest.iceberg import IcebergCatalog, open_catalog


@pytest.fixture(params=["sqlite", *(pytest.param(each, marks=pytest.mark.extended) for each in ("postgresql", "hive"))])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> CatalogAddress:
    """Return the address of a catalog that does not exist yet."""
    if request.param == "sqlite":
        return address(tmp_path)
    if request.param == "hive":
        of_hive: CatalogAddress = request.getfixturevalue("hive_place")
        return of_hive
    server: PostgresServer = request.getfixturevalue("postgres_server")
    name = f"iceberg_{uuid4().hex}"
    server.create_database(name)
    return CatalogAddress(type="sql", uri=server.url(name), warehouse=f"file://{tmp_path}/warehouse")


@pytest.fixture
def hive_place(metastore_on_postgres: CatalogSpec, tmp_path: Path) -> CatalogAddress:
    """Return the address of a Hive metastore without a table of other tests."""
    return emptied(metastore_on_postgres.uris, tmp_path)


@pytest.fixture
def catalog(place: CatalogAddress) -> Iterator[IcebergCatalog]:
    """Yield an empty catalog."""
    opened = open_catalog(place)
    yield opened
    opened.close()
