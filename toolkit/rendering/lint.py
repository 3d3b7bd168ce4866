"""A lint report for people: each finding with its line of source and a caret; colours on a terminal only."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from io import StringIO
from typing import TYPE_CHECKING

from toolkit.el import format_instant
from toolkit.linter.findings import Finding, Severity
from toolkit.linter.report import LintReport
from toolkit.linter.rule import Rule
from toolkit.linter.secret_values import line_without_secrets
from toolkit.printable import in_place, on_one_line

if TYPE_CHECKING:
    from rich.style import Style

Segment = tuple[str, str]
"""A text and its style."""

Line = tuple[Segment, ...]

_STYLES: Mapping[Severity, str] = {
    Severity.ERROR: "bold red",
    Severity.WARNING: "bold yellow",
    Severity.INFO: "bold cyan",
}
_FAINT = "dim"
_PLACES = 3
"""So many other places of one finding are named."""
_BEFORE, _WIDTH = 60, 140
"""Part of a long line that is shown: so many characters, with so many before the caret."""


def lint_text(report: LintReport, rules: Mapping[str, Rule], prefix: str = "") -> str:
    """The report as plain text.

    Args:
        report: what was found.
        rules: all rules by identifier; why a rule is there stands below its first finding.
        prefix: stands before each file's path, for example ``config/``.
    """
    return "".join(f"{''.join(text for text, _ in line)}\n" for line in _report_lines(report, rules, prefix))


def _report_lines(report: LintReport, rules: Mapping[str, Rule], prefix: str) -> Iterator[Line]:
    """The report line by line: the findings, then a summary."""
    explained: set[str] = set()
    for finding in report.findings:
        hidden = finding.rule in rules and rules[finding.rule].hides_value
        line = _shown_line(finding, report)
        source = () if line is None else _source_lines(finding, line, hidden=hidden)
        yield from _finding_lines(finding, source, report.environments, prefix)
        if finding.rule in rules and finding.rule not in explained:
            yield _note(finding, "why", rules[finding.rule].rationale)
            explained.add(finding.rule)
        yield ()
    yield ((summary(report), "bold"),)


def summary(report: LintReport) -> str:
    """The last line: how much was found, and in what."""
    counted = [_counted(number, severity) for severity, number in report.counts.items() if number]
    accepted = {"suppressed": len(report.suppressed), "in the baseline": len(report.baselined)}
    counted += [f"{number} {what}" for what, number in accepted.items() if number]
    looked_at = [_counted(len(report.files), "file")]
    if report.environments:
        looked_at.append(f"{_plural('environment', len(report.environments))} {', '.join(report.environments)}")
    looked_at.append(f"at {format_instant(report.time)}")
    if report.base is not None:
        looked_at.append(f"against {on_one_line(report.base)}")
    if not report.findings:
        counted.insert(0, "no findings")
    others = [_counted(number, severity) for severity, number in report.elsewhere.items() if number]
    elsewhere = f"; {', '.join(others)} in other files" if others else ""
    return f"{', '.join(counted)} ({'; '.join(looked_at)}){elsewhere}"


def _counted(number: int, what: str) -> str:
    return f"{number} {_plural(what, number)}"


def _plural(what: str, number: int) -> str:
    return what if number == 1 or what == Severity.INFO else f"{what}s"


def _shown_line(finding: Finding, report: LintReport) -> str | None:
    """Return the line of source of a finding, without secrets."""
    data = report.files.get(finding.file, report.texts.get(finding.file))
    return None if data is None or not finding.line else line_without_secrets(data, finding.line)


def _finding_lines(
    finding: Finding, source: Iterable[Line], environments: tuple[str, ...], prefix: str
) -> Iterator[Line]:
    style = _STYLES[finding.severity]
    place = f":{finding.line}:{finding.column}" if finding.line else ""
    yield (
        (f"{on_one_line(prefix + finding.file)}{place}: ", "bold"),
        (f"{finding.severity}: ", style),
        (on_one_line(finding.message), ""),
        (f" [{finding.rule}]", _FAINT),
    )
    yield from source
    if finding.environments and finding.environments != environments:
        yield _note(finding, "where", f"only in {', '.join(finding.environments)}")
    if finding.hint:
        yield _note(finding, "help", finding.hint)
    if finding.related:
        yield _note(finding, "also", also(finding, prefix))


def also(finding: Finding, prefix: str) -> str:
    """The other places that a finding is about; of many the first."""
    named = ", ".join(f"{prefix}{place}" for place in finding.related[:_PLACES])
    return f"{named} and {len(finding.related) - _PLACES} more" if len(finding.related) > _PLACES else named


def _note(finding: Finding, label: str, text: str) -> Line:
    margin = " " * len(str(finding.line))
    return (f"  {margin} = ", _FAINT), (f"{label}: ", "bold"), (on_one_line(text), "")


def _source_lines(finding: Finding, line: str, *, hidden: bool) -> Iterator[Line]:
    """Show the part of a line around a finding; a value that no log should repeat has asterisks in its place."""
    start, end = finding.column - 1, max(finding.end_column - 1, finding.column)
    first = 0 if len(line) <= _WIDTH else max(0, start - _BEFORE)
    text = line[first : first + _WIDTH]
    before, marked, after = text[: start - first], text[start - first : end - first], text[end - first :]
    if hidden:
        text = f"{before}{'*' * len(marked)}{after}"
    margin = " " * len(str(finding.line))
    left = "..." if first else ""
    right = "..." if len(line) > first + _WIDTH else ""
    yield ((f"  {finding.line} | ", _FAINT), (f"{left}{in_place(text)}{right}".rstrip(), ""))
    carets = "^" * max(1, _cells(marked))
    yield ((f"  {margin} | ", _FAINT), (" " * (len(left) + _cells(before)), ""), (carets, _STYLES[finding.severity]))


def _cells(text: str) -> int:
    """Return how many columns of a terminal a text takes."""
    return sum(_width(each) for each in text)


def _width(character: str) -> int:
    if unicodedata.combining(character) or unicodedata.category(character) in {"Mn", "Me"}:
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def lint_terminal_text(report: LintReport, rules: Mapping[str, Rule], prefix: str = "") -> str:
    """The report with colours; lines keep their length, so that the terminal wraps them and carets stay in place.

    Args:
        report: what was found.
        rules: all rules by identifier.
        prefix: stands before each file's path.
    """
    from rich.color import ColorSystem
    from rich.console import Console

    console = Console(file=StringIO(), force_terminal=True)
    system = ColorSystem.STANDARD if console.color_system else None

    @cache
    def style(name: str) -> Style:
        found = console.get_style(name or "none")
        return found.without_color if console.no_color else found

    # Not by `Console.print`, which takes half a millisecond a line: there may be a hundred thousand.
    lines = _report_lines(report, rules, prefix)
    return "".join(
        f"{''.join(style(name).render(text, color_system=system) for text, name in line)}\n" for line in lines
    )
