"""Imports and exports by their entrypoints: on an object store, and in each mode on MariaDB."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from benchmarks.peers.replication_peers import DISTCP
from tests.databases.datasources import USER, VARIABLE, DataServer, MariaDbData, PostgresData
from tests.databases.ledgers import make_ledger, sqlite_url
from tests.e2e.commands import BIN, ROOT, run
from tests.integration.exchange_kills import environment
from tests.testbed.missing import Missing
from tests.testbed.s3 import S3Store

pytestmark = [pytest.mark.extended, pytest.mark.slow, pytest.mark.timeout(900)]
Feeds = Mapping[str, tuple[Mapping[str, object], str, Mapping[str, object]]]
DAY, NEXT = "2026-03-02T00:00Z", "2026-03-03T00:00Z"


def write_repo(
    root: Path,
    data: DataServer,
    feeds: Feeds,
    endpoint: str,
    hadoop_conf: Mapping[str, str],
) -> None:
    """Write a config repo with feeds that are imported from the table `customers` and exported, and make its ledger.

    Args:
        root: of the repo and the ledger.
        data: the database.
        feeds: by name, the extract of the import, and the table and the load of the export.
        endpoint: of the cluster.
        hadoop_conf: of the cluster.
    """
    source = data.datasource
    end, driver = source.interfaces.write, source.driver
    assert end is not None
    assert driver is not None
    ends = {"readonly": {"endpoint": end.endpoint}, "write": {"endpoint": end.endpoint}}
    documents: dict[str, object] = {
        "repo.yaml": {"name": "shop", "ledger": f"sqlite:///{root}/ledger.db"},
        "clusters/primary.yaml": {
            "kind": "cluster",
            "name": "primary",
            "interfaces": {"write": {"endpoint": endpoint}},
            "hadoop_conf": dict(hadoop_conf),
        },
        "datasources/crm.yaml": {
            "kind": "datasource",
            "name": "crm",
            "type": str(source.type),
            "interfaces": ends,
            "credential": {"user": USER, "env": VARIABLE},
            "driver": {"class": driver.class_, "jars": list(driver.jars)},
        },
    }
    for name, (extract, table, load) in feeds.items():
        cluster = {
            "name": "primary",
            "validity": {"start": "2026-03-01T00:00Z", "end": "2099-01-01T00:00Z"},
            "import": {"source": {"name": "crm", "table_name": "customers", "extract": extract}},
            "export": {"target": {"name": "crm", "table_name": table, "load": load}},
        }
        documents[f"feeds/{name}.yaml"] = {
            "kind": "feed",
            "name": name,
            "frequency": "days(1)",
            "availability_flag": "_SUCCESS",
            "locations": {"data": f"/{name}/${{YEAR}}-${{MONTH}}-${{DAY}}"},
            "clusters": [cluster],
        }
    make_ledger(sqlite_url(root / "ledger.db"))
    for name, document in documents.items():
        file = root / "repo" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(document))


def submit(root: Path, entrypoint: str, *arguments: str, jars: str = "") -> None:
    """Run an entrypoint by spark-submit; it must succeed."""
    script = ROOT / "entrypoints" / f"{entrypoint}.py"
    options = ["--master", "local[2]", *(["--jars", jars] if jars else [])]
    repo = ["--config-repo", str(root / "repo"), "--all", "--allow-dirty"]
    run(BIN / "spark-submit", *options, script, *repo, *arguments, cwd=ROOT, env=environment())


def test_an_instance_on_an_object_store_is_imported_and_exported(
    tmp_path: Path, postgres_data: PostgresData, s3: S3Store, s3_bucket: str
) -> None:
    try:
        assert DISTCP.jars is not None
        jars = ",".join(str(each) for each in DISTCP.jars.fetched().glob("*.jar") if "slf4j" not in each.name)
    except Missing as missing:
        pytest.skip(str(missing))
    create = "CREATE TABLE {} (id int PRIMARY KEY, note text)"
    postgres_data.run(f"{create.format('customers')}; {create.format('copies')}")
    postgres_data.run("INSERT INTO customers SELECT g, 'n' || g FROM generate_series(1, 500) g")
    feeds: Feeds = {"customers": ({"type": "full"}, "copies", {"type": "allowinsert"})}
    write_repo(tmp_path, postgres_data, feeds, f"s3a://{s3_bucket}", s3.settings)

    def keys() -> list[str]:
        with s3.client() as client:
            return [each["Key"] for each in client.list_objects_v2(Bucket=s3_bucket).get("Contents", [])]

    submit(tmp_path, "db_import", "--time", DAY, "--dry-run", jars=jars)
    assert keys() == []
    submit(tmp_path, "db_import", "--time", DAY, jars=jars)
    postgres_data.run("UPDATE customers SET note = 'again' WHERE id = 1")
    submit(tmp_path, "db_import", "--time", DAY, "--start", DAY, jars=jars)  # in the place of the first
    found = keys()
    assert f"customers/{DAY[:10]}/_SUCCESS" in found
    assert all(each.startswith(f"customers/{DAY[:10]}/") for each in found), found
    files = [each for each in found if each.endswith(".parquet")]
    with s3.client() as client:
        parts = [io.BytesIO(client.get_object(Bucket=s3_bucket, Key=each)["Body"].read()) for each in files]
    read = sorted((row["id"], row["note"]) for each in parts for row in pq.read_table(each).to_pylist())
    assert read == postgres_data.rows("SELECT id, note FROM customers ORDER BY id")
    submit(tmp_path, "db_export", "--time", DAY, jars=jars)
    assert postgres_data.rows("SELECT id, note FROM copies ORDER BY id") == read


def test_each_mode_of_import_and_export_moves_rows_of_maria_db(tmp_path: Path, mariadb_data: MariaDbData) -> None:
    columns = "id int PRIMARY KEY, note varchar(20), at datetime(6)"
    for table in (f"customers ({columns})", f"inserted ({columns})", f"updated ({columns})"):
        mariadb_data.run(f"CREATE TABLE {table}")
    mariadb_data.run(f"CREATE TABLE sliced ({columns}, day date)")
    mariadb_data.run("INSERT INTO customers VALUES (1, 'one', '2026-03-01 12:00'), (2, 'two', '2026-03-01 13:00')")
    mariadb_data.run("INSERT INTO inserted VALUES (2, 'old', NULL); INSERT INTO updated VALUES (1, 'kept', NULL)")
    mariadb_data.run("INSERT INTO updated VALUES (3, 'old', NULL)")
    mariadb_data.run("INSERT INTO sliced VALUES (9, 'old', NULL, '2026-03-02'), (8, 'kept', NULL, '2026-03-01')")
    is_new = {"type": "incremental", "merge_policy": "append", "delta_column": "id"}
    is_changed = {"type": "incremental", "merge_key": ["id"], "delta_column": "at"}
    feeds: Feeds = {
        "whole": ({"type": "full"}, "inserted", {"type": "allowinsert"}),
        "appended": (is_new, "updated", {"type": "updateonly"}),
        "merged": (is_changed, "sliced", {"type": "replace", "slice": {"day": "${YEAR}-${MONTH}-${DAY}"}}),
    }
    (tmp_path / "data").mkdir()
    write_repo(tmp_path, mariadb_data, feeds, f"file://{tmp_path}/data", {})

    def ids(feed: str, day: str) -> dict[int, str]:
        files = (tmp_path / "data" / feed / day).glob("*.parquet")
        return {row["id"]: row["note"] for each in files for row in pq.read_table(each).to_pylist()}

    submit(tmp_path, "db_import", "--time", DAY)
    assert ids("whole", "2026-03-02") == {1: "one", 2: "two"}
    assert ids("appended", "2026-03-01") == ids("merged", "2026-03-01") == {1: "one", 2: "two"}
    mariadb_data.run("UPDATE customers SET note = 'changed', at = '2026-03-02 01:00' WHERE id = 2")
    mariadb_data.run("INSERT INTO customers VALUES (3, 'three', '2026-03-02 02:00'), (4, 'four', '2026-03-03 02:00')")
    submit(tmp_path, "db_import", "--time", NEXT)
    assert ids("whole", "2026-03-03") == {1: "one", 2: "changed", 3: "three", 4: "four"}
    assert ids("appended", "2026-03-02") == {3: "three", 4: "four"}
    assert ids("merged", "2026-03-02") == {1: "one", 2: "changed", 3: "three"}
    submit(tmp_path, "db_export", "--time", DAY)
    texts = {
        each: mariadb_data.rows(f"SELECT id, note FROM {each} ORDER BY id")  # noqa: S608 - of this test
        for each in ("inserted", "updated", "sliced")
    }
    assert texts == {
        "inserted": [("1", "one"), ("2", "two")],
        "updated": [("1", "kept"), ("3", "three")],
        "sliced": [("1", "one"), ("2", "changed"), ("3", "three"), ("8", "kept")],
    }
    assert mariadb_data.rows("SELECT COUNT(*) FROM feedctl_export") == [("3",)]
    assert not mariadb_data.rows("SHOW TABLES LIKE 'feedctl_stage%'")
