"""The database of catalog and ledger dies while files are ingested and merged: each record is in the table once."""

from __future__ import annotations

import os
import signal
import time
from collections import Counter
from pathlib import Path

import pytest

from tests.databases.postgresql import running_postgres
from tests.soak.chance import seeded
from tests.soak.test_ingest_many_writers import made

pytestmark = [pytest.mark.soak, pytest.mark.slow, pytest.mark.timeout(0)]
NOTHING_IS_OVER = "2026-03-20T00:15Z"
"""No instance closes then, so that no row is late."""
ROUNDS = int(os.environ.get("FEEDCTL_ROUNDS") or 100)


def test_records_are_in_the_table_once_though_the_database_died_often(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    chance, expected, failed = seeded(), Counter[str](), 0
    with running_postgres() as server:
        repo = made(tmp_path, server, monkeypatch)
        for number in range(ROUNDS):
            words = [f"{number}-{each}" for each in range(chance.randint(100, 400))]
            repo.put(f"{number:03}.json", words)
            expected.update(words)
            action = chance.choice(("ingest", "ingest", "compact"))
            with repo.start(action=action, at=NOTHING_IS_OVER) as process:
                time.sleep(chance.uniform(1, 6))
                assert server.pid
                os.kill(server.pid, signal.SIGQUIT)  # all its processes end at once, and it recovers at its start
                server.stop()
                time.sleep(chance.choice((0, 0, 3)))
                server.start()
                _, err = process.communicate(timeout=300)
            assert b"Traceback" not in err, err.decode()
            failed += process.returncode != 0
            if chance.random() < 0.2:
                assert repo.run(at=NOTHING_IS_OVER)["exit"] == 0
                assert repo.words == expected, f"round {number}"
        assert repo.run(at=NOTHING_IS_OVER)["exit"] == 0
        assert repo.run(action="compact", at=NOTHING_IS_OVER)["exit"] == 0
        assert repo.words == expected
    print(f"{ROUNDS} times; {failed} runs failed; {expected.total()} records")  # noqa: T201
