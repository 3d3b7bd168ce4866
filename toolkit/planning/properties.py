"""The properties that a process instance gives its workflow (Falcon entity specification, Inputs and Outputs)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum

from toolkit.el import TableUri
from toolkit.entities import LocationType
from toolkit.planning.process_io import PlannedInput, PlannedOutput

_SIDE_LOCATIONS = (LocationType.STATS, LocationType.META, LocationType.TMP)


class FilterForm(StrEnum):
    """For whom a partition filter is written."""

    HIVE = "hive"
    """HiveQL and Spark SQL: ``=``."""
    PIG = "pig"
    """Pig: ``==``."""
    JAVA = "java"
    """The metastore's filter language: ``=``."""


def partition_filter(partitions: Iterable[Mapping[str, str]], form: FilterForm) -> str:
    """A filter that selects the partitions: ``(ds='A' AND region='us') OR (ds='B' AND region='us')``.

    Source: Falcon entity specification, Inputs; DESIGN section 8.
    """
    equals = "==" if form is FilterForm.PIG else "="
    return " OR ".join(_conjunction(partition, equals) for partition in partitions)


def partition_uri(registry: str, table: TableUri, partition: Mapping[str, str]) -> str:
    """The address of a partition: ``hcat://host:port/database/table/ds=2012-04-21-00``.

    Args:
        registry: the end point of the cluster's registry interface, ``thrift://host:port``.
        table: the table.
        partition: key to value.
    """
    values = ";".join(f"{key}={value}" for key, value in partition.items())
    return f"hcat://{registry.partition('://')[2] or registry}/{table.database}/{table.table}/{values}"


def input_properties(planned: PlannedInput, registry: str = "") -> dict[str, str]:
    """The properties of an input: its paths, or its table and partition filters.

    Args:
        planned: the input.
        registry: the end point of the cluster's registry interface; for tables.
    """
    own = f"falcon_{planned.name}"
    missing = {f"{own}_missing": "true" if planned.optional and not planned.instances else "false"}
    if planned.storage.table is not None:
        filters = {f"{own}_partition_filter_{form}": partition_filter(planned.partitions, form) for form in FilterForm}
        return {**_table_properties(own, planned.storage.table, registry), **filters, **missing}
    located = {planned.name: ",".join(planned.paths()), f"{own}_storage_type": "FILESYSTEM"}
    sides = {side: planned.paths(side) for side in _SIDE_LOCATIONS if side in planned.storage.templates}
    return {**located, **{f"{planned.name}.{side}": ",".join(paths) for side, paths in sides.items()}, **missing}


def output_properties(planned: PlannedOutput, registry: str = "") -> dict[str, str]:
    """The properties of an output: its path, or its table and partition.

    Args:
        planned: the output.
        registry: the end point of the cluster's registry interface; for tables.
    """
    own = f"falcon_{planned.name}"
    if planned.storage.table is not None and planned.instance.partition is not None:
        values = ",".join(f"{key}={value}" for key, value in planned.instance.partition.items())
        return {**_table_properties(own, planned.storage.table, registry), f"{own}_dataout_partitions": f"'{values}'"}
    paths = planned.instance.paths
    sides = {f"{planned.name}.{side}": paths[side] for side in _SIDE_LOCATIONS if side in paths}
    return {planned.name: paths[LocationType.DATA], f"{own}_storage_type": "FILESYSTEM", **sides}


def _table_properties(own: str, table: TableUri, registry: str) -> dict[str, str]:
    return {
        f"{own}_storage_type": "TABLE",
        f"{own}_catalog_url": registry,
        f"{own}_database": table.database,
        f"{own}_table": table.table,
    }


def _conjunction(partition: Mapping[str, str], equals: str) -> str:
    terms = (f"{key}{equals}'{_quoted(value)}'" for key, value in partition.items())
    return f"({' AND '.join(terms)})"


def _quoted(value: str) -> str:
    return value.replace("\\", "\\\\").replace("'", "\\'")
