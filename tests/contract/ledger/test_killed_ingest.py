"""An ingest that is killed at each step is finished by the next: no loss, no duplicate, nothing undecided."""

from __future__ import annotations

import multiprocessing
import signal
from pathlib import Path

import pytest

from tests.contract.ledger.killed_ingest import POINTS, FileTable, ingest_words
from toolkit.ledger import ingest
from toolkit.ledger.database import Ledger

pytestmark = [pytest.mark.both_databases, pytest.mark.extended]
WORDS = 4


@pytest.mark.parametrize("point", POINTS)
def test_a_killed_ingest_is_finished_by_the_next(ledger: Ledger, tmp_path: Path, point: str) -> None:
    url = ledger.engine.url.render_as_string(hide_password=False)
    path = tmp_path / "table"
    for kill_at, code in (((point, 2), -signal.SIGKILL), (None, 0)):
        child = multiprocessing.get_context("spawn").Process(target=ingest_words, args=(url, path, WORDS, kill_at))
        child.start()
        child.join(60)
        assert child.exitcode == code
    table = FileTable(path=path)
    table.state()
    assert table.words == [f"{number:03}" for number in range(WORDS)]
    assert ledger.read(lambda tx: ingest.undecided(tx, table.name)) == []
