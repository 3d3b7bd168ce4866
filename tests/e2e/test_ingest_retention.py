"""Retention of a feed that is ingested, on a real Iceberg table: the entrypoint, beside ingest and compaction."""

from __future__ import annotations

import signal
import sqlite3
import time
from collections import Counter
from contextlib import closing
from pathlib import Path

import pytest

from tests.e2e.iceberg_site import QuickRepo
from tests.e2e.test_compact import events, table

AT = "2026-03-22T02:00Z"
"""Two days after the first two of four instances; they are older than the limit then."""
WORDS = [f"word{at}" for at in range(40)]
LEFT = Counter(word for at, word in enumerate(WORDS) if at % 4 >= 2)
GOING = ["ds=2026-03-20-00", "ds=2026-03-20-01"]


def ingested(root: Path) -> QuickRepo:
    """Return a repo whose feed has a retention, and rows in four instances."""
    repo = QuickRepo.make(root)
    feed = root / "repo/feeds/clicks.yaml"
    feed.write_text(feed.read_text().replace("    ingest:\n", "    retention: {limit: days(2)}\n    ingest:\n"))
    repo.put("a.json", WORDS)
    assert repo.run()["exit"] == 0
    return repo


def parquet(root: Path) -> list[Path]:
    """Return the data files that are there."""
    return sorted((root / "warehouse").rglob("*.parquet"))


def test_old_partitions_leave_the_table_in_one_commit_and_their_files_stay(tmp_path: Path) -> None:
    repo = ingested(tmp_path)
    assert repo.run(action="compact")["exit"] == 0
    before, files, announced = table(repo).state(), parquet(tmp_path), len(events(repo))
    dry = repo.run("--dry-run", action="retention", at=AT)
    assert [each["partition"] for each in dry["items"]] == GOING
    assert "the data files stay for 6 hours" in dry["feeds"][0]["notes"][0]
    assert (table(repo).state(), repo.words, len(events(repo))) == (before, Counter(WORDS), announced)
    done = repo.run(action="retention", at=AT)
    assert (done["exit"], [each["outcome"] for each in done["items"]]) == (0, ["done", "done"])
    assert (repo.words, parquet(tmp_path)) == (LEFT, files)
    assert table(repo).state().snapshots == before.snapshots + 1
    assert events(repo)[announced:] == [("evicted", "2026-03-20T00:00Z"), ("evicted", "2026-03-20T01:00Z")]
    again = repo.run(action="retention", at=AT)
    assert (again["exit"], again["items"], len(events(repo))) == (0, [], announced + 2)
    assert repo.run(action="compact")["exit"] == 0
    assert (parquet(tmp_path), len(events(repo))) == (files, announced + 2)


def test_a_plan_is_approved_for_the_files_that_it_lists(tmp_path: Path) -> None:
    repo = ingested(tmp_path)
    settings = tmp_path / "repo/repo.yaml"
    settings.write_text(settings.read_text() + "max_delete: {instances: 1}\n")
    refused = repo.run(action="retention", at=AT)
    assert (refused["exit"], repo.words) == (3, Counter(WORDS))
    digest = refused["plan_digest"]
    repo.put("b.json", ["late"])
    assert repo.run()["exit"] == 0
    assert repo.run("--approve", digest, action="retention", at=AT)["exit"] == 3
    assert repo.words == Counter([*WORDS, "late"])
    approved = repo.run("--dry-run", action="retention", at=AT)["plan_digest"]
    assert repo.run("--approve", approved, action="retention", at=AT)["exit"] == 0
    assert repo.words == LEFT


def test_a_hold_and_a_hold_file_keep_partitions(tmp_path: Path) -> None:
    repo = ingested(tmp_path)
    hold = "holds:\n  - {feed: clicks, reason: audit, start: 2026-03-20T01:00Z}\n"
    (tmp_path / "repo/holds.yaml").write_text(hold)
    kept = repo.run("--dry-run", action="retention", at=AT)
    assert [each["partition"] for each in kept["items"]] == GOING[:1]
    place = tmp_path / "warehouse/web/clicks"
    (next(each for each in (place, tmp_path / "warehouse/web.db/clicks") if each.exists()) / ".feedctl-hold").touch()
    held = repo.run(action="retention", at=AT)
    assert (held["items"], repo.words) == ([], Counter(WORDS))


def test_a_partition_that_is_no_instance_stays_and_is_reported(tmp_path: Path) -> None:
    repo = ingested(tmp_path)
    feed = tmp_path / "repo/feeds/clicks.yaml"
    feed.write_text(
        feed.read_text().replace("ds=${YEAR}-${MONTH}-${DAY}-${HOUR}", "ds=${YEAR}.${MONTH}.${DAY}.${HOUR}")
    )
    result = repo.run(action="retention", at=AT)
    assert (result["items"], repo.words) == ([], Counter(WORDS))
    assert result["feeds"][0]["not_conforming"]["count"] == len(GOING) * 2


def test_a_table_whose_catalog_was_restored_is_left_alone(tmp_path: Path) -> None:
    repo = ingested(tmp_path)
    saved = (tmp_path / "catalog.db").read_bytes()
    repo.put("b.json", ["y"])
    assert repo.run()["exit"] == 0
    (tmp_path / "catalog.db").write_bytes(saved)
    result = repo.run(action="retention", at=AT)
    assert (result["exit"], result["feeds"][0]["failure"]["code"]) == (1, "table_is_behind")
    assert repo.words == Counter(WORDS)


@pytest.mark.extended
def test_an_eviction_of_a_killed_run_is_announced_once_by_the_next(tmp_path: Path) -> None:
    repo = ingested(tmp_path)
    found = table(repo)
    before = found.state().snapshots
    with repo.start(action="retention", at=AT) as process:
        until = time.monotonic() + 60
        while found.state().snapshots == before and time.monotonic() < until:
            time.sleep(0.002)
        process.send_signal(signal.SIGKILL)
        process.communicate()
    assert repo.words == LEFT
    assert repo.run(action="retention", at=AT)["exit"] == 0
    evicted = [each for each in events(repo) if each[0] == "evicted"]
    assert evicted == [("evicted", "2026-03-20T00:00Z"), ("evicted", "2026-03-20T01:00Z")]
    with closing(sqlite3.connect(tmp_path / "ledger.db")) as ledger:
        assert ledger.execute("select count(*) from item where state = 'intended'").fetchone() == (0,)


def test_without_a_ledger_nothing_is_evicted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    repo = ingested(tmp_path)
    assert repo.run("--no-ledger", action="retention", at=AT)["exit"] == 2
    assert "nothing keeps a commit of it apart" in capsys.readouterr().err
    assert repo.words == Counter(WORDS)
