"""`feedctl monitor` over feeds that others write to HDFS and S3, and a name node that does not answer."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.integration.replications import cluster_document, hour
from tests.integration.test_replication_stores import on_hdfs, on_s3
from tests.testbed.hdfs import HdfsCluster
from tests.testbed.s3 import S3Store
from toolkit.cli.main import main

pytestmark = [pytest.mark.slow, pytest.mark.extended]

VALID = "validity: {start: 2026-01-01T00:00Z, end: 2099-01-01T00:00Z}"
FEED = f"""\
kind: feed
name: clicks
frequency: hours(1)
external: true
availability_flag: _SUCCESS
locations: {{data: "/clicks/${{YEAR}}-${{MONTH}}-${{DAY}}-${{HOUR}}"}}
clusters: [{{name: primary, {VALID}}}, {{name: backup, {VALID}}}]
sla: {{low: minutes(20), high: minutes(40)}}
"""


def test_storage_tells_what_is_there_and_a_store_that_is_silent_is_unknown_and_never_missing(
    restartable_hdfs: HdfsCluster, s3: S3Store, s3_bucket: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    hdfs, bucket = on_hdfs(restartable_hdfs), on_s3(s3, s3_bucket)
    texts = {
        "repo.yaml": f"name: watched\nledger: sqlite:///{tmp_path}/ledger.db\n",
        "feeds/clicks.yaml": FEED,
        "clusters/primary.yaml": cluster_document("primary", hdfs),
        "clusters/backup.yaml": cluster_document("backup", bucket),
    }
    for name, text in texts.items():
        (tmp_path / "repo" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "repo" / name).write_text(text)

    def run(*arguments: str) -> tuple[int, Any]:
        code = main([*arguments, "--config-repo", str(tmp_path / "repo"), "--output", "json"])
        return code, json.loads(capsys.readouterr().out)

    def opened(found: dict[str, Any]) -> list[tuple[str, str]]:
        return sorted((each["kind"], each["cluster"]) for each in found["opened"])

    assert main(["ledger", "upgrade", "--config-repo", str(tmp_path / "repo")]) == 0
    capsys.readouterr()
    assert run("monitor", "--time", "2026-03-01T00:00Z")[1]["counts"]["expected"] == 2
    hdfs.fill(hour(0))
    bucket.fill(hour(0, flag=False))
    late = run("monitor", "--time", "2026-03-01T00:25Z")[1]
    assert opened(late) == [("sla", "backup")]
    bucket.fill(hour(0))
    assert len(run("monitor", "--time", "2026-03-01T00:30Z")[1]["closed"]) == 1
    restartable_hdfs.stop_namenode()
    run("monitor", "--time", "2026-03-01T01:10Z")
    code, silent = run("monitor", "--time", "2026-03-01T01:50Z")
    assert (code, opened(silent)) == (4, [("sla", "backup"), ("unknown", "primary")])
    states = {each["cluster"]: each["state"] for each in run("sla", "status")[1]["instances"]}
    assert states == {"backup": "missing", "primary": "unknown"}
    restartable_hdfs.start_namenode()
    restartable_hdfs.wait_ready()
    hdfs.fill(hour(1))
    code, back = run("monitor", "--time", "2026-03-01T01:55Z")
    assert (code, [(each["kind"], each["cluster"]) for each in back["closed"]]) == (0, [("unknown", "primary")])
