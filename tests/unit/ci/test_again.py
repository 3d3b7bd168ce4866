"""`.ci/again.py`: which failures of CI are tried again."""

from __future__ import annotations

import runpy
from collections.abc import Callable
from pathlib import Path

import pytest

SCRIPT = runpy.run_path(str(Path(__file__).parents[3] / ".ci/again.py"))
why_not: Callable[..., str] = SCRIPT["why_not"]
telling: Callable[[str], list[str]] = SCRIPT["telling"]
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


def test_a_run_that_broke_off_is_not_made_whole_by_its_failures() -> None:
    log = "F...\nINTERNALERROR> AssertionError: ('test_a', <WorkerController gw2>)\n"
    assert why_not([BEAT], log) == "the run broke off, so that not all tests have run"


def test_what_failed_is_printed_in_short() -> None:
    log = "\n".join(
        [
            "____________ test_a ____________",
            "    x = 1",
            "E   Failed: y" + "z" * 500,
            ".... [ 9%]",
            "== 1 failed in 3s ==",
        ]
    )
    found = telling(log)
    assert [line[:13] for line in found] == ["____________ ", "E   Failed: y", "== 1 failed i"]
    assert max(map(len, found)) <= 200
    assert len(telling(log * 100)) <= 40
