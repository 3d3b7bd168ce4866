"""Runners of processes that are killed at any moment, many times."""

from __future__ import annotations

import os
import secrets
from pathlib import Path

import pytest

from tests.integration.test_process_killed import killed_rounds


@pytest.mark.soak
def test_fifty_runners_that_are_killed_at_any_moment_leave_the_right_state(tmp_path: Path) -> None:
    seed = int(os.environ.get("FEEDCTL_SEED") or secrets.randbelow(10**9))
    print(f"FEEDCTL_SEED={seed}")  # noqa: T201 - how to repeat it
    killed_rounds(tmp_path, 50, seed)
