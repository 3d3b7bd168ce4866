"""Some processes at once on one ledger, of which some kill themselves; `tests/soak` has many."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import sqlalchemy as sa

from tests.databases.forking import Forks, forking
from tests.soak.ledger_swarm import Swarm

pytestmark = pytest.mark.extended

_SEED = 20260333
"""With it, one who may die does so at its 29th statement, which each of them comes to."""


@pytest.fixture(scope="module")
def forks() -> Iterator[Forks]:
    """Yield what makes the processes."""
    with forking() as started:
        yield started


@pytest.mark.slow
def test_processes_share_a_ledger_and_nothing_is_lost_or_doubled(
    ledger_url: sa.URL, forks: Forks, tmp_path: Path
) -> None:
    counts = Swarm(workers=12, at_once=6, actions=8, seed=_SEED).run(ledger_url, forks, tmp_path)
    assert counts.keys() >= {"killed", "enqueued", "halted", "held"}
