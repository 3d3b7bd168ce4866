from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.entities.config_repo import CLUSTER
from toolkit.config_source import Snapshot
from toolkit.entities import load_all
from toolkit.migration.draft import MigrationRefused
from toolkit.migration.plan import Plan, nothing_there, plan
from toolkit.migration.sources import read_sources

COMMON = """\
# of the nightly copy
jobName=manuals
jobClusterName = backup
jobValidityStart: 2026-01-01T00:00Z
jobValidityEnd=2099-01-01T00:00Z
jobFrequency=hours(6)
jobTimezone=Europe/Berlin
jobTags=_falcon_extension_name=x, \\
   team=docs
jobRetryPolicy=exp-backoff
jobRetryDelay=minutes(10)
jobRetryAttempts=3
jobAclOwner=etl
jobNotificationType=email
jobNotificationReceivers=docs@example.com,ops@example.com
sourceCluster=primary
targetCluster=backup
"""
TREE = (
    "sourceDir=${nameNode}/data/manuals\ntargetDir=/mirror/manuals\nremoveDeletedFiles=true\npreserveBlockSize=true\n"
)
TREE += "preserveAcl=false\ndistcpMaxMaps=4\n"
SNAPSHOT = "sourceSnapshotDir=/data/a\ntargetSnapshotDir=/mirror/a\n" + "".join(
    f"{side}SnapshotRetentionPolicy=delete\n{side}SnapshotRetentionAgeLimit=days(7)\n{side}SnapshotRetentionNumber=3\n"
    for side in ("source", "target")
)
HIVE = "sourceDatabases=sales,web\nsourceTables=*\nmaxEvents=-1\nsourceHiveServer2Uri=hive2://h:10000\n"


def _migrated(path: Path, text: str) -> dict[str, object]:
    made = _plan(path, text)
    repository, problems = load_all(made.snapshot())
    assert problems == ()
    return dict(repository.mirrors["manuals"].document)


def _tasks(path: Path, text: str) -> list[str]:
    return [each.text for draft in _plan(path, text).drafts for each in draft.todos]


def _plan(path: Path, text: str) -> Plan:
    (path / "x.properties").write_text(text)
    clusters = {f"clusters/{each}.yaml": CLUSTER.replace("primary", each).encode() for each in ("primary", "backup")}
    there = nothing_there(path / "repo")
    existing = Snapshot(root=there.root, files={"repo.yaml": b"name: x\n", **clusters}, id=there.id)
    return plan(read_sources([path]), existing)


def test_properties_of_a_recipe_become_a_mirror(tmp_path: Path) -> None:
    document = _migrated(tmp_path, COMMON + TREE)
    assert document == {
        "kind": "mirror",
        "name": "manuals",
        "owner": "etl",
        "tags": {"_falcon_extension_name": "x", "team": "docs"},
        "type": "hdfs",
        "cluster": "backup",
        "validity": {"start": "2026-01-01T00:00Z", "end": "2099-01-01T00:00Z"},
        "frequency": "hours(6)",
        "timezone": "Europe/Berlin",
        "retry": {"policy": "exp_backoff", "delay": "minutes(10)", "attempts": 3},
        "notification": {"email": ["docs@example.com", "ops@example.com"]},
        "acl": {"owner": "etl"},
        "values": {
            "source_cluster": "primary",
            "source_dir": "/data/manuals",
            "target_cluster": "backup",
            "target_dir": "/mirror/manuals",
            "max_maps": 4,
            "on_source_delete": "delete",
            "preserve": ["block_size"],
        },
    }


def test_a_tree_that_falcon_emptied_by_default_keeps_its_files_and_says_so(tmp_path: Path) -> None:
    text = COMMON + TREE.replace("removeDeletedFiles=true\n", "")
    values = _migrated(tmp_path, text)["values"]
    assert isinstance(values, dict)
    assert values["on_source_delete"] == "keep"
    (tmp_path / "again").mkdir()
    assert any("without removeDeletedFiles" in each for each in _tasks(tmp_path / "again", text))
    (tmp_path / "said").mkdir()
    assert not any("removeDeletedFiles" in each for each in _tasks(tmp_path / "said", COMMON + TREE))


def test_each_recipe_has_its_type(tmp_path: Path) -> None:
    retention = {"limit": "days(7)", "number": 3}
    snapshot = _migrated(tmp_path, COMMON + SNAPSHOT)
    assert (snapshot["type"], snapshot["values"]) == (
        "hdfs_snapshot",
        {
            "source_cluster": "primary",
            "target_cluster": "backup",
            "source_snapshot_dir": "/data/a",
            "target_snapshot_dir": "/mirror/a",
            "source_snapshot_retention": retention,
            "target_snapshot_retention": retention,
        },
    )
    more = ("BlockSize", "ReplicationNumber", "ChecksumType", "Times", "Xattr")
    requested = "".join(f"preserve{name}=true\n" for name in more) + "tdeEncryptionEnabled=true\n"
    values = _migrated(tmp_path, COMMON + SNAPSHOT + requested)["values"]
    assert isinstance(values, dict)
    assert values["preserve"] == ["block_size", "replication_number", "checksum_type", "xattr"]
    assert values["tde_encryption_enabled"] is True
    hive = _migrated(tmp_path, COMMON + HIVE)
    assert (hive["type"], hive["values"]) == (
        "hive",
        {"source_cluster": "primary", "target_cluster": "backup", "source_databases": ["sales", "web"]},
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (COMMON, "expected sourceDir, sourceSnapshotDir or sourceDatabases"),
        (COMMON + TREE + "sourceDri=/x\n", "x.properties:24:1: unknown-element: found the element 'sourceDri'"),
        (COMMON + TREE.replace("distcpMaxMaps=4", "distcpMaxMaps=four"), "x.properties:23:1: bad-value"),
        (COMMON + TREE.replace("/mirror/manuals", "hdfs://nn/mirror"), "x.properties:19:1: bad-value"),
    ],
)
def test_what_is_wrong_is_reported_at_its_line(tmp_path: Path, text: str, expected: str) -> None:
    with pytest.raises(MigrationRefused) as refused:
        _migrated(tmp_path, text)
    assert expected in str(refused.value)


def test_other_properties_files_of_a_folder_are_left_alone(tmp_path: Path) -> None:
    (tmp_path / "log4j.properties").write_text("log4j.rootLogger=INFO\n")
    sources = read_sources([tmp_path])
    assert (sources.entities, sources.left_alone) == ((), (str(tmp_path / "log4j.properties"),))
