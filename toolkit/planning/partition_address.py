"""Addresses of partitions: ``hcat://host:port/database/table/ds=2012-04-21-00`` (Falcon entity specification, Process).

Values of several keys have ``;`` between.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

from toolkit.el import ElError, TableUri
from toolkit.entities import Cluster

SCHEME = "hcat://"
_ADDRESS = re.compile(r"hcat://(?P<registry>[^/]*)/(?P<database>[^/]+)/(?P<table>[^/]+)/(?P<values>.+)")


@dataclass(frozen=True, kw_only=True, slots=True)
class PartitionAddress:
    """The instance of a table feed: one partition, or all that have these values where a feed leaves keys open.

    Attributes:
        registry: host and port of the metastore, several with ``,`` between; empty: the cluster has none.
        database: of the table.
        table: without its database.
        values: key to value, in the order of the feed's table URI.
    """

    registry: str
    database: str
    table: str
    values: Mapping[str, str]

    @classmethod
    def of(cls, endpoint: str, database: str, table: str, values: Mapping[str, str]) -> Self:
        """The address in the metastore with this end point, ``thrift://host:port``."""
        registry = re.sub(r"[a-z]+://", "", endpoint)
        return cls(registry=registry, database=database, table=table, values=values)

    @classmethod
    def parse(cls, text: str) -> Self:
        """The address that a text is.

        Raises:
            ElError: it is none.
        """
        found = _ADDRESS.fullmatch(text)
        pairs = [each.partition("=") for each in found["values"].split(";")] if found else []
        if found is None or not all(key and equals for key, equals, _ in pairs):
            raise ElError(text=text, expected="hcat://HOST:PORT/DATABASE/TABLE/KEY=VALUE;KEY=VALUE")
        values = {key: value for key, _, value in pairs}
        return cls(registry=found["registry"], database=found["database"], table=found["table"], values=values)

    def __str__(self) -> str:
        values = ";".join(f"{key}={value}" for key, value in self.values.items())
        return f"{SCHEME}{self.registry}/{self.database}/{self.table}/{values}"


def partition_address(cluster: Cluster, table: TableUri, values: Mapping[str, str]) -> PartitionAddress:
    """Return the partition of the instance with these values on a cluster."""
    registry = cluster.interfaces.registry
    endpoint = "" if registry is None else registry.endpoint
    return PartitionAddress.of(endpoint, table.database, table.table, values)
