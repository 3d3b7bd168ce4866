"""Tables of several formats that Great Expectations judges where they are replicated to, with the types they have."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.e2e.commands import BIN, ROOT
from tests.e2e.retention_process import environment
from tests.integration.table_copies import TableCopies, outcomes, two_sites
from tests.tables.spark_sql import spark_sql
from tests.testbed.metastore import HiveMetastoreServer
from toolkit.cli.main import main

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1800)]
KEY = "2026-03-01T00:00Z"
_COLUMNS = "(id BIGINT, name STRING, price DECIMAL(10, 2), at TIMESTAMP)"
_ROWS = "SELECT id, IF(id = 2, '', CONCAT('é ', id)), CAST(id AS DECIMAL(10, 2)) / 4, TIMESTAMP '2026-03-01 10:00:00'"
_TABLES = {
    "t_orc": (f"{_COLUMNS} PARTITIONED BY (ds STRING, n INT) STORED AS ORC", "CAST(id % 2 AS INT)"),
    "t_parquet": (f"{_COLUMNS} PARTITIONED BY (ds STRING, n INT) STORED AS PARQUET", "7"),
    "t_text": (f"{_COLUMNS} PARTITIONED BY (ds STRING, n INT) STORED AS TEXTFILE", "IF(id = 0, NULL, 8)"),
    "t_avro": (f"{_COLUMNS} PARTITIONED BY (ds STRING, n INT) STORED AS AVRO", "9"),
}
_SUITE = """\
expectations:
  - {type: expect_column_values_to_not_be_null, kwargs: {column: name}}
  - {type: expect_table_row_count_to_equal, kwargs: {value: 4}}
  - {type: expect_column_distinct_values_to_equal_set, kwargs: {column: ds, value_set: ["${YEAR}-${MONTH}-${DAY}"]}}
  - {type: expect_column_distinct_values_to_be_in_set, kwargs: {column: n, value_set: [0, 1, 7, 8]}}
  - {type: expect_column_values_to_be_between, kwargs: {column: price, min_value: 0, max_value: 0.75}}
  - {type: expect_column_max_to_be_between, kwargs: {column: id, min_value: 3, max_value: 3}}
"""


@pytest.fixture
def copies(metastore: HiveMetastoreServer, other_metastore: HiveMetastoreServer, tmp_path: Path) -> TableCopies:
    """Two metastores; all tables are judged, those of text by one more that does not hold."""
    sites = two_sites(metastore, other_metastore, tmp_path)
    found = TableCopies(
        directory=tmp_path,
        source=sites.source,
        target=sites.target,
        more="quality: {suites: [clicks]}",
        feeds=tuple(_TABLES),
    )
    suites = found.repo / "expectations"
    suites.mkdir()
    (suites / "clicks.yaml").write_text(_SUITE)
    few = "{type: expect_table_row_count_to_be_between, kwargs: {max_value: 3}}"
    (suites / "few.yaml").write_text(f"expectations: [{few}]\n")
    text = found.repo / "feeds/t_text.yaml"
    text.write_text(text.read_text().replace("[clicks]", "[clicks, few]"))
    return found


@pytest.mark.parametrize(
    "tables",
    [
        pytest.param(("t_orc", "t_text", "t_avro"), id="some", marks=pytest.mark.extended),
        pytest.param(tuple(_TABLES), id="all", marks=pytest.mark.soak),
    ],
)
def test_tables_are_judged_by_what_their_readers_would_see(
    copies: TableCopies, java_home: Path, monkeypatch: pytest.MonkeyPatch, tables: Sequence[str]
) -> None:
    database = copies.source.database
    made: list[str] = []
    for table, (shape, key) in ((name, _TABLES[name]) for name in tables):
        made += [
            f"CREATE TABLE {database}.{table} {shape}",
            f"INSERT INTO {database}.{table} {_ROWS}, IF(id < 4, '2026-03-01', '2026-03-02'), {key} FROM range(8)",
        ]
    spark_sql(copies.source.registry, made)
    feeds = [word for table in tables for word in ("--feed", table)]
    arguments = copies.arguments(*feeds, "--start", KEY, "--output", "json")
    command = [str(BIN / "spark-submit"), str(ROOT / "entrypoints/hive_replication.py"), *arguments]
    ran = subprocess.run(command, env=environment(java_home), capture_output=True, text=True, check=False, timeout=1500)
    assert ran.returncode == 4, ran.stderr
    became: dict[str, set[tuple[str, str | None]]] = {}
    result = json.loads(ran.stdout)
    for item, (kind, _, outcome, code) in zip(result["items"], outcomes(result), strict=True):
        if kind == "add":
            became.setdefault(item["table"].rpartition(".")[2], set()).add((outcome, code))
    ends = {"t_text": ("failed", "quality_failed"), "t_avro": ("failed", "quality_unknown")}
    assert became == {table: {ends.get(table, ("done", None))} for table in tables}, ran.stdout
    assert "AvroSerDe) is none of parquet, ORC, JSON and delimited text" in ran.stdout
    assert len(copies.target.rows("t_orc")) == 2
    assert copies.target.rows("t_text") == {}
    for name, value in environment(java_home).items():
        monkeypatch.setenv(name, value)
    decision = ("release", "t_text", "--time", KEY, "--reason", "known", "--config-repo", str(copies.repo))
    assert main(["quality", *decision]) == 0
    assert len(copies.target.rows("t_text")) == 2
