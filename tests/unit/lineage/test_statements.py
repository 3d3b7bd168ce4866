"""Column lineage of SQL, against statements whose lineage was written by hand."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from toolkit.ledger.vocabulary import LineageRelationKind
from toolkit.lineage.columns import Schemas
from toolkit.lineage.script_process import script_lineage, script_reader
from toolkit.lineage.statements import MOST_SQL, ScriptReader, statement_lineage

if TYPE_CHECKING:
    from toolkit.ledger.column_lineage import LineageNode, StatementLineage

CORPUS = yaml.safe_load((Path(__file__).parent / "corpus.yaml").read_text(encoding="utf-8"))
SCHEMAS = Schemas(
    columns={
        "default.t": ("a", "b", "c"),
        "default.u": ("a", "x", "y"),
        "default.o": ("p", "q"),
        "default.op": ("p", "q", "ds"),
        "default.ev": ("id", "tags", "props"),
        "lake.w": ("k", "v"),
        "clicks": ("url", "n"),
        "counts": ("country", "n"),
    },
    paths={"/data/clicks": "clicks", "/data/counts": "counts"},
)
MARKS = {"+": LineageRelationKind.AGGREGATE, "?": LineageRelationKind.CONDITION}


def name_of(node: LineageNode) -> str:
    """Return a node as the corpus writes it."""
    if node.function:
        return f"{{{node.function.partition(' (')[0]}}}"
    table = node.table.removeprefix("default.")
    return f"{table}.{node.column}" if node.column else table


def found_in(statements: tuple[StatementLineage, ...]) -> set[tuple[str, str, str]]:
    """Return the relations of statements as the corpus writes them."""
    relations = [each for statement in statements for each in statement.relations]
    return {(name_of(each.source), name_of(each.target), str(each.kind)) for each in relations}


def expected_of(case: dict[str, Any]) -> set[tuple[str, str, str]]:
    """Return the relations that a case of the corpus has."""
    found = set()
    for target, sources in case["gives"].items():
        for each in sources.split():
            kind = MARKS.get(each[0], LineageRelationKind.DIRECT)
            found.add((each[1:] if each[0] in MARKS else each, target, str(kind)))
    return found


@pytest.mark.parametrize("case", CORPUS, ids=[each["sql"][:60] for each in CORPUS])
def test_the_lineage_of_a_statement_is_what_a_person_says(case: dict[str, Any]) -> None:
    statements = statement_lineage(case["sql"], SCHEMAS)

    assert found_in(statements) == expected_of(case)
    unknown = "; ".join(each.unknown for each in statements if each.unknown)
    assert unknown if "unknown" in case else not unknown
    assert case.get("unknown", "") in unknown


def test_the_corpus_has_what_was_promised() -> None:
    assert len(CORPUS) >= 60


def test_each_statement_of_a_script_is_read_after_one_that_is_no_sql() -> None:
    found = statement_lineage(
        "INSERT INTO o SELECT a, b FROM t; INSERT oops; INSERT INTO o SELECT b, c FROM t", SCHEMAS
    )

    assert [bool(each.unknown) for each in found] == [False, True, False]


@pytest.mark.parametrize("deep", ["SELECT " + "(" * 5000 + "1" + ")" * 5000, "SELECT 1" + " + 1" * (MOST_SQL // 4)])
def test_a_statement_that_is_too_deep_or_too_long_is_unknown(deep: str) -> None:
    assert statement_lineage(f"INSERT INTO o {deep}, 1", SCHEMAS)[0].unknown


def test_names_that_no_database_takes_are_left_out_aloud() -> None:
    script = "CREATE TABLE copy AS SELECT a AS `NAME`, b AS `k\0`, c FROM t".replace("NAME", "x" * 5000)
    (found,) = statement_lineage(script, SCHEMAS)

    assert found_in((found,)) == {("t", "copy", "condition"), ("t.c", "copy.c", "direct")}
    assert "characters" in found.unknown


def test_a_path_belongs_to_the_feed_at_or_above_it_and_not_to_one_with_a_longer_name() -> None:
    at = {
        text: SCHEMAS.table_at(text) for text in ("s3a://b/data/clicks/", "file:/data/clicks/x", "/data/clicks2", "/")
    }

    assert at == {
        "s3a://b/data/clicks/": "clicks",
        "file:/data/clicks/x": "clicks",
        "/data/clicks2": "/data/clicks2",
        "/": "",
    }


@pytest.mark.parametrize(
    "value",
    ["'hunter2'", '"hunter2"', "r'hunter2'", "N'hunter2'", "x'687532'", "get_json_object('{}', '$.hunter2')"],
)
def test_no_text_of_a_statement_is_part_of_a_function(value: str) -> None:
    (found,) = statement_lineage(
        "CREATE TABLE made AS SELECT concat(now(), VALUE) AS z".replace("VALUE", value), SCHEMAS
    )
    functions = [each.source.function for each in found.relations if each.source.function]
    assert functions
    assert not [each for each in functions if "hunter2" in each or "687532" in each]


def test_no_text_of_a_statement_that_cannot_be_read_is_told() -> None:
    found = ScriptReader(schemas=SCHEMAS).read("INSERT INTO t SELECT 'hunter2", "source")
    assert found is not None
    assert found.unknown == "a text or name in it has no end"


def test_a_script_is_read_without_modules_of_the_working_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "sqlglot.py").write_text("raise SystemExit(3)")
    monkeypatch.chdir(tmp_path)
    script_reader().end()  # its modules are those of where it was started
    (found,) = script_lineage([("INSERT INTO o SELECT a, b FROM t", "source")], SCHEMAS, 60)
    assert (found.text, found.unknown) == ("source", "")


def test_a_script_that_takes_too_long_costs_its_own_lineage_alone() -> None:
    statement = [("INSERT INTO o SELECT a, b FROM t", "source")]
    script_lineage(statement, SCHEMAS, 60)
    (slow,) = script_lineage(statement * 5_000, SCHEMAS, 0.05)
    assert "it takes too long" in slow.unknown
    (found,) = script_lineage(statement, SCHEMAS, 60)
    assert (found.text, found.unknown) == ("source", "")
