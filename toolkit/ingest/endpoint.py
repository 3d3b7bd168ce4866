"""Address of a table that is ingested; opens nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, kw_only=True, slots=True)
class CatalogAddress:
    """Address of a catalog.

    Attributes:
        type: ``sql`` or ``hive``.
        uri: of the database or the metastore.
        warehouse: URI below which new tables are.
        name: of the catalog; other engines see the tables of a SQL catalog only under the same name.
        properties: further settings of PyIceberg; may have secrets.
    """

    type: str
    uri: str = field(repr=False)
    warehouse: str
    name: str = "feedctl"
    properties: Mapping[str, str] = field(default_factory=dict, hash=False, repr=False)


@dataclass(frozen=True, kw_only=True, slots=True)
class Endpoint:
    """A table of a catalog.

    Attributes:
        catalog: its catalog.
        namespace: of the table.
        table: its name in the namespace.
        partition_values: fixed values of partition columns; a row with another value is an error.
    """

    catalog: CatalogAddress
    namespace: str
    table: str
    partition_values: Mapping[str, str] | None = field(default=None, hash=False)
