"""Steps that share a Spark application: nothing of one reaches another, and each ends alone."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from uuid import uuid4

import pytest

from tests.e2e.spark_site import SETTINGS, SparkSite
from tests.testbed.metastore import HiveMetastoreServer
from toolkit.entities import Credential, Engine, SparkAttributes, SparkSessionUse, Workflow
from toolkit.programs.left_over import processes_of
from toolkit.programs.opening import end_left_over, opened_engines
from toolkit.programs.port import StepCall, StepMark
from toolkit.programs.step_log import noted_session
from toolkit.runs.errors import Stopped

pytestmark = pytest.mark.slow

LONG = "SELECT max(sqrt(id)) FROM range(0, 1000000000000, 1, 4)"
DEAF = """SELECT aggregate(sequence(1L, 30000 + id), 0D, (a, x) ->
a + aggregate(sequence(1L, 30000L), 0D, (b, y) -> b + sqrt(x + y))) FROM range(1)"""
"""One task that no interrupt ends."""


@contextmanager
def opened(directory: Path, java_home: Path) -> Iterator[SparkSite]:
    with opened_engines() as engines:
        yield SparkSite(engines=engines, directory=directory, java_home=java_home)


@pytest.fixture(scope="module")
def site(java_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSite]:
    """The site of the tests after which the application goes on."""
    with opened(tmp_path_factory.mktemp("site"), java_home) as found:
        yield found


def application_of(site: SparkSite) -> str | None:
    return site.run(site.call("SELECT 1"))[0].application


def text_of(call: StepCall) -> str:
    return call.log.read_text(encoding="utf-8")


def until(condition: Callable[[], object], seconds: float = 120) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def host_log(site: SparkSite) -> str:
    return "".join(each.read_text() for each in site.directory.glob("logs/ledger/count/primary/session/*/host.log"))


def jobs_of(site: SparkSite) -> int:
    return len(re.findall("DAGScheduler: Got .*job", host_log(site)))


def test_nothing_that_a_step_makes_or_sets_is_there_for_the_next_one(site: SparkSite) -> None:
    first = site.call(
        """CREATE TEMPORARY VIEW v AS SELECT 1 AS a;
CREATE GLOBAL TEMPORARY VIEW g AS SELECT 2 AS a;
CREATE TEMPORARY FUNCTION f(a INT) RETURNS INT RETURN a;
CREATE TABLE t USING json LOCATION '${place}' AS SELECT 3 AS a;
CACHE TABLE c AS SELECT * FROM t;
DECLARE VARIABLE x INT DEFAULT 4;
SET feedctl.y = 5;
CREATE DATABASE d; USE d;
SELECT f(v.a + g.a + c.a + x) FROM v, global_temp.g, c""",
        properties={"place": str(site.directory / "t")},
    )
    end, _ = site.run(first)
    assert end.succeeded, end
    assert "10" in text_of(first)
    second = site.call(
        """SHOW TABLES IN default; SHOW TABLES IN global_temp; SHOW DATABASES; SHOW USER FUNCTIONS;
SET feedctl.y; SELECT current_database() AS here"""
    )
    end, _ = site.run(second)
    assert end.succeeded, end
    rows = {line.strip("| ") for line in text_of(second).splitlines() if line.startswith("|")}
    assert {each.split("|")[0].strip() for each in rows} >= {"default", "feedctl.y"}
    for name in ("v", "g", "t", "c", "d", "f"):
        assert not any(name in each.replace(" ", "").split("|") for each in rows), (name, rows)
    assert "<undefined>" in text_of(second)
    for name in ("v", "global_temp.g", "t", "c"):
        end, _ = site.run(site.call(f"TABLE {name}"))
        assert not end.succeeded, name
    assert not site.run(site.call("SELECT x"))[0].succeeded


@pytest.mark.extended
def test_steps_share_the_tables_of_a_metastore_and_nothing_else(
    site: SparkSite, tmp_path: Path, metastore: HiveMetastoreServer
) -> None:
    catalog = {
        "spark.sql.catalogImplementation": "hive",
        "spark.sql.warehouse.dir": str(tmp_path / "warehouse"),
        "spark.hadoop.hive.metastore.uris": metastore.uri,
    }
    workflow = Workflow(spark=SparkAttributes(conf={**SETTINGS, **catalog}))
    properties = {"database": f"test_{uuid4().hex}"}
    first = site.call(
        """CREATE TEMPORARY VIEW v AS SELECT 1 AS a; CREATE TEMPORARY FUNCTION f(a INT) RETURNS INT RETURN a;
