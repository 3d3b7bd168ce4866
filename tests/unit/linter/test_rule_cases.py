"""Every rule accepts what it should and objects to what it should, where it should."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.linter.repos import TIME, lint_texts, snapshot_on_disk
from tests.unit.linter.rule_cases import CASES, Case, cases
from toolkit.el import parse_instant
from toolkit.linter.baseline import Baseline
from toolkit.linter.findings import Finding
from toolkit.linter.rules import RULES

ALL = cases()


def findings(case: Case, root: Path) -> list[Finding]:
    report = lint_texts(
        case.files,
        at=snapshot_on_disk(root, case.files, case.links) if case.links else None,
        base=case.base,
        time=TIME if case.time is None else parse_instant(case.time),
        environments=() if case.env is None else (case.env,),
        select=(case.rule, *case.together_with),
        baseline=Baseline(file="baseline.json", entries=case.baseline) if case.baseline else None,
    )
    return [each for each in report.findings if each.rule == case.rule]


def place(finding: Finding) -> str:
    return f"{finding.file}:{finding.line}:{finding.column}" if finding.line else finding.file


@pytest.mark.parametrize("case", ALL, ids=lambda case: f"{case.rule}: {case.name}")
def test_a_rule_finds_what_its_case_says(case: Case, tmp_path: Path) -> None:
    found = findings(case, tmp_path)
    assert [place(each) for each in found] == [each.at for each in case.expect]
    for finding, expected in zip(found, case.expect, strict=True):
        assert expected.message in finding.message
    assert bool(found) == (case.verdict == "fail")


@pytest.mark.parametrize("rule", sorted(RULES))
def test_a_rule_has_a_case_that_passes_and_one_that_fails(rule: str) -> None:
    assert {each.verdict for each in ALL if each.rule == rule} == {"pass", "fail"}


def test_every_file_of_cases_is_of_a_rule() -> None:
    assert {path.stem for path in CASES.iterdir()} <= set(RULES)


def test_no_rule_objects_to_the_standard_repo() -> None:
    assert lint_texts({}, base={}).findings == ()
