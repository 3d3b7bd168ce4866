"""A suite runs no code.

Defended: the account that validates, its files and its environment. Against: whoever may change the config repo's
suites. SQL is refused by lint and by the run, unless the operator's environment allows it; then it is one SELECT over
the batch with known functions, as Spark's own parser reads it. Nothing else in a suite is fetched or run.

Not defended: time and memory, which the budget of a feed bounds.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from tests.integration.test_spark_job import question
from tests.integration.validations import Made, answers_to, expect
from tests.unit.quality.validators import ValidatorBench
from toolkit.actions.validation import QualityFailed
from toolkit.entities.quality import Expectation, Suite
from toolkit.entities.suite_code import allows_suite_sql, code_in
from toolkit.ledger.database import Ledger
from toolkit.quality.documents import Answer, RequestedExpectation

ROWS = "SELECT * FROM VALUES (1, 'fra'), (2, 'ams') AS rows(id, colo)"


@pytest.mark.parametrize(
    ("kind", "kwargs"),
    [
        ("unexpected_rows_expectation", {"unexpected_rows_query": "SELECT 1"}),
        ("expect_column_values_to_not_be_null", {"row_condition": "true"}),
        ("expect_column_values_to_not_be_null", {"row_condition": "true", "condition_parser": "spark"}),
        ("expect_column_values_to_not_be_null", {"row_condition": "true", "condition_parser": "${cluster.name}"}),
    ],
)
def test_sql_is_known_wherever_it_is(kind: str, kwargs: dict[str, object]) -> None:
    assert [each.is_sql for each in code_in(kind, kwargs)] == [True]


@pytest.mark.parametrize(
    ("kind", "kwargs"),
    [
        (
            "expect_column_values_to_not_be_null",
            {"row_condition": {"type": "pass_through", "pass_through_filter": "1"}},
        ),
        ("expect_multicolumn_sum_to_equal", {"column_list": ["a", "0)+java_method('a','b')+(0"]}),
        ("expect_multicolumn_sum_to_equal", {"column_list": ["a`,0)+reflect('a','b')+coalesce(`a"]}),
        ("expect_column_values_to_match_json_schema", {"json_schema": {"$ref": "http://127.0.0.1/x"}}),
        ("expect_column_values_to_match_json_schema", {"json_schema": {"a": [{"$dynamicRef": "other.json"}]}}),
        ("expect_column_values_to_match_json_schema", {"json_schema": {"allOf": [{"$id": "file:///etc/x.json"}]}}),
        ("expect_column_values_to_match_json_schema", {"json_schema": {"allOf": [{"id": "http://127.0.0.1/x"}]}}),
    ],
)
def test_what_else_is_run_or_fetched_is_never_allowed(kind: str, kwargs: dict[str, object]) -> None:
    assert [each.is_sql for each in code_in(kind, kwargs)] == [False]


def test_the_name_of_a_schema_itself_and_properties_called_id_are_no_code() -> None:
    schema = {
        "$id": "https://example.com/order.json",
        "properties": {"id": {"type": "string"}, "$id": {"$ref": "#/$defs/key"}},
        "$defs": {"key": {"type": "integer"}},
    }
    assert not list(code_in("expect_column_values_to_match_json_schema", {"json_schema": schema}))


def test_only_the_operator_allows_sql() -> None:
    assert allows_suite_sql({"FEEDCTL_ALLOW_SUITE_SQL": "1"})
    assert not any(allows_suite_sql({"FEEDCTL_ALLOW_SUITE_SQL": each}) for each in ("", "0", "false"))
    assert not allows_suite_sql({})


def _bench(root: Path, kind: str, kwargs: Mapping[str, object], ledger: Ledger) -> ValidatorBench:
    suite = Suite(name="clicks", path="expectations/clicks.yaml", expectations=(Expectation(type=kind, kwargs=kwargs),))
    return ValidatorBench(root=root, ledger=ledger, suites={"clicks": suite})


def test_a_run_asks_nothing_of_a_suite_with_sql(tmp_path: Path, sqlite_ledger: Ledger) -> None:
    bench = _bench(tmp_path, "unexpected_rows_expectation", {"unexpected_rows_query": "SELECT 1"}, sqlite_ledger)
    with pytest.raises(QualityFailed, match=r"is SQL, which a suite must not have; only the operator.*ALLOW_SUITE_SQL"):
        bench.validator.validate(bench.written, lambda: None)
    assert bench.process.questions == []
    replace(bench.validator, allows_sql=True).validate(bench.written, lambda: None)
    assert [question.allows_sql for question, _ in bench.process.questions] == [True]


def test_what_is_fetched_is_refused_also_where_sql_is_allowed(tmp_path: Path, sqlite_ledger: Ledger) -> None:
    schema = {"json_schema": {"$ref": "file:///etc/passwd"}, "column": "a"}
    bench = _bench(tmp_path, "expect_column_values_to_match_json_schema", schema, sqlite_ledger)
    with pytest.raises(QualityFailed, match="would be fetched"):
        replace(bench.validator, allows_sql=True).validate(bench.written, lambda: None)
    assert bench.process.questions == []


CODE = (
    "SELECT java_method('java.lang.System', 'setProperty', 'feedctl.attacked', 'yes') FROM {batch}",
    "SELECT `reflect`('java.lang.System', 'getenv', 'HOME') FROM {batch}",
    "SELECT try_reflect('java.lang.System', 'getenv', 'HOME') FROM {batch}",
    "SELECT builtin.java_method('java.lang.System', 'getenv', 'HOME') FROM {batch}",
    "SELECT IDENTIFIER('java_method')('java.lang.System', 'getenv', 'HOME') FROM {batch}",
    "SELECT count(*) FILTER (WHERE java_method('java.lang.System', 'getenv', 'HOME') = '') FROM {batch}",
    "SELECT * FROM csv.`file:///etc/passwd`",
    "SELECT * FROM {batch} WHERE id IN (SELECT _c0 FROM csv.`file:///etc/passwd`)",
    "SELECT * FROM {batch} WHERE EXISTS (SELECT * FROM (SELECT * FROM text.`/etc/passwd`) x)",
    "SELECT (SELECT max(value) FROM text.`/etc/passwd`) FROM {batch}",
    "SELECT * FROM {batch} JOIN text.`/etc/passwd` ON exists(array(1), x -> x = id)",
    "WITH tmp_view AS (SELECT * FROM text.`/etc/passwd`) SELECT * FROM tmp_view",
    "SELECT * FROM IDENTIFIER('text.`/etc/passwd`')",
    "SELECT * FROM range(3)",
    "SELECT * FROM {batch} LATERAL VIEW explode(array(1)) t AS x",
    "SELECT TRANSFORM(id) USING 'touch PLACE' AS b FROM {batch}",
    "INSERT OVERWRITE DIRECTORY 'PLACE' USING csv SELECT 1",
    "FROM {batch} INSERT OVERWRITE DIRECTORY 'PLACE' USING csv SELECT id",
    "CREATE TABLE attacked USING csv LOCATION 'PLACE' AS SELECT 1",
    "CREATE FUNCTION attacked AS 'java.lang.Runtime' USING JAR 'PLACE'",
    "ADD JAR 'PLACE'",
    "SET spark.sql.variable.substitute=true",
    "SELECT input_file_name() FROM {batch}",
    "SELECT /*+ BROADCAST({batch}) */ * FROM {batch}",
    "BEGIN SELECT 1; END",
    "SHOW TABLES",
    "SELECT * FROM default.feedctl_judged_0",
)
CONDITIONS = (
    "java_method('java.lang.System', 'setProperty', 'feedctl.attacked', 'yes') IS NULL",
    "id IN (SELECT _c0 FROM csv.`file:///etc/passwd`)",
    "id IN (SELECT id FROM tmp_view)",
)
HARMLESS = (
    "SELECT * FROM {batch} WHERE id < 0",
    "SELECT colo, count(DISTINCT id) c FROM {batch} b GROUP BY colo HAVING count(*) > 1 ORDER BY 1 LIMIT 3;",
    "SELECT id FROM {batch} WHERE id NOT IN (SELECT max(id) - 1 FROM {batch} UNION ALL SELECT 2 FROM {batch})",
    "SELECT * FROM (SELECT row_number() OVER (PARTITION BY id ORDER BY colo) n FROM {batch}) x WHERE n > 1",
    "SELECT CASE WHEN colo LIKE 'z%' THEN 1 END c, upper(trim(colo)) || 'x', CAST(id AS INT) FROM {batch} LIMIT 0",
    "SELECT 1 FROM {batch} WHERE colo IS NULL OR id BETWEEN 7 AND 9 OR NOT colo RLIKE '[a-z]+'",
    "SELECT 1 FROM {batch} WHERE to_date('2026-01-01') > DATE '2026-02-01'",
)


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Answer]:
    """Return the answer to each text; one Spark application validates them all."""
    folder = tmp_path_factory.mktemp("suites")
    rows, place = folder / "rows", folder / "attacked"
    code = [
        *(
            expect("unexpected_rows_expectation", unexpected_rows_query=each.replace("PLACE", str(place)))
            for each in CODE
        ),
        *(_not_null(row_condition=each, condition_parser="spark") for each in CONDITIONS),
    ]
    harmless = [
        *(expect("unexpected_rows_expectation", unexpected_rows_query=each) for each in HARMLESS),
        _not_null(row_condition="colo = 'fra' AND length(colo) > 1", condition_parser="spark"),
    ]
    questions = {
        "code": question(rows, *code, allows_sql=True),
        "harmless": question(rows, *harmless, allows_sql=True),
        "not allowed": question(rows, *harmless, *code),
        "other": question(
            rows,
            _not_null(row_condition='col("colo") == "fra"', condition_parser="great_expectations"),
            expect("expect_query_results_to_match_comparison", base_query="SELECT 1", comparison_query="SELECT 1"),
            _not_null(row_condition={"type": "pass_through", "pass_through_filter": "true"}),
            allows_sql=True,
        ),
    }
    found = answers_to(folder / "answers", [Made(query=ROWS, place=rows)], questions)
    assert not place.exists()
    return found


def _not_null(row_condition: object, **kwargs: str) -> RequestedExpectation:
    return expect("expect_column_values_to_not_be_null", column="id", row_condition=row_condition, **kwargs)


@pytest.mark.extended
@pytest.mark.timeout(900)
def test_allowed_sql_is_a_select_over_the_batch_and_nothing_else(answers: dict[str, Answer]) -> None:
    for text, each in zip((*CODE, *CONDITIONS), answers["code"].findings, strict=True):
        assert not each.success
        assert "expected one SELECT over the batch" in each.error, text
    assert [(each.success, each.error) for each in answers["harmless"].findings] == [(True, "")] * (len(HARMLESS) + 1)


@pytest.mark.extended
@pytest.mark.timeout(900)
def test_what_is_not_allowed_is_not_run(answers: dict[str, Answer]) -> None:
    assert not any(each.success for each in answers["not allowed"].findings)
    assert all("is SQL, which is not allowed" in each.error for each in answers["not allowed"].findings)
    parsed, comparison, passed_through = answers["other"].findings
    assert (parsed.success, parsed.rows) == (True, 1)
    assert "not found among the types" in comparison.error
    assert "row_condition is no text" in passed_through.error
