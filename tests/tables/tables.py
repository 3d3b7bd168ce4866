"""Tables and partitions that tests make."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from toolkit.catalog.model import Column, Partition, Serde, StorageDescriptor, Table, TableKind, TableName

TEXT = StorageDescriptor(
    columns=(Column(name="id", type="bigint", comment="who"), Column(name="what", type="struct<a:int,b:string>")),
    input_format="org.apache.hadoop.mapred.TextInputFormat",
    output_format="org.apache.hadoop.hive.ql.io.HiveIgnoreKeyTextOutputFormat",
    serde=Serde(library="org.apache.hadoop.hive.serde2.lazy.LazySimpleSerDe", parameters={"field.delim": "\x01"}),
)
"""Of a table of text files, without a location."""


def table_of(name: TableName, location: str, **keys: str) -> Table:
    """An external table of text files with partition keys of these types."""
    return Table(
        name=name,
        kind=TableKind.EXTERNAL,
        storage=replace(TEXT, location=location),
        keys=tuple(Column(name=key, type=hive_type) for key, hive_type in keys.items()),
        parameters={"EXTERNAL": "TRUE", "team": "web"},
    )


def of_spark(table: Table, elsewhere: str) -> Table:
    """The table as Spark keeps some of its own: its directory is in the serde's parameters, another in its place."""
    serde = Serde(parameters={"path": table.location})
    parameters = {**table.parameters, "spark.sql.sources.provider": "json"}
    return replace(table, parameters=parameters, storage=replace(table.storage, location=elsewhere, serde=serde))


def partition_of(
    table: Table, *values: str, location: str = "", parameters: Mapping[str, str] | None = None
) -> Partition:
    """A partition of a table, by default in the directory that Hive gives it."""
    place = location or f"{table.location}/{table.partition_name(values)}"
    return Partition(values=values, storage=replace(table.storage, location=place), parameters=parameters or {})
