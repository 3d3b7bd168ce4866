"""The ingest of a directory, with ledger, leases and results; the table is one in a file."""

from __future__ import annotations

import io
import json
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.described import faults
from tests.e2e.ingest_site import IngestSite
from tests.unit.ingest_job.scene import line
from toolkit.bootstrap.ingest import IngestOptions
from toolkit.errors import InvalidInput
from toolkit.rendering.document_schemas import DocumentName
from toolkit.rendering.tables import ResultFormat

LINE = len(line("x"))
HERE = Path(__file__).parents[2]


def test_dry_run_run_and_second_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    site = IngestSite.make(tmp_path, after="archive")
    site.put("a.json", line("x"), line("y"))
    site.put("b.json", line("z"))
    assert site.run(dry_run=True) == 0
    planned = json.loads(capsys.readouterr().out)
    assert {(each["kind"], each["outcome"]) for each in planned["items"]} == {
        ("ingest", "planned"),
        ("archive", "planned"),
        ("watermark", "planned"),
    }
    assert sum(each["end"] - each["start"] for each in planned["items"] if each["kind"] == "ingest") == 3 * LINE
    assert (site.table.words, site.inbox) == ([], ["a.json", "b.json"])
    assert site.run() == 0
    done = json.loads(capsys.readouterr().out)
    assert faults(done, DocumentName.INGEST, "result", strict=True) == []
    assert [fault for each in done["items"] for fault in faults(each, DocumentName.INGEST, "item", strict=True)] == []
    feed = done["feeds"][0]
    assert (feed["rows"], feed["commits"], [each["offset"] for each in feed["offsets"]]) == (3, 1, [2 * LINE, LINE])
    assert (site.table.words, site.inbox) == (["x", "y", "z"], [])
    assert site.run() == 0
    again = json.loads(capsys.readouterr().out)
    assert (again["items"], again["feeds"][0]["commits"], site.table.words) == ([], 0, ["x", "y", "z"])


def test_bad_records_fail_or_are_rejected(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    site = IngestSite.make(tmp_path)
    site.put("a.json", line("x"), b"bad\n")
    assert site.run() == 1
    assert "record at 2" in capsys.readouterr().out
    site.put("b.json", line("y"))
    assert (site.run(), site.table.words) == (4, ["y"])
    capsys.readouterr()
    site.rejects_bad = True
    assert (site.run(), site.table.words) == (0, ["x", "y"])
    feed = json.loads(capsys.readouterr().out)["feeds"][0]
    (file,) = feed["reject_files"]
    assert feed["rejects"] == 1
    assert file.startswith(f"file://{tmp_path}/working/rejects/clicks/2026-03-20T1200Z-")


def test_rejects_need_a_working_directory(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    site = IngestSite.make(tmp_path)
    site.rejects_bad = True
    text = (tmp_path / "repo/clusters/primary.yaml").read_text()
    site.write("clusters/primary.yaml", text.replace("locations: {working: /working}\n", ""))
    with pytest.raises(InvalidInput, match=r"no locations\.working"):
        site.run()
    assert capsys.readouterr().out == ""


def test_what_blocks_a_run_has_its_exit_code(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    site = IngestSite.make(tmp_path)
    site.put("a.json", line("x"))
    site.write("holds.yaml", "holds: [{feed: clicks, reason: audit}]\n")
    assert site.run() == 5
    site.write("holds.yaml", "holds: []\n")
    (tmp_path / "inbox" / ".feedctl-hold").write_text("looking at it")
    assert site.run() == 0, "held items are skipped"
    assert "held" in capsys.readouterr().out
    assert site.table.words == []
    (tmp_path / "inbox" / ".feedctl-hold").unlink()
    assert (site.run(), site.table.words) == (0, ["x"])


def test_a_missing_directory_and_a_table_that_is_down_fail_the_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    site = IngestSite.make(tmp_path)
    site.put("a.json", line("x"))
    site.table.fail_commits = frozenset({1})
    assert site.run() == 1
    assert "catalog_unreachable" in capsys.readouterr().out
    (tmp_path / "inbox").rename(tmp_path / "elsewhere")
    assert site.run(form=ResultFormat.TEXT) == 1
    assert "not_found" in capsys.readouterr().out


def test_standard_input_is_committed_and_goes_on_under_its_name(tmp_path: Path) -> None:
    site = IngestSite.make(tmp_path)

    def given(*lines: bytes) -> int:
        stream = io.BufferedReader(io.BytesIO(b"".join(lines)))
        site.own = IngestOptions(stdin=stream, stdin_name="export")
        return site.run()

    assert given(line("x"), line("y")) == 0
    assert given(line("x"), line("y"), line("z")) == 0
    assert site.table.words == ["x", "y", "z"]
    assert given(line("other"), line("y")) == 1
    assert site.table.words == ["x", "y", "z"]


def _process(root: Path, *arguments: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "tests.e2e.ingest_site", str(root), *arguments]
    return subprocess.Popen(command, cwd=HERE, stdout=subprocess.DEVNULL)


@pytest.mark.extended
def test_of_two_runs_at_once_one_is_skipped(tmp_path: Path) -> None:
    site = IngestSite.make(tmp_path, rows=7)
    site.put("a.json", line("x"))
    first = _process(tmp_path, "keep")
    while not (tmp_path / "paused").exists():
        assert first.poll() is None
        time.sleep(0.05)
    assert site.run() == 5
    (tmp_path / "go").touch()
    assert first.wait(60) == 0
    assert (site.run(), site.table.words) == (0, ["x"])


@pytest.mark.extended
@pytest.mark.parametrize(("point", "number"), [("written", 2), ("in commit", 2), ("after commit", 1)])
def test_a_killed_run_is_finished_by_the_next(
    tmp_path: Path, point: str, number: int, capsys: pytest.CaptureFixture[str]
) -> None:
    site = IngestSite.make(tmp_path, after="delete", rows=7)
    words = [f"{name}{number:02}" for name in "abc" for number in range(10)]
    for name in "abc":
        site.put(f"{name}.json", *(line(word) for word in words if word.startswith(name)))
    assert _process(tmp_path, "delete", point, str(number)).wait(60) == -9
    assert site.run() == 0
    assert (site.table.words, site.inbox) == (words, [])
    assert "an earlier run died" in capsys.readouterr().out
