from __future__ import annotations

import os
from pathlib import Path

import pytest

from toolkit.doctor.findings import CheckStatus
from toolkit.doctor.records import audit_findings
from toolkit.runs.audit import AuditPlace

LINE = '{"at": "2026-03-20T12:00:01.250Z", "who": "alice"}\n'


def test_a_file_that_is_there_is_left_as_it_is(tmp_path: Path) -> None:
    place = tmp_path / "audit.jsonl"
    place.write_text(LINE)
    before = place.stat().st_mtime_ns
    (found,) = audit_findings(AuditPlace(file=place))
    assert found.status is CheckStatus.OK
    assert (place.read_text(), place.stat().st_mtime_ns) == (LINE, before)


def test_a_file_that_could_be_made_is_not_made(tmp_path: Path) -> None:
    before = tmp_path.stat().st_mtime_ns
    (found,) = audit_findings(AuditPlace(file=tmp_path / "new" / "audit.jsonl"))
    assert (found.status, "not there yet" in found.found) == (CheckStatus.OK, True)
    assert (list(tmp_path.iterdir()), tmp_path.stat().st_mtime_ns) == ([], before)


def test_a_file_that_could_not_be_made_is_a_failure(tmp_path: Path) -> None:
    (found,) = audit_findings(AuditPlace(file=tmp_path / "audit.jsonl"), lambda file: f"{file.parent} is read-only")
    assert (found.status, "read-only" in found.found) == (CheckStatus.FAILED, True)
    assert "FEEDCTL_AUDIT" in found.todo


@pytest.mark.parametrize("kind", ["folder", "pipe", "device", "file in the way"])
def test_what_is_no_regular_file_is_refused_as_an_action_does(tmp_path: Path, kind: str) -> None:
    place = tmp_path / "audit.jsonl"
    if kind == "folder":
        place.mkdir()
    elif kind == "pipe":
        os.mkfifo(place)
    elif kind == "device":
        place = Path(os.devnull)
    else:
        place.write_text("")
        place = place / "audit.jsonl"
    (found,) = audit_findings(AuditPlace(file=place))
    assert found.status is CheckStatus.FAILED
