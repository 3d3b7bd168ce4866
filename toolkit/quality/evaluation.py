"""Validation by Great Expectations: the only module that imports it, with `spark_job` the only one with pyspark.

Its own suite drops a check that it does not know, with a line in the log: so each expectation is built on its own here,
and each must have its finding. What raises spoils what is computed with it: those are computed again, one by one.
"""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import Any

import great_expectations as gx
from great_expectations.core.expectation_validation_result import ExpectationValidationResult
from great_expectations.data_context.types.base import ProgressBarsConfig
from great_expectations.datasource.fluent.interfaces import Batch
from great_expectations.datasource.fluent.spark_datasource import SparkDatasource
from great_expectations.exceptions.exceptions import GreatExpectationsError
from great_expectations.execution_engine.sparkdf_execution_engine import SparkDFExecutionEngine
from great_expectations.expectations.expectation import Expectation
from great_expectations.expectations.expectation_configuration import ExpectationConfiguration
from great_expectations.expectations.registry import get_metric_provider
from great_expectations.validator.computed_metric import MetricValue
from great_expectations.validator.metric_configuration import MetricConfiguration, MetricConfigurationID
from py4j.protocol import Py4JError
from pyspark import StorageLevel
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame
from typing_extensions import override

from toolkit.entities.expectation_types import expectation_types
from toolkit.entities.suite_code import ROWS_QUERY, code_in
from toolkit.quality.columns import columns_of
from toolkit.quality.documents import ExpectationResult, RequestedExpectation
from toolkit.quality.suite_sql import require_condition, require_select

ENGINE = f"great_expectations {gx.__version__}"
MOST_VALUES = 20

_NUMBER = "feedctl"
"""In the `meta` of an expectation: which of those asked it is; results come in another order."""
_RAISED = (
    *(GreatExpectationsError, PySparkException, Py4JError, ArithmeticError, AssertionError, AttributeError),
    *(LookupError, OSError, RuntimeError, TypeError, ValueError),
)
"""By it for what it does not know or cannot compute; anything else ends the process, and nothing is published."""
_ARE_OURS = ("result_format", "catch_exceptions")
"""Arguments that say what is brought to the driver: rows and their places, if a suite had its way."""
_VALUELESS = (
    "expect_table_row_count_",
    "expect_table_column_count_",
    "expect_column_proportion_of_",
    "expect_column_unique_value_count_",
    "unexpected_rows_expectation",
)
"""Types whose observed value is a number about the table; that of others may be personal."""
_CLASS = re.compile(r"[A-Za-z_][\w.]*")
_VIEW, _LEFT_OUT = "tmp_view", "; \t\r\n\v\f"
"""The batch in a query, and what Great Expectations takes from the query's end."""
_ERROR_CHARACTERS, _VALUE_CHARACTERS, _OBSERVED_CHARACTERS = 300, 100, 2000


CHECK: ContextVar[Callable[[], None]] = ContextVar("CHECK", default=lambda: None)
"""Called before each reading of the data; Great Expectations does not catch what is no `Exception`."""


class OnePassEngine(SparkDFExecutionEngine):
    """Great Expectations' engine, with the aggregates of a suite computed last, so that all are in one pass.

    Its own order begins them as soon as it can, in one pass for each depth of its graph. The number of rows alone comes
    before, since it lets all metrics of columns depend on that.
    """

    @override
    def resolve_metrics(
        self,
        metrics_to_resolve: Iterable[MetricConfiguration],
        metrics: dict[MetricConfigurationID, MetricValue] | None = None,
        runtime_configuration: dict[str, Any] | None = None,
    ) -> dict[MetricConfigurationID, MetricValue]:
        """Resolve those that are no aggregates, or the aggregates when nothing else is left; it is called again."""
        CHECK.get()()
        wanted = list(metrics_to_resolve)
        first = [each for each in wanted if get_metric_provider(each.metric_name, self)[1] is not None]
        return super().resolve_metrics(first or wanted, metrics, runtime_configuration)


setattr(SparkDatasource, "execution_engine_override", OnePassEngine)  # noqa: B010 - the class is generic


@dataclass(frozen=True, slots=True)
class _Built:
    """An expectation that Great Expectations knows.

    Attributes:
        number: of the one asked.
    """

    number: int
    expectation: Expectation


