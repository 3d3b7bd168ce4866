from __future__ import annotations

from toolkit.entities.yaml_location import locate

TEXT = b"""\
a: one
b:
  - name: x
    c: "two words"
  - {name: y, c: 'it''s'}
d: |
  many
  lines
"""


def test_a_value_and_its_key_have_places() -> None:
    located = locate(TEXT, ("b", 0, "c"))
    assert located is not None
    assert (located.key.line, located.key.column) == (4, 5)
    assert (located.value.line, located.value.column, located.value.end_column) == (4, 8, 19)


def test_list_items_are_found_by_position() -> None:
    located = locate(TEXT, ("b", 1))
    assert located is not None
    assert (located.value.line, located.value.column) == (5, 5)


def test_the_offset_of_the_text_is_known_only_where_columns_are_characters() -> None:
    offsets = {
        pointer: located.value.text_offset
        for pointer in (("a",), ("b", 0, "c"), ("b", 1, "c"), ("d",), ("b",))
        if (located := locate(TEXT, pointer)) is not None
    }
    assert offsets == {("a",): 0, ("b", 0, "c"): 1, ("b", 1, "c"): None, ("d",): None, ("b",): None}


def test_what_is_not_there_has_no_place() -> None:
    assert locate(TEXT, ("z",)) is None
    assert locate(TEXT, ("b", 5)) is None
    assert locate(TEXT, ("a", "deeper")) is None
    assert locate(b"a: [", ("a",)) is None
