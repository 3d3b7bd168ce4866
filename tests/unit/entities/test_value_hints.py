"""Tests of what people write who come from Airflow, Oozie or a shell is answered with what it is called here."""

from __future__ import annotations

import pytest

from tests.unit.linter.repos import lint_texts
from toolkit.entities.value_hints import value_hint

CLUSTERS = """
clusters:
  - name: primary
    validity: {start: 2026-01-01T00:00Z, end: 2099-01-01T00:00Z}
"""


def hints(line: str) -> list[str]:
    head = "kind: feed\nname: habits\n"
    rest = "" if line.startswith("frequency") else "frequency: days(1)\n"
    place = "" if line.startswith("locations") else 'locations: {data: "/data/habits/${YEAR}-${MONTH}-${DAY}"}\n'
    report = lint_texts({"feeds/habits.yaml": f"{head}{rest}{place}{line}{CLUSTERS}"})
    return [each.hint for each in report.findings if each.file == "feeds/habits.yaml" and each.severity == "error"]


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("hour(1)", "hours(1)"),
        ("Hours(6)", "hours(6)"),
        ("1h", "hours(1)"),
        ("15 min", "minutes(15)"),
        ("weeks(1)", "days(7)"),
        ("2w", "days(14)"),
        ("1M", "months(1)"),
        ("30m", "minutes(30)"),
        ("5 MINUTES", "minutes(5)"),
        ("year(1)", "months(12)"),
        ("daily", "days(1)"),
    ],
)
def test_another_spelling_of_a_frequency_is_answered_with_ours(written: str, meant: str) -> None:
    assert hints(f"frequency: {written}") == [f"did you mean {meant}?"]


@pytest.mark.parametrize("written", ["fortnight(1)", "hours(x)"])
def test_what_nobody_knows_gets_no_hint(written: str) -> None:
    assert value_hint("frequency", written) == ""


@pytest.mark.parametrize(
    ("written", "words"),
    [
        ('locations: {data: "/data/{{ ds }}"}', "write dates as ${YEAR}, ${MONTH}"),
        ("locations: {data: /data/$YEAR}", "did you mean ${YEAR}?"),
        ("locations: {data: /data/$year}", "did you mean ${YEAR}?"),
        ("locations: {data: /data/$region}", "did you mean ${region}?"),
        ("locations: {data: /data/$ds}", "write dates as ${YEAR}, ${MONTH}"),
        ("locations: {data: {{ ds }}}", "put quotes around it; feedctl has no {{ ... }}"),
        ("locations: {data: /data/${YEAR}/${MONTH}}", "put quotes around a value with ${...} in it"),
    ],
)
def test_another_way_of_writing_dates_in_paths_is_answered_with_ours(written: str, words: str) -> None:
    found = hints(written)
    assert any(each.startswith(words) for each in found), found


def test_the_year_of_oozie_is_no_variable_that_means_any_name() -> None:
    found = lint_texts(
        {
            "feeds/habits.yaml": "kind: feed\nname: habits\nfrequency: days(1)\n"
            'locations: {data: "/data/${yyyy}/${MM}"}' + CLUSTERS
        }
    )
    assert any("found '${yyyy}', expected ${YEAR}" in each.message for each in found.findings)


@pytest.mark.parametrize(
    ("written", "words"),
    [
        ("${today(-1,0)}", 'write it without ${}: "today(-1,0)"'),
        ("{{ ds }}", "feedctl has no {{ ... }}"),
        ("today(-1", "put quotes around it"),
        ("nothing", ""),
    ],
)
def test_another_way_of_writing_an_expression_is_answered_with_ours(written: str, words: str) -> None:
    assert value_hint("el", written).startswith(words)
    assert bool(value_hint("el", written)) == bool(words)
