"""Rounds of process runs that fail, die or lose their ledger: two with all tests, forty in the soak."""

from __future__ import annotations

import os
import secrets
from pathlib import Path

import pytest

from tests.loss.process_rounds import (
    Rounds,
    dead_parents,
    half_outputs,
    ledger_outages,
    ordered_reruns,
    validated_outputs,
)

ALL = pytest.mark.parametrize(
    "rounds",
    [half_outputs, validated_outputs, ledger_outages, dead_parents, ordered_reruns],
    ids=lambda each: each.__name__,
)


@pytest.mark.extended
@ALL
def test_two_rounds_announce_nothing_that_is_not_whole_and_lose_nothing(tmp_path: Path, rounds: Rounds) -> None:
    rounds(tmp_path, 2, 1)


@pytest.mark.soak
@ALL
def test_forty_rounds_announce_nothing_that_is_not_whole_and_lose_nothing(tmp_path: Path, rounds: Rounds) -> None:
    seed = int(os.environ.get("FEEDCTL_SEED") or secrets.randbelow(10**9))
    print(f"FEEDCTL_SEED={seed}")  # noqa: T201 - how to repeat it
    rounds(tmp_path, 40, seed)
