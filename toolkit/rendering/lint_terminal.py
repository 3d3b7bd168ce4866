"""A lint report as coloured text for a terminal."""

from __future__ import annotations

from collections.abc import Mapping
from io import StringIO

from rich.console import Console
from rich.text import Text

from toolkit.linter.report import LintReport
from toolkit.linter.rule import Rule
from toolkit.rendering.lint_text import report_lines


def lint_terminal_text(report: LintReport, rules: Mapping[str, Rule], prefix: str = "") -> str:
    """The report with colours; lines keep their length, so that the terminal wraps them and carets stay in place.

    Args:
        report: what was found.
        rules: all rules by identifier.
        prefix: stands before each file's path.
    """
    stream = StringIO()
    console = Console(file=stream, force_terminal=True, highlight=False, markup=False, emoji=False)
    for line in report_lines(report, rules, prefix):
        console.print(Text.assemble(*line), soft_wrap=True)
    return stream.getvalue()
