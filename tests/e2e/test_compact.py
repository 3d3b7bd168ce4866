"""The compact entrypoint on a real Iceberg table: closing, merging, expiry and removal."""

from __future__ import annotations

import os
import signal
import sqlite3
import time
from collections import Counter
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.e2e.iceberg_site import IngestRepo, QuickRepo
from toolkit.ingest.iceberg_table import IcebergTable
from toolkit.ingest.port import CLOSED_PROPERTY, WATERMARK_PROPERTY, TableCommit


def events(repo: IngestRepo) -> list[tuple[str, str]]:
    """Return kind and instance of the events of the feed."""
    with closing(sqlite3.connect(repo.root / "ledger.db")) as ledger:
        return ledger.execute("select kind, instance_key from event where feed = 'clicks' order by sequence").fetchall()


def table(repo: IngestRepo) -> IcebergTable:
    """Open the table."""
    return repo.catalog().open("web", "clicks")


def test_instances_close_once_the_source_was_read_and_late_rows_update_them(tmp_path: Path) -> None:
    repo = QuickRepo.make(tmp_path)
    at = "2026-03-20T02:15Z"
    assert repo.run(action="compact", at=at)["feeds"][0]["notes"] == [
        "the table feedctl.web.clicks is not there: nothing was ingested yet"
    ]
    words = [f"word{at}" for at in range(90)]
    repo.put("a.json", words)
    assert repo.run()["exit"] == 0
    first = repo.run("--dry-run", action="compact", at=at)
    assert [(each["kind"], each["instance"]) for each in first["items"]] == [
        ("merge", "2026-03-20T00:00Z"),
        ("merge", "2026-03-20T01:00Z"),
        ("close", "2026-03-20T00:00Z"),
        ("close", "2026-03-20T01:00Z"),
    ]
    assert events(repo) == []
    assert repo.run(action="compact", at=at)["exit"] == 0
    assert events(repo) == [("available", "2026-03-20T00:00Z"), ("available", "2026-03-20T01:00Z")]
    assert (len(table(repo).files([("2026-03-20-00",)])), repo.words) == (1, Counter(words))
    assert repo.run(action="compact", at=at)["items"] == []
    repo.put("late.json", ["late"])
    assert repo.run()["exit"] == 0
    assert repo.words == Counter(words)  # there is no late-arrival cut-off
    feed = tmp_path / "repo/feeds/clicks.yaml"
    feed.write_text(feed.read_text() + "late_arrival: {cut_off: months(999)}\n")
    repo.put("late2.json", ["late"])
    assert repo.run()["exit"] == 0
    assert events(repo)[2:] == [("updated", "2026-03-20T00:00Z")]
    assert repo.words == Counter([*words, "late"])


def test_no_instance_closes_while_the_source_is_behind(tmp_path: Path) -> None:
    repo = QuickRepo.make(tmp_path)
    repo.put("a.json", ["x"])
    feed = tmp_path / "repo/feeds/clicks.yaml"
    feed.write_text(feed.read_text().replace("      on_bad_record: reject\n", ""))
    (tmp_path / "inbox/b.json").write_text("{broken\n")
    os.utime(tmp_path / "inbox/b.json", (time.time() - 3600,) * 2)
    assert repo.run()["exit"] == 4
    result = repo.run(action="compact")
    assert WATERMARK_PROPERTY not in table(repo).state().properties
    assert (result["items"], events(repo)) == ([], [])
    assert result["feeds"][0]["notes"] == ["no instance closes: no ingest has read the source to its end yet"]
    (tmp_path / "inbox/b.json").unlink()
    assert repo.run()["exit"] == 0
    assert repo.run(action="compact")["exit"] == 0
    assert events(repo) == [("available", "2026-03-20T00:00Z")]


def test_no_instance_closes_before_a_file_that_was_still_written_is_read(tmp_path: Path) -> None:
    repo = QuickRepo.make(tmp_path)
    repo.put("a.json", ["x"])
    repo.put("growing.json", ["y"])
    os.utime(tmp_path / "inbox/growing.json")
    assert [each["kind"] for each in repo.run()["items"]] == ["ingest", "archive", "watermark"]
    assert WATERMARK_PROPERTY not in table(repo).state().properties
    assert repo.run(action="compact")["items"] == []
    repo.put("growing.json", ["y", "y"])
    repo.put("young.json", ["z"])
    os.utime(tmp_path / "inbox/young.json")
    assert repo.run()["exit"] == 0
    assert repo.run(action="compact")["exit"] == 0
    assert (events(repo), repo.words) == (
        [("available", "2026-03-20T00:00Z"), ("available", "2026-03-20T01:00Z")],
        Counter("xyy"),
    )


def test_an_instance_that_was_closed_by_a_killed_run_is_announced_by_the_next(tmp_path: Path) -> None:
    repo = QuickRepo.make(tmp_path)
    repo.put("a.json", ["x", "y"])
    assert repo.run()["exit"] == 0
    with repo.start(action="compact") as process:
        found = table(repo)
        until = time.monotonic() + 60
        while CLOSED_PROPERTY not in found.state().properties and time.monotonic() < until:
            time.sleep(0.002)
        process.send_signal(signal.SIGKILL)
        process.communicate()
    assert CLOSED_PROPERTY in found.state().properties
    feed = tmp_path / "repo/feeds/clicks.yaml"
    feed.write_text(feed.read_text() + "late_arrival: {cut_off: months(999)}\n")
    repo.put("late.json", ["z"])  # its commit tells of late rows before the instance was announced
    assert repo.run()["exit"] == 0
    assert repo.run(action="compact")["exit"] == 0
    announced = [("available", "2026-03-20T00:00Z"), ("available", "2026-03-20T01:00Z")]
    assert sorted(events(repo)) == [*announced, ("updated", "2026-03-20T00:00Z")]
    assert repo.run(action="compact")["exit"] == 0
    assert len(events(repo)) == 3


