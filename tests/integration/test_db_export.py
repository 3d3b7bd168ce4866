"""Exports to PostgreSQL and MariaDB by Spark."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.contract.database.conftest import database_of
from tests.databases.datasources import PASSWORD, DataServer, PostgresData
from tests.databases.export_repo import ALLOWINSERT, REPLACE, T1, ExportRepo, make_export_repo, make_spark_export_repo
from tests.integration.export_kills import filled, kill_and_finish
from toolkit.jdbc.gateway import JdbcGateway

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(600),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),  # Spark leaves sockets open
]


@pytest.fixture(params=["postgres_data", pytest.param("mariadb_data", marks=pytest.mark.extended)])
def data(request: pytest.FixtureRequest) -> DataServer:
    """Each database in turn."""
    found: DataServer = request.getfixturevalue(request.param)
    return found


@pytest.fixture
def repo(data: DataServer, jdbc_gateway: JdbcGateway, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ExportRepo:
    """A feed of orders whose exports use Spark."""
    return make_spark_export_repo(tmp_path, data, database_of(data, jdbc_gateway), monkeypatch)


def write(repo: ExportRepo, columns: dict[str, pa.Array]) -> None:
    """Write the files of an instance."""
    place = repo.files / T1[:10]
    place.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.table(columns), place / "part 1.parquet")
    (place / "_SUCCESS").touch()


ORDERS = {
    "id": pa.array([1, 3], pa.int32()),
    "day": pa.array(["2026-03-01", "2026-03-01"]).cast(pa.date32()),
    "note": pa.array(["it's \\N, \U0001f600", None]),
}


def test_an_instance_is_exported_once(repo: ExportRepo) -> None:
    repo.write(ALLOWINSERT)
    write(repo, ORDERS)
    assert repo.run(dry_run=True) == 0, repo.text
    assert "expected rows: 2, by the footers of the files" in repo.text
    assert repo.run() == 0, repo.text
    assert PASSWORD not in repo.text
    found = repo.data.rows("SELECT id, note FROM orders WHERE id = 1 OR note IS NULL ORDER BY id")
    assert [str(row[0]) for row in found] == ["1", "3"]
    assert str(found[0][1]).replace("\\\\", "\\") == "it's \\N, \U0001f600"
    assert repo.run(start=T1) == 0
    assert "nothing to do" in repo.text
    assert repo.tables() == {"orders", "feedctl_export"}


@pytest.mark.extended
def test_an_instance_of_csv_replaces_its_slice(repo: ExportRepo) -> None:
    repo.write(REPLACE, ", format: csv, null_string: NOTHING, num_mappers: 2")
    place = repo.files / T1[:10]
    place.mkdir(parents=True)
    (place / "part-0.csv").write_text('id,note\n5,"two\nlines"\n6,NOTHING\n')
    (place / "_SUCCESS").touch()
    assert repo.run() == 0, repo.text
    found = [tuple(map(str, row)) for row in repo.data.rows("SELECT id, note IS NULL, day FROM orders ORDER BY id")]
    assert [(each[0], each[2]) for each in found] == [("2", "2026-03-02"), ("5", "2026-03-01"), ("6", "2026-03-01")]
    assert [each[1].lower() in {"true", "1", "t"} for each in found] == [False, False, True]


@pytest.mark.extended
def test_a_value_that_the_column_cannot_keep_fails_and_the_table_stays(repo: ExportRepo) -> None:
    repo.write(ALLOWINSERT)
    write(repo, {**ORDERS, "id": pa.array([1, 1 << 40], pa.int64())})
    before = repo.table()
    assert repo.run() == 1
    assert "id" in repo.text
    assert repo.table() == before
    assert repo.tables() == {"orders", "feedctl_export"}


@pytest.mark.extended
@pytest.mark.parametrize("target", ["driver", "java"])
def test_a_killed_export_leaves_nothing_half_and_the_next_one_finishes(
    jdbc_gateway: JdbcGateway, postgres_data: PostgresData, tmp_path: Path, target: str
) -> None:
    repo = make_export_repo(tmp_path, postgres_data, database_of(postgres_data, jdbc_gateway))
    repo.write(ALLOWINSERT, ", num_mappers: 2")
    filled(repo)
    assert kill_and_finish(repo, postgres_data, target)
