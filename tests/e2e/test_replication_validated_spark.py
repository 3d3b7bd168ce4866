"""A replication by spark-submit whose instances Great Expectations judges where they are copied to."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.e2e.retention_process import environment
from tests.e2e.test_replication_spark import local, submitted
from tests.integration.replications import KEYS, Replication, outcomes
from toolkit.cli.main import main

pytestmark = [pytest.mark.extended, pytest.mark.slow]
_SUITE = "expectations: [{type: expect_column_values_to_not_be_null, kwargs: {column: user}}]\n"


def test_bad_data_of_a_source_are_not_seen_on_the_target_until_somebody_releases_them(
    tmp_path: Path, java_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source, target = local(tmp_path / "from"), local(tmp_path / "to")
    quality = ", quality: {suites: [clicks], format: json}"
    copying = Replication(directory=tmp_path, sources={"primary": source}, target=target, of_target=quality)
    (copying.repo / "expectations").mkdir()
    (copying.repo / "expectations/clicks.yaml").write_text(_SUITE)
    bad = {"clicks/2026-03-01-00/part-0": b'{"user": "a"}\n{"user": null}\n', "clicks/2026-03-01-00/_SUCCESS": b""}
    source.fill(bad)
    with submitted(copying, java_home, "--output", "json", "--start", KEYS[0]) as run:
        out, err = run.communicate(timeout=240)
    assert outcomes(json.loads(out)) == [(KEYS[0], "failed", "quality_failed")], out + err
    assert target.files() == {}
    for name, value in environment(java_home).items():
        monkeypatch.setenv(name, value)
    released = ("release", "clicks", "--time", KEYS[0], "--reason", "known", "--config-repo", str(copying.repo))
    assert main(["quality", *released]) == 0
    assert target.files() == bad
