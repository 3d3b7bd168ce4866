"""Runners of processes that are killed at any moment, many times."""

from __future__ import annotations

import os
import random
import secrets
from pathlib import Path

import pytest

from tests.integration.process_runs import KEYS
from tests.integration.test_process_killed import killed_rounds
from tests.integration.validated_runs import ValidatedRuns, basis, killed_and_run_again


@pytest.mark.soak
def test_fifty_runners_that_are_killed_at_any_moment_leave_the_right_state(tmp_path: Path) -> None:
    seed = int(os.environ.get("FEEDCTL_SEED") or secrets.randbelow(10**9))
    print(f"FEEDCTL_SEED={seed}")  # noqa: T201 - how to repeat it
    killed_rounds(tmp_path, 50, seed)


@pytest.mark.soak
def test_twenty_runners_that_are_killed_around_the_gate_announce_nothing_without_a_verdict(tmp_path: Path) -> None:
    seed = int(os.environ.get("FEEDCTL_SEED") or secrets.randbelow(10**9))
    print(f"FEEDCTL_SEED={seed}")  # noqa: T201 - how to repeat it
    chosen = random.Random(seed)  # noqa: S311 - of moments, not of secrets
    runs = ValidatedRuns(directory=tmp_path)
    runs.write()
    with basis(runs):
        for key in KEYS[:20]:
            is_bad = chosen.random() < 0.5
            (runs.spoil if is_bad else runs.fill)(key)
            killed_and_run_again(runs, key, chosen.choice(("before", "during", "after")), is_bad=is_bad)
