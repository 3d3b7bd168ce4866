"""The ingest action, over a directory and a table in a file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import BinaryIO

import pytest
from typing_extensions import override

from tests.unit.ingest_job.scene import IngestScene, line
from toolkit.el import CanonicalPath
from toolkit.ingest_job.targets import CommitLimits, IngestDetail, IngestResult
from toolkit.ledger.vocabulary import EventKind, ItemState
from toolkit.result import ExitCode
from toolkit.storage import LocalFileSystem, PermissionDenied


def _detail(result: IngestResult) -> IngestDetail:
    detail = result.targets[0].plan.detail
    assert isinstance(detail, IngestDetail)
    return detail


def outcomes(result: IngestResult) -> list[tuple[str, str]]:
    return [(each.outcome.value, each.code) for each in result.items]


def test_a_run_commits_all_files_and_the_next_has_nothing_to_do(tmp_path: Path) -> None:
    scene = IngestScene(root=tmp_path)
    scene.put("a.json", line("x"), line("y"))
    scene.put("b.json", line("z", "2026-03-03T10:00Z"))
    first = scene.run()
    assert (first.exit_code, scene.table.words) == (ExitCode.DONE, ["x", "y", "z"])
    detail = _detail(first)
    assert (detail.rows, detail.commits, detail.rejects) == (3, 1, 0)
    assert {row[1] for row in scene.table.content().rows} == {"2026-03-02", "2026-03-03"}
    second = scene.run()
    assert (second.exit_code, list(second.items), scene.table.words) == (ExitCode.DONE, [], ["x", "y", "z"])


def test_a_dry_run_shows_the_units_and_changes_nothing(tmp_path: Path) -> None:
    scene = IngestScene(root=tmp_path, after="archive")
    scene.put("a.json", line("x"))
    before = sorted(tmp_path.rglob("*"))
    result = scene.run(dry_run=True)
    assert outcomes(result) == [("planned", "")] * 2
    assert sorted(tmp_path.rglob("*")) == before


def test_a_large_file_is_committed_in_parts(tmp_path: Path) -> None:
    scene = IngestScene(root=tmp_path, limits=CommitLimits(rows=3))
    scene.put("a.json", *(line(f"{number:02}") for number in range(10)))
    result = scene.run()
    assert len(scene.table.words) == 10
    assert _detail(result).commits == 4


def test_a_bad_record_fails_the_run_and_moves_nothing_but_other_files_are_committed(tmp_path: Path) -> None:
    scene = IngestScene(root=tmp_path)
    scene.put("a.json", line("x"))
    scene.put("b.json", line("y"), b"no json\n")
    scene.put("c.json", line("z"))
    result = scene.run()
    assert (result.exit_code, scene.table.words) == (ExitCode.PARTIAL, ["x", "z"])
    (failed,) = (each for each in result.items if each.outcome.value == "failed")
    assert "b.json, record at 2: no JSON" in failed.message
    scene.put("b.json", line("y"), line("better"))
    assert (scene.run().exit_code, scene.table.words) == (ExitCode.DONE, ["better", "x", "y", "z"])


def test_rejected_records_are_in_a_file_and_the_others_are_committed(tmp_path: Path) -> None:
    scene = IngestScene(root=tmp_path, rejects=True)
    scene.put("a.json", line("x"), b"\xff\n", line("no time", None), line("too old", "2026-02-01T10:00Z"))
    result = scene.run()
    assert (result.exit_code, scene.table.words, _detail(result).rejects) == (ExitCode.DONE, ["x"], 3)
    rejects = scene.reject_lines
    assert [each["position"] for each in rejects] == [2, 3, 4]
    assert rejects[0]["record_base64"] == "/w=="
    assert "ts is null" in str(rejects[1]["reason"])
    assert "before the start of the validity" in str(rejects[2]["reason"])
    assert _detail(result).rows == 1


def test_more_rejects_than_allowed_end_the_run_without_the_transaction(tmp_path: Path) -> None:
    scene = IngestScene(root=tmp_path, rejects=True, most_rejects=1)
    scene.put("a.json", line("x"), b"no\n", b"no\n")
    result = scene.run()
    assert (result.exit_code, scene.table.words, scene.reject_lines) == (ExitCode.FAILED, [], [])


@pytest.mark.parametrize("after", ["archive", "delete"])
def test_committed_files_are_put_away_and_others_stay(tmp_path: Path, after: str) -> None:
    scene = IngestScene(root=tmp_path, after=after)
    scene.put("a.json", line("x"))
    scene.put("b.json", b"bad\n")
    result = scene.run()
    assert result.exit_code is ExitCode.PARTIAL
    assert [each.name for each in scene.inbox.iterdir()] == ["b.json"]
    archived = list((tmp_path / "archive").glob("*")) if after == "archive" else []
    assert [each.name[:7] for each in archived] == (["a.json-"] if after == "archive" else [])


def test_what_an_earlier_run_committed_and_did_not_put_away_is_put_away_first(tmp_path: Path) -> None:
    scene = IngestScene(root=tmp_path)
    scene.put("a.json", line("x"))
    scene.run()
    scene.after = "delete"
    result = scene.run()
    assert outcomes(result) == [("done", "")]
    assert list(scene.inbox.iterdir()) == []
    assert scene.table.words == ["x"]


def test_a_run_whose_time_is_over_ends_after_a_commit_and_says_what_is_left(tmp_path: Path) -> None:
    seconds = iter(range(1000))
    scene = IngestScene(root=tmp_path, max_seconds=5, now=lambda: next(seconds), limits=CommitLimits(rows=1))
    scene.put("a.json", *(line(f"{number:02}") for number in range(50)))
    scene.put("b.json", line("b"))
    result = scene.run()
    assert result.exit_code is ExitCode.DONE
    assert 0 < len(scene.table.words) < 50
    assert any("2 units are left" in note for note in result.targets[0].plan.notes)
    scene.max_seconds = None
    scene.run()
    assert len(scene.table.words) == 51


def test_late_rows_make_an_updated_event_until_the_cut_off_and_then_are_bad(tmp_path: Path) -> None:
    scene = IngestScene(root=tmp_path, rejects=True)
    scene.put("a.json", line("x"))
    scene.run()
    assert scene.table.events == []
    scene.table.close_before("2026-03-20T00:00Z")
    scene.put("b.json", line("late", "2026-03-19T10:00Z"), line("new", "2026-03-20T10:00Z"), line("too late"))
    scene.run()
    assert scene.table.words == ["late", "new", "x"]
    (event,) = scene.table.events
    assert (event.kind, event.instance_key) == (EventKind.UPDATED, "2026-03-19T00:00Z")
    assert json.loads(event.extra or "") == {"cause": "late data"}
    assert "its late data ended at 2026-03-04T00:00Z" in str(scene.reject_lines[0]["reason"])


def test_a_hold_skips_the_target(tmp_path: Path) -> None:
    scene = IngestScene(root=tmp_path, held="held by alice")
    scene.put("a.json", line("x"))
    result = scene.run()
    assert (result.exit_code, scene.table.words) == (ExitCode.SKIPPED, [])


def test_a_commit_that_fails_ends_the_run_and_the_next_one_goes_on(tmp_path: Path) -> None:
    scene = IngestScene(root=tmp_path, limits=CommitLimits(rows=1))
    scene.table.fail_commits = frozenset({2})
    scene.put("a.json", line("x"), line("y"), line("z"))
    result = scene.run()
    assert (result.exit_code, scene.table.words) == (ExitCode.FAILED, ["x"])
    scene.table.fail_commits = frozenset()
    assert (scene.run().exit_code, scene.table.words) == (ExitCode.DONE, ["x", "y", "z"])


def test_a_source_that_another_run_reads_meanwhile_is_not_read_twice(tmp_path: Path) -> None:
    scene = IngestScene(root=tmp_path)
    scene.put("a.json", line("x"))
    other = IngestScene(root=tmp_path)
    pending = [other.run]
    scene.table.looked = lambda: [run() for run in pending and [pending.pop()]]
    result = scene.run()
    assert result.exit_code is ExitCode.FAILED
    assert "run it again" in next(iter(result.items)).message
    assert scene.table.words == ["x"]


class _Denying(LocalFileSystem):
    """Does not give one file."""

    @override
    def read(self, path: CanonicalPath, *, offset: int = 0, length: int | None = None) -> BinaryIO:
        if path.name == "b.json":
            raise PermissionDenied(path=path)
        return super().read(path, offset=offset, length=length)


def test_a_file_that_may_not_be_read_fails_alone(tmp_path: Path) -> None:
    scene = IngestScene(root=tmp_path, system=_Denying())
    scene.put("a.json", line("x"))
    scene.put("b.json", line("y"))
    result = scene.run()
    assert (result.exit_code, scene.table.words) == (ExitCode.PARTIAL, ["x"])


def test_a_unit_of_a_killed_run_is_done_when_the_table_has_it_and_never_before(tmp_path: Path) -> None:
    scene = IngestScene(root=tmp_path)
    scene.put("a.json", line("x"))
    uri = f"file://{scene.inbox}/a.json"
    assert scene.recovered(uri) == [ItemState.FAILED]
    held = IngestScene(root=tmp_path, held="held by alice")
    assert held.recovered(uri) == [], "a run that does not look settles nothing"
    scene.run()
    assert scene.recovered(uri) == [ItemState.DONE]
    assert scene.recovered(f"file://{scene.inbox}/gone.json") == [ItemState.FAILED]
