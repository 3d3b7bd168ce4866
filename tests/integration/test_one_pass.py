"""One reading of the data for all expectations that are aggregates, with the results of Great Expectations alone."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.integration.validations import SETTINGS, environment
from toolkit.entities.expectation_types import expectation_types
from toolkit.quality.columns import is_one_aggregate
from toolkit.quality.documents import (
    Question,
    RequestedExpectation,
    RequestedPart,
    read_answer,
    read_question,
    write_answer,
    write_question,
)

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1200)]

ROWS = """SELECT id, if(id % 7 = 0, NULL, id % 5) AS few, concat('value ', id % 30) AS text,
if(id % 11 = 0, NULL, id / 3.0D) AS real, cast(id / 7 AS decimal(10, 2)) AS money,
date_add(DATE '2026-01-01', cast(id AS int)) AS day, cast(NULL AS string) AS never, id % 2 = 0 AS even
FROM range(0, 200, 1, 1)"""
COLUMNS = ("id", "few", "text", "real", "money", "day", "never", "even")
_BETWEEN = ({"min_value": 0, "max_value": 300}, {"min_value": 3, "max_value": 4, "strict_max": True})
_BOUNDS = [{"column": name, **bounds} for name in ("few", "money", "never", "nowhere") for bounds in _BETWEEN]
_VALUES = [f"value {number}" for number in range(30)]
_SETS: list[Mapping[str, Any]] = [
    *({"column": "text", "value_set": values} for values in (_VALUES, _VALUES[:2])),
    *({"column": name, "value_set": [0, 1, 2]} for name in ("few", "never", "day")),
]
_REGEX = [{"column": name, "regex": regex} for name in ("text", "id") for regex in ("^value [0-9]+$", "^value 1$")]
_LISTS = [{"column": "text", "regex_list": regexes} for regexes in (["^value", "x"], ["1$", "2$"])]
_NULLS: list[Mapping[str, Any]] = [
    *({"column": name} for name in ("id", "few", "never", "nowhere")),
    *({"column": "few", "mostly": share} for share in (0.8, 0.9)),
]
_LENGTHS: list[Mapping[str, Any]] = [
    *({"column": "text", "min_value": 7, "max_value": most} for most in (7, 9)),
    {"column": "id", "max_value": 1},
]
ARGUMENTS: Mapping[str, Sequence[Mapping[str, Any]]] = {
    **{f"expect_column_{each}_to_be_between": _BOUNDS for each in ("max", "mean", "min", "stdev", "sum", "values")},
    "expect_column_proportion_of_non_null_values_to_be_between": [
        {"column": column, "min_value": 0.5, "max_value": 1} for column in ("few", "never")
    ],
    "expect_column_value_lengths_to_be_between": _LENGTHS,
    "expect_column_value_lengths_to_equal": [{"column": "text", "value": 7}, {"column": "never", "value": 7}],
    "expect_column_values_to_be_in_set": _SETS,
    "expect_column_values_to_not_be_in_set": _SETS,
    "expect_column_values_to_be_null": _NULLS,
    "expect_column_values_to_not_be_null": _NULLS,
    "expect_column_values_to_match_regex": _REGEX,
    "expect_column_values_to_not_match_regex": _REGEX,
    "expect_column_values_to_match_regex_list": _LISTS,
    "expect_column_values_to_not_match_regex_list": _LISTS,
    "expect_column_to_exist": [{"column": "id"}, {"column": "nowhere"}, {"column": "few", "column_index": 1}],
    "expect_table_column_count_to_be_between": [{"min_value": 1}, {"max_value": 2}],
    "expect_table_column_count_to_equal": [{"value": 8}, {"value": 2}],
    "expect_table_columns_to_match_ordered_list": [{"column_list": COLUMNS}, {"column_list": COLUMNS[:3]}],
    "expect_table_columns_to_match_set": [{"column_set": COLUMNS}, {"column_set": ["id", "more"]}],
    "expect_table_row_count_to_be_between": [{"min_value": 1}, {"max_value": 2}],
    "expect_table_row_count_to_equal": [{"value": 200}, {"value": 2}],
}


def requested(*, everything: bool) -> list[RequestedExpectation]:
    """Return every type that is one aggregate, with arguments that hold, do not hold, and fail; three at most, or all.

    Great Expectations alone takes a second for each.
    """
    pairs = [
        (kind, dict(each))
        for kind, given in ARGUMENTS.items()
        for each in (given if everything else (*given[:2], *given[2:][-1:]))
    ]
    return [
        RequestedExpectation(suite="s", position=number, type=kind, kwargs=kwargs, severity="critical")
        for number, (kind, kwargs) in enumerate(pairs)
    ]


def test_each_type_that_is_one_aggregate_is_compared() -> None:
    bare = {
        kind: RequestedExpectation(suite="s", position=0, type=kind, kwargs={}, severity="critical")
        for kind in expectation_types()
    }
    assert {kind for kind, each in bare.items() if is_one_aggregate(each)} == set(ARGUMENTS)


@dataclass(frozen=True, kw_only=True)
class Found:
    """Results of expectations, in files of a folder.

    Attributes:
        requested: the expectations.
    """

    folder: Path
    requested: Sequence[RequestedExpectation]


@pytest.fixture(
    scope="module",
    params=[
        pytest.param(False, id="some", marks=pytest.mark.extended),
        pytest.param(True, id="all", marks=pytest.mark.soak),
    ],
)
def found(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Found:
    """Return the answers, and what Great Expectations alone has reported, all of one Spark."""
    folder, everything = tmp_path_factory.mktemp("one-pass"), requested(everything=request.param)
    holding = [
        each for each in everything if each.kwargs.get("column") == "few" and each.kwargs.get("max_value") == 300
    ]
    for name, expectations in (("all", everything), ("holding", holding)):
        parts = (RequestedPart(uri=str(folder / "rows")),)
        question = Question(parts=parts, format="parquet", expectations=tuple(expectations), shows_values=True)
        write_question(folder / f"{name}.question", question)
    ran = subprocess.run(
        [sys.executable, "-m", "tests.integration.test_one_pass", folder],
        env=environment(), cwd=Path(__file__).parents[2], capture_output=True, text=True, timeout=900, check=False,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr[-6000:]
    return Found(folder=folder, requested=everything)


def test_results_are_those_of_great_expectations_alone(found: Found) -> None:
    alone = json.loads((found.folder / "alone.json").read_text())
    answer = read_answer(found.folder / "all.answer")
    assert answer.rows == 200
    ours = {
        each.position: {
            "success": each.success,
            "observed_value": each.observed,
            "element_count": each.rows,
            "unexpected_count": each.unexpected,
            "partial_unexpected_list": list(each.values),
            "failed": bool(each.error),
        }
        for each in answer.findings
    }
    for each in found.requested:
        assert ours[each.position] == alone[each.position], each


def test_expectations_that_hold_are_answered_by_the_number_of_rows_and_one_reading(found: Found) -> None:
    assert json.loads((found.folder / "jobs.json").read_text()) == {"holding": 2}


def _main(folder: Path) -> None:
    from pyspark.sql import SparkSession  # noqa: PLC0415 - in this process alone

    from toolkit.quality.spark_job import evaluate  # noqa: PLC0415

    settings: dict[str, bool | float | int | str | None] = {
        **SETTINGS,
        "spark.sql.adaptive.enabled": "false",
    }
    session = SparkSession.builder.config(map=settings).getOrCreate()
    place = str(folder / "rows")
    session.sql(ROWS).write.parquet(place)
    questions = {name: read_question(folder / f"{name}.question") for name in ("all", "holding")}
    for name, question in questions.items():
        session.sparkContext.setJobGroup(name, name)
        write_answer(folder / f"{name}.answer", evaluate(session, question))
    of_reading = 1  # the schema of the files
    jobs = len(session.sparkContext.statusTracker().getJobIdsForGroup("holding")) - of_reading
    (folder / "jobs.json").write_text(json.dumps({"holding": jobs}))
    alone = _alone(session.read.parquet(place), questions["all"].expectations)
    (folder / "alone.json").write_text(json.dumps(alone))
    session.stop()


def _alone(
    data: Any,  # noqa: ANN401 - a table of Spark
    expectations: Sequence[RequestedExpectation],
) -> list[Mapping[str, Any]]:
    import great_expectations as gx  # noqa: PLC0415
    from great_expectations.datasource.fluent.spark_datasource import SparkDatasource  # noqa: PLC0415
    from great_expectations.expectations.expectation_configuration import ExpectationConfiguration  # noqa: PLC0415

    setattr(SparkDatasource, "execution_engine_override", None)  # noqa: B010 - the class is generic
    source = gx.get_context(mode="ephemeral").data_sources.add_spark("alone").add_dataframe_asset("data")
    batch = source.add_batch_definition_whole_dataframe("data").get_batch(batch_parameters={"dataframe": data})
    found: list[Mapping[str, Any]] = []
    for each in expectations:
        expectation = ExpectationConfiguration(type=each.type, kwargs=dict(each.kwargs)).to_domain_obj()
        result = batch.validate(expectation, result_format="BASIC")
        facts = result.result or {}
        observed = facts.get("observed_value")
        info = result.exception_info or {}
        raised = [info] if "raised_exception" in info else list(info.values())
        found.append(
            {
                "success": bool(result.success),
                "observed_value": "" if observed is None else json.dumps(observed, default=str),
                "element_count": facts.get("element_count"),
                "unexpected_count": facts.get("unexpected_count"),
                "partial_unexpected_list": [str(value) for value in facts.get("partial_unexpected_list") or ()],
                "failed": any(one["raised_exception"] for one in raised),
            }
        )
    return found


if __name__ == "__main__":
    _main(Path(sys.argv[1]))
