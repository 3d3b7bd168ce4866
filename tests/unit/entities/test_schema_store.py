from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from tests.unit.entities.config_repo import CLUSTER, DATASOURCE, FEED, PROCESS
from toolkit.entities import Form, SchemaName, schema
from toolkit.entities.validation import schema_findings
from toolkit.entities.yaml_loading import load_yaml

ENTITY_KINDS = (SchemaName.CLUSTER, SchemaName.FEED, SchemaName.PROCESS, SchemaName.DATASOURCE)


@pytest.mark.parametrize("form", list(Form))
@pytest.mark.parametrize("name", list(SchemaName))
def test_every_form_is_a_valid_schema(name: SchemaName, form: Form) -> None:
    Draft202012Validator.check_schema(dict(schema(name, form)))


@pytest.mark.parametrize("name", list(SchemaName))
def test_every_property_is_described_and_every_mapping_is_closed_or_free_on_purpose(name: SchemaName) -> None:
    document = schema(name)
    properties = list(_properties(document))
    assert properties
    for key, each in properties:
        target = document["$defs"][each["$ref"].rsplit("/", 1)[1]] if "$ref" in each else each
        assert target.get("description"), key
        if target.get("type") == "object" and "properties" in target:
            assert target["additionalProperties"] is False or key in {"properties", "arguments", "conf"}, key


def _properties(node: Any) -> Iterator[tuple[str, Mapping[str, Any]]]:  # noqa: ANN401 - any part of a schema
    if isinstance(node, list):
        for each in node:
            yield from _properties(each)
    elif isinstance(node, Mapping):
        for key, each in node.items():
            if key == "properties" and all(isinstance(value, Mapping) for value in each.values()):
                yield from each.items()
            if key != "if":  # a condition on a property is no definition of it
                yield from _properties(each)


@pytest.mark.parametrize("name", [*ENTITY_KINDS, SchemaName.MIRROR])
def test_an_author_needs_only_kind_and_name(name: SchemaName) -> None:
    document = {"kind": str(name), "name": "x"}
    assert list(schema_findings(name, Form.AUTHORED, document)) == []
    assert [each.rule for each in schema_findings(name, Form.AUTHORED, {"kind": str(name)})] == ["missing-key"]
    assert "missing-key" in [each.rule for each in schema_findings(name, Form.MERGED, document)]


def test_an_author_may_remove_any_value_but_an_identity() -> None:
    document: dict[str, Any] = {
        "kind": "feed",
        "name": "x",
        "frequency": None,
        "clusters": [{"name": "a", "retention": None}],
    }
    assert list(schema_findings(SchemaName.FEED, Form.AUTHORED, document)) == []
    unnamed: dict[str, Any] = {"kind": "feed", "name": "x", "clusters": [{"retention": None}]}
    assert [each.rule for each in schema_findings(SchemaName.FEED, Form.AUTHORED, unnamed)] == ["missing-key"]


def test_an_overlay_cannot_change_what_an_entity_is() -> None:
    rules = [each.rule for each in schema_findings(SchemaName.FEED, Form.OVERLAY, {"kind": "feed", "name": "x"})]
    assert rules == ["unknown-key", "unknown-key"]


@pytest.mark.parametrize(("name", "text"), list(zip(ENTITY_KINDS, (CLUSTER, FEED, PROCESS, DATASOURCE), strict=True)))
def test_the_usual_entities_are_valid_in_both_forms(name: SchemaName, text: str) -> None:
    document = load_yaml(text.encode(), "f.yaml").data
    assert document is not None
    assert list(schema_findings(name, Form.MERGED, document)) == []
    assert list(schema_findings(name, Form.AUTHORED, document)) == []
