from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import pytest

from tests.unit.entities.config_repo import repository
from tests.unit.entities.schema_samples import document_pointers, full_document, property_pointers, without_defaults
from toolkit.entities import Feed, Form, Kind, Protection, SchemaName, schema, to_document
from toolkit.entities.holds import Holds
from toolkit.entities.repo import RepoSettings
from toolkit.entities.schema_store import inlined
from toolkit.entities.structure import structure, structure_entity
from toolkit.entities.validation import schema_findings
from toolkit.entities.vocabulary import ProtectionName

KINDS = list(Kind)


@pytest.mark.parametrize("kind", KINDS)
def test_every_property_of_a_schema_reaches_a_field_and_comes_back(kind: Kind) -> None:
    document = full_document(SchemaName(kind))
    described = inlined(schema(SchemaName(kind)))
    known = set(property_pointers(described))
    assert known <= set(document_pointers(document)), "the sample must have every property"
    assert to_document(structure_entity(kind, document)) == without_defaults(document, described)


@pytest.mark.parametrize("kind", KINDS)
def test_the_document_with_every_property_is_valid(kind: Kind) -> None:
    document = full_document(SchemaName(kind))
    assert [finding.message for finding in schema_findings(SchemaName(kind), Form.MERGED, document)] == []


@pytest.mark.parametrize(("name", "model"), [(SchemaName.REPO, RepoSettings), (SchemaName.HOLDS, Holds)])
def test_every_property_of_the_other_files_reaches_a_field(name: SchemaName, model: type[object]) -> None:
    document = full_document(name)
    made = structure(document, model)
    for pointer in _without_one(document):
        assert structure(pointer, model) != made


def _without_one(document: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for key in document:
        smaller = copy.deepcopy(document)
        del smaller[key]
        yield smaller


def test_a_merged_document_comes_back_without_its_defaults() -> None:
    repo = repository()
    assert to_document(repo.feed("clicks")) == repo.merged("clicks")
    assert to_document(repo.datasource("shop")) == repo.merged("shop")


def test_a_protection_may_be_its_name_alone() -> None:
    clusters: list[Any] = [
        {
            "name": "primary",
            "validity": {"start": "2026-01-01T00:00Z", "end": "2027-01-01T00:00Z"},
            "retention": {
                "limit": "days(1)",
                "protect": ["unreplicated", {"name": "late_window", "max_age": "days(9)"}],
            },
        }
    ]
    feed = structure_entity(Kind.FEED, {"name": "x", "frequency": "days(1)", "clusters": clusters})
    assert isinstance(feed, Feed)
    retention = feed.cluster("primary").retention
    assert retention is not None
    assert retention.protect[0] == Protection(name=ProtectionName.UNREPLICATED)
    assert str(retention.protect[1].max_age) == "days(9)"
    assert to_document(feed)["clusters"] == clusters
