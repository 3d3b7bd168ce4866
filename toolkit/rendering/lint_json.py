"""A lint report as one JSON document."""

from __future__ import annotations

import json

from toolkit.el import format_instant
from toolkit.linter.findings import Finding
from toolkit.linter.report import LintReport
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
        "fingerprint": finding.fingerprint,
    }
