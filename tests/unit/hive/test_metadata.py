"""Hive's `_metadata`."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.tables.tables import partition_of, table_of
from toolkit.catalog.model import TableName
from toolkit.hive.metadata import BadMetadataText, metadata_text, read_metadata

TABLE = table_of(TableName("logs", "clicks"), "hdfs://h/t", ds="string")
HIVES = (
    '{"version":"0.2","table":"{\\"1\\":{\\"str\\":\\"clicks\\"},\\"2\\":{\\"str\\":\\"logs\\"},\\"7\\":{\\"rec\\":'
    '{\\"1\\":{\\"lst\\":[\\"rec\\",1,{\\"1\\":{\\"str\\":\\"a\\"},\\"2\\":{\\"str\\":\\"int\\"}}]}}}}","partitions":[]}'
)


def test_what_is_written_is_read() -> None:
    partitions = [partition_of(TABLE, 'é "x"', location="hdfs://h/t/1", parameters={"k": "v"})]
    table, found = read_metadata(metadata_text(TABLE, partitions))
    assert (table, found) == (TABLE, partitions)


def test_hives_own_is_read() -> None:
    table, partitions = read_metadata(HIVES.encode())
    assert (str(table.name), [each.name for each in table.storage.columns], partitions) == ("logs.clicks", ["a"], [])


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"[]",
        b"{}",
        HIVES.encode()[:-1],
        HIVES.replace('"0.2"', '"9"').encode(),
        HIVES.replace('"partitions":[]', '"partitions":["{}","{]"]').encode(),
        HIVES.replace('"partitions":[]', '"partitions":["[]"]').encode(),
        HIVES.replace('"partitions":[]', '"partitions":[3]').encode(),
        HIVES.replace("rec", "lst").encode(),
        HIVES.replace("clicks", "").encode(),
    ],
)
def test_what_is_none_is_refused(text: bytes) -> None:
    with pytest.raises(BadMetadataText):
        read_metadata(text)


def test_a_table_without_columns_is_refused() -> None:
    bare = replace(TABLE, storage=replace(TABLE.storage, columns=()))
    with pytest.raises(BadMetadataText, match="no columns"):
        read_metadata(metadata_text(bare, []))
