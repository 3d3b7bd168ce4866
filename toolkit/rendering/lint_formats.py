"""A lint report for programs: one JSON document, SARIF 2.1.0 for code scanning, GitHub's workflow commands."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from urllib.parse import quote

from toolkit import __version__
from toolkit.el import format_instant
from toolkit.linter.findings import Finding, Severity, SourcePlace
from toolkit.linter.report import LintReport
from toolkit.linter.rule import Rule
from toolkit.rendering.lint import also, summary
from toolkit.result import SCHEMA_VERSION


def lint_json(report: LintReport) -> str:
    """The report; paths are those in the config repo, columns count characters from 1 on."""
    document = {
        "schema_version": SCHEMA_VERSION,
        "failed": report.failed,
        "time": format_instant(report.time),
        "environments": list(report.environments),
        "base": report.base,
        "files": len(report.files),
        "counts": {
            **{str(severity): number for severity, number in report.counts.items()},
            "suppressed": len(report.suppressed),
            "baselined": len(report.baselined),
        },
        "elsewhere": {str(severity): number for severity, number in report.elsewhere.items()},
        "findings": [_finding(each) for each in report.findings],
        "suppressed": [{**_finding(each.finding), "reason": each.reason} for each in report.suppressed],
        "baselined": [_finding(each) for each in report.baselined],
    }
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def _finding(finding: Finding) -> dict[str, object]:
    return {
        "rule": finding.rule,
        "severity": str(finding.severity),
        "file": finding.file,
        "line": finding.line,
        "column": finding.column,
        "end_column": finding.end_column,
        "key": finding.key,
        "message": finding.message,
        "hint": finding.hint,
        "environments": list(finding.environments),
        "related": [asdict(place) for place in finding.related],
        "fingerprint": finding.fingerprint,
    }


_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_LEVELS: Mapping[Severity, str] = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}
_FINGERPRINT = "feedctl/v1"

Json = dict[str, object]


def lint_sarif(report: LintReport, rules: Mapping[str, Rule], prefix: str = "") -> str:
    """Return one SARIF log with one run; accepted findings are in it as suppressed results.

    Args:
        report: what was found.
        rules: all rules by identifier; those with findings are described.
        prefix: of the config repo in the checkout, for example ``config/``.
    """
    results = _Results(report, rules, prefix)
    run: Json = {
        "tool": {
            "driver": {
                "name": "feedctl",
                "semanticVersion": __version__,
                "rules": [_rule(rules[each]) for each in results.rule_ids],
            }
        },
        "columnKind": "unicodeCodePoints",
        "invocations": [{"executionSuccessful": True}],
        "results": results.all(),
        "properties": {
            "time": format_instant(report.time),
            "environments": list(report.environments),
            "base": report.base,
        },
    }
    return json.dumps({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2, ensure_ascii=False) + "\n"


class _Results:
    """The results of a run, which refer to its rules by position."""

    def __init__(self, report: LintReport, rules: Mapping[str, Rule], prefix: str) -> None:
        self.report, self.prefix = report, prefix
        accepted = [*(each.finding for each in report.suppressed), *report.baselined]
        named = {finding.rule for finding in (*report.findings, *accepted)}
        self.rule_ids = sorted(named & rules.keys())

    def all(self) -> list[Json]:
        report = self.report
        in_baseline = {"kind": "external", "justification": "in the baseline"}
        return [
            *(self._result(each) for each in report.findings),
            *(
                {**self._result(each.finding), "suppressions": [{"kind": "inSource", "justification": each.reason}]}
                for each in report.suppressed
            ),
            *({**self._result(each), "suppressions": [in_baseline]} for each in report.baselined),
        ]

    def _result(self, finding: Finding) -> Json:
        index = {"ruleIndex": self.rule_ids.index(finding.rule)} if finding.rule in self.rule_ids else {}
        text = finding.message + (f"; {finding.hint}" if finding.hint else "")
        related = {"relatedLocations": list(map(self._location, finding.related))} if finding.related else {}
        return {
            "ruleId": finding.rule,
            **index,
            "level": _LEVELS[finding.severity],
            "message": {"text": text},
            "locations": [self._location(finding)],
            **related,
            "partialFingerprints": {_FINGERPRINT: finding.fingerprint},
            "properties": {"environments": list(finding.environments)},
        }

    def _location(self, place: Finding | SourcePlace) -> Json:
        physical: Json = {"artifactLocation": {"uri": quote(self.prefix + place.file, errors="backslashreplace")}}
        if place.line:
            physical["region"] = {
                "startLine": place.line,
                "startColumn": place.column,
                "endColumn": place.end_column,
            }
        logical = {"logicalLocations": [{"fullyQualifiedName": place.key}]} if place.key else {}
        return {"physicalLocation": physical, **logical}


def _rule(rule: Rule) -> Json:
    return {
        "id": rule.id,
        "shortDescription": {"text": rule.name},
        "fullDescription": {"text": rule.rationale},
        "help": {"text": _help(rule, "{}"), "markdown": _help(rule, "```yaml\n{}```\n")},
        "defaultConfiguration": {"level": _LEVELS[rule.severity]},
    }


def _help(rule: Rule, example: str) -> str:
    return "\n\n".join([rule.rationale, "Not so:", example.format(rule.bad), "But so:", example.format(rule.good)])


_COMMANDS: Mapping[Severity, str] = {
    Severity.ERROR: "error",
    Severity.WARNING: "warning",
    Severity.INFO: "notice",
}
_IN_MESSAGES = {"%": "%25", "\r": "%0D", "\n": "%0A"}
_IN_PROPERTIES = {**_IN_MESSAGES, ":": "%3A", ",": "%2C"}


def lint_github(report: LintReport, prefix: str = "") -> str:
    """Return one command for each finding, then a summary for the log.

    Args:
        report: what was found.
        prefix: of the config repo in the checkout, for example ``config/``.
    """
    lines = [_command(finding, prefix) for finding in report.findings]
    return "".join(f"{line}\n" for line in (*lines, summary(report)))


def _command(finding: Finding, prefix: str) -> str:
    properties = ",".join(f"{name}={_escaped(value, _IN_PROPERTIES)}" for name, value in _properties(finding, prefix))
    places = f"also: {also(finding, prefix)}" if finding.related else ""
    text = "\n".join(part for part in (finding.message, finding.hint, places) if part)
    return f"::{_COMMANDS[finding.severity]} {properties}::{_escaped(text, _IN_MESSAGES)}"


def _properties(finding: Finding, prefix: str) -> Iterator[tuple[str, str]]:
    yield "file", prefix + finding.file
    if finding.line:
        yield "line", str(finding.line)
        yield "col", str(finding.column)
    if finding.line and finding.end_column > finding.column:
        yield "endColumn", str(finding.end_column)
    yield "title", finding.rule


def _escaped(text: str, replacements: Mapping[str, str]) -> str:
    return "".join(replacements.get(character, character) for character in text)
