"""Table feeds on HDFS, with partitions in a Hive metastore: imported from a database, and exported back."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from uuid import uuid4

import pytest

from tests.contract.database.conftest import database_of
from tests.databases.datasources import PASSWORD, VARIABLE, DataServer
from tests.databases.export_repo import ALLOWINSERT, T1, make_export_repo
from tests.integration.test_db_import import site_of
from tests.tables.databases import create_database, plain_metastore
from tests.testbed.metastore import HiveMetastoreServer
from toolkit.catalog.model import Column, Serde, StorageDescriptor, Table, TableKind, TableName
from toolkit.jdbc.gateway import JdbcGateway
from toolkit.result import ExitCode

pytestmark = [
    pytest.mark.extended,
    pytest.mark.slow,
    pytest.mark.timeout(600),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),  # Spark leaves sockets open
]
_PARQUET = StorageDescriptor(
    columns=(Column(name="id", type="int"), Column(name="note", type="string")),
    input_format="org.apache.hadoop.hive.ql.io.parquet.MapredParquetInputFormat",
    output_format="org.apache.hadoop.hive.ql.io.parquet.MapredParquetOutputFormat",
    serde=Serde(library="org.apache.hadoop.hive.ql.io.parquet.serde.ParquetHiveSerDe"),
)


@pytest.mark.parametrize("server", ["postgres_data", "mariadb_data"])
def test_partitions_are_imported_and_exported(
    request: pytest.FixtureRequest,
    tmp_path: Path,
    metastore: HiveMetastoreServer,
    hdfs_dir: str,
    jdbc_gateway: JdbcGateway,
    monkeypatch: pytest.MonkeyPatch,
    server: str,
) -> None:
    data: DataServer = request.getfixturevalue(server)
    monkeypatch.setenv(VARIABLE, PASSWORD)
    database = f"exchange_{uuid4().hex[:12]}"
    name = TableName(database, "customers")
    create_database(metastore.spec, database, f"{hdfs_dir}/web")
    storage = replace(_PARQUET, location=f"{hdfs_dir}/web/customers")
    catalog = plain_metastore(metastore.spec)
    catalog.create_table(
        Table(name=name, kind=TableKind.EXTERNAL, storage=storage, keys=(Column(name="ds", type="string"),))
    )
    cluster = (
        f'kind: cluster\nname: primary\ncolo: dub\ninterfaces: {{write: {{endpoint: "{hdfs_dir}"}}, '
        f'registry: {{endpoint: "{metastore.uri}"}}}}\n'
    )
    place = f'table: "catalog:{database}:customers#ds=${{YEAR}}-${{MONTH}}-${{DAY}}"'
    data.run("CREATE TABLE customers (id int PRIMARY KEY, note varchar(20)); INSERT INTO customers VALUES (1, 'x')")
    data.run("INSERT INTO customers VALUES (2, NULL), (3, 'z')")

    for each in ("import", "export"):
        (tmp_path / each).mkdir()
    site = site_of(tmp_path / "import", data, of_feed="", place_text=place)
    (site.root / "repo/clusters/primary.yaml").write_text(cluster)
    assert site.run(dry_run=True).exit_code == ExitCode.DONE
    assert catalog.partition_names(name) == ()
    result = site.run(T1)
    assert result.exit_code == ExitCode.DONE, site.text(result)
    assert catalog.partition_names(name) == ("ds=2026-03-01",)
    data.run("UPDATE customers SET note = 'again' WHERE id = 1")
    result = site.run(T1, start=T1)
    assert result.exit_code == ExitCode.DONE, site.text(result)
    assert catalog.partition_names(name) == ("ds=2026-03-01",)
    assert site.ledger("select kind from event order by sequence") == [("available",), ("updated",)]

    repo = make_export_repo(tmp_path / "export", data, database_of(data, jdbc_gateway))
    data.run("DROP TABLE orders")
    data.run("CREATE TABLE orders (id int PRIMARY KEY, note varchar(20), ds varchar(10))")
    repo.by_spark = True
    repo.write(ALLOWINSERT, flag=False)
    (repo.path / "clusters/primary.yaml").write_text(cluster)
    feed = repo.path / "feeds/orders.yaml"
    lines = [place if each.startswith("locations:") else each for each in feed.read_text().splitlines()]
    feed.write_text("\n".join(lines) + "\n")
    assert repo.run(dry_run=True) == 0, repo.text
    assert "expected rows: 3, by the footers of the files" in repo.text
    assert repo.run() == 0, repo.text
    found = [tuple(map(str, row)) for row in data.rows("SELECT id, COALESCE(note, '-'), ds FROM orders ORDER BY id")]
    assert found == [("1", "again", "2026-03-01"), ("2", "-", "2026-03-01"), ("3", "z", "2026-03-01")]
    assert repo.run(start=T1) == 0
    assert "nothing to do" in repo.text
    assert repo.tables() >= {"orders", "feedctl_export"}