DECLARE VARIABLE x INT DEFAULT 4; SET feedctl.y = 5; CREATE DATABASE ${database}; USE ${database};
CREATE TABLE t USING json AS SELECT f(a) + x AS a FROM v""",
        workflow=workflow,
        properties=properties,
    )
    end, _ = site.run(first)
    assert end.succeeded, end
    script = "SELECT current_database(), a FROM ${database}.t; SET feedctl.y"
    second = site.call(script, workflow=workflow, properties=properties)
    again, _ = site.run(second)
    assert (again.succeeded, again.application) == (True, end.application), again
    assert re.search(r"\|default +\|5 *\|", text_of(second))
    assert "<undefined>" in text_of(second)
    for script in ("TABLE v", "TABLE t", "SELECT f(1)", "SELECT x"):
        failed, _ = site.run(site.call(script, workflow=workflow))
        assert (failed.succeeded, failed.application) == (False, end.application), script


def test_a_cached_table_is_no_answer_to_another_step_that_reads_the_same_place(site: SparkSite) -> None:
    place = site.directory / "numbers.json"
    place.write_text('{"a": 1}\n')
    script = "CACHE TABLE c AS SELECT * FROM json.`${place}`; SELECT sum(a) AS total FROM c"
    properties = {"place": str(place)}
    for text in ("1", "2"):
        place.write_text(f'{{"a": {text}}}\n')
        call = site.call(script, properties=properties)
        end, _ = site.run(call)
        assert end.succeeded, end
        assert f"|{text}    |" in text_of(call)


@pytest.mark.extended
def test_a_store_that_a_script_has_set_is_not_that_of_another_step(site: SparkSite) -> None:
    script = "SET `fs.viewfs.mounttable.x.link./a` = `${place}`;"
    script += "SELECT a AS found FROM json.`viewfs://x/a/data.json`"
    for text in ("1", "2"):
        place = site.directory / f"store{text}"
        place.mkdir()
        (place / "data.json").write_text(f'{{"a": {text}}}\n')
        call = site.call(script, properties={"place": f"file://{place}"})
        end, _ = site.run(call)
        assert end.succeeded, end
        assert f"|{text}    |" in text_of(call)


def test_steps_side_by_side_have_the_same_names_for_different_things(site: SparkSite) -> None:
    script = """CREATE TEMPORARY VIEW v AS SELECT ${n} AS a; CREATE TABLE t (a INT) USING json LOCATION '${place}';
