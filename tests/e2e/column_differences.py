"""Program of a test: what becomes of the results of queries in Spark when a column is gone, or has other values.

Arguments: a JSON file of queries with the columns that they use and do not use, and one for the answers.
"""

from __future__ import annotations

import json
import random
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

SETS = 4
TYPES = {
    "t": "a INT, b INT, c INT",
    "u": "a INT, x INT, y INT",
    "w": "k INT, v INT",
    "ev": "id INT, tags ARRAY<STRING>, props MAP<STRING, STRING>",
}
Tables = dict[str, list[list[Any]]]


def value(kind: str, rng: random.Random) -> Any:  # noqa: ANN401 - of a column of any type
    """A value of a few, so that rows meet; sometimes null."""
    if kind.startswith("ARRAY"):
        return [rng.choice("abc") for _ in range(rng.randrange(1, 4))]
    if kind.startswith("MAP"):
        return {name: rng.choice("xyz") for name in rng.sample("klm", rng.randrange(1, 3))}
    return rng.choice([None, 0, 1, 2, 3, 4])


def kinds(table: str) -> list[tuple[str, str]]:
    """The columns of a table, each with its type."""
    found = TYPES[table].replace("STRING, STRING", "STRING; STRING").split(", ")
    return [(each.split(" ", 1)[0], each.split(" ", 1)[1].replace(";", ",")) for each in found]


def made(rng: random.Random) -> Tables:
    """Random rows of all tables."""
    return {name: [[value(kind, rng) for _, kind in kinds(name)] for _ in range(9)] for name in TYPES}


def literal(item: Any, kind: str) -> str:  # noqa: ANN401 - as above
    """A value as SQL has it."""
    if isinstance(item, list):
        return f"array({', '.join(map(repr, item))})"
    if isinstance(item, dict):
        return f"map({', '.join(repr(each) for pair in item.items() for each in pair)})"
    return f"CAST({'NULL' if item is None else item} AS {kind})"


def view(name: str, rows: list[list[Any]], dropped: str) -> str:
    """Return the statement that makes a view of rows, without a column."""
    kept = [(at, column, kind) for at, (column, kind) in enumerate(kinds(name)) if column != dropped]
    values = ", ".join(f"({', '.join(literal(row[at], kind) for at, _, kind in kept)})" for row in rows)
    names = ", ".join(column for _, column, _ in kept)
    return f"CREATE OR REPLACE TEMPORARY VIEW {name} AS SELECT * FROM VALUES {values} AS rows({names})"  # noqa: S608 - of a test


class Queries:
    """Queries over temporary views, whose results are compared as bags of rows."""

    def __init__(self, session: SparkSession) -> None:
        self._session = session
        self._before: dict[tuple[str, int], list[str]] = {}

    def result(self, query: str, tables: Tables, dropped: tuple[str, str] = ("", "")) -> list[str]:
        """Return the rows of a query in their texts, sorted."""
        for name, rows in tables.items():
            if re.search(rf"\b{name}\b", query):
                self._session.sql(view(name, rows, dropped[1] if name == dropped[0] else ""))
        self._session.catalog.dropTempView("v")  # that a query makes
        *before, last = query.split(";")
        for each in before:
            self._session.sql(each)
        return sorted(map(repr, self._session.sql(last).collect()))

    def changes(self, query: str, of: tuple[str, str], sets: list[Tables], rng: random.Random) -> bool:
        """Return whether other values of a column change the result for any of the sets."""
        table, column = of
        at = next(index for index, (name, _) in enumerate(kinds(table)) if name == column)
        for tables in sets:
            rows = [list(row) for row in tables[table]]
            for row in rows:
                row[at] = value(kinds(table)[at][1], rng)
            if self.result(query, {**tables, table: rows}) != self.before(query, tables):
                return True
        return False

    def before(self, query: str, tables: Tables) -> list[str]:
        """Return the rows of a query over unchanged tables."""
        key = (query, id(tables))
        if key not in self._before:
            self._before[key] = self.result(query, tables)
        return self._before[key]


def answers(queries: Queries, given: list[dict[str, Any]], seed: int) -> Iterator[Mapping[str, Any]]:
    """Yield what is wrong with each query: unused columns that change its result, and used ones that do not."""
    rng = random.Random(seed)  # noqa: S311 - values of a test
    sets = [made(rng) for _ in range(SETS)]
    for each in given:
        before = queries.before(each["query"], sets[0])
        yield {
            "query": each["query"],
            "changed": [c for c in each["unused"] if queries.result(each["query"], sets[0], tuple(c)) != before],
            "unchanged": [c for c in each["used"] if not queries.changes(each["query"], tuple(c), sets, rng)],
        }


def main() -> None:
    """Answer all queries."""
    session = (
        SparkSession.builder.master("local[1]")
        .config("spark.sql.shuffle.partitions", 1)
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.sql.ansi.enabled", "false")
        .config("spark.sql.codegen.wholeStage", "false")  # to compile them takes longer than these queries
        .config("spark.sql.codegen.factoryMode", "NO_CODEGEN")
        .config("spark.sql.adaptive.enabled", "false")
        .getOrCreate()
    )
    given = json.loads(Path(sys.argv[1]).read_text())
    with Path(sys.argv[2]).open("w") as file:
        for each in answers(Queries(session), given["queries"], given["seed"]):
            file.write(f"{json.dumps(each)}\n")
            file.flush()
    session.stop()


if __name__ == "__main__":
    main()
