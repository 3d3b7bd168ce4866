"""Values of partition keys by type."""

from __future__ import annotations

from datetime import date

import pytest

from toolkit.catalog.partition_name import NULL
from toolkit.catalog.values import BadPartitionValue, KeyType, TypedValue, typed_value


@pytest.mark.parametrize(
    ("hive_type", "expected"),
    [
        ("string", KeyType.STRING),
        ("VARCHAR(10)", KeyType.STRING),
        ("char( 3 )", KeyType.STRING),
        ("bigint", KeyType.INT),
        ("int", KeyType.INT),
        ("date", KeyType.DATE),
        ("decimal(10,2)", KeyType.OTHER),
        ("timestamp", KeyType.OTHER),
        ("array<int>", KeyType.OTHER),
    ],
)
def test_a_type_of_hive_says_what_values_are_compared_as(hive_type: str, expected: KeyType) -> None:
    assert KeyType.of(hive_type) is expected


@pytest.mark.parametrize(
    ("text", "key_type", "expected"),
    [
        ("03", KeyType.STRING, "03"),
        ("03", KeyType.INT, 3),
        ("-7", KeyType.INT, -7),
        ("2026-02-28", KeyType.DATE, date(2026, 2, 28)),
        (NULL, KeyType.INT, None),
        (NULL, KeyType.STRING, None),
        (NULL, KeyType.OTHER, None),
    ],
)
def test_a_text_is_read_as_its_type(text: str, key_type: KeyType, expected: TypedValue) -> None:
    assert typed_value(text, key_type) == expected


@pytest.mark.parametrize(
    ("text", "key_type"),
    [
        ("abc", KeyType.INT),
        ("", KeyType.INT),
        ("3_000", KeyType.INT),
        ("٣", KeyType.INT),
        ("2026-02-30", KeyType.DATE),
        ("20260228", KeyType.DATE),
        ("2026-W09-6", KeyType.DATE),
        ("1.0", KeyType.OTHER),
    ],
)
def test_a_text_that_is_none_of_its_type_is_named(text: str, key_type: KeyType) -> None:
    with pytest.raises(BadPartitionValue, match=f"is no {key_type}"):
        typed_value(text, key_type)