INSERT INTO t SELECT a FROM v; SET feedctl.n = ${n}; SELECT 'sum', sum(t.a) + sum(v.a) AS found FROM t, v;
SET feedctl.n"""
    calls = [
        site.call(script, properties={"n": str(number), "place": str(site.directory / f"beside{number}")})
        for number in range(6)
    ]
    with ThreadPoolExecutor(3) as pool:
        ends = [end for end, _ in pool.map(site.run, calls)]
    assert all(end.succeeded for end in ends), ends
    assert len({end.application for end in ends}) == 1
    for number, call in enumerate(calls):
        assert f"|sum|{2 * number}" in text_of(call)
        assert f"|feedctl.n|{number}" in text_of(call)


def test_a_stopped_step_is_cancelled_alone_and_the_application_goes_on(site: SparkSite) -> None:
    application, jobs = application_of(site), jobs_of(site)
    stopped, beside = site.call(LONG), site.call(LONG + "; SELECT 1")

    def check() -> None:
        if jobs_of(site) >= jobs + 2:
            raise Stopped(reason="received SIGTERM")

    is_going = threading.Event()

    def check_beside() -> None:
        if is_going.is_set():
            raise Stopped(reason="the test is over")

    with ThreadPoolExecutor(1) as pool:
        other = pool.submit(site.engines[Engine.SPARK_SQL].run, beside, lambda _mark: None, check_beside)
        with pytest.raises(Stopped):
            site.engines[Engine.SPARK_SQL].run(stopped, lambda _mark: None, check)
        time.sleep(0.5)
        assert not other.done()
        assert (noted_session(stopped.log), noted_session(beside.log) is not None) == (None, True)
        is_going.set()
        with pytest.raises(Stopped):
            other.result()
    assert application_of(site) == application


@pytest.mark.soak
def test_a_program_that_a_script_leaves_in_the_background_ends_with_its_step(site: SparkSite) -> None:
    script = "SELECT TRANSFORM(id) USING '(sleep 60; touch ${late}) >/dev/null 2>&1 & cat' AS (a STRING) FROM range(1)"
    late = site.directory / "late"
    end, _ = site.run(site.call(script, properties={"late": str(late)}))
    assert end.succeeded, end
    commands = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True).stdout
    assert str(late) not in commands


@pytest.mark.soak
def test_an_application_that_does_not_end_a_step_ends_with_it_and_is_replaced(tmp_path: Path, java_home: Path) -> None:
    with opened(tmp_path, java_home) as site:
        call = site.call(DEAF)

        begun: list[float] = []

        def check() -> None:
            if "Running task" in host_log(site):
                begun.append(time.monotonic())
            if begun and time.monotonic() - begun[0] > 5:  # the task is in its one long row
                raise Stopped(reason="received SIGTERM")

        with pytest.raises(Stopped):
            site.engines[Engine.SPARK_SQL].run(call, lambda _mark: None, check)
        (ended,) = tmp_path.glob("logs/ledger/count/primary/session/*/host.log")
        assert not processes_of(ended)
        assert "did not end within 1 seconds after it was cancelled" in host_log(site)
        assert application_of(site)


@pytest.mark.soak
def test_a_step_whose_runner_is_frozen_is_cancelled_before_another_may_begin(tmp_path: Path, java_home: Path) -> None:
    with opened(tmp_path, java_home) as site:
        application_of(site)

        def frozen() -> None:
            if jobs_of(site) > 1:
                time.sleep(6)

        call = site.call(LONG, quiet_seconds=1.0)
        end = site.engines[Engine.SPARK_SQL].run(call, lambda _mark: None, frozen)
    assert "gave no sign of life for 1 seconds" in end.message or "cancelled" in end.message


@pytest.mark.extended
def test_steps_whose_jvm_is_killed_may_be_retried_and_then_run_alone(tmp_path: Path, java_home: Path) -> None:
    with opened(tmp_path, java_home) as site:
        application = application_of(site)
        first, beside = site.call(LONG), site.call(LONG)
        with ThreadPoolExecutor(2) as pool:
            running = [pool.submit(site.run, each) for each in (first, beside)]
            until(lambda: jobs_of(site) > 2)
            for pid in processes_of(next(tmp_path.glob("logs/ledger/count/primary/session/*/host.log"))):
                if b"SparkSubmit" in Path(f"/proc/{pid}/cmdline").read_bytes():
                    os.kill(pid, signal.SIGKILL)
            end, lost = (each.result()[0] for each in running)
        assert (end.succeeded, end.may_retry, lost.succeeded, lost.may_retry) == (False, None, False, None)
        assert "its shared Spark application" in lost.message
        (ended,) = tmp_path.glob("logs/ledger/count/primary/session/*/host.log")
        assert (processes_of(ended), noted_session(beside.log)) == (frozenset(), None)
        Path(beside.path).write_text("SELECT 1")
        again, _ = site.run(beside)
        assert again.succeeded
        assert again.application != application
        assert not noted_session(beside.log)
        assert len(list(tmp_path.glob("logs/ledger/count/primary/session/*"))) == 1  # of its own


@pytest.mark.extended
def test_secrets_reach_an_application_of_their_own_and_no_log(tmp_path: Path, java_home: Path) -> None:
    (tmp_path / "pw").write_text("geheim\n")
    workflow = Workflow(
        spark=SparkAttributes(conf=SETTINGS, session=SparkSessionUse.SHARED),
        secrets={"PW": Credential(file=str(tmp_path / "pw"))},
    )
    with opened(tmp_path, java_home) as site:
        call = site.call("SELECT reflect('java.lang.System', 'getenv', 'PW') = 'geheim', 'geheim'", workflow=workflow)
        end, _ = site.run(call)
        assert end.succeeded, end
        failing = site.call("SELECT * FROM geheim", workflow=workflow)
        failed, _ = site.run(failing)
    assert failed.application == end.application
    assert "|true" in text_of(call)
    assert "`***`" in failed.message
    for each in tmp_path.rglob("*.log"):
        assert "geheim" not in each.read_text(), each


RUNNER = """
import json, sys
from pathlib import Path
from tests.e2e.spark_site import SparkSite
from toolkit.programs.opening import opened_engines
with opened_engines() as engines:
    site = SparkSite(engines=engines, directory=Path(sys.argv[1]), java_home=Path(sys.argv[2]))
    site.run(site.call(sys.argv[3]))
"""


@pytest.mark.soak
@pytest.mark.parametrize("also", ["runner", "supervisor"])
def test_after_a_killed_runner_nothing_of_a_step_runs_when_it_is_tried_again(
    tmp_path: Path, java_home: Path, also: str
) -> None:
    site = SparkSite(engines={}, directory=tmp_path, java_home=java_home)
    root = Path(__file__).parent.parent.parent
    with subprocess.Popen([sys.executable, "-c", RUNNER, str(tmp_path), str(java_home), LONG], cwd=root) as runner:
        until(lambda: jobs_of(site))
        call = replace(site.call(LONG))
        shared = noted_session(call.log)
        assert shared is not None
        there = processes_of(shared)
        assert there
        if also == "supervisor":
            for pid in there:
                if b"exec(marshal" in Path(f"/proc/{pid}/cmdline").read_bytes():
                    os.kill(pid, signal.SIGKILL)
        runner.kill()
    left = end_left_over(
        StepMark(log=call.log, application="local-1"),
        cluster=call.cluster,
        workflow=call.workflow,
        environment=call.environment,
        grace_seconds=5.0,
    )
    assert (left, processes_of(shared)) == (frozenset(), frozenset())