def evaluate(
    data: DataFrame, expectations: Sequence[RequestedExpectation], *, shows_values: bool, allows_sql: bool = False
) -> list[ExpectationResult]:
    """Findings in the order of what was asked, one for each; what could not be computed has not succeeded.

    Values are computed only for what does not hold: each costs a reading of the data more.

    Args:
        data: all rows.
        expectations: the expectations.
        shows_values: values of rows may be in a finding.
        allows_sql: SQL in an expectation is checked and run; else it is an error of that expectation.
    """
    _be_quiet(shows_values=shows_values)
    findings: dict[int, ExpectationResult] = {}
    built: list[_Built] = []
    first: dict[str, int] = {}
    twins = [
        first.setdefault(json.dumps([each.type, each.kwargs], sort_keys=True), number)
        for number, each in enumerate(expectations)
    ]
    for number, each in enumerate(expectations):
        if twins[number] != number:
            continue
        try:
            _require_harmless(each, data, allows_sql=allows_sql)
            built.append(_Built(number, _expectation(number, each)))
        except _RAISED as error:
            findings[number] = replace(_finding(each), error=_text(f"cannot be built: {error}"))
    results = _results(_batch(data), built, values=0)
    raised = [each for each in built if each.number not in results or _exceptions(results[each.number])]
    if len(built) > 1:
        with _kept(data, [expectations[each.number] for each in raised]) as kept:
            for one in raised:
                results.update(_results(_batch(kept), [one], values=0))
    if shows_values:
        have = [each for each in built if _has_unexpected(results.get(each.number))]
        with _kept(data, [expectations[each.number] for each in have]) as kept:
            results.update(_results(_batch(kept), have, values=MOST_VALUES))
    for one in built:
        findings[one.number] = _result_of(
            expectations[one.number], results.get(one.number), data, shows_values=shows_values
        )
    return [_as(each, findings[twin]) for each, twin in zip(expectations, twins, strict=True)]


def _be_quiet(*, shows_values: bool) -> None:
    """Silence logs of errors, which have values of rows in them."""
    for name in ("great_expectations", "py.warnings", "py4j"):
        logging.getLogger(name).setLevel(logging.WARNING if shows_values else logging.CRITICAL + 1)


def _require_harmless(expectation: RequestedExpectation, data: DataFrame, *, allows_sql: bool) -> None:
    """Refuse an expectation with code in it, or of which it is unknown whether it has any.

    Raises:
        ValueError: its type or an argument is unknown, or code in it is not allowed.
    """
    known = expectation_types().get(expectation.type)
    if known is None or not known.on_spark:
        message = f"{expectation.type} not found among the types that Spark can validate"
        raise ValueError(message)
    if unknown := sorted(expectation.kwargs.keys() - known.arguments.keys() - set(_ARE_OURS)):
        message = f"{expectation.type} has no argument {', '.join(unknown)}"
        raise ValueError(message)
    for code in code_in(expectation.type, expectation.kwargs):
        if not (code.is_sql and allows_sql):
            message = f"{code.message}, which is not allowed in a suite"
            raise ValueError(message)
        text = expectation.kwargs[str(code.pointer[0])]
        if code.pointer == (ROWS_QUERY,):
            require_select(data.sparkSession, _as_run(text), view=_VIEW)
        else:
            require_condition(data.sparkSession, text)


def _as_run(query: str) -> str:
    """Return the text of a query as Great Expectations hands it to Spark."""
    return query.rstrip(_LEFT_OUT).format(batch=_VIEW)


def _expectation(number: int, expectation: RequestedExpectation) -> Expectation:
    kwargs = {name: value for name, value in expectation.kwargs.items() if name not in _ARE_OURS}
    return ExpectationConfiguration(type=expectation.type, kwargs=kwargs, meta={_NUMBER: number}).to_domain_obj()


def _batch(data: DataFrame) -> Batch:
    context = gx.get_context(mode="ephemeral")
    context.variables.progress_bars = ProgressBarsConfig(globally=False)
    source = context.data_sources.add_spark("data", persist=False)
    definition = source.add_dataframe_asset("data").add_batch_definition_whole_dataframe("data")
    return definition.get_batch(batch_parameters={"dataframe": data})


def _results(batch: Batch, built: Sequence[_Built], *, values: int) -> dict[int, ExpectationValidationResult]:
    """By number; those that it gives no result for are not there. Places of rows are never asked for."""
    if not built:
        return {}
    suite = gx.ExpectationSuite(name="asked", expectations=[each.expectation for each in built])
    how = {"result_format": "BASIC", "partial_unexpected_count": values}
    try:
        found = batch.validate(suite, result_format=how).results
    except _RAISED as error:
        failed = {"raised_exception": True, "exception_message": str(error), "exception_traceback": _headed(error)}
        return {
            each.number: ExpectationValidationResult(
                success=False, expectation_config=each.expectation.configuration, exception_info=failed
            )
            for each in built
        }
    results: dict[int, ExpectationValidationResult] = {}
    for each in found:
        number = each.expectation_config.meta[_NUMBER] if each.expectation_config else -1
        if number not in results or results[number].success:  # of two results, the one that failed
            results[number] = each
    return results


