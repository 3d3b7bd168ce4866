"""Processes and `instance list` on the instances of an ingested feed, on a real Iceberg table."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import typer

from entrypoints import late_check, process
from tests.e2e.iceberg_site import IngestRepo, QuickRepo
from toolkit.cli.boundary import run_app
from toolkit.cli.main import main

PROCESS = """\
kind: process
name: count_clicks
frequency: hours(1)
clusters:
  - name: primary
    validity: {start: 2026-03-20T00:00Z, end: 2099-01-01T00:00Z}
inputs:
  clicks: {feed: clicks, start: "now(0,0)", end: "now(0,0)"}
workflow: {engine: command, path: workflows/count.sh}
late_process:
  policy: periodic
  delay: minutes(1)
  inputs: {clicks: workflows/late.sh}
"""
SCRIPT = "#!/bin/sh\necho ran\n"


def with_process(repo: IngestRepo) -> None:
    """Add a process that reads the feed, and a cut-off."""
    root = repo.root / "repo"
    feed = root / "feeds/clicks.yaml"
    feed.write_text(feed.read_text() + "late_arrival: {cut_off: months(999)}\n")
    for name, text in {"processes/count_clicks.yaml": PROCESS, "workflows/count.sh": SCRIPT}.items():
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_text(text)
    (root / "workflows/late.sh").write_text(SCRIPT)
    for each in (root / "workflows").iterdir():
        each.chmod(0o755)


def run(repo: IngestRepo, app: typer.Typer, at: str) -> dict[str, Any]:
    """Run an entrypoint about the process, in this process."""
    out = repo.root / "result.json"
    options = ("--config-repo", str(repo.root / "repo"), "--result-file", str(out))
    code = run_app(app, [*options, "--process", "count_clicks", "--time", at])
    return {**json.loads(out.read_text()), "exit": code}


@pytest.mark.extended
def test_a_process_waits_until_the_instance_is_closed_and_late_rows_run_it_again(tmp_path: Path) -> None:
    repo = QuickRepo.make(tmp_path)
    with_process(repo)
    repo.put("a.json", ["x", "y"])
    assert repo.run()["exit"] == 0
    at = "2026-03-20T01:00Z"
    waiting = run(repo, process.app, at)
    assert waiting["exit"] == 75, waiting
    assert repo.run(action="compact")["exit"] == 0
    assert run(repo, process.app, at)["exit"] == 0
    nothing = run(repo, late_check.app, at)
    assert nothing["exit"] == 0, nothing
    repo.put("b.json", ["z1", "z2"])
    assert repo.run()["exit"] == 0
    again = run(repo, late_check.app, at)
    assert again["exit"] == 0, again
    assert json.dumps(nothing["items"]) != json.dumps(again["items"]), (nothing, again)


def test_instance_list_tells_rows_that_are_not_closed_yet(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    repo = QuickRepo.make(tmp_path)
    repo.put("a.json", ["x", "y"])
    assert repo.run()["exit"] == 0
    assert repo.run(action="compact", at="2026-03-20T01:15Z")["exit"] == 0
    capsys.readouterr()
    span = ["--start", "2026-03-20T00:00Z", "--end", "2026-03-20T03:00Z", "--config-repo", str(tmp_path / "repo")]
    assert main(["instance", "list", "clicks", "--output", "json", *span]) == 0
    found = {each["instance"]: each for each in json.loads(capsys.readouterr().out)["instances"]}
    assert {key: each["state"] for key, each in found.items()} == {
        "2026-03-20T00:00Z": "available",
        "2026-03-20T01:00Z": "partial",
        "2026-03-20T02:00Z": "missing",
    }
    assert found["2026-03-20T00:00Z"]["files"] == 1
