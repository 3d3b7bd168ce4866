"""Validity of documents, found by two validators that agree."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.examples import share_of
from tests.unit.entities.schema_samples import full_document
from toolkit.entities import Form, SchemaName
from toolkit.entities.validation import is_valid, schema_findings
from toolkit.entities.violations import violations

_TEXTS = (
    st.text(st.characters(max_codepoint=126, min_codepoint=32), max_size=12)
    | st.sampled_from(["hours(1)", "days(0)", "now(0,0)", "/data/${YEAR}", "/data/{a", "Europe/Berlin", "2026-02-30"])
    | st.sampled_from(["NOT_DELETE", "*/x", "a@b", "0750", "hdfs://nn:8020", "HIGH", "true"])
)
_NUMBERS = st.integers(-(10**39), 10**39) | st.floats(allow_nan=False, allow_infinity=False) | st.integers(-2, 40)
_VALUES = st.recursive(
    st.none() | st.booleans() | _NUMBERS | _TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_TEXTS, inner, max_size=3),
    max_leaves=5,
)
"""What YAML can say, as far as the two read regular expressions alike: not beyond ASCII."""


@st.composite
def _mutated(draw: st.DrawFn, name: SchemaName) -> dict[str, Any]:
    document = copy.deepcopy(full_document(name))
    for _ in range(draw(st.integers(1, 3))):
        parent, key = draw(st.sampled_from([(document, "name"), *_places(document)]))
        draw(st.sampled_from([_replace, _remove, _add]))(draw, parent, key)
    return document


def _places(node: object) -> list[tuple[Any, Any]]:
    """Each value as what holds it, and its key or position there."""
    parts = list(node.items()) if isinstance(node, dict) else list(enumerate(node)) if isinstance(node, list) else []
    return [place for key, value in parts for place in ((node, key), *_places(value))]


def _replace(draw: Callable[[Any], Any], parent: Any, key: Any) -> None:  # noqa: ANN401 - a list or a mapping
    parent[key] = draw(_VALUES)


def _remove(_: Callable[[Any], Any], parent: Any, key: Any) -> None:  # noqa: ANN401 - a list or a mapping
    if isinstance(parent, list) or key in parent:
        del parent[key]


def _add(draw: Callable[[Any], Any], parent: Any, key: Any) -> None:  # noqa: ANN401 - a list or a mapping
    if isinstance(parent, list):
        parent.append(copy.deepcopy(parent[key]) if draw(st.booleans()) else draw(_VALUES))
    else:
        parent[draw(_TEXTS)] = draw(_VALUES)


@pytest.mark.extended
@settings(max_examples=share_of(400))
@given(st.sampled_from(SchemaName), st.sampled_from(Form), st.data())
def test_a_document_is_valid_when_nothing_has_to_be_explained(
    name: SchemaName, form: Form, data: st.DataObject
) -> None:
    document = data.draw(_mutated(name))
    assert is_valid(name, form, document) is (not list(violations(name, form, document)))


@pytest.mark.parametrize("group", ["über_uns", "clicks\n", "٣"])
def test_where_the_two_read_a_pattern_differently_the_one_that_explains_decides(group: str) -> None:
    document = {"kind": "feed", "name": "x", "groups": [group]}
    assert not is_valid(SchemaName.FEED, Form.AUTHORED, document)
    assert list(schema_findings(SchemaName.FEED, Form.AUTHORED, document)) == []
