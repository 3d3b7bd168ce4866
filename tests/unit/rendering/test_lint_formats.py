"""A lint report as JSON, SARIF and GitHub's commands."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from tests.unit.rendering.lint_reports import CLICKS, FINDING, report
from toolkit.linter.findings import Severity, SourcePlace
from toolkit.linter.rules import RULES
from toolkit.rendering.lint import lint_text
from toolkit.rendering.lint_formats import lint_github, lint_json, lint_sarif

NOWHERE = replace(FINDING, file="b.json", line=0, column=0, end_column=0, key="", hint="")


def sarif(*findings: Any, prefix: str = "") -> Any:  # noqa: ANN401 - JSON
    (run,) = json.loads(lint_sarif(report(*findings), RULES, prefix))["runs"]
    return run


def test_json_has_every_finding_with_all_that_is_known() -> None:
    document = json.loads(lint_json(report(FINDING)))
    assert document["schema_version"] == 1
    assert document["failed"]
    assert document["time"] == "2026-03-10T12:00Z"
    assert (document["environments"], document["base"], document["files"]) == (["dev", "prod"], "origin/main", 2)
    assert document["counts"] == {"error": 1, "warning": 0, "info": 0, "suppressed": 1, "baselined": 1}
    assert document["findings"] == [
        {
            "rule": "unknown-key",
            "severity": "error",
            "file": CLICKS,
            "line": 3,
            "column": 12,
            "end_column": 20,
            "key": "frequency",
            "message": "found hours(1)",
            "hint": "say more",
            "environments": ["prod"],
            "related": [],
            "fingerprint": FINDING.fingerprint,
        }
    ]
    assert [each["reason"] for each in document["suppressed"]] == ["it is so"]
    assert [each["message"] for each in document["baselined"]] == ["known"]


def test_sarif_declares_its_columns_and_describes_the_rules_that_it_uses() -> None:
    run = sarif(FINDING)
    assert run["columnKind"] == "unicodeCodePoints"
    (rule,) = run["tool"]["driver"]["rules"]
    assert rule["id"] == "unknown-key"
    assert rule["defaultConfiguration"] == {"level": "error"}
    assert RULES["unknown-key"].bad in rule["help"]["text"]
    assert "```yaml\n" + RULES["unknown-key"].good + "```" in rule["help"]["markdown"]
    assert {each["ruleIndex"] for each in run["results"]} == {0}


def test_a_result_of_sarif_has_region_and_fingerprint() -> None:
    result = sarif(FINDING, prefix="my config/")["results"][0]
    (location,) = result["locations"]
    physical = location["physicalLocation"]
    assert physical["artifactLocation"] == {"uri": "my%20config/feeds/clicks.yaml"}
    assert physical["region"] == {"startLine": 3, "startColumn": 12, "endColumn": 20}
    assert location["logicalLocations"] == [{"fullyQualifiedName": "frequency"}]
    assert result["partialFingerprints"] == {"feedctl/v1": FINDING.fingerprint}
    assert result["message"] == {"text": "found hours(1); say more"}
    assert "suppressions" not in result


def test_the_other_places_of_a_finding_are_in_every_format() -> None:
    place = SourcePlace(file="feeds/all.yaml", line=7, column=9, end_column=20, key="locations.data")
    finding = replace(FINDING, related=(place,))
    (shown,) = json.loads(lint_json(report(finding)))["findings"]
    assert shown["related"] == [
        {"file": "feeds/all.yaml", "line": 7, "column": 9, "end_column": 20, "key": "locations.data"}
    ]
    (related,) = sarif(finding, prefix="config/")["results"][0]["relatedLocations"]
    assert related["physicalLocation"] == {
        "artifactLocation": {"uri": "config/feeds/all.yaml"},
        "region": {"startLine": 7, "startColumn": 9, "endColumn": 20},
    }
    assert "found hours(1)%0Asay more%0Aalso: config/feeds/all.yaml:7:9" in lint_github(report(finding), "config/")
    assert " = also: config/feeds/all.yaml:7:9\n" in lint_text(report(finding), RULES, "config/")
    many = lint_text(report(replace(FINDING, related=(place,) * 5)), RULES)
    assert many.count("feeds/all.yaml:7:9") == 3
    assert " and 2 more\n" in many


def test_accepted_findings_are_suppressed_results_of_sarif() -> None:
    results = sarif()["results"]
    assert [each["suppressions"] for each in results] == [
        [{"kind": "inSource", "justification": "it is so"}],
        [{"kind": "external", "justification": "in the baseline"}],
    ]


def test_a_sarif_result_without_a_line_has_no_region() -> None:
    (location,) = sarif(NOWHERE)["results"][0]["locations"]
    assert location == {"physicalLocation": {"artifactLocation": {"uri": "b.json"}}}


def test_the_severities_have_names_of_their_own_in_sarif_and_on_github() -> None:
    findings = [replace(FINDING, severity=each) for each in Severity]
    assert [each["level"] for each in sarif(*findings)["results"][:3]] == ["error", "warning", "note"]
    lines = lint_github(report(*findings)).splitlines()
    assert [line.split()[0] for line in lines[:3]] == ["::error", "::warning", "::notice"]


def test_an_undocumented_rule_has_a_result_without_a_description() -> None:
    run = sarif(replace(FINDING, rule="undocumented"))
    assert "ruleIndex" not in run["results"][0]


def test_github_gets_a_command_for_each_finding_and_a_summary() -> None:
    text = lint_github(report(FINDING, NOWHERE), "config/")
    assert text.splitlines() == [
        "::error file=config/feeds/clicks.yaml,line=3,col=12,endColumn=20,title=unknown-key::found hours(1)%0Asay more",
        "::error file=config/b.json,title=unknown-key::found hours(1)",
        (
            "2 errors, 1 suppressed, 1 in the baseline "
            "(2 files; environments dev, prod; at 2026-03-10T12:00Z; against origin/main)"
        ),
    ]


def test_what_github_would_read_as_its_own_is_escaped() -> None:
    finding = replace(FINDING, file="a,b:c%.yaml", message="100%\r\n::error::x", hint="")
    (line, _) = lint_github(report(finding)).splitlines()
    assert line == (
        "::error file=a%2Cb%3Ac%25.yaml,line=3,col=12,endColumn=20,title=unknown-key::100%25%0D%0A::error::x"
    )


def test_a_name_that_is_no_unicode_is_written_as_an_escape() -> None:
    odd = report(replace(FINDING, file="feeds/a\udce9.yaml", message="\udce9"))
    assert r"feeds/a%5Cudce9.yaml" in lint_sarif(odd, RULES)
    assert "\udce9" in lint_json(odd)
    assert "\udce9" in lint_github(odd)
