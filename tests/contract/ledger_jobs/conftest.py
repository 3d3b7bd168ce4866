"""The calls of jobs, on each database."""

from __future__ import annotations

import pytest

from tests.contract.ledger_jobs.calls import Calls
from toolkit.ledger.database import Ledger


@pytest.fixture
def calls(ledger: Ledger) -> Calls:
    """The calls, on a ledger of the test's own."""
    return Calls(ledger)
