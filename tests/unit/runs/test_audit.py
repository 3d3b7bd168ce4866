"""The audit file: on the disk before anything happens, and never written over."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.unit.runs.fakes import done, item, left_item, start_request
from toolkit.ledger.runs.rows import Origin
from toolkit.runs.audit import AuditFile, AuditPlace, opened_audit
from toolkit.runs.audit_lines import intended_lines, left_over_line, process_line, run_line, settled_lines
from toolkit.runs.errors import AuditLost, AuditUnusable
from toolkit.runs.recorder import RecordedRun

ALICE = Origin(who="alice", host="edge1", pid=77)
RUN = RecordedRun(key=start_request().key, run_id=5, attempt=2, lease_seconds=60)

TORN = '{"at": "2026-03-20T12:00:01.250Z", "who": "alice", "ho'


class _Noon:
    def now(self) -> datetime:
        return datetime(2026, 3, 20, 12, 0, 1, 250_999, tzinfo=UTC)


@contextmanager
def _opened(place: Path, *, ledger: str | None = "sqlite:////l.db") -> Iterator[AuditFile]:
    first = process_line(action="retention", ledger=ledger, who=ALICE.who)
    with opened_audit(AuditPlace(file=place), ALICE, _Noon(), first) as audit:
        yield audit


def _lines(place: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in place.read_text().splitlines()]


def test_the_first_line_of_a_process_says_what_begins_and_where_it_is_recorded(tmp_path: Path) -> None:
    place = tmp_path / "state" / "audit.jsonl"
    with _opened(place):
        assert _lines(place) == [
            {
                "at": "2026-03-20T12:00:01.250Z",
                "who": "alice",
                "host": "edge1",
                "pid": 77,
                "what": "process",
                "state": "begun",
                "action": "retention",
                "ledger": "sqlite:////l.db",
            }
        ]


def test_a_line_about_a_left_over_names_the_run_that_found_it_and_the_run_that_left_it(tmp_path: Path) -> None:
    place = tmp_path / "audit.jsonl"
    with _opened(place) as audit:
        audit.write([left_over_line(RUN, left_item(item(3), run_id=4), done(3))])
    _, line = _lines(place)
    assert (line["run"], line["of_run"]) == (5, 4)
    assert (line["what"], line["position"], line["path"], line["state"]) == ("item", 3, item(3).path, "done")


def test_a_line_that_a_full_disk_tore_does_not_swallow_the_next_one(tmp_path: Path) -> None:
    place = tmp_path / "audit.jsonl"
    place.write_text(TORN)
    with _opened(place):
        torn, first = place.read_text().splitlines()
    assert (torn, json.loads(first)["what"]) == (TORN, "process")


def test_the_first_line_says_that_the_ledger_was_not_used_and_who_chose_that(tmp_path: Path) -> None:
    with _opened(tmp_path / "audit.jsonl", ledger=None):
        pass
    (line,) = _lines(tmp_path / "audit.jsonl")
    assert line["no_ledger"] == "alice chose to act without the ledger (--no-ledger)"
    assert "ledger" not in line


def test_a_line_about_an_item_says_who_did_what_to_which_path(tmp_path: Path) -> None:
    place = tmp_path / "audit.jsonl"
    with _opened(place) as audit:
        lines = [*intended_lines(replace(RUN, run_id=None), [item(3)]), *settled_lines(RUN, [(item(3), done(3))])]
        audit.write([run_line(RUN, "running"), *lines])
    _, run, intended, settled = _lines(place)
    assert (run["what"], run["state"], run["instance_key"]) == ("run", "running", "2026-03-20T12:00Z")
    of_item = {
        "who": "alice", "host": "edge1", "pid": 77, "what": "item", "run": 5, "attempt": 2, "life_cycle": "eviction",
        "entity": "clicks", "cluster": "primary", "position": 3, "kind": "instance:data",
        "instance_key": "2026-03-01T00:00Z", "path": "file:///data/1",
    }  # fmt: skip
    assert of_item.items() <= settled.items()
    assert {**settled, "state": "intended"} == {**intended, "run": 5}
    assert (intended["state"], settled["state"]) == ("intended", "done")


def test_what_the_ledger_knows_item_by_item_is_one_line_before_it_begins(tmp_path: Path) -> None:
    with _opened(tmp_path / "audit.jsonl") as audit:
        audit.write(intended_lines(RUN, [item(3), item(4, "file:///data/2"), item(5, "file:///data/3")]))
        audit.write(intended_lines(RUN, []))
    _, line = _lines(tmp_path / "audit.jsonl")
    expected = {
        "what": "batch", "run": 5, "attempt": 2, "life_cycle": "eviction", "entity": "clicks", "cluster": "primary",
        "items": 3, "first": 3, "last": 5, "first_path": "file:///data/1", "last_path": "file:///data/3",
        "state": "intended",
    }  # fmt: skip
    assert {name: line[name] for name in line if name not in {"at", "who", "host", "pid"}} == expected


def test_lines_are_appended_and_two_processes_may_share_a_file(tmp_path: Path) -> None:
    place = tmp_path / "audit.jsonl"
    with _opened(place) as first, _opened(place) as second:
        first.write([run_line(RUN, "running")])
        second.write([run_line(RUN, "failed")])
        first.write([run_line(RUN, "succeeded")])
    assert [line["state"] for line in _lines(place)] == ["begun", "begun", "running", "failed", "succeeded"]


def test_names_that_are_no_unicode_are_written_and_can_be_read_back(tmp_path: Path) -> None:
    path = os.fsdecode(b"file:///data/\xff\xe9")
    with _opened(tmp_path / "audit.jsonl") as audit:
        audit.write(settled_lines(RUN, [(item(path=path), done())]))
    line = _lines(tmp_path / "audit.jsonl")[1]
    assert os.fsencode(str(line["path"])) == b"file:///data/\xff\xe9"


def test_a_file_that_cannot_be_made_is_an_error_before_anything_begins(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(AuditUnusable, match=r"nothing was touched; make it writable"), _opened(tmp_path / "file" / "a"):
        pytest.fail("it was opened")


@pytest.mark.parametrize("kind", ["directory", "pipe", "device"])
def test_what_is_no_file_is_no_audit_file(tmp_path: Path, kind: str) -> None:
    place = tmp_path / "audit"
    if kind == "directory":
        place.mkdir()
    elif kind == "pipe":
        os.mkfifo(place)
    else:
        place.symlink_to("/dev/null")
    with pytest.raises(AuditUnusable), _opened(place):
        pytest.fail("it was opened")


def test_a_full_disk_is_noticed_before_anything_begins(tmp_path: Path) -> None:
    place = tmp_path / "audit"
    place.touch()
    full = os.open("/dev/full", os.O_WRONLY)
    try:
        file = AuditFile(place=place, descriptor=full, origin=ALICE, clock=_Noon())
        with pytest.raises(AuditLost, match="No space left on device"):
            file.write([run_line(RUN, "running")])
    finally:
        os.close(full)


def test_lines_that_are_not_on_the_disk_are_not_written(tmp_path: Path) -> None:
    """A pipe takes lines and has no disk to put them on."""
    reading, writing = os.pipe()
    try:
        file = AuditFile(place=tmp_path, descriptor=writing, origin=ALICE, clock=_Noon())
        with pytest.raises(AuditLost, match="Invalid argument"):
            file.write([run_line(RUN, "running")])
    finally:
        os.close(reading)
        os.close(writing)
