"""Replication into a store that is full, and what a killed run left of a large file on an object store."""

from __future__ import annotations

import random
import signal
import time
from pathlib import Path

import hdfs_native
import pytest

from tests.integration.hdfs_admin import dfsadmin
from tests.integration.replications import KEYS, Replication, hour
from tests.integration.test_replication_stores import local, on_hdfs, on_s3
from tests.short_leases import short_leases
from tests.testbed.hdfs import HdfsCluster
from tests.testbed.s3 import S3Store
from toolkit.transfer.uploads import LARGE_BYTES

pytestmark = [pytest.mark.slow, pytest.mark.extended]


def test_a_target_without_room_fails_clearly_and_nothing_is_visible(hdfs: HdfsCluster, tmp_path: Path) -> None:
    source, target = local(tmp_path / "from"), on_hdfs(hdfs)
    source.fill(hour(0, [f"part-{number}" for number in range(20)]))
    place = f"{target.root.path}/clicks"
    hdfs_native.Client(hdfs.uri).mkdirs(place, create_parent=True)
    dfsadmin(hdfs, "-setSpaceQuota", "300m", place)  # room for the blocks of two files
    copying = Replication(directory=tmp_path, sources={"primary": source}, target=target)
    code, result = copying.run(time=KEYS[0])
    assert (code, target.files(hidden=True)) == (1, {})
    assert (result["items"][0]["code"], "quota" in result["items"][0]["message"].lower()) == ("files_failed", True)
    dfsadmin(hdfs, "-clrSpaceQuota", place)
    assert copying.run(time=KEYS[0])[0] == 0
    assert len(target.files(hidden=True)) == 21


def test_uploads_that_a_killed_run_left_on_s3_are_ended_by_the_next_one(
    s3: S3Store, s3_bucket: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in short_leases(30).items():
        monkeypatch.setenv(name, value)
    source, target = local(tmp_path / "from"), on_s3(s3, s3_bucket)
    content = random.Random(1).randbytes(LARGE_BYTES + 1)  # noqa: S311 - no secret
    files = hour(0) | {"clicks/2026-03-01-00/large": content}
    source.fill(files)
    slow = "availability_flag: _SUCCESS\nproperties: {mapBandwidth: 20}"
    copying = Replication(directory=tmp_path, sources={"primary": source}, target=target, more=slow)
    with copying.started(time=KEYS[0]) as run, s3.client() as client:
        while not client.list_multipart_uploads(Bucket=s3_bucket).get("Uploads"):
            assert run.poll() is None, run.communicate()
            time.sleep(0.05)
        run.send_signal(signal.SIGKILL)
        run.communicate()
        assert len(client.list_multipart_uploads(Bucket=s3_bucket)["Uploads"]) == 1
        deadline = time.monotonic() + 60
        while (code := copying.run(time=KEYS[0])[0]) == 5 and time.monotonic() < deadline:
            time.sleep(0.5)
        assert (code, client.list_multipart_uploads(Bucket=s3_bucket).get("Uploads", [])) == (0, [])
    assert target.files(hidden=True) == files
