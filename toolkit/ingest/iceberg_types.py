"""Types of Iceberg columns by Spark's names, and rows by their partitions."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import pyarrow as pa
import pyarrow.compute as pc
from pyiceberg.types import (
    BinaryType,
    BooleanType,
    DateType,
    DecimalType,
    DoubleType,
    FloatType,
    IcebergType,
    IntegerType,
    LongType,
    StringType,
    TimestampType,
    TimestamptzType,
)

_TYPES: dict[str, IcebergType] = {
    "string": StringType(),
    "boolean": BooleanType(),
    "int": IntegerType(),
    "bigint": LongType(),
    "float": FloatType(),
    "double": DoubleType(),
    "date": DateType(),
    "timestamp": TimestamptzType(),
    "timestamp_ntz": TimestampType(),
    "binary": BinaryType(),
}
_NAMES = {type_: name for name, type_ in _TYPES.items()}


def iceberg_type(name: str) -> IcebergType:
    """Return the type of a name of `IngestColumn.type`."""
    if found := re.fullmatch(r"decimal\((\d+),\s*(\d+)\)", name):
        return DecimalType(int(found[1]), int(found[2]))
    return _TYPES[name]


def spark_name(type_: IcebergType) -> str:
    """Return Spark's name of a type; of a nested type, the library's."""
    if isinstance(type_, DecimalType):
        return f"decimal({type_.precision},{type_.scale})"
    return _NAMES.get(type_, str(type_))


def split_rows(rows: pa.Table, keys: Sequence[str]) -> Iterator[pa.Table]:
    """Yield rows with the same values of the key columns together; all of them, when there are no keys."""
    if not keys:
        yield rows
        return
    for values in rows.select(list(keys)).group_by(list(keys)).aggregate([]).to_pylist():
        mask = pa.scalar(value=True)
        for key, value in values.items():
            mask = pc.and_(mask, pc.is_null(rows[key]) if value is None else pc.equal(rows[key], value))
        yield rows.filter(pc.fill_null(mask, fill_value=False))
