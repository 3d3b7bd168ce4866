"""Which Java a metastore is asked through: that of spark-submit, or one of our own that ends with us."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.e2e.commands import BIN, ROOT
from tests.liveness import is_alive
from tests.testbed.metastore import HiveMetastoreServer
from tests.testbed.running import ending
from tests.testbed.waiting import becomes_true

_SCRIPT = """
import json, sys, time
from pathlib import Path
from toolkit.catalog.location_policy import LocationPolicy
from toolkit.catalog.opening import open_metastore
from toolkit.catalog.port import CatalogSpec
from toolkit.entities import Cluster, Interface, Interfaces
local = Cluster(name="local", interfaces=Interfaces(write=Interface(endpoint="file:///")))
found = open_metastore(CatalogSpec(uris=sys.argv[1]), LocationPolicy(cluster=local)).databases()
from pyspark import SparkContext
children = [int(pid) for task in Path("/proc/self/task").iterdir() for pid in (task / "children").read_text().split()]
print(json.dumps({"found": found, "context": SparkContext._active_spark_context is not None, "children": children}))
sys.stdout.flush()
time.sleep(float(sys.argv[2]))
"""
_SECONDS = 120


def _script(directory: Path) -> Path:
    script = directory / "databases.py"
    script.write_text(_SCRIPT)
    return script


def _environment(java_home: Path) -> dict[str, str]:
    path = os.pathsep.join([str(BIN), os.environ["PATH"]])
    return {**os.environ, "JAVA_HOME": str(java_home), "PYTHONPATH": str(ROOT), "PATH": path}


@pytest.mark.slow
@pytest.mark.extended
def test_under_spark_submit_its_java_is_used_and_no_context_is_made(
    tmp_path: Path, metastore: HiveMetastoreServer, java_home: Path
) -> None:
    command = (BIN / "spark-submit", _script(tmp_path), metastore.uri, "0")
    done = subprocess.run(
        command, env=_environment(java_home), capture_output=True, text=True, check=False, timeout=_SECONDS
    )
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    assert "default" in answer["found"]
    assert (answer["context"], answer["children"]) == (False, [])


@pytest.mark.slow
@pytest.mark.extended
def test_a_java_of_our_own_ends_with_us_after_kill_9_and_prints_nothing(
    tmp_path: Path, metastore: HiveMetastoreServer, java_home: Path
) -> None:
    command = (sys.executable, _script(tmp_path), metastore.uri, str(_SECONDS))
    with ending(
        subprocess.Popen(
            command, env=_environment(java_home), stdout=subprocess.PIPE, text=True, start_new_session=True
        )
    ) as process:
        assert process.stdout is not None
        (child,) = json.loads(process.stdout.readline())["children"]
        process.send_signal(signal.SIGKILL)
        process.wait(_SECONDS)
        assert becomes_true(lambda: not is_alive(child), seconds=_SECONDS)