def test_files_of_killed_and_lapsed_writers_go_and_no_others(tmp_path: Path) -> None:
    repo = QuickRepo.make(tmp_path)
    repo.put("a.json", ["x", "y"])
    assert repo.run()["exit"] == 0
    data = next((tmp_path / "warehouse").rglob("feedctl-*.parquet")).parent
    with closing(sqlite3.connect(tmp_path / "ledger.db")) as ledger:
        (aborted,) = ledger.execute("select max(transaction_id) from ingest_transaction").fetchone()
        ledger.execute("update ingest_transaction set state = 'open' where transaction_id = ?", (aborted - 1,))
        ledger.execute("update ingest_batch set state = 'open', expires_at = '2099-01-01 00:00:00.000000'")
        ledger.commit()
    names = {"aborted": aborted, "open": aborted - 1, "unknown": 10**9}
    files = {key: data / f"feedctl-{number}-1-00000.parquet" for key, number in names.items()}
    files["old"] = data / "feedctl-merged-7-0.parquet"
    files["foreign"] = data / "part-00000.parquet"
    for each in files.values():
        each.write_bytes(b"x")
    for key in ("old", "foreign"):
        os.utime(files[key], (time.time() - 4 * 86400,) * 2)
    result = repo.run(action="compact", at="2026-03-20T00:15Z")
    assert [each["uri"].rpartition("/")[2] for each in result["items"] if each["kind"] == "remove"] == [
        files["aborted"].name,
        files["old"].name,
    ]
    assert {key for key, each in files.items() if each.exists()} == {"open", "unknown", "foreign"}
    assert repo.words == Counter("xy")


def test_a_table_whose_catalog_was_restored_is_left_alone(tmp_path: Path) -> None:
    repo = QuickRepo.make(tmp_path)
    repo.put("a.json", ["x"])
    assert repo.run()["exit"] == 0
    saved = (tmp_path / "catalog.db").read_bytes()
    repo.put("b.json", ["y"])
    assert repo.run()["exit"] == 0
    (tmp_path / "catalog.db").write_bytes(saved)
    for each in (tmp_path / "warehouse").rglob("*.*"):
        os.utime(each, (time.time() - 9 * 86400,) * 2)
    files = sorted((tmp_path / "warehouse").rglob("*.*"))
    result = repo.run(action="compact")
    assert (result["exit"], result["feeds"][0]["failure"]["code"]) == (1, "table_is_behind")
    refused = repo.run()
    assert (refused["exit"], refused["feeds"][0]["failure"]["code"]) == (1, "table_is_behind")
    assert sorted((tmp_path / "warehouse").rglob("*.*")) == files
    repo.put("b.json", ["y"])
    assert repo.run("--accept-table")["exit"] == 0
    assert repo.words == Counter("xy")
    repo.put("c.json", ["z"])
    assert repo.run()["exit"] == 0


@pytest.mark.extended
def test_files_of_a_dropped_table_stay_where_it_was_made_anew(tmp_path: Path) -> None:
    repo = QuickRepo.make(tmp_path)
    repo.put("a.json", ["x"])
    assert repo.run()["exit"] == 0
    repo.catalog().catalog.drop_table(("web", "clicks"))
    files = sorted((tmp_path / "warehouse").rglob("*.*"))
    repo.put("b.json", ["y"])
    assert repo.run("--accept-table")["exit"] == 0
    for each in files:
        os.utime(each, (time.time() - 9 * 86400,) * 2)
    result = repo.run(action="compact")
    assert [each["kind"] for each in result["items"]] == ["close"]
    assert "or of one that was dropped" in result["feeds"][0]["notes"][0]
    assert [each for each in files if not each.exists()] == []


@pytest.mark.extended
def test_the_last_instance_closes_after_the_end_of_the_validity(tmp_path: Path) -> None:
    repo = QuickRepo.make(tmp_path)
    feed = tmp_path / "repo/feeds/clicks.yaml"
    feed.write_text(feed.read_text().replace("2099-01-01T00:00Z", "2026-03-20T01:00Z"))
    repo.put("a.json", ["x"])
    assert repo.run()["exit"] == 0
    found = table(repo)  # as a run before the end has left it
    found.commit(TableCommit(properties={WATERMARK_PROPERTY: "2026-03-20T00:30Z"}), found.state())
    assert [each["kind"] for each in repo.run()["items"]] == ["watermark"]
    assert repo.run(action="compact")["exit"] == 0
    assert events(repo) == [("available", "2026-03-20T00:00Z")]


@pytest.mark.extended
def test_replaced_files_stay_for_six_hours(tmp_path: Path) -> None:
    repo = QuickRepo.make(tmp_path)
    words = [f"word{at}" for at in range(90)]
    repo.put("a.json", words)
    assert repo.run()["exit"] == 0
    assert repo.run(action="compact")["exit"] == 0
    found = table(repo)
    now = datetime.now(UTC) + timedelta(minutes=20)
    before = {each.uri for each in found.unreferenced()}
    assert found.expire(older_than=now, keep_since=None, keep_last=1, replaced_since=now - timedelta(hours=6)) > 0
    assert not {each.uri for each in found.unreferenced() if each.is_data} - before
    assert found.expire(older_than=now, keep_since=None, keep_last=1, replaced_since=now + timedelta(hours=1)) > 0
    assert len([each for each in found.unreferenced() if each.is_data]) > 4
    assert repo.words == Counter(words)
