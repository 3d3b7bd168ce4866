"""Replication through the real spark-submit: a run, one that is killed, and what executors copy."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from uuid import uuid4

import hdfs_native
import pytest

from tests.e2e.commands import BIN, ROOT
from tests.e2e.retention_process import environment
from tests.integration.replications import DUE, KEYS, End, Replication, hour, outcomes
from tests.testbed.hdfs import HdfsCluster
from tests.testbed.running import ending

pytestmark = [pytest.mark.slow]
COPIED = {name: content for number in range(DUE) for name, content in hour(number).items()}


def submitted(copying: Replication, java_home: Path, *more: str) -> AbstractContextManager[subprocess.Popen[str]]:
    """A run that spark-submit starts; it ends with the block at the latest."""
    command = [str(BIN / "spark-submit"), str(ROOT / "entrypoints/replication.py"), *copying.arguments(*more)]
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return ending(subprocess.Popen(command, env=environment(java_home), text=True, start_new_session=True, **streams))  # type: ignore[call-overload]


def local(path: Path) -> End:
    """A new directory on this disk."""
    path.mkdir()
    return End(uri=f"file://{path}")


def test_spark_submit_copies_what_is_due_and_exits_75_for_what_is_not_there(tmp_path: Path, java_home: Path) -> None:
    source, target = local(tmp_path / "from"), local(tmp_path / "to")
    copying = Replication(directory=tmp_path, sources={"primary": source}, target=target)
    source.fill(COPIED)
    with submitted(copying, java_home, "--output", "json") as run:
        out, err = run.communicate(timeout=120)
        assert run.returncode == 0, err
    assert outcomes(json.loads(out)) == [(key, "done", None) for key in KEYS]
    assert target.files(hidden=True) == COPIED
    code, again = replace(copying, more="availability_flag: _LATER").run("--start", KEYS[0])
    assert (code, f"{KEYS[0]} is not available on primary yet" in json.dumps(again)) == (75, True)


@pytest.mark.extended
def test_a_run_whose_jvm_and_driver_are_killed_is_finished_by_the_next_one(
    hdfs: HdfsCluster, tmp_path: Path, java_home: Path
) -> None:
    ends = [f"/copies/{uuid4().hex}" for _ in range(2)]
    for path in ends:
        hdfs_native.Client(hdfs.uri).mkdirs(path, create_parent=True)
    source, target = (End(uri=f"{hdfs.uri}{path}") for path in ends)
    copying = Replication(directory=tmp_path, sources={"primary": source}, target=target)
    files = {name: data for n in range(DUE) for name, data in hour(n, [f"part-{at}" for at in range(60)]).items()}
    source.fill(files)
    with submitted(copying, java_home) as run:
        deadline = time.monotonic() + 60
        while not target.files(hidden=True) and time.monotonic() < deadline and run.poll() is None:
            time.sleep(0.02)
        os.killpg(run.pid, signal.SIGKILL)
        run.communicate()
    for number in range(DUE):
        own = {name for name in target.files() if f"-{number:02}/" in name}
        assert own in (set(), {name for name in files if f"-{number:02}/" in name})
    with submitted(copying, java_home) as again:
        _, err = again.communicate(timeout=120)
        assert again.returncode == 0, err
    assert target.files(hidden=True) == files
