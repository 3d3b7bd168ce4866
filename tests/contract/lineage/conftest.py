"""The history that tests of lineage write into a ledger."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import sqlalchemy as sa

from tests.contract.lineage.histories import History
from tests.databases.ledgers import HandClock, open_ledger


@pytest.fixture
def history(ledger_url: sa.URL) -> Iterator[History]:
    clock = HandClock()
    opened = open_ledger(ledger_url, clock)
    yield History(opened, clock)
    opened.close()
