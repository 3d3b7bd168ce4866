"""A metastore that is open for reading only."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.tables.memory_metastore import MemoryMetastore
from tests.tables.tables import partition_of, table_of
from toolkit.catalog.errors import ReadOnlyCatalog
from toolkit.catalog.model import TableName
from toolkit.catalog.port import Metastore
from toolkit.catalog.readonly import ReadOnlyMetastore

_NAME = TableName("default", "clicks")
_TABLE = table_of(_NAME, "hdfs://nn/clicks", ds="string")
_PARTITION = partition_of(_TABLE, "1")


@pytest.mark.parametrize(
    "change",
    [
        lambda metastore: metastore.create_table(_TABLE),
        lambda metastore: metastore.add_partitions(_NAME, [_PARTITION]),
        lambda metastore: metastore.alter_partitions(_NAME, [_PARTITION]),
        lambda metastore: metastore.drop_partitions(_NAME, ["ds=1"]),
        lambda metastore: metastore.change_parameters(_NAME, put={"a": "b"}),
    ],
)
def test_every_change_is_refused_and_reading_goes_on(change: Callable[[Metastore], object]) -> None:
    inner = MemoryMetastore()
    inner.create_table(_TABLE)
    inner.add_partitions(_NAME, [_PARTITION])
    metastore = ReadOnlyMetastore(inner)
    with pytest.raises(ReadOnlyCatalog, match=r"default\.clicks: .*nothing was touched"):
        change(metastore)
    assert metastore.table(_NAME) == _TABLE
    assert metastore.partition_names(_NAME) == ("ds=1",)
    assert metastore.partitions(_NAME, ["ds=1"]) == (_PARTITION,)
    assert (metastore.databases(), metastore.tables("default")) == (("default",), ("clicks",))
