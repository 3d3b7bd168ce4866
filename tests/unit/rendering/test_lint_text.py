"""A lint report as text."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.unit.rendering.lint_reports import FINDING, SOURCE, report
from toolkit.linter.findings import Finding, Severity
from toolkit.linter.rules import RULES
from toolkit.rendering.lint import lint_terminal_text, lint_text, summary


def carets(finding: Finding, source: str) -> tuple[str, str]:
    """The line of source and the one with the caret, without their margins."""
    lines = lint_text(report(finding, source=source), {}).splitlines()
    return lines[1].partition("| ")[2], lines[2].partition("| ")[2]


def test_a_finding_has_its_place_its_line_a_caret_and_what_to_do() -> None:
    assert lint_text(report(FINDING), {"unknown-key": RULES["unknown-key"]}, "config/").splitlines() == [
        "config/feeds/clicks.yaml:3:12: error: found hours(1) [unknown-key]",
        "  3 | frequency: hours(1)",
        "    |            ^^^^^^^^",
        "    = where: only in prod",
        "    = help: say more",
        f"    = why: {RULES['unknown-key'].rationale}",
        "",
        (
            "1 error, 1 suppressed, 1 in the baseline "
            "(2 files; environments dev, prod; at 2026-03-10T12:00Z; against origin/main)"
        ),
    ]


def test_why_a_rule_is_there_stands_once() -> None:
    text = lint_text(report(FINDING, replace(FINDING, line=1)), RULES)
    assert text.count("why: ") == 1


def test_a_finding_without_a_line_has_no_source() -> None:
    finding = replace(FINDING, file="b.json", line=0, column=0, end_column=0, environments=(), hint="")
    assert lint_text(report(finding), {}).splitlines()[:2] == ["b.json: error: found hours(1) [unknown-key]", ""]


def test_the_summary_counts_by_severity() -> None:
    infos = [replace(FINDING, severity=Severity.INFO)] * 2
    text = summary(report(FINDING, FINDING, replace(FINDING, severity=Severity.WARNING), *infos))
    assert text.startswith("2 errors, 1 warning, 2 info, 1 suppressed, 1 in the baseline (2 files;")


def test_nothing_found_is_said() -> None:
    clean = replace(report(), suppressed=(), baselined=(), environments=(), base=None)
    assert lint_text(clean, RULES) == "no findings (2 files; at 2026-03-10T12:00Z)\n"


def test_no_line_of_source_shows_credentials_whatever_the_finding_is_about() -> None:
    finding = replace(FINDING, line=1, column=1, end_column=5)
    line, caret = carets(finding, 'data: "s3a://AKIA:se/same@bucket/a", meta: /b')
    assert (line, caret) == ('data: "s3a://************@bucket/a", meta: /b', "^^^^")


def test_a_caret_stands_below_wide_characters() -> None:
    finding = replace(FINDING, line=1, column=4, end_column=6)
    assert carets(finding, "a: 日本 # x\n") == ("a: 日本 # x", "   ^^^^")
    assert carets(replace(finding, column=9, end_column=9), "a: 日本 # e\u0301x\n")[1] == " " * 10 + "^"


def test_of_a_long_line_the_part_around_the_caret_is_shown() -> None:
    line, caret = carets(replace(FINDING, line=1, column=501, end_column=509), "x" * 500 + "hours(1)" + "y" * 500)
    assert line.startswith("...x")
    assert line.endswith("y...")
    assert len(line) == 146
    assert line[caret.index("^") : len(caret)] == "hours(1)"


@pytest.mark.parametrize("text", ["\x1b[31mred", "a\nb", "a\rb", "\u202eabc", "\x9b31m"])
def test_nothing_in_a_file_can_drive_a_terminal(text: str) -> None:
    shown = lint_text(report(replace(FINDING, message=text, hint=text, file=text)), {})
    assert shown.replace("\n", "").isprintable()
    shown = lint_text(report(replace(FINDING, line=1), source=f"a: {text}"), {})
    assert shown.replace("\n", "").isprintable()


def test_a_value_that_no_log_should_repeat_is_hidden() -> None:
    text = lint_text(report(replace(FINDING, rule="secret-in-repo")), RULES)
    assert "  3 | frequency: ********\n" in text
    assert "hours(1)" not in text.replace("found hours(1)", "")


def test_a_terminal_gets_colours_and_the_same_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    text = lint_terminal_text(report(FINDING, source=SOURCE), RULES)
    assert "\x1b[1;31merror: \x1b[0m" in text
    monkeypatch.setenv("NO_COLOR", "1")
    bare = lint_terminal_text(report(FINDING), RULES)
    assert "\x1b[1;31m" not in bare
