"""Processes and `instance list` on the instances of an ingested feed, on a real Iceberg table."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.iceberg_site import ENTRYPOINTS, IngestRepo

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


def run(repo: IngestRepo, script: str, *options: str) -> dict[str, Any]:
    """Run an entrypoint about the process."""
    command = [sys.executable, str(ENTRYPOINTS / script), "--config-repo", str(repo.root / "repo"), "--output", "json"]
    ran = subprocess.run([*command, *options], capture_output=True, text=True, check=False, timeout=120)
    assert ran.stdout, ran.stderr
    return {**json.loads(ran.stdout), "exit": ran.returncode}


@pytest.mark.extended
@pytest.mark.slow
def test_a_process_waits_until_the_instance_is_closed_and_late_rows_run_it_again(tmp_path: Path) -> None:
    repo = IngestRepo.make(tmp_path)
    with_process(repo)
    repo.put("a.json", ["x", "y"])
    assert repo.run()["exit"] == 0
    process = ("--process", "count_clicks", "--time", "2026-03-20T01:00Z")
    waiting = run(repo, "process.py", *process)
    assert waiting["exit"] == 75, waiting
    assert repo.run(action="compact")["exit"] == 0
    assert run(repo, "process.py", *process)["exit"] == 0
    late = process
    nothing = run(repo, "late_check.py", *late)
    assert nothing["exit"] == 0, nothing
    repo.put("b.json", ["z1", "z2"])
    assert repo.run()["exit"] == 0
    again = run(repo, "late_check.py", *late)
    assert again["exit"] == 0, again
    assert json.dumps(nothing["items"]) != json.dumps(again["items"]), (nothing, again)


def test_instance_list_tells_rows_that_are_not_closed_yet(tmp_path: Path) -> None:
    repo = IngestRepo.make(tmp_path)
    repo.put("a.json", ["x", "y"])
    assert repo.run()["exit"] == 0
    assert repo.run(action="compact", at="2026-03-20T01:15Z")["exit"] == 0
    command = [str(Path(sys.executable).parent / "feedctl"), "instance", "list", "clicks", "--output", "json"]
    span = ["--start", "2026-03-20T00:00Z", "--end", "2026-03-20T03:00Z", "--config-repo", str(tmp_path / "repo")]
    ran = subprocess.run([*command, *span], capture_output=True, text=True, check=True, env=dict(os.environ))
    found = {each["instance"]: each for each in json.loads(ran.stdout)["instances"]}
    assert {key: each["state"] for key, each in found.items()} == {
        "2026-03-20T00:00Z": "available",
        "2026-03-20T01:00Z": "partial",
        "2026-03-20T02:00Z": "missing",
    }
    assert found["2026-03-20T00:00Z"]["files"] == 1
