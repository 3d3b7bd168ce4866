"""Settings of rules in repo.yaml."""

from __future__ import annotations

import pytest

from tests.unit.linter.probes import rule, with_rules
from tests.unit.linter.repos import lint_texts
from toolkit.entities.repo import LintSettings, RepoSettings
from toolkit.linter.rule import OptionValue
from toolkit.linter.settings import RuleSettings, setting_hits

RULES = with_rules(rule())


def settings(**options: OptionValue) -> RepoSettings:
    return RepoSettings(lint=LintSettings(rules={"probe": options}))


def test_an_option_of_the_right_type_reaches_the_rule() -> None:
    assert RuleSettings.of(settings(limit=5), RULES).options == {"probe": {"limit": 5}}
    assert list(setting_hits(settings(limit=5), RULES)) == []


@pytest.mark.parametrize("value", ["5", True, 5.5])
def test_an_option_of_a_wrong_type_is_a_finding_and_does_not_reach_the_rule(value: OptionValue) -> None:
    assert RuleSettings.of(settings(limit=value), RULES).options == {"probe": {}}
    ((rule_id, hit),) = setting_hits(settings(limit=value), RULES)
    assert rule_id == "bad-rule-setting"
    assert "expected a whole number, for example 1" in hit.message


def test_a_wrong_severity_is_a_violation_of_the_schema() -> None:
    report = lint_texts({"repo.yaml": "lint: {rules: {probe: {severity: fatal}}}\n"}, rules=RULES)
    (finding,) = report.findings
    assert (finding.rule, finding.column) == ("bad-value", 34)
    assert "expected one of error, warning, info, off" in finding.message


def test_a_rule_about_loading_keeps_its_severity() -> None:
    changed = RepoSettings(accept=("tab",), lint=LintSettings(rules={"unknown-key": {"severity": "info"}}))
    assert RuleSettings.of(changed, RULES) == RuleSettings(
        accepted=frozenset(), severities={}, options={"unknown-key": {}}
    )
    assert [rule_id for rule_id, _ in setting_hits(changed, RULES)] == ["bad-rule-setting", "bad-rule-setting"]
