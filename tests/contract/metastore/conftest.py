"""The metastores that keep the contract; a new adapter is one more `pytest.param`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from uuid import uuid4

import pytest

from tests.tables.databases import create_database
from tests.tables.memory_metastore import MemoryMetastore
from tests.tables.tables import table_of
from tests.testbed.metastore import HiveMetastoreServer
from toolkit.catalog.model import Table, TableName
from toolkit.catalog.opening import open_metastore
from toolkit.catalog.port import Metastore


@dataclass(frozen=True, kw_only=True, slots=True)
class Place:
    """A metastore with a new, empty database of this test's own.

    Args:
        metastore: what is tested.
        database: its name.
        directory: the URI of a directory that the metastore may write to.
    """

    metastore: Metastore
    database: str
    directory: str

    def named(self, table: str) -> TableName:
        """A name in the database."""
        return TableName(self.database, table)

    def made(self, table: str = "clicks", **keys: str) -> Table:
        """A table that is there, by default with the string keys ``ds`` and ``region``."""
        types = keys or {"ds": "string", "region": "string"}
        made = table_of(self.named(table), f"{self.directory}/{table}", **types)
        self.metastore.create_table(made)
        return made


def _memory(_request: pytest.FixtureRequest) -> Iterator[Place]:
    database = f"test_{uuid4().hex}"
    yield Place(metastore=MemoryMetastore(("default", database)), database=database, directory="file:/nowhere")


def _hive(request: pytest.FixtureRequest) -> Iterator[Place]:
    server: HiveMetastoreServer = request.getfixturevalue("metastore")
    database = f"test_{uuid4().hex}"
    directory = f"{server.warehouse}/{database}"
    create_database(server.spec, database, directory)
    yield Place(metastore=open_metastore(server.spec), database=database, directory=directory)


@pytest.fixture(params=[pytest.param(_memory, id="memory"), pytest.param(_hive, id="hive")])
def place(request: pytest.FixtureRequest) -> Iterator[Place]:
    """Each metastore in turn."""
    yield from request.param(request)
