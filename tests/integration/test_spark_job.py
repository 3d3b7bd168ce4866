"""The process that judges, with real Spark and Great Expectations."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from benchmarks.timing import SPARK_SUBMIT
from tests.integration.validations import SETTINGS, Made, answers_to, environment, expect
from toolkit.quality import spark_job
from toolkit.quality.documents import (
    Answer,
    ExpectationResult,
    Question,
    RequestedExpectation,
    RequestedPart,
    read_answer,
    write_question,
)

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1200)]

ROWS = "SELECT * FROM VALUES (1, 'fra', 0.5D), (2, 'ams', 7D), (3, NULL, 9D) AS rows(id, colo, amount)"
HEADER = {"header": "true"}
NOT_NULL = expect("expect_column_values_to_not_be_null", column="id")
NONE_MISSING = expect("expect_column_values_to_not_be_null", column="colo")
THREE_ROWS = expect("expect_table_row_count_to_equal", value=3)
ALL_KINDS = (
    NOT_NULL,
    expect("expect_column_values_to_be_betwen", column="id", min_value=100),
    expect("expect_column_values_to_be_between", column="id", min_value=100, maximum=3),
    expect("expect_column_values_to_be_between", column="nowhere", min_value=100),
    expect("expect_column_values_to_be_between", column="colo", min_value=100),
    expect("expect_column_values_to_be_between", column="amount", max_value=1, result_format="COMPLETE"),
    expect("unexpected_rows_expectation", unexpected_rows_query="SELECT no_such_function(id) FROM {batch}"),
    THREE_ROWS,
    NONE_MISSING,
    replace(NONE_MISSING, suite="other", severity="warning"),
    expect("expect_column_mean_to_be_between", column="amount", min_value=5, max_value=6),
)


def question(place: Path, *expectations: RequestedExpectation, shows_values: bool = True, **more: object) -> Question:
    numbered = tuple(replace(each, position=place) for place, each in enumerate(expectations))
    requested = Question(
        parts=(RequestedPart(uri=str(place)),), format="parquet", expectations=numbered, shows_values=shows_values
    )
    return replace(requested, **more)  # type: ignore[arg-type]


AS_HIVE: Mapping[str, str] = {
    "same": '{"id": 5}\n{"id": 6, "Other": 1}\n',
    "case": '{"Id": 5}\n',
    "half": '{"id": 5}\n{"id":\n',
    "type": '{"id": "five"}\n',
    "words": "TRUE\nfalse\n1\nyes\n",
}
"""Files that Hive reads otherwise than Spark."""


def of_hive(folder: Path) -> Mapping[str, Question]:
    """Write those files, and return a question about each."""
    requested = {}
    for name, text in AS_HIVE.items():
        place = folder / name / "value=1"  # Spark calls the column of lines so
        place.mkdir(parents=True)
        (place / "part-0").write_text(text)
        is_text = name == "words"
        requested[name] = question(
            place,
            expect("expect_column_values_to_not_be_null", column="id"),
            parts=(RequestedPart(uri=str(place), keys={"value": "1"}),),
            format="text" if is_text else "json",
            options={"sep": ",", "nullValue": ""} if is_text else {"mode": "FAILFAST"},
            columns={"id": "boolean" if is_text else "bigint"},
            keys={"value": "string"},
        )
    return requested


DEFAULT = {"all kinds", "garbage"}
"""Questions of the tests that are not extended: each expectation takes Spark and Great Expectations a second."""
KINDS = ("all kinds", pytest.param("all kinds, no values", marks=pytest.mark.extended))
UNREADABLE = ("garbage", *(pytest.param(each, marks=pytest.mark.extended) for each in ("nowhere", "not of the format")))


@pytest.fixture(scope="module")
def answers(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Answer]:
    """Return all that is judged in one Spark, since its start is most of the time."""
    folder = tmp_path_factory.mktemp("judging")
    rows, none, csv, json, orc, many = (folder / name for name in ("rows", "none", "csv", "json", "orc", "many"))
    garbage, empty = folder / "garbage", folder / "empty"
    for directory in (garbage, empty):
        directory.mkdir()
    (garbage / "part-0.parquet").write_bytes(b"PAR1 nothing that Parquet knows PAR1")
    (empty / "_SUCCESS").touch()
    made: tuple[Made, ...] = (
        Made(query=ROWS, place=rows),
        Made(query=f"{ROWS} WHERE id > 9", place=none),
        Made(query=ROWS, place=csv, format="csv", options=HEADER),
        Made(query=ROWS, place=json, format="json"),
        Made(query=ROWS, place=orc, format="orc"),
        Made(query="SELECT id, id % 2 AS odd FROM range(2000)", place=many),
    )
    usual = (NOT_NULL, NONE_MISSING, THREE_ROWS)
    lines = folder / ".feedctl-staging" / "day=7"
    lines.mkdir(parents=True)
    (lines / "part-0").write_text("1|fra|0.5\n2||x\n\\N|\\N|9.5|more\n4\n")
    keys = {"day": "int", "country": "string"}
    parts = (
        RequestedPart(uri=str(rows), keys={"day": "01", "country": "d/e"}),
        RequestedPart(uri=str(none), keys={"day": "1", "country": "it's"}),
        RequestedPart(uri=str(many), keys={"day": "2", "country": "__HIVE_DEFAULT_PARTITION__"}),
    )
    requested = {
        "all kinds": question(rows, *ALL_KINDS),
        "all kinds, no values": question(rows, *ALL_KINDS, shows_values=False),
        "no rows": question(none, NOT_NULL, THREE_ROWS),
        "no files": question(empty, NOT_NULL, THREE_ROWS),
        "csv": question(csv, *usual, format="csv", options=HEADER),
        "json": question(json, *usual, format="json"),
        "orc": question(orc, *usual, format="orc"),
        "partitions": question(
            rows,
            expect("expect_column_values_to_not_be_null", column="country"),
            expect("expect_column_distinct_values_to_equal_set", column="day", value_set=[1, 2]),
            expect("expect_table_columns_to_match_set", column_set=["id", "colo", "amount", "later", "country", "day"]),
            expect("expect_column_values_to_be_null", column="later"),
            NONE_MISSING,
            columns={"id": "bigint", "colo": "string", "amount": "double", "later": "array<int>"},
            parts=parts, keys=keys,
        ),
        "a column that is no number": question(rows, NONE_MISSING, columns={"colo": "int"}),
        "lines": question(
            lines, NOT_NULL, NONE_MISSING,
            expect("expect_column_values_to_be_in_set", column="amount", value_set=[0.5, 9.5]),
            expect("expect_column_distinct_values_to_equal_set", column="day", value_set=[7]), THREE_ROWS,
            format="text", options={"sep": "|", "nullValue": "\\N"}, keys={"day": "int"},
            columns={"id": "int", "colo": "string", "amount": "decimal(10,1)"},
            parts=(RequestedPart(uri=str(lines), keys={"day": "7"}),),
        ),
        "a table without partitions": question(rows, NOT_NULL, THREE_ROWS, columns={"id": "int", "colo": "string"}),
        "sample": question(
            many, expect("expect_column_values_to_be_between", column="id", min_value=0),
            expect("expect_table_row_count_to_equal", value=2000), sample=0.1,
        ),
        "garbage": question(garbage, *usual),
        "nowhere": question(folder / "nowhere", *usual),
        "not of the format": question(csv, *usual, format="orc"),
        **of_hive(folder),
    }  # fmt: skip
    here = (item for item in request.session.items if item.path == request.path)
    if not any(item.get_closest_marker("extended") for item in here):
        requested, made = {name: each for name, each in requested.items() if name in DEFAULT}, made[:1]
    return answers_to(folder / "answers", made, requested)


def by_type(answer: Answer) -> dict[str, ExpectationResult]:
    return {each.type: each for each in answer.findings}


def test_what_holds_passes_and_what_does_not_is_counted_with_a_few_values(answers: Mapping[str, Answer]) -> None:
    answer = answers["all kinds"]
    assert (answer.rows, answer.refused) == (3, "")
    assert answer.engine.startswith("great_expectations 1.")
    kinds = by_type(answer)
    assert kinds["expect_table_row_count_to_equal"].observed == "3"
    assert kinds["expect_column_mean_to_be_between"].observed == "5.5"
    assert [each.success for each in answer.findings] == [True, *[False] * 6, True, False, False, True]
    between = answer.findings[5]
    assert (between.rows, between.unexpected, between.values, between.error) == (3, 2, ("7.0", "9.0"), "")


@pytest.mark.parametrize("which", KINDS)
def test_every_expectation_has_its_finding_in_its_place(answers: Mapping[str, Answer], which: str) -> None:
    found = [(each.suite, each.position, each.type, each.severity) for each in answers[which].findings]
    assert found == [(each.suite, place, each.type, each.severity) for place, each in enumerate(ALL_KINDS)]


@pytest.mark.parametrize("which", KINDS)
def test_a_typo_a_missing_column_and_what_raises_fail_alone(answers: Mapping[str, Answer], which: str) -> None:
    typo, argument, column, compared, _, query = answers[which].findings[1:7]
    assert "expect_column_values_to_be_betwen not found" in typo.error
    assert "maximum" in argument.error
    assert column.error == "the data have no column nowhere"
    assert compared.error
    assert query.error
    assert not any(each.success for each in (typo, argument, column, compared, query))
    assert answers[which].findings[7].success


@pytest.mark.extended
def test_without_values_only_counts_and_figures_of_the_table_are_told(answers: Mapping[str, Answer]) -> None:
    answer = answers["all kinds, no values"]
    kinds = by_type(answer)
    assert kinds["expect_table_row_count_to_equal"].observed == "3"
    assert kinds["expect_column_mean_to_be_between"].observed == "", "of one row it is its value"
    assert (answer.findings[5].rows, answer.findings[5].unexpected) == (3, 2)
    assert not any(each.values for each in answer.findings)
    assert [each.success for each in answer.findings] == [each.success for each in answers["all kinds"].findings]


@pytest.mark.extended
def test_no_rows_are_judged(answers: Mapping[str, Answer]) -> None:
    not_null, three = answers["no rows"].findings
    assert (answers["no rows"].rows, not_null.success, three.success, three.observed) == (0, True, False, "0")


@pytest.mark.extended
def test_a_directory_without_files_has_no_rows_and_no_columns(answers: Mapping[str, Answer]) -> None:
    not_null, three = answers["no files"].findings
    assert (answers["no files"].rows, three.success, three.observed) == (0, False, "0")
    assert (not_null.success, not_null.error) == (False, "the data have no column id")


@pytest.mark.extended
@pytest.mark.parametrize("which", ["csv", "json", "orc"])
def test_each_format_is_read_with_its_options(answers: Mapping[str, Answer], which: str) -> None:
    answer = answers[which]
    assert (answer.refused, answer.rows) == ("", 3)
    assert [(each.success, each.unexpected) for each in answer.findings] == [(True, 0), (False, 1), (True, None)]


@pytest.mark.extended
def test_keys_of_partitions_are_columns_and_parts_are_one_table(answers: Mapping[str, Answer]) -> None:
    answer = answers["partitions"]
    country, day, columns, later, colo = answer.findings
    assert answer.rows == 2003
    assert (country.success, country.unexpected) == (False, 2000)
    assert (day.success, columns.success, later.success) == (True, True, True)
    assert (colo.success, colo.unexpected) == (False, 2001)


@pytest.mark.extended
def test_a_table_is_read_with_its_own_types(answers: Mapping[str, Answer]) -> None:
    assert "cannot be read" in answers["a column that is no number"].refused
    assert [each.success for each in answers["a table without partitions"].findings] == [True, True]


@pytest.mark.extended
def test_fields_of_lines_are_found_as_hive_finds_them(answers: Mapping[str, Answer]) -> None:
    answer = answers["lines"]
    assert (answer.rows, answer.refused) == (4, "")
    assert [(each.success, each.unexpected) for each in answer.findings[:2]] == [(False, 1), (False, 2)]
    assert [each.success for each in answer.findings[2:]] == [True, True, False]


@pytest.mark.extended
def test_a_sample_is_judged_but_all_rows_are_counted(answers: Mapping[str, Answer]) -> None:
    between, count = answers["sample"].findings
    assert answers["sample"].rows == 2000
    assert between.rows is not None
    assert 100 < between.rows < 300
    assert (count.success, count.observed) == (True, "2000")


@pytest.mark.parametrize("which", UNREADABLE)
def test_data_that_cannot_be_read_are_refused_whole(answers: Mapping[str, Answer], which: str) -> None:
    answer = answers[which]
    assert "cannot be read" in answer.refused
    assert answer.findings == ()


@pytest.mark.extended
def test_the_settings_and_secrets_of_a_cluster_change_nothing_of_a_table(tmp_path: Path) -> None:
    place = tmp_path / "ds=1"
    place.mkdir()
    (place / "part-0").write_text("7\n")
    key = "${env:SECRET}"
    requested = question(
        tmp_path,
        expect("expect_column_values_to_be_in_set", column="ds", value_set=[key]),
        expect("expect_column_values_to_not_be_null", column="id"),
        parts=(RequestedPart(uri=str(place), keys={"ds": key}),),
        format="text",
        options={"sep": ",", "nullValue": ""},
        columns={"id": "int"},
        keys={"ds": "string"},
    )
    given, reported = tmp_path / "question.json", tmp_path / "answer.json"
    write_question(given, requested)
    theirs = {
        "spark.sql.catalog.spark_catalog": "com.example.NotThere",
        "spark.sql.variable.substitute": "true",
        "spark.sql.caseSensitive": "true",
    }
    settings = [word for name, value in (SETTINGS | theirs).items() for word in ("--conf", f"{name}={value}")]
    ran = subprocess.run(
        [SPARK_SUBMIT, *settings, spark_job.__file__, given, reported],
        env=environment() | {"SECRET": "open sesame"}, cwd=tmp_path, capture_output=True, text=True, timeout=600,
        check=False,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr[-6000:]
    answer = read_answer(reported)
    assert (answer.refused, [each.success for each in answer.findings]) == ("", [True, True])


@pytest.mark.extended
def test_what_hive_reads_otherwise_than_spark_is_read_as_hive_does_or_refused(answers: Mapping[str, Answer]) -> None:
    assert {name for name in AS_HIVE if answers[name].refused} == {"case", "half", "type"}
    assert "differ from those of its columns in their case" in answers["case"].refused
    assert [each.success for each in answers["same"].findings] == [True]
    assert [each.unexpected for each in answers["words"].findings] == [2]


@pytest.mark.extended
def test_no_value_of_a_row_leaves_the_process(tmp_path: Path) -> None:
    planted, place = "Planted", tmp_path / "rows"
    mails = ["Planted-one@example.com", "Planted-two@example.com"]
    rows = pa.table({"mail": mails, "name": ["PlantedName"] * 2, "code": pa.array([771177, 771178], pa.int32())})
    place.mkdir()
    pq.write_table(rows, place / "part-0.parquet")
    requested = question(
        place,
        expect("expect_column_values_to_be_in_set", column="mail", value_set=["a"]),
        expect("expect_column_distinct_values_to_equal_set", column="mail", value_set=["a"]),
        expect("expect_column_most_common_value_to_be_in_set", column="name", value_set=["a"]),
        expect("expect_column_max_to_be_between", column="code", max_value=1),
        expect("expect_column_values_to_be_unique", column="name"),
        expect("expect_column_quantile_values_to_be_between", column="code",
               quantile_ranges={"quantiles": [0.5], "value_ranges": [[0, 1]]}),
        expect("expect_column_pair_values_to_be_equal", column_A="mail", column_B="name"),
        expect("expect_compound_columns_to_be_unique", column_list=["name"]),
        expect("unexpected_rows_expectation", unexpected_rows_query="SELECT * FROM {batch}"),
        expect("unexpected_rows_expectation", unexpected_rows_query="SELECT 1 FROM {batch} WHERE INT(mail) > 1"),
        expect("unexpected_rows_expectation", unexpected_rows_query="SELECT DATE(name) FROM {batch}"),
        expect("expect_column_value_lengths_to_equal", column="mail", value=1),
        expect("expect_column_values_to_match_strftime_format", column="name", strftime_format="%Y"),
        shows_values=False, allows_sql=True,
    )  # fmt: skip
    given, reported = tmp_path / "question.json", tmp_path / "answer.json"
    write_question(given, requested)
    settings = [word for name, value in SETTINGS.items() for word in ("--conf", f"{name}={value}")]
    ran = subprocess.run(
        [SPARK_SUBMIT, *settings, spark_job.__file__, given, reported],
        env=environment() | {"PYTHONPATH": ""}, cwd=tmp_path, capture_output=True, text=True, timeout=600, check=False,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr[-6000:]
    answer = read_answer(reported)
    assert len(answer.findings) == len(requested.expectations)
    assert (answer.rows, [each.success for each in answer.findings]) == (2, [False] * len(requested.expectations))
    for output in (ran.stdout, ran.stderr, reported.read_text()):
        assert planted not in output
        assert "77117" not in output


def test_without_great_expectations_nothing_is_judged_and_it_says_what_to_install(tmp_path: Path) -> None:
    fake = tmp_path / "path" / "great_expectations"
    fake.mkdir(parents=True)
    (fake / "__init__.py").write_text("raise ModuleNotFoundError('no', name='great_expectations')\n")
    given, reported = tmp_path / "question.json", tmp_path / "answer.json"
    write_question(given, question(tmp_path, NOT_NULL))
    known = environment() | {"PYTHONPATH": str(fake.parent)}
    subprocess.run([sys.executable, spark_job.__file__, given, reported], env=known, check=True, timeout=300)
    assert read_answer(reported).findings == ()
    assert "great_expectations is not installed" in read_answer(reported).refused
    assert "feedctl[quality]" in read_answer(reported).refused


def test_a_question_that_is_not_understood_has_no_answer(tmp_path: Path) -> None:
    given, reported = tmp_path / "question.json", tmp_path / "answer.json"
    given.write_text('{"version": 2}')
    ran = subprocess.run(
        [sys.executable, spark_job.__file__, given, reported],
        env=environment(), capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert ran.returncode == 2
    assert "not of version 1" in ran.stderr
    assert not reported.exists()
