"""Fifty rounds of kill -9 among a step, its supervisor and its runner."""

from __future__ import annotations

import os
import random
import secrets
from pathlib import Path

import pytest

from tests.unit.programs.test_left_over import kill_some, started_runner

pytestmark = pytest.mark.soak


def test_nothing_is_ever_left(tmp_path: Path) -> None:
    first = int(os.environ.get("FEEDCTL_SEED") or secrets.randbelow(10**9))
    print(f"FEEDCTL_SEED={first}")  # noqa: T201 - how to repeat it
    for seed in range(first, first + 50):
        directory = tmp_path / str(seed)
        directory.mkdir()
        with started_runner(directory) as runner:
            kill_some(directory, runner, random.Random(seed))  # noqa: S311 - whom to kill
