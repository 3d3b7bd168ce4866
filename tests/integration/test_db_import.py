"""Imports from PostgreSQL and MariaDB by Spark: whole instances, of one moment, and clear failures."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pyarrow.parquet as pq
import pytest

from tests.databases.datasources import PASSWORD, VARIABLE, DataServer, MariaDbData, PostgresData, variables
from tests.integration.import_kills import filled, kill_and_finish
from tests.unit.exchange.import_site import ImportSite
from toolkit.bootstrap.db_import import SPARK
from toolkit.entities.datasource import Datasource
from toolkit.exchange.import_targets import RECORD_FILE
from toolkit.result import ExitCode

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(600),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),  # Spark leaves sockets open
]
DAY = "2026-03-03"


def yaml_of(datasource: Datasource, endpoint: str = "") -> str:
    """Return the file of a datasource."""
    driver = datasource.driver
    end = datasource.interfaces.readonly or datasource.interfaces.write
    assert driver is not None
    assert end is not None
    return f"""kind: datasource
name: crm
type: {datasource.type}
interfaces: {{readonly: {{endpoint: "{endpoint or end.endpoint}"}}}}
credential: {{user: exchange, env: {VARIABLE}}}
driver: {{class: {driver.class_}, jars: {list(driver.jars)}}}
"""


def site_of(root: Path, data: DataServer, **more: Any) -> ImportSite:  # noqa: ANN401 - fields of a site
    """Return a site whose datasource is a real database."""
    return ImportSite(root, datasource=yaml_of(data.datasource), variables=variables(), adapters=SPARK, **more)


def rows(site: ImportSite, day: str = DAY) -> list[dict[str, Any]]:
    """Return the rows of an instance, in the order of their ids."""
    files = sorted(each for each in site.place(day).iterdir() if each.suffix == ".parquet")
    return sorted((row for each in files for row in pq.ParquetFile(each).read().to_pylist()), key=lambda row: row["id"])


@contextmanager
def transferring(url: str) -> Iterator[list[int]]:
    """Move amounts between accounts, and replace accounts by new ones, all the time: sum and number stay."""
    over, count = threading.Event(), [0]

    def work() -> None:
        with closing(psycopg.connect(url)) as connection:
            while not over.is_set():
                n = count[0]
                with connection.transaction():
                    one = n % 500 * 2 + 2
                    connection.execute(
                        "UPDATE customers SET amount = amount + CASE id WHEN %s THEN 1 ELSE -1 END"
                        " WHERE id IN (%s, %s)",
                        (one, one, one + 1),
                    )
                    connection.execute(
                        "WITH gone AS (DELETE FROM customers WHERE id = (SELECT max(id) FROM customers)"
                        " RETURNING amount) INSERT INTO customers SELECT 100000 + %s, 'new', amount FROM gone",
                        (n,),
                    )
                count[0] += 1
                time.sleep(0.01)

    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield count
    finally:
        over.set()
        thread.join()


def test_connections_see_one_moment_of_a_table_that_is_written_all_the_time(
    tmp_path: Path, postgres_data: PostgresData
) -> None:
    postgres_data.run(
        "CREATE TABLE customers AS SELECT g AS id, 'n' || g AS note, CAST(7 AS bigint) AS amount"
        " FROM generate_series(1, 20000) g; ALTER TABLE customers ADD PRIMARY KEY (id)"
    )
    site = site_of(tmp_path, postgres_data, more="      split_by: id\n      num_mappers: 4")
    with transferring(postgres_data.url) as count:
        result = site.run()
        made = count[0]
    assert result.exit_code == ExitCode.DONE, site.text(result)
    assert made > 10
    found = rows(site)
    assert (len(found), sum(row["amount"] for row in found)) == (20000, 140000)
    assert {"_SUCCESS", RECORD_FILE} < set(site.names(DAY))
    assert site.left() == []
    (mark,) = site.ledger("select snapshot, rows from exchange_mark")
    assert mark[0]
    assert mark[1] == 20000


def test_maria_db_is_read_by_one_connection_with_every_text(tmp_path: Path, mariadb_data: MariaDbData) -> None:
    mariadb_data.run(
        "CREATE TABLE customers (id int primary key, note text, at datetime(6));"
        "INSERT INTO customers VALUES (1, 'a\\'b\\n\"c\\\\N', '2026-03-03 02:30:00.5'), (2, '😀', NULL), (3, '', NULL)"
    )
    site = site_of(tmp_path, mariadb_data, more="      split_by: id\n      num_mappers: 2")
    result = site.run()
    assert result.exit_code == ExitCode.DONE, site.text(result)
    assert [row["note"] for row in rows(site)] == ["a'b\n\"c\\N", "😀", ""]
    assert "one connection reads" in site.text(result)


def test_new_and_changed_rows_are_merged_with_the_instance_before(tmp_path: Path, postgres_data: PostgresData) -> None:
    postgres_data.run(
        "CREATE TABLE customers (id int primary key, note text, at timestamptz);"
        "INSERT INTO customers VALUES (1, 'one', '2026-03-01 12:00+00'), (2, 'two', '2026-03-01 13:00+00')"
    )
    site = site_of(tmp_path, postgres_data, extract="{type: incremental, delta_column: at, merge_key: [id]}")
    assert site.run("2026-03-02T00:00Z").exit_code == ExitCode.DONE
    postgres_data.run(
        "UPDATE customers SET note = 'changed', at = '2026-03-02 01:00+00' WHERE id = 2;"
        "INSERT INTO customers VALUES (3, 'three', '2026-03-02 02:00+00'), (4, 'four', '2026-03-03 02:00+00')"
    )
    result = site.run("2026-03-03T00:00Z")
    assert result.exit_code == ExitCode.DONE, site.text(result)
    assert [(row["id"], row["note"]) for row in rows(site, "2026-03-02")] == [(1, "one"), (2, "changed"), (3, "three")]


def test_growing_numbers_with_a_name_that_is_sql_are_appended(tmp_path: Path, postgres_data: PostgresData) -> None:
    postgres_data.run(
        'CREATE TABLE "Cu""st; DROP" ("I d" bigint, id int); INSERT INTO "Cu""st; DROP" VALUES (1, 1), (2, 2)'
    )
    site = site_of(tmp_path, postgres_data)
    feed = site.root / "repo/feeds/customers.yaml"
    text = feed.read_text().replace("table_name: customers", 'table_name: \'"Cu""st; DROP"\'')
    feed.write_text(text.replace("{type: full}", "{type: incremental, delta_column: 'I d', merge_policy: append}"))
    assert site.run("2026-03-02T00:00Z").exit_code == ExitCode.DONE
    postgres_data.run('INSERT INTO "Cu""st; DROP" VALUES (3, 3)')
    assert site.run("2026-03-03T00:00Z").exit_code == ExitCode.DONE
    assert [[row["I d"] for row in rows(site, day)] for day in ("2026-03-01", "2026-03-02")] == [[1, 2], [3]]


@pytest.mark.extended
def test_faults_are_said_and_leave_nothing(tmp_path: Path, postgres_data: PostgresData) -> None:
    site = site_of(tmp_path, postgres_data)
    texts = [site.text(site.run())]
    postgres_data.run("CREATE TABLE customers (id int, span numeric)")
    texts.append(site.text(site.run()))
    postgres_data.run("DROP TABLE customers; CREATE TABLE customers (id int, span date)")
    postgres_data.run("INSERT INTO customers VALUES (1, 'infinity')")
    texts.append(site.text(site.run()))
    postgres_data.run("TRUNCATE customers")
    texts.append(site.text(site.run()))
    with psycopg.connect(postgres_data.url, autocommit=True) as connection:
        connection.execute("ALTER TABLE customers OWNER TO CURRENT_USER")
    texts.append(site.text(site.run()))
    site.variables = {**variables(), VARIABLE: "wrong"}
    texts.append(site.text(site.run()))
    site.variables = variables()
    site.datasource = yaml_of(postgres_data.datasource, "jdbc:postgresql://127.0.0.1:1/none")
    site.write()
    began = time.monotonic()
    texts.append(site.text(site.run()))
    assert time.monotonic() - began < 60
    wanted = [
        "no_such_relation",
        "unsupported_types",
        "values_change",
        "no_rows",
        "permission_refused",
        "login_refused",
        "database_unreachable",
    ]
    found = [next((code for code in wanted if code in text), "") for text in texts]
    assert found == wanted, "\n".join(texts)
    assert not any(PASSWORD in text or "wrong" in text for text in texts)
    assert (site.names(DAY), site.left()) == ([], [])


@pytest.mark.extended
@pytest.mark.parametrize("target", ["driver", "java"])
def test_a_killed_import_leaves_nothing_half(tmp_path: Path, postgres_data: PostgresData, target: str) -> None:
    filled(postgres_data)
    site = site_of(tmp_path, postgres_data, more="      split_by: id\n      num_mappers: 2")
    assert kill_and_finish(site, postgres_data, target)
