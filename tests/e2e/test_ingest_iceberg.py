"""The ingest entrypoint on a real Iceberg table, as its own process for standard input and for kills."""

from __future__ import annotations

import json
import os
import random
import signal
import time
from collections import Counter
from pathlib import Path

import pytest

from tests.e2e.iceberg_site import IngestRepo, QuickRepo
from tests.testbed.waiting import becomes_true


def test_files_are_committed_once_and_put_away(tmp_path: Path) -> None:
    repo = QuickRepo.make(tmp_path)
    repo.put("a.json", ["x", "y", "z"])
    with (tmp_path / "inbox" / "a.json").open("a") as file:
        file.write("{broken\n")
    os.utime(tmp_path / "inbox" / "a.json", (time.time() - 3600,) * 2)
    assert repo.run("--dry-run")["exit"] == 0
    assert not (tmp_path / "warehouse").exists()
    assert repo.run()["exit"] == 0
    assert (repo.words, list((tmp_path / "inbox").iterdir())) == (Counter("xyz"), [])
    reject = next((tmp_path / "working/rejects/clicks").iterdir()).read_text()
    assert json.loads(reject)["record"] == "{broken"
    again = repo.run()
    assert (again["exit"], again["items"]) == (0, [])
    given = b'{"ts": "2026-03-20T05:00:00Z", "word": "w"}\n'
    assert repo.run("--stdin", given=given)["exit"] == 0
    assert repo.words == Counter("wxyz")


@pytest.mark.extended
@pytest.mark.slow
def test_runs_that_are_killed_leave_each_record_in_the_table_once(tmp_path: Path) -> None:
    repo, seed = IngestRepo.make(tmp_path), int(os.environ.get("FEEDCTL_SEED", random.randrange(1 << 30)))  # noqa: S311 - no secret
    print(f"seed {seed}")  # noqa: T201 - to repeat it
    chance, expected = random.Random(seed), [f"word{at}" for at in range(600)]  # noqa: S311 - no secret
    for at in range(0, 600, 30):
        repo.put(f"{at:03}.json", expected[at : at + 30])
    for number in range(2):
        with repo.start() as process:
            if number:
                time.sleep(chance.uniform(1.0, 4.0))
            else:  # dies in the middle, whatever the chances
                assert becomes_true(lambda: any((tmp_path / "warehouse").rglob("*.parquet")), seconds=120)
                assert len(list((tmp_path / "archive").glob("*"))) < 20
            process.send_signal(signal.SIGKILL)
            process.communicate()
    for _ in range(3):
        if repo.run()["exit"] == 0:
            break
    assert repo.words == Counter(expected)
    assert list((tmp_path / "inbox").iterdir()) == []
    assert len(list((tmp_path / "archive").iterdir())) == 20
