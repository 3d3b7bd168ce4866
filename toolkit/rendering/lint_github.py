"""A lint report as GitHub's workflow commands, which show findings beside the lines of a pull request."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from toolkit.linter.findings import Finding, Severity
from toolkit.linter.report import LintReport
from toolkit.rendering.lint_text import summary

_COMMANDS: Mapping[Severity, str] = {
    Severity.ERROR: "error",
    Severity.WARNING: "warning",
    Severity.INFO: "notice",
}
_IN_MESSAGES = {"%": "%25", "\r": "%0D", "\n": "%0A"}
_IN_PROPERTIES = {**_IN_MESSAGES, ":": "%3A", ",": "%2C"}


def lint_github(report: LintReport, prefix: str = "") -> str:
    """One command for each finding, then a summary for the log.

    Args:
        report: what was found.
        prefix: of the config repo in the checkout, for example ``config/``.
    """
    lines = [_command(finding, prefix) for finding in report.findings]
    return "".join(f"{line}\n" for line in (*lines, summary(report)))


def _command(finding: Finding, prefix: str) -> str:
    properties = ",".join(f"{name}={_escaped(value, _IN_PROPERTIES)}" for name, value in _properties(finding, prefix))
    text = finding.message + (f"\n{finding.hint}" if finding.hint else "")
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
