"""Spark reads what ingest committed and commits itself: both see the same table."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.contract.ingest_table.tables import ROWS, SPEC, address, commit_one, emptied
from tests.testbed.fixtures import needing_programs
from tests.testbed.jars import ICEBERG
from toolkit.catalog.port import CatalogSpec
from toolkit.ingest.endpoint import CatalogAddress
from toolkit.ingest.errors import CommitConflict
from toolkit.ingest.iceberg import open_catalog
from toolkit.ingest.port import TableCommit

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def jars() -> str:
    """Return the jars of Iceberg for Spark; a machine that cannot get them skips, except in CI."""
    with needing_programs():
        return ",".join(str(jar) for jar in sorted(ICEBERG.fetched().glob("*.jar")))


@pytest.fixture(params=[pytest.param("jdbc", marks=pytest.mark.extended), pytest.param("hive", marks=pytest.mark.soak)])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> CatalogAddress:
    """Return the address of an empty catalog of each type."""
    if request.param == "jdbc":
        return address(tmp_path)
    metastore: CatalogSpec = request.getfixturevalue("metastore_on_postgres")
    return emptied(metastore.uris, tmp_path)


def test_spark_sees_all_rows_and_its_commit_is_a_conflict_for_ours(
    place: CatalogAddress, java_home: Path, jars: str
) -> None:
    catalog = open_catalog(place)
    table = catalog.create("web", "clicks", SPEC)
    commit_one(table, 1)
    commit_one(table, 2)
    base, files = table.state(), table.write(ROWS, "feedctl-3")
    script = Path(__file__).with_name("spark_table.py")
    of_spark = ("hive", place.uri) if place.type == "hive" else ("jdbc", f"jdbc:{place.uri.replace('///', '')}")
    done = subprocess.run(
        [sys.executable, script, jars, *of_spark, place.warehouse],
        env={**os.environ, "JAVA_HOME": str(java_home)},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        timeout=300,
    )
    found = json.loads(done.stdout.splitlines()[-1])
    assert found["rows"] == sorted([[1, "01"], [2, "02"], [3, "01"]] * 2)
    assert (found["files"], found["transactions"]) == (4, "2")
    with pytest.raises(CommitConflict):
        table.commit(TableCommit(transactions=(3,), files=files), base)
    table.commit(TableCommit(transactions=(3,), files=files), table.state())
    assert sum(file.rows for file in table.files()) == 3 * ROWS.num_rows + 1
    assert table.committed([1, 2, 3]) == {1, 2, 3}
    catalog.close()
