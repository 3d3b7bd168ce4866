"""A repo with one mistake of each kind, and all that is said about it; FEEDCTL_WRITE_GOLDEN=1 writes the text anew."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

import jsonschema
import pytest

from toolkit.cli.lint import LintFormat
from toolkit.cli.lint_run import Prefixes, render
from toolkit.config_source import from_directory
from toolkit.linter.engine import LintRequest, lint
from toolkit.linter.findings import Severity
from toolkit.linter.report import LintReport
from toolkit.linter.rules import RULES

HERE = Path(__file__).parent
GOLDEN = HERE / "seeded_output.txt"
SARIF_SCHEMA = HERE / "sarif" / "sarif-schema-2.1.0.json"
TIME = datetime(2026, 3, 20, 12, tzinfo=UTC)
FINDING_KEYS = {
    "rule", "severity", "file", "line", "column", "end_column", "key", "message", "hint", "environments", "related",
    "fingerprint",
}  # fmt: skip


def _lint() -> LintReport:
    return lint(LintRequest(snapshot=from_directory(HERE / "seeded"), time=TIME))


@cache
def _report() -> LintReport:
    return _lint()


def _shown(form: LintFormat, report: LintReport | None = None) -> str:
    return render(report or _report(), form, Prefixes(in_checkout="config/", shown=""), colours=False)


def test_the_text_is_what_it_was() -> None:
    text = _shown(LintFormat.TEXT)
    if os.environ.get("FEEDCTL_WRITE_GOLDEN"):
        GOLDEN.write_text(text)
    assert text == GOLDEN.read_text()


def test_there_are_many_kinds_of_mistakes() -> None:
    assert len({finding.rule for finding in _report().findings if finding.severity is not Severity.INFO}) >= 25


@pytest.mark.parametrize("form", LintFormat)
def test_two_runs_give_the_same_bytes(form: LintFormat) -> None:
    assert _shown(form) == _shown(form, _lint())


def test_json_has_every_finding_with_all_its_facts() -> None:
    document = json.loads(_shown(LintFormat.JSON))
    report = _report()
    assert document["failed"] is True
    assert sum(document["counts"][severity] for severity in Severity) == len(document["findings"])
    assert {frozenset(each) for each in document["findings"]} == {frozenset(FINDING_KEYS)}
    assert [each["fingerprint"] for each in document["findings"]] == [each.fingerprint for each in report.findings]


def test_sarif_is_valid_by_its_published_schema() -> None:
    schema = json.loads(SARIF_SCHEMA.read_text())
    problems = jsonschema.Draft4Validator(schema).iter_errors(json.loads(_shown(LintFormat.SARIF)))
    assert [error.message for error in problems] == []


def test_sarif_has_every_finding_at_its_place_and_describes_every_rule() -> None:
    (run,) = json.loads(_shown(LintFormat.SARIF))["runs"]
    described = [each["id"] for each in run["tool"]["driver"]["rules"]]
    findings = _report().findings
    assert set(described) == {finding.rule for finding in findings} & RULES.keys()
    for result, finding in zip(run["results"], findings, strict=True):
        place = result["locations"][0]["physicalLocation"]
        assert described[result["ruleIndex"]] == result["ruleId"] == finding.rule
        assert place["artifactLocation"]["uri"] == f"config/{finding.file}"
        assert place["region"]["startLine"] == finding.line
        assert place["region"]["startColumn"] == finding.column


def test_github_has_one_command_for_each_finding() -> None:
    lines = _shown(LintFormat.GITHUB).splitlines()
    commands = [line for line in lines if line.startswith(("::error ", "::warning ", "::notice "))]
    assert len(commands) == len(_report().findings)
    assert all("file=config/" in line and ",line=" in line and ",title=" in line for line in commands)
