from __future__ import annotations

from collections.abc import Mapping

import pytest

from benchmarks import suite
from benchmarks.suite import FAILED, Finished, Goal


@pytest.mark.parametrize(
    ("goals", "expected"),
    [
        ([Goal.MET], Goal.MET),
        ([Goal.KNOWN], Goal.KNOWN),
        ([Goal.MISSED, Goal.MET], Goal.MET_LATER),
        ([Goal.MISSED, Goal.MISSED], Goal.MISSED),
        ([Goal.MISSED, Goal.BROKEN], Goal.BROKEN),
        ([Goal.BROKEN], Goal.BROKEN),
    ],
)
def test_who_misses_a_goal_that_is_not_known_is_measured_once_more(
    goals: list[Goal], expected: Goal, monkeypatch: pytest.MonkeyPatch
) -> None:
    left = iter(goals)

    def run(name: str, known: Mapping[str, str], *_: str) -> Finished:
        assert not known
        return Finished(name=name, goal=next(left), seconds=1)

    monkeypatch.setattr(suite, "run", run)
    assert suite.run_again_if_missed("bench_any", {}) == Finished(name="bench_any", goal=expected, seconds=len(goals))
    assert next(left, None) is None
    assert (expected in FAILED) == (expected in {Goal.MISSED, Goal.BROKEN})
