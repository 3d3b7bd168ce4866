"""Validations on the Spark application that the steps of their process share."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from typing_extensions import override

from benchmarks.timing import SPARK_SUBMIT
from tests.e2e.spark_site import SparkSite
from tests.integration.process_runs import KEYS
from tests.integration.validated_runs import ValidatedRuns
from tests.integration.validations import expect
from tests.unit.programs.calls import LOCAL, never
from toolkit.entities import Interface, SparkAttributes, Workflow
from toolkit.programs.hosted import HostedEngine
from toolkit.programs.opening import opened_engines, shared_of
from toolkit.programs.port import StepCall, StepEnd, StepEngine, StepMark
from toolkit.quality.documents import Question, RequestedExpectation, RequestedPart
from toolkit.quality.spark_validation import SparkValidation
from toolkit.quality.validator import NoValidatorAnswer

pytestmark = pytest.mark.slow


@contextmanager
def opened(directory: Path, java_home: Path) -> Iterator[SparkSite]:
    with opened_engines() as engines:
        yield SparkSite(engines=engines, directory=directory, java_home=java_home)


COUNT = """CREATE TABLE read USING text LOCATION '${clicks}'; SET spark.sql.shuffle.partitions = 1;
INSERT OVERWRITE DIRECTORY '${counts}' USING json SELECT '${nominalTime}' AS at, count(*) AS lines FROM read
"""
SUITE = """expectations:
  - {type: expect_column_values_to_be_between, kwargs: {column: lines, min_value: 1}}
"""


def test_all_instances_that_are_due_run_on_one_application_and_are_validated_there(
    tmp_path: Path, java_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JAVA_HOME", str(java_home))
    monkeypatch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
    runs, started = ValidatedRuns(directory=tmp_path), tmp_path / "started"
    spark = "{master: 'local[1]', conf: {spark.ui.enabled: false}}"
    runs.write(
        f"workflow: {{engine: spark_sql, path: workflows/count.sql, spark: {spark}}}", more="parallel: 2", flag=""
    )
    (tmp_path / "repo/workflows/count.sql").write_text(COUNT)
    (tmp_path / "repo/expectations/counts.yaml").write_text(SUITE)
    submit = tmp_path / "bin/spark-submit"
    submit.write_text(f'#!/bin/sh\necho started >> {started}\nexec {SPARK_SUBMIT} "$@"\n')
    monkeypatch.setenv("PATH", f"{submit.parent}{os.pathsep}{os.environ['PATH']}")
    runs.fill(*KEYS[:4])
    code, result = runs.run("--due", time=KEYS[3])
    assert (code, runs.statuses()) == (0, [(f"{hour:02}", 1, "succeeded") for hour in range(4)]), result
    for key in KEYS[:4]:
        rows = "".join(each.read_text() for each in runs.at("counts", key).glob("part-*"))
        assert json.loads(rows)["lines"] == 1
    assert runs.query("SELECT state, rows, count(*) FROM verdict GROUP BY state, rows") == [("passed", 1, 4)]
    ((applications,),) = runs.query("SELECT count(DISTINCT application_id) FROM step_run")
    assert (applications, started.read_text(), runs.alive()) == (1, "started\n", [])
    assert not list(tmp_path.rglob("*.session"))


def question_of(directory: Path, *expectations: RequestedExpectation, **more: object) -> Question:
    """Return a question about numbers in files of JSON."""
    place = directory / "numbers"
    place.mkdir(exist_ok=True)
    (place / "part-0.json").write_text("".join(f'{{"a": {number}}}\n' for number in range(40)))
    question = Question(
        parts=(RequestedPart(uri=str(place)),), format="json", expectations=expectations, shows_values=True
    )
    return replace(question, **more)  # type: ignore[arg-type]  # the fields' own names


def hosted(site: SparkSite) -> SparkValidation:
    """Return the validation of the site's process, on its application or not at all."""
    shared = shared_of(site.engines)
    assert shared is not None
    engine = HostedEngine(
        shared=shared, process="count", cluster="primary", own=Nothing(), module="toolkit.quality.spark_job"
    )
    return SparkValidation(cluster=LOCAL, variables=os.environ, shared=engine)


class Nothing(StepEngine):
    """An engine that is not to be used."""

    @override
    def run(self, call: StepCall, started: Callable[[StepMark], None], check: Callable[[], None]) -> StepEnd:
        return StepEnd(exit_code=None, message="it was not validated on the shared application")


BETWEEN = expect("expect_column_values_to_be_between", column="a", min_value=0, max_value=30)
DISTINCT = replace(expect("expect_column_values_to_be_unique", column="a"), position=1)
PLAIN = Workflow(spark=SparkAttributes(conf={"spark.ui.enabled": False, "spark.sql.shuffle.partitions": 1}))


@pytest.mark.parametrize(
    "catalog",
    [pytest.param("hive", marks=pytest.mark.extended), pytest.param("in-memory", marks=pytest.mark.soak)],
)
def test_a_validation_finds_tables_of_its_own_whatever_the_catalog_of_the_steps(
    tmp_path: Path, java_home: Path, catalog: str
) -> None:
    away = Interface(endpoint="thrift://127.0.0.1:1")
    interfaces = replace(LOCAL.interfaces, registry=away if catalog == "hive" else None)
    with opened(tmp_path, java_home) as site:
        call = site.call("SELECT 1", workflow=PLAIN, cluster=replace(LOCAL, interfaces=interfaces))
        assert site.run(call)[0].succeeded
        question = question_of(tmp_path, BETWEEN, DISTINCT, columns={"a": "int"})
        answers = [hosted(site).ask(question, 120.0, never) for _ in range(2)]
        assert site.run(site.call("SHOW TABLES", workflow=PLAIN))[0].succeeded
    for answer in answers:
        assert (answer.refused, answer.rows) == ("", 40)
        assert [(each.success, each.unexpected) for each in answer.findings] == [(False, 9), (True, 0)]


@pytest.mark.extended
def test_a_validation_over_its_budget_is_cancelled_and_the_application_goes_on(tmp_path: Path, java_home: Path) -> None:
    with opened(tmp_path, java_home) as site:
        application = site.run(site.call("SELECT 1", workflow=PLAIN))[0].application
        assert not hosted(site).ask(question_of(tmp_path, BETWEEN), 120.0, never).refused
        with pytest.raises(NoValidatorAnswer, match="budget of 0"):
            hosted(site).ask(question_of(tmp_path, BETWEEN), 0.3, never)
        assert site.run(site.call("SELECT 1", workflow=PLAIN))[0].application == application
        assert not hosted(site).ask(question_of(tmp_path, BETWEEN), 120.0, never).refused
