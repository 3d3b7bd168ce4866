"""Catalogs of Iceberg tables, by PyIceberg."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from pyiceberg.catalog import Catalog, load_catalog
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.exceptions import (
    NamespaceAlreadyExistsError,
    NoSuchIcebergTableError,
    NoSuchPropertyException,
    NoSuchTableError,
    TableAlreadyExistsError,
)
from pyiceberg.partitioning import PartitionField, PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.transforms import IdentityTransform
from pyiceberg.types import NestedField
from sqlalchemy import inspect
from sqlalchemy.exc import IntegrityError, OperationalError, ProgrammingError
from typing_extensions import override

from toolkit.ingest.endpoint import CatalogAddress
from toolkit.ingest.errors import CatalogUnreachable, NoSuchIngestTable, TableMismatch
from toolkit.ingest.iceberg_table import IcebergTable
from toolkit.ingest.iceberg_types import iceberg_type
from toolkit.ingest.library_errors import FAILURES, cause_of
from toolkit.ingest.port import IngestCatalog, TableSpec

_SQLITE = "sqlite:///"
_HIVE = {"py-catalog-impl": "toolkit.ingest.hive_catalog.LockedHiveCatalog", "hive.hive2-compatible": "true"}
"""The metastore of Hive 2 has no type of its own for instants; Iceberg's own schema says what they are."""
_CATALOG_TABLE = "iceberg_tables"
DEFAULTS = {
    "format-version": "2",
    "write.metadata.delete-after-commit.enabled": "true",
    "write.metadata.previous-versions-max": "20",
}

_RACES = 2
"""How often another process may win while the tables of a new catalog are made."""


def shown_address(uri: str) -> str:
    """Return the address of a catalog for messages, without user, password and options."""
    return re.sub(r"://.*@", "://", uri).partition("?")[0]


@contextmanager
def _reaching(address: CatalogAddress) -> Iterator[None]:
    try:
        yield
    except FAILURES as error:
        raise CatalogUnreachable(place=shown_address(address.uri), cause=cause_of(error)) from None


@dataclass(frozen=True, kw_only=True)
class IcebergCatalog(IngestCatalog):
    """A catalog that is open.

    Attributes:
        address: of the catalog.
        catalog: of the library.
    """

    address: CatalogAddress
    catalog: Catalog

    @override
    def open(self, namespace: str, table: str) -> IcebergTable:
        name = f"{self.address.name}.{namespace}.{table}"
        with _reaching(self.address):
            try:
                self.catalog.load_table((namespace, table))
            except (NoSuchIcebergTableError, NoSuchPropertyException):
                raise TableMismatch(table=name, found="another format", expected="an Iceberg table") from None
            except NoSuchTableError:
                raise NoSuchIngestTable(table=name) from None
            except (OperationalError, ProgrammingError):
                if self._is_made():
                    raise
                raise NoSuchIngestTable(table=name) from None
        return IcebergTable(place=shown_address(self.address.uri), catalog=self.catalog, identifier=(namespace, table))

    def _is_made(self) -> bool:
        """Return whether the database has the tables of a catalog: a look does not make them."""
        return not isinstance(self.catalog, SqlCatalog) or inspect(self.catalog.engine).has_table(_CATALOG_TABLE)

    @override
    def create(self, namespace: str, table: str, spec: TableSpec) -> IcebergTable:
        schema, partitions = _definition(spec)
        with _reaching(self.address):
            with suppress(NamespaceAlreadyExistsError, IntegrityError):  # the library looks before it inserts
                self.catalog.create_namespace(namespace)
            with suppress(TableAlreadyExistsError):
                self.catalog.create_table(
                    (namespace, table),
                    schema,
                    location=spec.location,
                    partition_spec=partitions,
                    properties=DEFAULTS | dict(spec.properties),
                )
        return self.open(namespace, table)

    @override
    def close(self) -> None:
        self.catalog.close()


def _definition(spec: TableSpec) -> tuple[Schema, PartitionSpec]:
    fields = {
        column.name: NestedField(
            field_id=number, name=column.name, field_type=iceberg_type(column.type), required=column.is_required
        )
        for number, column in enumerate(spec.columns, 1)
    }
    partitions = [
        PartitionField(
            source_id=fields[name].field_id, field_id=1000 + number, transform=IdentityTransform(), name=name
        )
        for number, name in enumerate(spec.partition_columns)
    ]
    return Schema(*fields.values()), PartitionSpec(*partitions)


def open_catalog(address: CatalogAddress, *, is_look: bool = False) -> IcebergCatalog:
    """Open a catalog.

    Args:
        address: of the catalog.
        is_look: nothing is made, not even the catalog's own tables.

    Raises:
        CatalogUnreachable: it does not answer.
        NoSuchIngestTable: nothing is at the address yet, and it is only looked at.
    """
    type_ = _HIVE if address.type == "hive" else {"type": address.type}
    settings = {**type_, "uri": address.uri, "warehouse": address.warehouse, **address.properties}
    if is_look:
        file = address.uri.removeprefix(_SQLITE)
        if file != address.uri and not Path(file).exists():  # opening a file that is missing makes it
            raise NoSuchIngestTable(table=f"{address.name} in {shown_address(address.uri)}")
        settings["init_catalog_tables"] = "false"
    with _reaching(address):
        for _ in range(_RACES):  # the library makes the catalog's own tables, and fails when another makes them too
            with suppress(OperationalError, ProgrammingError, IntegrityError):
                return IcebergCatalog(address=address, catalog=load_catalog(address.name, **settings))
        return IcebergCatalog(address=address, catalog=load_catalog(address.name, **settings))
