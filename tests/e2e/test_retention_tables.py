"""Retention of tables on a real metastore, in this process or by spark-submit, and what Spark reads then."""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

import hdfs_native
import pytest
from chispa import assert_df_equality
from pyspark.sql import DataFrame, SparkSession

from tests.e2e.commands import BIN
from tests.e2e.in_process import APP
from tests.e2e.retention_process import ENTRYPOINT, NOMINAL_TIME, environment
from tests.e2e.table_site import OLD, YOUNG, TableRepo, spark_on, tree
from tests.tables.tables import partition_of, table_of
from tests.testbed.hdfs import HdfsCluster
from tests.testbed.metastore import HiveMetastoreServer
from toolkit.cli.boundary import run_app

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(900),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),  # sockets of pyspark's own
]

FORMATS = (
    pytest.param("ORC", marks=pytest.mark.extended),
    *(pytest.param(each, marks=pytest.mark.soak) for each in ("PARQUET", "TEXTFILE")),
)
RunHere = Callable[..., subprocess.CompletedProcess[str]]
REGIONS = ("us", "a/b:c %é", "x;y=z", None)


@pytest.fixture(scope="module")
def spark(metastore: HiveMetastoreServer) -> Iterator[SparkSession]:
    with spark_on(metastore) as session:
        yield session


@pytest.fixture
def repo(tmp_path: Path, metastore: HiveMetastoreServer) -> TableRepo:
    return TableRepo.make(tmp_path, metastore)


