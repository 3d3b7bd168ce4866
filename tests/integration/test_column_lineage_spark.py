"""Column lineage of a real step of Spark SQL over a table of a real metastore."""

from __future__ import annotations

from pathlib import Path
from uuid import uuid4

import pytest

from tests.integration.process_runs import KEYS, Runs
from tests.integration.test_column_lineage import RELATIONS
from tests.tables.databases import create_database, plain_metastore
from tests.tables.tables import partition_of, table_of
from tests.testbed.metastore import HiveMetastoreServer
from toolkit.catalog.model import TableName
from toolkit.cli import main
from toolkit.process_runner import column_lineage

pytestmark = [pytest.mark.slow, pytest.mark.extended]

WORKFLOW = "workflow: {engine: spark_sql, path: workflows/count.sql, spark: {conf: {spark.ui.enabled: false}}}"
CLUSTER = """\
kind: cluster
name: primary
interfaces: {{write: {{endpoint: "file://{data}"}}, registry: {{endpoint: "{uri}"}}}}
locations: {{tables: ["{warehouse}"]}}
"""
FEED = """\
kind: feed
name: clicks
frequency: hours(1)
table: "catalog:{database}:clicks#ds=${{YEAR}}-${{MONTH}}-${{DAY}}-${{HOUR}}"
clusters: [{{name: primary, validity: {{start: 2026-03-01T00:00Z, end: 2099-01-01T00:00Z}}}}]
"""


@pytest.fixture
def database(metastore: HiveMetastoreServer) -> str:
    """Return a database with a table of clicks, which has one partition."""
    found = f"test_{uuid4().hex}"
    create_database(metastore.spec, found, f"{metastore.warehouse}/{found}")
    name = TableName(found, "clicks")
    client = plain_metastore(metastore.spec)
    client.create_table(table_of(name, f"{metastore.warehouse}/{found}/clicks", ds="string"))
    made = partition_of(client.table(name), "2026-03-01-00")
    place = Path(made.location.removeprefix("file:"))
    place.mkdir(parents=True)
    (place / "part-0").write_text("7\x011\x02x\n")
    client.add_partitions(name, [made])
    client.close()
    return found


def test_a_star_of_a_table_has_the_columns_that_its_metastore_names(
    tmp_path: Path,
    metastore: HiveMetastoreServer,
    database: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(column_lineage, "_PATIENCE", 60.0)  # a busy machine may take longer than a run would wait
    (tmp_path / "data").mkdir()
    runs = Runs(directory=tmp_path)
    runs.write(WORKFLOW)
    repo = tmp_path / "repo"
    cluster = CLUSTER.format(data=tmp_path / "data", uri=metastore.uri, warehouse=metastore.warehouse)
    (repo / "clusters/primary.yaml").write_text(cluster)
    (repo / "feeds/clicks.yaml").write_text(FEED.format(database=database))
    (repo / "workflows/count.sql").write_text(
        "CREATE TEMPORARY VIEW seen AS\n"
        "SELECT * FROM ${falcon_clicks_database}.${falcon_clicks_table} WHERE ${clicks_filter};\n"
        "INSERT OVERWRITE DIRECTORY '${counts}' USING parquet SELECT * FROM seen\n"
    )

    code, result = runs.run()
    assert code == 0, result

    table = f"{database}.clicks"
    assert runs.query(RELATIONS) == [
        (f"{table}.", "counts.", "condition"),
        (f"{table}.ds", "counts.", "condition"),
        (f"{table}.ds", "counts.ds", "direct"),
        (f"{table}.id", "counts.id", "direct"),
        (f"{table}.what", "counts.what", "direct"),
    ]
    assert runs.query("SELECT message FROM process_log WHERE category = 'lineage'") == []
    (log,) = tmp_path.glob("logs/*/*/primary/session/*/host.log")
    assert "Spark" in log.read_text()  # the application is the one that steps share
    assert main.main(["lineage", "column", "counts.id", "--up", "--config-repo", str(repo)]) == 0
    assert f"made from column {table}.id " in capsys.readouterr().out
    assert list(runs.at("counts", KEYS[0]).glob("*.parquet"))
