"""Column lineage against Spark: a column that it calls unused may go, one that it calls used changes some result."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.column_differences import TYPES, kinds
from tests.unit.lineage.test_statements import CORPUS, SCHEMAS
from toolkit.lineage.statements import statement_lineage

pytestmark = [pytest.mark.slow, pytest.mark.extended]
_INSERT = re.compile(r"\A(?P<before>(?:.*;)?)\s*INSERT (?:INTO|OVERWRITE) (?:TABLE )?o (?=SELECT|WITH)", re.DOTALL)


def queries() -> Iterator[dict[str, Any]]:
    """Yield the queries of the corpus over the tables that the program fills, with used and unused columns."""
    for case in CORPUS:
        sql = re.sub(r"\b(?:lake|spark_catalog\.default|default)\.", "", case["sql"])
        if (
            "unknown" in case
            or not _INSERT.match(sql)
            or re.search(r"nowhere|parquet\.|TRANSFORM \(|USE |USING json|CACHE |CREATE TABLE", sql)
        ):
            continue
        if sql.endswith("ORDER BY c"):  # decides nothing that is kept, but Spark wants the column
            continue
        relations = [each for found in statement_lineage(case["sql"], SCHEMAS) for each in found.relations]
        used = {(each.source.table.rpartition(".")[2], each.source.column) for each in relations}
        tables = {table for table, column in used if not column and table in TYPES}
        columns = {(table, name) for table in tables for name, _ in kinds(table)}
        yield {
            "query": _INSERT.sub(r"\g<before>", sql),
            "used": sorted(columns & used),
            "unused": sorted(columns - used),
        }


def test_lineage_agrees_with_what_spark_computes(tmp_path: Path, java_home: Path) -> None:
    seed = int(os.environ.get("FEEDCTL_SEED", "1"))
    every = list(queries())
    (tmp_path / "given.json").write_text(json.dumps({"seed": seed, "queries": every}))
    program = Path(__file__).with_name("column_differences.py")
    environment = {**os.environ, "JAVA_HOME": str(java_home), "SPARK_LOCAL_IP": "127.0.0.1"}
    subprocess.run(
        [sys.executable, program, tmp_path / "given.json", tmp_path / "found.json"], env=environment, check=True
    )

    found = [json.loads(line) for line in (tmp_path / "found.json").read_text().splitlines()]
    assert len(found) == len(every) >= 35
    assert sum(len(each["unused"]) for each in every) >= 20
    assert [each for each in found if each["changed"] or each["unchanged"]] == [], f"FEEDCTL_SEED={seed}"