def _submitted(java_home: Path, repo: TableRepo, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [BIN / "spark-submit", ENTRYPOINT, "--config-repo", repo.path, "--time", NOMINAL_TIME, *arguments]
    return subprocess.run(
        [*map(str, command), "--output", "json"],
        env=environment(java_home),
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )


@pytest.fixture
def run_here(capsys: pytest.CaptureFixture[str]) -> RunHere:
    """As `_submitted`, but in this process: a start of Spark tells nothing more of what these tests are about."""

    def run(repo: TableRepo, *arguments: str) -> subprocess.CompletedProcess[str]:
        capsys.readouterr()
        given = ["--config-repo", str(repo.path), "--time", NOMINAL_TIME, *arguments, "--output", "json"]
        code = run_app(APP, given)
        out, err = capsys.readouterr()
        return subprocess.CompletedProcess(given, code, out, err)

    return run


def _filled(spark: SparkSession, repo: TableRepo, table: str, clause: str, days: Sequence[str | None]) -> None:
    """Three rows for each day and region; None is null."""
    name = f"{repo.database}.{table}"
    spark.sql(f"CREATE TABLE {name} (n INT) PARTITIONED BY (ds STRING, region STRING) {clause}")
    rows = [(n, day, region) for day in days for region in REGIONS for n in range(3)]
    spark.createDataFrame(rows, "n INT, ds STRING, region STRING").write.insertInto(name)


def _kept(spark: SparkSession, repo: TableRepo, table: str) -> DataFrame:
    """Return what has to be there after an eviction, as values of this moment."""
    rows = spark.table(f"{repo.database}.{table}").where("ds IS NULL OR ds > '2026-03-10'").collect()
    return spark.createDataFrame(rows, "n INT, ds STRING, region STRING")


@pytest.mark.parametrize("of_format", FORMATS)
def test_old_partitions_go_with_their_data_and_spark_reads_the_rest(
    repo: TableRepo,
    spark: SparkSession,
    java_home: Path,
    hdfs: HdfsCluster,
    hdfs_dir: str,
    run_here: RunHere,
    of_format: str,
) -> None:
    repo.add_cluster("hadoop", hdfs.uri)
    tables = {"managed": repo.warehouse / "managed", "external": repo.data / "external", "on_hdfs": Path()}
    places = {"external": f" LOCATION 'file:{repo.data}/external'", "on_hdfs": f" LOCATION '{hdfs_dir}/table'"}
    for table in tables:
        _filled(spark, repo, table, f"STORED AS {of_format}{places.get(table, '')}", (*OLD, *YOUNG, None))
        repo.add_feed(table, cluster="hadoop" if table == "on_hdfs" else "primary")
    expected = {table: _kept(spark, repo, table) for table in tables}
    before = {table: (repo.names(table), tree(place)) for table, place in tables.items() if place != Path()}

    options = ("--all", "--all-clusters")
    run = run_here if of_format == "ORC" else partial(_submitted, java_home)
    plan = run(repo, *options, "--dry-run")
    planned = json.loads(plan.stdout)
    assert plan.returncode == 0, plan.stderr
    assert {item["outcome"] for item in planned["items"]} == {"planned"}
    assert len(planned["items"]) == len(tables) * len(OLD) * len(REGIONS) * 2
    assert before == {table: (repo.names(table), tree(tables[table])) for table in before}

    done = run(repo, *options)
    result = json.loads(done.stdout)
    assert (done.returncode, {item["outcome"] for item in result["items"]}) == (0, {"done"}), done.stderr
    assert result["plan_digest"] == planned["plan_digest"]
    assert {each["not_conforming"]["count"] for each in result["feeds"]} == {len(REGIONS)}  # ds is null

    for table in tables:
        spark.sql(f"REFRESH TABLE {repo.database}.{table}")
        assert_df_equality(
            spark.table(f"{repo.database}.{table}"), expected[table], ignore_row_order=True, ignore_nullable=True
        )
        assert not any(day in name for name in repo.names(table) for day in OLD)
    for table, (_, directories) in before.items():
        assert tree(tables[table]) == [each for each in directories if not any(day in each for day in OLD)]
    client = hdfs_native.Client(hdfs.uri)
    left = [status.path for status in client.list_status(hdfs_dir.removeprefix(hdfs.uri), recursive=True)]
    assert left
    assert not any(day in path for path in left for day in OLD)

    again = run_here(repo, *options)
    assert (again.returncode, json.loads(again.stdout)["items"]) == (0, [])


@pytest.mark.extended
def test_places_of_their_own_go_and_shared_ones_stay(repo: TableRepo, spark: SparkSession, run_here: RunHere) -> None:
    name, data = f"{repo.database}.custom", repo.data
    spark.sql(f"CREATE TABLE {name} (n INT) PARTITIONED BY (ds STRING) STORED AS TEXTFILE")
    places = {
        "2026-03-01": data / "own" / "2026-03-01",
        "2026-03-02": data / "shared" / "one",
        "2026-03-03": data / "outer",
        "2026-03-04": data / "both",
        "2026-03-05": data / "both" / "inner",
        "2026-03-18": data / "shared" / "one",
        "2026-03-19": data / "outer" / "inner",
    }
    for day, place in places.items():
        place.mkdir(parents=True, exist_ok=True)
        (place / f"of_{day}").write_text(f"{int(day[-2:])}\n")
        spark.sql(f"ALTER TABLE {name} ADD PARTITION (ds='{day}') LOCATION 'file:{place}'")
    repo.add_feed("custom")
    kept = ("2026-03-02", "2026-03-03", "2026-03-18", "2026-03-19")
    rows = spark.table(name).where(f"ds IN {kept}").collect()
    expected = spark.createDataFrame(rows, "n INT, ds STRING")

    run = run_here(repo, "--feed", "custom")

    assert run.returncode == 0, run.stderr
    (feed,) = json.loads(run.stdout)["feeds"]
    assert {each["partition"]: each["reason"] for each in feed["kept"]} == {
        "ds=2026-03-02": "shared_location",
        "ds=2026-03-03": "shared_location",
    }
    assert repo.names("custom") == [f"ds={day}" for day in kept]
    assert tree(data) == [
        "outer",
        "outer/inner",
        "outer/inner/of_2026-03-19",
        "outer/of_2026-03-03",
        "own",
        "shared",
        "shared/one",
        "shared/one/of_2026-03-02",
        "shared/one/of_2026-03-18",
    ]
    spark.sql(f"REFRESH TABLE {name}")
    assert_df_equality(spark.table(name), expected, ignore_row_order=True, ignore_nullable=True)


def test_what_is_wrong_with_one_table_stops_no_other(repo: TableRepo, run_here: RunHere) -> None:
    repo.make_table("good", (*OLD, *YOUNG))
    repo.make_table("undated", ["1.5"], ds="double")
    repo.make_table("other_key", ["x"], day="string")
    repo.make_table("iceberg", OLD)
    repo.metastore.change_parameters(repo.name("iceberg"), put={"table_type": "ICEBERG"})
    repo.add_feed("missing")
    run = run_here(repo, "--all")
    result = json.loads(run.stdout)
    failures = {each["feed"]: (each["failure"] or {}).get("code") for each in result["feeds"]}
    assert failures == {
        "good": None,
        "undated": "wrong_keys",
        "other_key": "wrong_keys",
        "iceberg": "unsupported_table",
        "missing": "no_such_table",
    }
    assert (run.returncode, result["status"]) == (4, "partial")
    assert repo.names("good") == [f"ds={day}" for day in YOUNG]
    assert repo.names("iceberg") == [f"ds={day}" for day in OLD]


@pytest.mark.extended
def test_a_metastore_that_is_down_is_named_and_nothing_is_lost(
    repo: TableRepo, restartable_metastore: HiveMetastoreServer, tmp_path: Path, run_here: RunHere
) -> None:
    del repo
    (tmp_path / "down").mkdir()
    site = TableRepo.make(tmp_path / "down", restartable_metastore)
    site.make_table("clicks", (*OLD, *YOUNG))
    before = tree(site.warehouse)
    restartable_metastore.stop()
    run = run_here(site, "--feed", "clicks")
    (feed,) = json.loads(run.stdout)["feeds"]
    assert (run.returncode, feed["failure"]["code"]) == (1, "unreachable")
    assert str(restartable_metastore.port) in feed["failure"]["message"]
    restartable_metastore.start()
    assert (len(site.names("clicks")), tree(site.warehouse)) == (4, before)
    assert run_here(site, "--feed", "clicks").returncode == 0
    assert site.names("clicks") == [f"ds={day}" for day in YOUNG]


def test_a_partition_whose_data_are_denied_is_named_and_a_later_run_removes_them(
    repo: TableRepo,
    hdfs: HdfsCluster,
    hdfs_dir: str,
    monkeypatch: pytest.MonkeyPatch,
    run_here: RunHere,
) -> None:
    place, days = f"{hdfs_dir}/clicks".removeprefix(hdfs.uri), [f"ds={day}" for day in (*OLD, *YOUNG)]
    client, locked = hdfs_native.Client(hdfs.uri), f"{place}/{days[0]}"
    repo.add_cluster("hadoop", hdfs.uri)
    made = table_of(repo.name("clicks"), f"{hdfs_dir}/clicks", ds="string")
    repo.metastore.create_table(made)
    repo.metastore.add_partitions(made.name, [partition_of(made, day) for day in (*OLD, *YOUNG)])
    repo.add_feed("clicks", cluster="hadoop")
    for path in (place, *(f"{place}/{day}" for day in days)):
        with client.create(f"{path}/part-0"):
            client.set_owner(path, owner="alice")
    client.set_owner(locked, owner="somebody")
    client.set_permission(locked, 0o500)
    monkeypatch.setenv("HADOOP_USER_NAME", "alice")

    def run() -> tuple[int, int, list[tuple[str, str, str]]]:
        """The exit code, how many items there are, and those that failed."""
        done = run_here(repo, "--feed", "clicks")
        output = json.loads(done.stdout)
        failed = [item for item in output["items"] if item["outcome"] != "done"]
        return done.returncode, len(output["items"]), [(item["kind"], item["path"], item["code"]) for item in failed]

    def left() -> list[str]:
        found = (status.path.removeprefix(f"{place}/") for status in client.list_status(place))
        return sorted(name for name in found if name.startswith("ds="))

    time.sleep(1)  # the metastore says in whole seconds when a table was made, which must be before the run
    denied = ("partition_data", f"{hdfs.uri}{locked}", "permission_denied")
    assert run() == (4, 4, [denied])
    assert (repo.names("clicks"), left()) == (days[2:], [days[0], *days[2:]])
    assert run() == (1, 1, [denied])
    client.set_permission(locked, 0o777)
    assert run() == (0, 0, [])
    assert (repo.names("clicks"), left()) == (days[2:], days[2:])


def test_no_ledger_is_refused_since_nobody_would_find_what_a_killed_run_leaves(
    repo: TableRepo, run_here: RunHere
) -> None:
    repo.make_table("clicks", OLD)
    run = run_here(repo, "--feed", "clicks", "--no-ledger")
    assert run.returncode == 2
    assert "is a table: without the ledger" in run.stderr
    assert len(repo.names("clicks")) == len(OLD)
    assert os.path.exists(repo.warehouse / "clicks")  # noqa: PTH110
