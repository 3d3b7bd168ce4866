"""kill -9 between any two statements of a call: the ledger is as before the call, or as after it, and always legal.

Here for the calls that every run and job makes, at two points each; `tests/soak` has the rest. What a killed upgrade
leaves is tested in `tests/contract/ledger_schema`.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import sqlalchemy as sa

from tests.databases.forking import Forks, forking
from tests.integration.ledger_killing import Killing, some
from toolkit.ledger.database import Ledger

_OFTEN = ("start", "intend", "settle", "finish", "init-job", "halt-job")
_RUNS = ("take", "renew")
_JOBS = ("init-job, a rerun", "init-step", "halt-step", "term-step", "term-job")
_STATE = ("enqueue", "sync", "suspend", "hold add", "safe-mode")
_OTHERS = [pytest.param(name, marks=pytest.mark.extended) for name in (*_RUNS, *_JOBS, *_STATE)]


@pytest.fixture(scope="module")
def forks() -> Iterator[Forks]:
    """Yield what makes the calls and dies."""
    with forking() as started:
        yield started


@pytest.mark.parametrize("name", [*_OFTEN, *_OTHERS])
def test_a_call_that_is_killed_leaves_a_legal_ledger(
    name: str, ledger: Ledger, ledger_url: sa.URL, forks: Forks
) -> None:
    assert Killing(name=name, url=ledger_url, ledger=ledger, forks=forks).explore(some) == 2
