"""Hive's `_metadata`."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from tests.tables.tables import partition_of, table_of
from toolkit.catalog.export_metadata import BadMetadataText, metadata_text, read_metadata
from toolkit.catalog.model import TableName

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


def changed(number: str, field: object, *, partition: bool = False) -> bytes:
    """Return what is written of a table with a partition, with one field of it, or of the table, changed."""
    document = json.loads(metadata_text(TABLE, [partition_of(TABLE, "1")]))
    struct = json.loads(document["partitions"][0] if partition else document["table"])
    struct[number] = field
    text = json.dumps(struct)
    return json.dumps({**document, **({"partitions": [text]} if partition else {"table": text})}).encode()


@pytest.mark.parametrize("value", [5, None, "a\0b", "\ud800", ["x"], {"y": 1}, True])
def test_a_value_of_a_partition_that_is_no_text_is_refused(value: object) -> None:
    with pytest.raises(BadMetadataText):
        read_metadata(changed("1", {"lst": ["str", 1, value]}, partition=True))


@pytest.mark.parametrize(
    ("number", "field"),
    [
        ("9", {"map": ["str", "str", 1, {"numFiles": 5}]}),
        ("9", {"map": ["str", "str", 1, [1, 2]]}),
        ("9", {"map": ["str", "str"]}),
        ("1", {"str": 5}),
        ("1", "clicks"),
        ("7", {"rec": []}),
        ("7", {"rec": {"6": {"i32": "many"}}}),
        ("8", {"lst": ["i32", 1, 5]}),
        ("9", {"map": ["str", "i32", 1, {"a": 5}]}),
        ("8", {"lst": ["rec", 1, {"1": {"str": ".."}, "2": {"str": "string"}}]}),
        ("8", {"lst": ["rec", 1, {"1": {"str": ""}, "2": {"str": "string"}}]}),
        ("8", {"lst": ["rec", 1, {"1": {"str": "a/b"}, "2": {"str": "string"}}]}),
        ("12", {"str": "MATERIALIZED_VIEW"}),
        ("12", {"str": "INDEX_TABLE"}),
        ("12", {"str": "OTHER"}),
    ],
)
def test_a_table_with_a_field_of_another_type_or_kind_is_refused(number: str, field: object) -> None:
    with pytest.raises(BadMetadataText):
        read_metadata(changed(number, field))


def test_values_of_a_partition_that_are_numbers_are_refused() -> None:
    with pytest.raises(BadMetadataText, match="field 1"):
        read_metadata(changed("1", {"lst": ["i32", 1, 5]}, partition=True))


def test_privileges_are_passed_over() -> None:
    privileges = {"rec": {"1": {"map": ["str", "lst", 1, {"alice": ["rec", 0]}]}}}
    assert read_metadata(changed("8", privileges, partition=True))[1] == [partition_of(TABLE, "1")]


@pytest.mark.parametrize("text", [b"[" * 200_000, HIVES.replace('"{', '"' + "[" * 200_000 + "{", 1).encode()])
def test_a_text_that_is_nested_too_deep_is_refused(text: bytes) -> None:
    with pytest.raises(BadMetadataText):
        read_metadata(text)
