"""Each mistake of `new_user_mistakes.py` is one finding, whose message and hint lead out of it."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from tests.unit.linter.new_user_mistakes import MISTAKES, Mistake
from tests.unit.linter.repos import snapshot_of
from toolkit.el import parse_instant
from toolkit.linter.engine import LintRequest, lint

TEMPLATE = Path(__file__).parents[3] / "config_repo_template"
TIME = parse_instant("2026-11-26T09:00Z")


@cache
def _template() -> dict[str, str]:
    paths = (path for path in TEMPLATE.rglob("*") if path.is_file() and "/." not in path.as_posix())
    return {path.relative_to(TEMPLATE).as_posix(): path.read_text(encoding="utf-8") for path in sorted(paths)}


def _with(mistake: Mistake) -> dict[str, str]:
    before = _template().get(mistake.file, "")
    assert mistake.right in before, "the template has another text by now"
    after = before.replace(mistake.right, mistake.wrong, 1) if mistake.right else mistake.wrong
    return {**_template(), mistake.file: after}


def test_there_are_sixty_of_them() -> None:
    assert len({(each.file, each.right, each.wrong) for each in MISTAKES}) >= 60


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda each: f"{each.rule}: {each.wrong.strip()[:40]}")
def test_a_mistake_is_one_finding_that_says_what_to_write(mistake: Mistake) -> None:
    report = lint(LintRequest(snapshot=snapshot_of(_with(mistake)), time=TIME, environments=("prod",)))
    found = [(each.rule, each.message, each.hint) for each in report.findings]
    assert [rule for rule, _, _ in found] == [mistake.rule], found
    ((_, message, hint),) = found
    assert mistake.message in message
    assert mistake.hint in hint
