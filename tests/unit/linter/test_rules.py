"""Tests of what every rule has."""

from __future__ import annotations

import re

import pytest

from toolkit.linter.rule import Rule
from toolkit.linter.rules import CHECKS, FAMILIES, MODULES, RULES, base_checks


def test_no_two_rules_have_one_identifier() -> None:
    assert sum(len(family.rules) for family in FAMILIES) == len(RULES)


@pytest.mark.parametrize("rule", RULES.values(), ids=lambda rule: rule.id)
def test_a_rule_is_documented(rule: Rule) -> None:
    assert re.fullmatch("[a-z]+(-[a-z0-9]+)*", rule.id)
    assert rule.name
    assert rule.rationale
    assert rule.source
    assert not rule.name.endswith(".")
    for example in (rule.bad, rule.good):
        assert example.startswith("# ")
        assert example.endswith("\n")
    assert rule.bad != rule.good


def test_a_rule_without_a_check_is_about_loading_or_about_the_linter() -> None:
    for rule in RULES.values():
        assert rule.fatal == (rule.check is None and not rule.about_linting)


def test_every_rule_has_a_check_but_those_about_loading_and_the_linter_itself() -> None:
    found_elsewhere = {rule.id for family in FAMILIES if family.name in {"loading", "linting"} for rule in family.rules}
    assert found_elsewhere - {"not-implemented"} == RULES.keys() - CHECKS.keys() - base_checks().keys()


def test_every_check_has_a_rule_and_no_two_modules_have_the_same_one() -> None:
    assert set(CHECKS) <= set(RULES)
    assert sum(len(module.CHECKS) for module in MODULES) == len(CHECKS)


def test_what_compares_with_a_base_is_found_by_what_is_loaded_for_it() -> None:
    assert {rule.id for rule in RULES.values() if rule.needs_base} == set(base_checks())
    assert not set(base_checks()) & set(CHECKS)
