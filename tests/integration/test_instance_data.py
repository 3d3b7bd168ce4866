"""What `feedctl instance list` and `triage` say of a feed on HDFS and its copy on S3, before and after it is copied."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.integration.replications import Replication, hour
from tests.integration.test_replication_stores import on_hdfs, on_s3
from tests.testbed.hdfs import HdfsCluster
from tests.testbed.s3 import S3Store
from toolkit.cli.main import main

pytestmark = [pytest.mark.slow, pytest.mark.extended]


def test_instances_on_hdfs_and_s3_are_told_as_they_are(
    hdfs: HdfsCluster, s3: S3Store, s3_bucket: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = on_hdfs(hdfs)
    source.fill({**hour(0), **hour(1, ["part-0"]), **hour(2, flag=False)})
    copying = Replication(directory=tmp_path, sources={"primary": source}, target=on_s3(s3, s3_bucket))

    def reported(*arguments: str) -> Any:  # noqa: ANN401 - JSON
        options = ("--config-repo", str(copying.repo), "--output", "json")
        assert main(["instance", *arguments, *options]) == 0
        return json.loads(capsys.readouterr().out)

    def states() -> list[tuple[str, str, int | None]]:
        document = reported("list", "clicks", "--start", "2026-03-01T00:00Z", "--end", "2026-03-01T04:00Z")
        assert document["problems"] == []
        return [(each["cluster"], each["state"], each["files"]) for each in document["instances"]]

    at_source = [("available", 2), ("available", 1), ("partial", 2), ("missing", None)]
    before = [("primary", *each) for each in at_source] + [("backup", "missing", None)] * 4
    assert states() == before
    copying.run()
    capsys.readouterr()
    assert states() == [*before[:4], ("backup", *at_source[0]), ("backup", *at_source[1]), *before[-2:]]
    causes = reported("triage", "clicks", "--time", "2026-03-01T02:00Z", "--cluster", "backup")["causes"]
    assert [(each["cluster"], each["state"]) for each in causes] == [("primary", "partial")]
    assert "has no _SUCCESS" in causes[0]["cause"]
