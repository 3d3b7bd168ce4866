"""Findings that comments accept."""

from __future__ import annotations

import pytest

from tests.unit.linter.probes import LIMIT, rule, with_rules
from tests.unit.linter.repos import lint_texts, standard_texts
from toolkit.linter.findings import Hit
from toolkit.linter.report import LintReport

CLICKS = standard_texts()["feeds/clicks.yaml"]
RETENTION = "    retention: {limit: days(10), action: delete}\n"
PROBES = with_rules(rule(LIMIT))


def lint_retention(line: str) -> LintReport:
    assert RETENTION in CLICKS
    return lint_texts({"feeds/clicks.yaml": CLICKS.replace(RETENTION, line, 1)}, rules=PROBES)


@pytest.mark.parametrize(
    "line",
    [
        RETENTION.rstrip() + " # feedctl: ignore[probe] so\n",
        "    # feedctl: ignore[probe] so\n" + RETENTION,
        "# feedctl: ignore[other, probe] so\n" + RETENTION,
        "    # feedctl: ignore[probe] so\n    # and more words\n" + RETENTION,
    ],
)
def test_a_comment_on_the_line_or_above_it_accepts_a_finding(line: str) -> None:
    report = lint_retention(line)
    assert [each.finding.rule for each in report.suppressed] == ["probe"]
    assert [each.reason for each in report.suppressed] == ["so"]
    assert {each.rule for each in report.findings} <= {"unknown-rule"}


@pytest.mark.parametrize(
    "line",
    [
        "    # feedctl: ignore[probe] so\n\n" + RETENTION,
        RETENTION + "    # feedctl: ignore[probe] so\n",
        "    # feedctl: ignore[tab] so\n" + RETENTION,
    ],
)
def test_a_comment_elsewhere_or_for_another_rule_accepts_nothing(line: str) -> None:
    report = lint_retention(line)
    assert report.suppressed == ()
    assert "probe" in {each.rule for each in report.findings}
    assert {"unused-suppression", "bad-suppression"} & {each.rule for each in report.findings}


def test_a_comment_in_a_defaults_file_accepts_what_is_found_there() -> None:
    texts = {"feeds/defaults.yaml": "feed:\n  owner: web # feedctl: ignore[probe] so\n"}
    probe = rule(*(Hit(subject=name, pointer=("owner",), message=name) for name in ("clicks", "clicks_by_day")))
    report = lint_texts(texts, rules=with_rules(probe))
    assert report.findings == ()
    assert [each.finding.message for each in report.suppressed] == ["clicks", "clicks_by_day"]


def test_what_no_action_can_load_is_not_accepted() -> None:
    report = lint_texts({"repo.yaml": "nam: x # feedctl: ignore[unknown-key] so\n"}, rules=PROBES)
    assert [each.rule for each in report.findings if each.file == "repo.yaml"] == ["unknown-key", "bad-suppression"]


def test_a_comment_of_a_rule_that_compares_is_not_judged_without_a_base() -> None:
    probes = with_rules(rule(rule_id="compares", needs_base=True))
    texts = {"repo.yaml": "name: x # feedctl: ignore[compares] so\n"}
    assert lint_texts(texts, rules=probes).findings == ()
    assert [each.rule for each in lint_texts(texts, base={}, rules=probes).findings] == ["unused-suppression"]


def test_an_accepted_rule_that_is_off_is_not_judged() -> None:
    texts = {"repo.yaml": "accept: [probe] # feedctl: ignore[probe] so\n"}
    assert lint_texts(texts, rules=PROBES).findings == ()


def test_the_findings_about_comments_follow_the_settings() -> None:
    texts = {
        "repo.yaml": "accept: [suppression-without-reason]\n"
        "lint: {rules: {unused-suppression: {severity: info}}} # feedctl: ignore[probe]\n"
    }
    report = lint_texts(texts, rules=PROBES, select=("unused-suppression", "suppression-without-reason", "probe"))
    assert [(each.rule, str(each.severity)) for each in report.findings] == [
        ("probe", "warning"),
        ("unused-suppression", "info"),
    ]


def test_a_script_may_write_comments_for_the_linter_that_name_no_rule() -> None:
    script = "cat > feeds/new.yaml <<EOF\n# feedctl: ignore[RULE] why\n# feedctl: ignore[yaml-syntax] why\nEOF\n"
    assert lint_texts({"workflows/new.sh": script}).findings == lint_texts({}).findings
