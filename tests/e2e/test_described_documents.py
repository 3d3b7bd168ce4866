"""Tests of what an action prints and writes for programs is what its JSON Schemas describe, and nothing else."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.described import faults
from tests.e2e.in_process import run_here
from tests.e2e.retention_process import Repo
from toolkit.rendering.document_schemas import DocumentName

pytestmark = pytest.mark.slow


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    """A feed of which one instance is held, one name does not conform, and two of three may go at once."""
    made = Repo.make(tmp_path, repo_yaml="name: e2e\nmax_delete: {instances: 2}\n")
    made.fill("2026/03/01", 3)
    (made.data / "clicks" / "notes").touch()
    made.write("holds.yaml", "holds: [{feed: clicks, end: 2026-03-01T00:01Z, reason: audit}]\n")
    return made


def test_results_and_audit_lines_have_every_key_that_is_described_and_no_other(
    repo: Repo, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    clicks, file = ("--feed", "clicks"), tmp_path / "result.json"
    codes = []
    for arguments in (("--feed", "nope"), (*clicks, "--dry-run"), clicks, clicks):
        codes.append(run_here(repo, *arguments, "--output", "json", "--result-file", str(file)))
        printed = capsys.readouterr().out
        assert printed == file.read_text()
        assert faults(json.loads(printed), DocumentName.RETENTION, "result", strict=True) == []
    repo.fill("2026/03/02", 3)
    codes.append(run_here(repo, *clicks, "--output", "jsonl"))
    *items, last = map(json.loads, capsys.readouterr().out.splitlines())
    assert (codes, len(items)) == ([2, 0, 0, 0, 3], 3)
    assert faults(last, DocumentName.RETENTION, "result", strict=True) == []
    assert [fault for each in items for fault in faults(each, DocumentName.RETENTION, "item", strict=True)] == []
    assert {line["what"] for line in repo.audit} == {"process", "run", "batch", "item"}
    assert [
        fault for line in repo.audit for fault in faults(line, DocumentName.AUDIT, str(line["what"]), strict=True)
    ] == []
