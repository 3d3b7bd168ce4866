"""Every problem that loading can report has a rule that explains it."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path

from toolkit.entities import Kind
from toolkit.linter.findings import Severity
from toolkit.linter.rules import FAMILIES, RULES

ROOT = Path(__file__).parents[4]
SOURCES = [path for part in ("entities", "config_source") for path in sorted((ROOT / "toolkit" / part).rglob("*.py"))]
IDENTIFIER = re.compile(r"[a-z]+(?:-[a-z]+)*")
MAKERS = {"_problem", "_note"}
"""Functions that take the rule as a plain argument."""


def calls() -> Iterator[ast.Call]:
    for path in SOURCES:
        yield from (node for node in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(node, ast.Call))


def written_out(call: ast.Call) -> Iterator[str]:
    """The rules that a call names."""
    named = [each.value for each in call.keywords if each.arg == "rule"]
    function = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    plain = call.args if function in MAKERS else []
    for value in (*named, *plain):
        if isinstance(value, ast.Constant) and isinstance(value.value, str) and IDENTIFIER.fullmatch(value.value):
            yield value.value


def formats(node: object) -> Iterator[str]:
    """The formats that a schema names for values; those of keys are reported as bad names."""
    if isinstance(node, dict):
        if isinstance(node.get("format"), str):
            yield node["format"]
        yield from (found for key, each in node.items() if key != "propertyNames" for found in formats(each))
    elif isinstance(node, list):
        yield from (found for each in node for found in formats(each))


def reported() -> set[str]:
    """The identifiers that loading uses, as far as the source says them."""
    found = {rule for call in calls() for rule in written_out(call)}
    of_libraries = {"expectations.json"}  # what Great Expectations takes, which the rules about suites read
    schemas = [
        path for path in (ROOT / "toolkit" / "entities" / "schemas").glob("*.json") if path.name not in of_libraries
    ]
    found |= {f"bad-{each}" for path in schemas for each in formats(json.loads(path.read_text("utf-8")))}
    return found | {f"unknown-{kind}" for kind in (Kind.CLUSTER, Kind.FEED, Kind.DATASOURCE)}


def test_every_problem_of_loading_has_a_rule_and_every_such_rule_a_problem() -> None:
    documented = {rule.id for rule in FAMILIES[0].rules if rule.check is None}
    assert reported() == documented


def test_what_loading_refuses_is_an_error() -> None:
    assert {RULES[each].severity for each in reported()} == {Severity.ERROR}
