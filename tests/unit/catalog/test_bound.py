"""Metastores that ask before every change."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from tests.tables.memory_metastore import MemoryMetastore
from tests.tables.tables import partition_of, table_of
from toolkit.catalog.bound import BoundMetastore, read_only
from toolkit.catalog.errors import ReadOnlyCatalog
from toolkit.catalog.model import TableName
from toolkit.catalog.port import Metastore
from toolkit.errors import StopRequested

_NAME = TableName("default", "clicks")
_TABLE = table_of(_NAME, "hdfs://nn/clicks", ds="string")
_PARTITION = partition_of(_TABLE, "1")


_CHANGES: list[Callable[[Metastore], object]] = [
    lambda metastore: metastore.create_table(_TABLE),
    lambda metastore: metastore.add_partitions(_NAME, [_PARTITION]),
    lambda metastore: metastore.alter_partitions(_NAME, [_PARTITION]),
    lambda metastore: metastore.drop_partitions(_NAME, ["ds=1"]),
    lambda metastore: metastore.change_parameters(_NAME, put={"a": "b"}),
]


def _filled() -> MemoryMetastore:
    inner = MemoryMetastore()
    inner.create_table(_TABLE)
    inner.add_partitions(_NAME, [_PARTITION])
    return inner


@pytest.mark.parametrize("change", _CHANGES)
def test_every_change_is_refused_and_reading_goes_on(change: Callable[[Metastore], object]) -> None:
    metastore = read_only(_filled())
    with pytest.raises(ReadOnlyCatalog, match="nothing was touched"):
        change(metastore)
    assert metastore.table(_NAME) == _TABLE
    assert metastore.partition_names(_NAME) == ("ds=1",)
    assert metastore.partitions(_NAME, ["ds=1"]) == (_PARTITION,)
    assert (metastore.databases(), metastore.tables("default")) == (("default",), ("clicks",))


@pytest.mark.parametrize("change", _CHANGES)
def test_every_change_is_asked_for_first_and_what_is_raised_stops_it(change: Callable[[Metastore], object]) -> None:
    def stop() -> None:
        raise StopRequested

    inner = _filled()
    with pytest.raises(StopRequested):
        change(BoundMetastore(inner, stop))
    assert (inner.table(_NAME), inner.partitions(_NAME, ["ds=1"])) == (_TABLE, (_PARTITION,))


def test_what_is_allowed_is_done() -> None:
    calls: list[None] = []
    metastore = BoundMetastore(_filled(), lambda: calls.append(None))
    metastore.add_partitions(_NAME, [partition_of(_TABLE, "2")])
    metastore.alter_partitions(_NAME, [partition_of(_TABLE, "2", parameters={"a": "b"})])
    assert metastore.drop_partitions(_NAME, ["ds=2", "ds=3"]) == ("ds=2",)
    metastore.change_parameters(_NAME, put={"a": "b"}, remove=["team"])
    metastore.create_table(replace(_TABLE, name=TableName("default", "other")))
    assert len(calls) == 5
    assert metastore.table(_NAME).parameters == {"EXTERNAL": "TRUE", "a": "b"}
    assert metastore.tables("default") == ("clicks", "other")
