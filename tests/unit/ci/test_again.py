"""`.ci/again.py`: which failures of CI are tried again."""

from __future__ import annotations

import runpy
from collections.abc import Callable
from pathlib import Path

import pytest

SCRIPT = runpy.run_path(str(Path(__file__).parents[3] / ".ci/again.py"))
why_not: Callable[[list[str]], str] = SCRIPT["why_not"]
BEAT = "tests/unit/runs/test_heartbeat.py::test_it_beats"


def test_a_few_failures_are_tried_again() -> None:
    assert why_not([BEAT, BEAT + "s"]) == ""


@pytest.mark.parametrize(
    "name",
    [
        "tests/loss/test_rounds.py::test_a",
        "tests/security/test_plan_file.py::test_a",
        "tests/integration/test_hive_killed.py::test_a",
    ],
)
def test_a_failure_where_data_may_be_lost_stays_one(name: str) -> None:
    assert why_not([BEAT, name]) == f"one failure of {name} is a finding"


def test_many_failures_and_none_are_not_tried_again() -> None:
    assert why_not([f"{BEAT}{number}" for number in range(4)]).startswith("4 tests have failed")
    assert why_not([]).startswith("no test has failed")
