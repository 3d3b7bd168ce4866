"""Tables that are more than plain files below partitions: their own metadata lists the files (USERS, ask 24)."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from toolkit.catalog.model import Table


class TableFormat(StrEnum):
    """Format of a table, by the program that knows which files belong to it."""

    HIVE = "Hive"
    """The metastore: all files in a partition's directory."""
    ICEBERG = "Iceberg"
    """Iceberg's metadata files."""
    DELTA = "Delta"
    """Delta's log."""
    HUDI = "Hudi"
    """Hudi's timeline."""
    ACID = "ACID"
    """The transactions of Hive's metastore, also of insert-only tables."""
    HANDLER = "storage handler"
    """Another system, as HBase or Kafka, through a storage handler."""
    SPARK_OWN = "Spark's own"
    """Spark, which keeps the partition columns in parameters and finds the partitions by listing."""


_INSTEAD = {
    TableFormat.ICEBERG: "use DELETE FROM and CALL ...system.expire_snapshots(...) in Spark SQL",
    TableFormat.DELTA: "use DELETE FROM and VACUUM in Spark SQL",
    TableFormat.HUDI: "use its DELETE_PARTITION operation and its cleaner",
    TableFormat.ACID: "use ALTER TABLE ... DROP PARTITION, or REPL DUMP and REPL LOAD, in Hive",
    TableFormat.HANDLER: "use the tools of that system",
    TableFormat.SPARK_OWN: "make it again with its partitions in the metastore, or describe its directories as a feed",
}


def table_format(table: Table) -> TableFormat:
    """The format, from the table's parameters and classes."""
    parameters = {key.lower(): value for key, value in table.parameters.items()}
    provider = parameters.get("spark.sql.sources.provider", "").lower()
    classes = f"{table.storage.input_format} {table.storage.serde.library}".lower()
    handler = parameters.get("storage_handler", "")
    marks = (
        (TableFormat.ICEBERG, "iceberg" in (parameters.get("table_type", "").lower(), provider)),
        (TableFormat.ICEBERG, "iceberg" in f"{handler} {classes}".lower() or "metadata_location" in parameters),
        (TableFormat.DELTA, provider == "delta" or "io.delta." in f"{handler} {classes}".lower()),
        (TableFormat.HUDI, provider in {"hudi", "org.apache.hudi"}),
        (TableFormat.HUDI, "org.apache.hudi." in classes or "com.uber.hoodie." in classes),
        (TableFormat.ACID, parameters.get("transactional", "").lower() == "true"),
        (TableFormat.HANDLER, bool(handler)),
        (TableFormat.SPARK_OWN, not table.keys and "spark.sql.sources.schema.numpartcols" in parameters),
    )
    return next((found for found, is_so in marks if is_so), TableFormat.HIVE)


def unsupported_reason(table: Table) -> str:
    """Why feedctl leaves the data of this table alone, and what to use instead; empty: it need not."""
    found = table_format(table)
    if found is not TableFormat.HIVE:
        return (
            f"{table.name} is a table of {found} kind, whose files are not to be touched one by one; {_INSTEAD[found]}"
        )
    if table.storage.as_directories:
        return f"{table.name} is SKEWED and STORED AS DIRECTORIES; make it again without, then run again"
    return ""
