"""A password moves rows on a real cluster and is in no log, plan, event, message or list of processes."""

from __future__ import annotations

import pickle
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.databases.datasources import PASSWORD, VARIABLE, PostgresData
from tests.testbed.spark import SparkStandalone

pytestmark = [pytest.mark.extended, pytest.mark.slow, pytest.mark.timeout(600)]

_PROGRAM = Path(__file__).with_name("rows_program.py")
_MARK = PASSWORD[:11].encode()
_LOG = """\
rootLogger.level = info
rootLogger.appenderRef.stderr.ref = console
appender.console.type = Console
appender.console.name = console
appender.console.target = SYSTEM_ERR
appender.console.layout.type = PatternLayout
appender.console.layout.pattern = %p %c: %m%n%ex
"""


def _processes(known: set[str]) -> tuple[bytes, set[str]]:
    """Return all command lines, and the working directories of executors."""
    lines, directories = b"", known
    for place in Path("/proc").glob("[0-9]*"):
        try:
            line = (place / "cmdline").read_bytes()
            if b"CoarseGrainedExecutorBackend" in line:
                directories.add(str((place / "cwd").readlink()))
        except OSError:  # it has ended
            continue
        lines += line
    return lines, directories


def test_a_password_is_in_nothing_that_spark_writes(
    spark_cluster: SparkStandalone, postgres_data: PostgresData, tmp_path: Path
) -> None:
    postgres_data.run(
        "CREATE TABLE t AS SELECT id, now() AS at FROM generate_series(1, 2000) AS id;"
        "CREATE TABLE s (id int PRIMARY KEY, at timestamptz)"
    )
    (tmp_path / "events").mkdir()
    (tmp_path / "datasource").write_bytes(pickle.dumps(postgres_data.datasource))
    log = tmp_path / "log4j2.properties"
    log.write_text(_LOG)
    logs = f"-Dlog4j2.configurationFile=file://{log}"
    settings = {
        "spark.eventLog.enabled": "true",
        "spark.eventLog.compress": "false",
        "spark.eventLog.dir": f"file://{tmp_path / 'events'}",
        "spark.executor.extraJavaOptions": logs,
    }
    directories: set[str] = set()
    with (tmp_path / "stdout").open("wb") as output, (tmp_path / "stderr").open("wb") as errors:
        driver = subprocess.Popen(
            [
                str(spark_cluster.home / "bin" / "spark-submit"),
                *spark_cluster.submit_options,
                *(f"--conf={name}={value}" for name, value in settings.items()),
                f"--driver-java-options={logs}",
                *(str(_PROGRAM), str(tmp_path / "datasource"), str(tmp_path)),
            ],
            env={**spark_cluster.environment, "PYSPARK_PYTHON": sys.executable, VARIABLE: PASSWORD},
            cwd=tmp_path,
            stdout=output,
            stderr=errors,
        )
        while driver.poll() is None:
            lines, directories = _processes(directories)
            assert _MARK not in lines
            time.sleep(0.2)
    printed = (tmp_path / "stdout").read_text()
    assert driver.returncode == 0, (tmp_path / "stderr").read_text()[-3000:]
    assert "read WrittenRows(rows=2000" in printed
    assert "staged 2000" in printed
    failures = [line.split()[1] for line in printed.splitlines() if line.startswith("failed")]
    assert failures == ["DatabaseError", "NoSuchField", "LoginRefused", "ConstraintViolated"]
    written = [each for each in (tmp_path / "events").rglob("*") if each.is_file()]
    executors = [each for place in directories for each in Path(place).glob("std*")]
    assert written
    assert any(b"Executor" in each.read_bytes() for each in executors)
    assert b"JDBCRelation" in b"".join(each.read_bytes() for each in written)
    for file in [*written, *executors, tmp_path / "stdout", tmp_path / "stderr"]:
        found = [line[:300] for line in file.read_bytes().splitlines() if _MARK in line]
        assert not found, (file, found[:3])