def _has_unexpected(result: ExpectationValidationResult | None) -> bool:
    return result is not None and bool((result.result or {}).get("unexpected_count"))


@contextmanager
def _kept(data: DataFrame, expectations: Sequence[RequestedExpectation]) -> Iterator[DataFrame]:
    """Yield the columns of expectations that read the data one by one, so that it is read once for all of them."""
    if len(expectations) < 2 or data.is_cached:  # noqa: PLR2004
        yield data
        return
    kept = narrowed(data, expectations).persist(StorageLevel.MEMORY_AND_DISK)
    try:
        yield kept
    finally:
        kept.unpersist()


def _headed(error: Exception) -> str:
    return f"Traceback (most recent call last):\n{type(error).__name__}: "


def _exceptions(result: ExpectationValidationResult) -> list[Mapping[str, Any]]:
    """Return the exceptions that it raised: one, or one for each figure that it needed."""
    info = result.exception_info or {}
    each_one = [info] if "raised_exception" in info else list(info.values())
    return [each for each in each_one if each["raised_exception"]]


def _result_of(
    expectation: RequestedExpectation,
    result: ExpectationValidationResult | None,
    data: DataFrame,
    *,
    shows_values: bool,
) -> ExpectationResult:
    finding = _finding(expectation)
    if result is None:
        return replace(finding, error="Great Expectations gave no result")
    if raised := _exceptions(result):
        if finding.column and "." not in finding.column and finding.column not in data.columns:
            return replace(finding, error=f"the data have no column {finding.column}")
        return replace(finding, error=_error(raised[0], shows_values=shows_values))
    facts = result.result or {}
    values = facts.get("partial_unexpected_list") or () if shows_values else ()
    return replace(
        finding,
        success=result.success is True,
        observed=_observed(expectation.type, facts, shows_values=shows_values),
        rows=_count(facts.get("element_count")),
        unexpected=_count(facts.get("unexpected_count")),
        values=tuple(str(each)[:_VALUE_CHARACTERS] for each in list(values)[:MOST_VALUES]),
    )


def _error(raised: Mapping[str, Any], *, shows_values: bool) -> str:
    if shows_values:
        return _text(str(raised["exception_message"]))
    return f"{_class(str(raised['exception_traceback']))}; its text may have values of rows in it"


def _class(traceback: str) -> str:
    """The class of the first exception: the first line after its frames. Later lines may be of its text."""
    _, _, after = traceback.partition("Traceback (most recent call last):\n")
    line = next((each for each in after.splitlines() if each and not each[0].isspace()), "")
    found = _CLASS.match(line)
    return found[0].rpartition(".")[2] if found and line[found.end() :][:1] in {"", ":"} else "an exception"


def _observed(kind: str, facts: Mapping[str, Any], *, shows_values: bool) -> str:
    value = facts.get("observed_value")
    if value is None:
        return ""
    if not shows_values and not (kind.startswith(_VALUELESS) and isinstance(value, int | float)):
        return ""
    text = json.dumps(value, default=str)
    return text if len(text) <= _OBSERVED_CHARACTERS else f"{text[:_OBSERVED_CHARACTERS]}..."


def _count(value: object) -> int | None:
    return int(value) if isinstance(value, int | float) else None


def _text(text: str) -> str:
    """In one line, the end left out when it is long."""
    return " ".join(text.split())[:_ERROR_CHARACTERS]


def _finding(expectation: RequestedExpectation) -> ExpectationResult:
    column = expectation.kwargs.get("column")
    return ExpectationResult(
        suite=expectation.suite,
        position=expectation.position,
        type=expectation.type,
        severity=expectation.severity,
        kwargs=expectation.kwargs,
        column=column if isinstance(column, str) else "",
        success=False,
    )


def _as(expectation: RequestedExpectation, found: ExpectationResult) -> ExpectationResult:
    return replace(found, suite=expectation.suite, position=expectation.position, severity=expectation.severity)


def narrowed(data: DataFrame, expectations: Iterable[RequestedExpectation]) -> DataFrame:
    """Return the data with the columns that expectations look at, see `columns_of`."""
    names = columns_of(expectations)
    if names is None:
        return data
    return data.select([f"`{each.replace('`', '``')}`" for each in data.columns if each in names])
