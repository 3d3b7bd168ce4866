"""The metastores that keep the contract; a new adapter is one more `pytest.param`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

import pytest

from tests.tables.databases import create_database
from tests.tables.memory_metastore import MemoryMetastore
from tests.tables.tables import table_of
from toolkit.catalog.location_policy import LocationPolicy
from toolkit.catalog.model import Table, TableName
from toolkit.catalog.opening import open_metastore
from toolkit.catalog.port import CatalogSpec, Metastore
from toolkit.catalog.restricted import RestrictedMetastore
from toolkit.entities import Cluster, ClusterLocations, Interface, Interfaces

_CLUSTER = Cluster(
    name="primary",
    interfaces=Interfaces(write=Interface(endpoint="file:///")),
    locations=ClusterLocations(tables=("/",)),
)
_POLICY = LocationPolicy(cluster=_CLUSTER)


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


def _restricted(_request: pytest.FixtureRequest) -> Iterator[Place]:
    database = f"test_{uuid4().hex}"
    inner = MemoryMetastore(("default", database))
    opened = RestrictedMetastore(inner, lambda: None, _POLICY)
    yield Place(metastore=opened, database=database, directory="file:/nowhere")


def _hive(request: pytest.FixtureRequest) -> Iterator[Place]:
    yield _real(request.getfixturevalue("metastore").spec, request)


def _keeping_events(request: pytest.FixtureRequest) -> Iterator[Place]:
    yield _real(request.getfixturevalue("metastore_events").spec, request)


def _hive_4(request: pytest.FixtureRequest) -> Iterator[Place]:
    yield _real(request.getfixturevalue("metastore_4").spec, request)


def _on_postgres(request: pytest.FixtureRequest) -> Iterator[Place]:
    yield _real(request.getfixturevalue("metastore_on_postgres"), request)


def _real(spec: CatalogSpec, request: pytest.FixtureRequest) -> Place:
    directory: Path = request.getfixturevalue("tmp_path")
    database = f"test_{uuid4().hex}"
    create_database(spec, database, f"file:{directory}")
    return Place(metastore=open_metastore(spec, _POLICY), database=database, directory=f"file:{directory}")


@pytest.fixture(
    params=[
        pytest.param(_memory, id="memory"),
        pytest.param(_restricted, id="restricted"),
        pytest.param(_keeping_events, id="keeping-events", marks=pytest.mark.extended),
    ]
)
def events_place(request: pytest.FixtureRequest) -> Iterator[Place]:
    """Each metastore that keeps notification events in turn."""
    yield from request.param(request)


@pytest.fixture(
    params=[
        pytest.param(_memory, id="memory"),
        pytest.param(_restricted, id="restricted"),
        pytest.param(_hive, id="hive"),
        pytest.param(_on_postgres, id="on-postgres", marks=pytest.mark.extended),
        pytest.param(_hive_4, id="hive-4", marks=pytest.mark.extended),
    ]
)
def place(request: pytest.FixtureRequest) -> Iterator[Place]:
    """Each metastore in turn."""
    yield from request.param(request)
