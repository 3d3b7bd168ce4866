"""A process whose output is judged by Great Expectations on Spark, and one that reads what was announced."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.integration.process_runs import KEYS, outcomes
from tests.integration.validated_runs import ValidatedRuns
from toolkit.cli.main import main

SUITE = """\
expectations:
  - {type: expect_column_values_to_not_be_null, kwargs: {column: page}}
"""
CONSUMER = """\
kind: process
name: read
clusters: [{name: primary, validity: {start: 2026-03-01T00:00Z, end: 2099-01-01T00:00Z}}]
frequency: hours(1)
inputs: {counts: {feed: counts, start: "now(0,0)", end: "now(0,0)"}}
outputs: {}
workflow: {engine: command, path: workflows/read.sh}
"""


@pytest.fixture
def counting(tmp_path: Path) -> ValidatedRuns:
    """A process that copies clicks, of which those of the second hour lack a page; and its consumer."""
    runs = ValidatedRuns(directory=tmp_path)
    runs.write()
    repo = tmp_path / "repo"
    (repo / "expectations/counts.yaml").write_text(SUITE)
    (repo / "processes/read.yaml").write_text(CONSUMER)
    script = repo / "workflows/read.sh"
    script.write_text(f"#!/bin/sh\n{runs.saying('read')}")
    script.chmod(0o755)
    for key, page in ((KEYS[0], '"/home"'), (KEYS[1], "null")):
        runs.fill(key)
        (runs.at("clicks", key) / "part-0").write_text(f'{{"page": {page}, "clicks": 1}}\n' * 3)
    return runs


def consumer(runs: ValidatedRuns, key: str) -> int:
    """The exit code of a run of what reads the output."""
    return runs.run("--process", "read", time=key)[0]


@pytest.mark.soak  # with all tests, those of a shared application show that
def test_good_data_are_published_and_read(counting: ValidatedRuns) -> None:
    code, result = counting.run()
    assert (code, outcomes(result)) == (0, [("main", "done", None)]), result
    assert counting.query("SELECT state, rows FROM verdict") == [("passed", 3)]
    assert consumer(counting, KEYS[0]) == 0


@pytest.mark.extended
def test_bad_data_are_blocked_and_their_reader_waits_until_they_are_released(
    counting: ValidatedRuns, capsys: pytest.CaptureFixture[str]
) -> None:
    code, result = counting.run(time=KEYS[1])
    assert (code, outcomes(result)) == (1, [("main", "done", None)]), result
    assert result["instances"][0]["failure"]["code"] == "quality_failed", result
    assert consumer(counting, KEYS[1]) == 75
    capsys.readouterr()
    instance = ("counts", "--time", KEYS[1], *counting.repo)
    assert main(["quality", "show", *instance]) == 0
    assert re.search(r"FAILS .*expect_column_values_to_not_be_null\(page\).*3 of 3", capsys.readouterr().out)
    assert main(["quality", "release", *instance, "--reason", "pages came later that day"]) == 0
    assert [each.split()[-1] for each in counting.output()] == ["count"]
    assert consumer(counting, KEYS[1]) == 0
    assert counting.events() == [("available", "01")]
