from __future__ import annotations

from collections.abc import Mapping

from hypothesis import given
from hypothesis import strategies as st

from toolkit.entities.documents import Document, Value
from toolkit.entities.layers import Layer, leaves, merge_layers, origin
from toolkit.entities.merge import merge


def test_mappings_merge_by_key_and_the_nearest_wins() -> None:
    assert merge([{"a": {"x": 1, "y": 1}}, {"a": {"y": 2, "z": 2}}]) == {"a": {"x": 1, "y": 2, "z": 2}}


def test_null_removes_and_a_nearer_layer_may_bring_back() -> None:
    assert merge([{"a": {"x": 1, "y": 1}}, {"a": {"x": None}}]) == {"a": {"y": 1}}
    assert merge([{"a": {"x": 1}}, {"a": None}, {"a": {"y": 2}}]) == {"a": {"y": 2}}


def test_null_in_the_first_layer_is_no_value() -> None:
    assert merge([{"a": None, "b": {"c": None, "d": [{"e": None, "f": 1}]}}]) == {"b": {"d": [{"f": 1}]}}


def test_lists_of_named_items_merge_by_name_in_the_order_of_their_first_mention() -> None:
    base: Document = {"clusters": [{"name": "a", "x": 1}, {"name": "b", "x": 1}]}
    overlay: Document = {"clusters": [{"name": "c", "x": 3}, {"name": "a", "y": 2}]}
    assert merge([base, overlay]) == {
        "clusters": [{"name": "a", "x": 1, "y": 2}, {"name": "b", "x": 1}, {"name": "c", "x": 3}]
    }


def test_other_lists_replace() -> None:
    assert merge([{"groups": ["a", "b"]}, {"groups": ["c"]}]) == {"groups": ["c"]}
    assert merge([{"steps": [{"name": "a"}]}, {"steps": []}]) == {"steps": []}
    assert merge([{"x": [{"name": "a"}, "b"]}, {"x": [{"name": "a", "y": 1}]}]) == {"x": [{"name": "a", "y": 1}]}


def test_a_duplicate_name_is_kept_so_that_it_can_be_reported() -> None:
    merged = merge([{"clusters": [{"name": "a"}]}, {"clusters": [{"name": "b", "x": 1}, {"name": "b", "x": 2}]}])
    assert merged == {"clusters": [{"name": "a"}, {"name": "b", "x": 1}, {"name": "b", "x": 2}]}


def test_the_layers_are_not_changed() -> None:
    base: Document = {"a": {"b": [{"name": "x", "y": 1}]}}
    merge([base, {"a": {"b": [{"name": "x", "y": 2}]}}])
    assert base == {"a": {"b": [{"name": "x", "y": 1}]}}


SCALARS = st.one_of(st.none(), st.booleans(), st.integers(0, 9), st.sampled_from(["p", "q"]))
KEYS = st.sampled_from(["a", "b", "c"])
NAMED = st.lists(
    st.builds(lambda name, value: {"name": name, "v": value}, st.sampled_from(["m", "n", "o"]), SCALARS),
    max_size=3,
    unique_by=lambda item: str(item["name"]),
)


def _values(children: st.SearchStrategy[Value]) -> st.SearchStrategy[Value]:
    return st.one_of(st.dictionaries(KEYS, children, max_size=3), st.lists(st.integers(0, 3), max_size=3), NAMED)


DOCUMENTS = st.dictionaries(KEYS, st.recursive(SCALARS, _values, max_leaves=8), max_size=3)


@given(DOCUMENTS)
def test_a_document_over_itself_is_itself(document: Document) -> None:
    assert merge([document, document]) == merge([document])


@given(DOCUMENTS, DOCUMENTS, DOCUMENTS)
def test_every_leaf_of_a_merged_document_comes_from_the_nearest_file_that_has_it(
    first: Document, second: Document, third: Document
) -> None:
    layers = [_layer(f"{index}.yaml", each) for index, each in enumerate((first, second, third))]
    merged = merge_layers(layers)
    for pointer in leaves(merged):
        place = origin(layers, merged, pointer)
        assert place is not None
        value = _at(merged, pointer)
        if not isinstance(value, Mapping | list):
            data = next(layer.data for layer in layers if layer.file == place.file).decode()
            written = data.split("\n")[place.value.line - 1][place.value.column - 1 : place.value.end_column - 1]
            assert written == _flow(value)


def _layer(file: str, document: Document) -> Layer:
    return Layer(file=file, data=(_flow(document) + "\n").encode(), document=document)


def _flow(value: Value) -> str:
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key}: {_flow(each)}" for key, each in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(_flow(each) for each in value) + "]"
    if value is None:
        return "null"
    return str(value).lower() if isinstance(value, bool) else str(value)


def _at(value: Value, pointer: tuple[str | int, ...]) -> Value:
    for step in pointer:
        value = value[step]  # type: ignore[index] # the pointer was made from the value
    return value
