"""docs/specification-rules.md names rules and schema keywords that exist."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from toolkit.entities.schema_store import SchemaName, inlined, schema
from toolkit.linter.rules import RULES

PAGE = (Path(__file__).parents[3] / "docs" / "specification-rules.md").read_text(encoding="utf-8")
LINKS = re.findall(r"\[([^\]]+)\]\(reference/rules\.md#([^)]+)\)", PAGE)
KEYWORDS = re.findall(r"`([a-z]+)#(\S+) ([A-Za-z]+)`", PAGE)
ROWS = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in PAGE.splitlines() if line.startswith("| ")]


def child(node: Mapping[str, Any], step: str) -> Mapping[str, Any]:
    """Return what a schema says about `name`, about `name[]` (the items of that list), or about every value (`*`)."""
    if step == "*":
        found = node["additionalProperties"]
    else:
        found = node["properties"][step.removesuffix("[]")]
        found = found["items"] if step.endswith("[]") else found
    assert isinstance(found, Mapping)
    return found


def has_keyword(kind: str, place: str, keyword: str) -> bool:
    node: Mapping[str, Any] = inlined(schema(SchemaName(kind)))
    is_property = place.startswith("properties.")  # whose names have dots
    *outer, last = place.split(".", 1 if is_property else -1)
    for step in outer:
        node = child(node, step)
    return last in node["required"] if keyword == "required" else keyword in child(node, last)


def test_every_rule_that_the_page_names_exists() -> None:
    assert LINKS
    assert {name for name, _ in LINKS} <= set(RULES)
    assert all(name == anchor for name, anchor in LINKS)


@pytest.mark.parametrize(("kind", "place", "keyword"), KEYWORDS)
def test_every_schema_keyword_that_the_page_names_exists(kind: str, place: str, keyword: str) -> None:
    assert has_keyword(kind, place, keyword)


def test_every_sentence_has_a_place_a_quotation_and_an_answer() -> None:
    assert {len(row) for row in ROWS} == {3}
    assert all('"' in words and answer for place, words, answer in ROWS if place not in {"place", "---"})
