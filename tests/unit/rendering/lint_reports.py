"""Lint reports for the tests of their renderers."""

from __future__ import annotations

from dataclasses import replace

from toolkit.el import parse_instant
from toolkit.linter.findings import Finding, Severity
from toolkit.linter.report import LintReport, Suppressed

CLICKS = "feeds/clicks.yaml"
SOURCE = "kind: feed\nname: clicks\nfrequency: hours(1)\n"
FINDING = Finding(
    file=CLICKS,
    line=3,
    column=12,
    end_column=20,
    rule="unknown-key",
    severity=Severity.ERROR,
    message="found hours(1)",
    hint="say more",
    key="frequency",
    environments=("prod",),
)


def report(*findings: Finding, source: str = SOURCE) -> LintReport:
    """A report on one file, with one accepted finding of each sort."""
    return LintReport(
        findings=findings,
        suppressed=(Suppressed(finding=replace(FINDING, message="accepted"), reason="it is so"),),
        baselined=(replace(FINDING, message="known"),),
        environments=("dev", "prod"),
        time=parse_instant("2026-03-10T12:00Z"),
        base="origin/main",
        files={CLICKS: source.encode(), "repo.yaml": b"name: x\n"},
    )
