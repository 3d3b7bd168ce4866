"""Outputs of processes on real stores: blocked where nobody reads, and seen when somebody releases them."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.e2e.retention_process import environment
from tests.integration.process_runs import KEYS, outcomes
from tests.integration.replications import End, cluster_document
from tests.integration.validated_runs import ValidatedRuns, put_validator
from tests.testbed.s3 import S3Store
from toolkit.cli.main import main

pytestmark = [pytest.mark.slow, pytest.mark.extended, pytest.mark.timeout(900)]
_SUITE = "expectations: [{type: expect_column_values_to_not_be_null, kwargs: {column: page}}]\n"
_GOOD, _BAD = '{"page":"/home","of":"good"}\n', '{"of":"bad"}\n'
_MANIFEST = "counts/.feedctl-staging/2026-03-01-01.blocked.json"
_BY_SPARK = "workflow: {engine: spark_sql, path: workflows/count.sql}"
_SQL = """\
INSERT OVERWRITE DIRECTORY '${counts}' USING json
SELECT page, of FROM (SELECT * FROM json.`${clicks}`);
"""
_BY_COMMAND = """\
import sys
from toolkit.el import CanonicalPath
from toolkit.storage import StorageSpec, open_file_system

source, target = (CanonicalPath.parse(each) for each in sys.argv[1:])
store = open_file_system(StorageSpec(scheme=source.scheme, authority=source.authority, hadoop_conf={conf!r}))
with store.read(source.child("part-0")) as stream:
    rows = stream.read()
store.mkdirs(target)
for name in ("part-0", "part-1"):
    store.write(target.child(name), [rows])
"""


@dataclass(frozen=True, kw_only=True)
class StoredRuns(ValidatedRuns):
    """Runs whose input and output are on a real store."""

    store: End

    def write_all(self, workflow: str, files: Mapping[str, str]) -> None:
        """The repo, whose judge is the Spark of this machine, unless another was put before it."""
        scripts = {
            "count": self.saying(
                "count", f'{sys.executable} {self.directory}/repo/workflows/double.py "$clicks" "$counts"'
            )
        }
        self.write(workflow, scripts)
        (self.directory / "bin/spark-submit").unlink()
        for name, text in {"expectations/counts.yaml": _SUITE, **files}.items():
            self._put(name, text)
        self._put("clusters/primary.yaml", cluster_document("primary", self.store))

    def fill_stored(self, key: str, row: str) -> None:
        """Let an instance of the input be there, of some rows, of which the last one is given."""
        directory = f"clicks/{key[:10]}-{key[11:13]}"
        self.store.fill({f"{directory}/part-0": f"{_GOOD * 2}{row}".encode(), f"{directory}/_SUCCESS": b""})

    def rows(self, place: str, key: str) -> set[str]:
        """The rows that the files of a directory of the output have, if they are announced."""
        directory = f"{place}/{key[:10]}-{key[11:13]}"
        found = self.store.files(directory, hidden=True)
        if place == "counts":
            assert not found or f"{directory}/_SUCCESS" in found
        return {line for text in found.values() for line in text.decode().splitlines(keepends=True)}

    def beside(self) -> set[str]:
        """Return what waits at the gate, without its directories."""
        return {name.split("/")[2] for name in self.store.files("counts/.feedctl-staging", hidden=True)}


@pytest.fixture
def on_hdfs(hdfs_dir: str, tmp_path: Path, java_home: Path, monkeypatch: pytest.MonkeyPatch) -> StoredRuns:
    """Written and judged by Spark."""
    runs = StoredRuns(directory=tmp_path, store=End(uri=hdfs_dir))
    runs.write_all(_BY_SPARK, {"workflows/count.sql": _SQL})
    for name, value in environment(java_home).items():
        monkeypatch.setenv(name, value)
    return runs


@pytest.fixture
def on_s3(s3: S3Store, s3_bucket: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> StoredRuns:
    """Written by a command, and judged by a program that stands for Spark, which has no jars for this store here."""
    runs = StoredRuns(directory=tmp_path, store=End(uri=f"s3a://{s3_bucket}/data", conf=s3.settings))
    runs.write_all(
        "workflow: {engine: command, path: workflows/count.sh}",
        {"workflows/double.py": _BY_COMMAND.format(conf=dict(s3.settings))},
    )
    put_validator(tmp_path / "bin", trace=runs.trace, hang=tmp_path / "hang", conf=s3.settings)
    monkeypatch.setenv("PATH", f"{tmp_path}/bin{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("FEEDCTL_STEP_VARIABLES", "AWS_*")
    return runs


def test_on_hdfs_what_spark_wrote_is_seen_when_it_was_released(on_hdfs: StoredRuns) -> None:
    _blocked_then_released(on_hdfs)
    assert on_hdfs.events() == [("available", "01")]


def test_on_an_object_store_what_a_command_wrote_is_seen_when_it_is_good_or_released(on_s3: StoredRuns) -> None:
    on_s3.fill_stored(KEYS[0], _GOOD)
    code, result = on_s3.run()
    assert (code, outcomes(result)) == (0, [("main", "done", None)]), result
    assert (on_s3.rows("counts", KEYS[0]), on_s3.beside()) == ({_GOOD}, set())
    _blocked_then_released(on_s3)
    assert on_s3.events() == [("available", "00"), ("available", "01")]


def _blocked_then_released(runs: StoredRuns) -> None:
    runs.fill_stored(KEYS[1], _BAD)
    code, result = runs.run(time=KEYS[1])
    assert (code, outcomes(result)) == (1, [("main", "done", None)]), result
    assert result["instances"][0]["failure"]["code"] == "quality_failed", result
    assert runs.rows("counts", KEYS[1]) == set()
    assert runs.rows("counts/.feedctl-staging", KEYS[1]) == {_GOOD, _BAD}
    manifest = json.loads(runs.store.files("counts/.feedctl-staging", hidden=True)[_MANIFEST])
    assert (manifest["instance"], manifest["code"]) == (KEYS[1], "quality_failed")
    assert ("available", "01") not in runs.events()
    assert main(["quality", "release", "counts", "--time", KEYS[1], "--reason", "known", *runs.repo]) == 0
    assert (runs.rows("counts", KEYS[1]), runs.beside()) == ({_GOOD, _BAD}, set())
    assert runs.query("SELECT state FROM verdict WHERE state <> 'passed'") == [("released",)]
