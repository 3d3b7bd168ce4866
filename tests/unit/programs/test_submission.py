"""Tests of what spark-submit is told, by a program of that name that writes it down."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path

import pytest

from tests.unit.programs.calls import LOCAL, a_call, never
from toolkit.entities import Cluster, Credential, Engine, Interface, Interfaces, SparkAttributes, Workflow
from toolkit.programs.opening import ENGINES, end_left_over
from toolkit.programs.port import StepCall, StepEnd, StepMark
from toolkit.programs.step_log import session_tag, tag_of
from toolkit.runs.errors import Stopped

RECORDER = """#!/usr/bin/env python3
import json, os, pathlib, sys, time
place = pathlib.Path(__file__).parent.parent / "called.jsonl"
with place.open("a") as log:
    log.write(json.dumps([pathlib.Path(__file__).name, *sys.argv[1:]]) + "\\n")
if "SAYS" in os.environ:
    print(os.environ["SAYS"], flush=True)
if "-list" in sys.argv:
    print("Total number of applications (application-types: [] and tags: []):1")
    tagged = place.parent / f"listed-{sys.argv[-1]}"
    print((tagged if tagged.exists() else place.parent / "listed").read_text())
    time.sleep(float(os.environ.get("SLEEPS", "0")))
"""
APPLICATION = "26/11/22 12:00:00 INFO YarnClientImpl: Submitted application application_1700000000000_0042"
YARN = Cluster(
    name="primary",
    interfaces=Interfaces(
        write=Interface(endpoint="hdfs://nn"),
        spark=Interface(endpoint="yarn-cluster"),
        registry=Interface(endpoint="thrift://hms:9083", version="4.0.1"),
    ),
    hadoop_conf={"dfs.client.use.datanode.hostname": True},
)


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A directory with programs that write down how they were called."""
    (tmp_path / "bin").mkdir()
    for name in ("spark-submit", "spark-class", "yarn"):
        program = tmp_path / "bin" / name
        program.write_text(RECORDER)
        program.chmod(0o755)
    return tmp_path


def spark_call(site: Path, engine: Engine = Engine.SPARK_SUBMIT, **changes: object) -> StepCall:
    (site / "job.py").write_text("pass\n")
    (site / "job.sql").write_text("SELECT '${clicks}'\n")
    known = {name: text for name, text in os.environ.items() if name != "SPARK_HOME"}
    environment = {**known, "PATH": f"{site}/bin:{os.environ['PATH']}"}
    path = site / ("job.sql" if engine is Engine.SPARK_SQL else "job.py")
    call = a_call(site, path, engine=engine, environment=environment, variables=environment)
    return replace(call, **changes)  # type: ignore[arg-type]


def run(call: StepCall) -> StepEnd:
    return ENGINES[call.engine].run(call, lambda _mark: None, never)


def left_over(call: StepCall, application: str | None = None, session_owner: str | None = None) -> frozenset[int]:
    return end_left_over(
        StepMark(log=call.log, application=application),
        cluster=call.cluster,
        workflow=call.workflow,
        environment=call.environment,
        session_owner=session_owner,
        grace_seconds=1.0,
    )


def calls(site: Path) -> list[list[str]]:
    return [json.loads(line) for line in (site / "called.jsonl").read_text().splitlines()]


def test_an_application_is_told_paths_and_arguments_and_settings_of_cluster_entity_and_instance(site: Path) -> None:
    spark = SparkAttributes(
        class_="com.example.Main",
        jar="libs/job.jar",
        conf={"spark.executor.cores": 2, "spark.hadoop.hive.metastore.uris": "thrift://other:9083"},
        options=("--proxy-user", "etl"),
        args=("--threshold=${threshold}",),
    )
    workflow = Workflow(spark=spark, lib=("libs/a.jar", "hdfs://nn/b.py", "libs/c.conf"))
    properties = {"queueName": "etl", "jobPriority": "HIGH", "threshold": "1 0"}
    call = spark_call(
        site, workflow=workflow, cluster=YARN, properties=properties, data=("/in/1,/in/2", "/out"), args=("last",)
    )

    end = run(call)

    assert end.succeeded, end
    ((_, *words),) = calls(site)
    place = words.index(f"{site}/libs/job.jar")
    assert words[place:] == [f"{site}/libs/job.jar", "/in/1,/in/2", "/out", "--threshold=1 0", "last"]
    assert words[place - 2 : place] == ["--proxy-user", "etl"]
    options = dict(zip(words[: place - 2 : 2], words[1 : place - 2 : 2], strict=True))
    assert (
        options.items()
        >= {
            "--name": "count",
            "--master": "yarn",
            "--deploy-mode": "cluster",
            "--class": "com.example.Main",
            "--jars": f"{site}/libs/a.jar",
            "--py-files": "hdfs://nn/b.py",
            "--files": f"{call.log}.properties.json,{site}/libs/c.conf",
        }.items()
    )
    assert {word for word in words if word.startswith("spark.")} == {
        "spark.hadoop.dfs.client.use.datanode.hostname=true",
        "spark.sql.catalogImplementation=hive",
        "spark.hadoop.hive.metastore.uris=thrift://other:9083",
        "spark.standalone.submit.waitAppCompletion=true",
        "spark.yarn.submit.waitAppCompletion=true",
        "spark.kubernetes.submission.waitAppCompletion=true",
        "spark.yarn.queue=etl",
        "spark.yarn.priority=4",
        "spark.executor.cores=2",
        f"spark.yarn.tags={tag_of(call.log)}",
    }


def test_a_script_goes_to_the_driver_wherever_that_is_with_its_texts_in_their_places(site: Path) -> None:
    call = spark_call(site, Engine.SPARK_SQL, cluster=YARN, properties={"clicks": "it's"})

    assert run(call).succeeded

    ((_, *words),) = calls(site)
    given = f"{call.log}.statements.json"
    assert words[-2] == given
    assert words[words.index("--files") + 1].split(",")[0] == given
    assert json.loads(Path(given).read_text()) == [{"number": 1, "line": 1, "text": "SELECT 'it\\'s'"}]


def test_the_version_of_a_metastore_counts_with_its_jars_only(site: Path) -> None:
    jars = SparkAttributes(conf={"spark.sql.hive.metastore.jars": "path"})

    run(spark_call(site, Engine.SPARK_SQL, cluster=YARN, properties={"clicks": ""}, workflow=Workflow(spark=jars)))

    assert "spark.sql.hive.metastore.version=4.0.1" in calls(site)[0]


def test_a_script_that_cannot_run_is_refused_before_spark_starts(site: Path) -> None:
    end = run(spark_call(site, Engine.SPARK_SQL, cluster=LOCAL))

    assert (end.exit_code, end.may_retry) == (None, False)
    assert "line 1 refers to ${clicks}" in end.message
    assert not (site / "called.jsonl").exists()


@pytest.mark.parametrize(
    "spark",
    [
        SparkAttributes(conf={"spark.yarn.submit.waitAppCompletion": False}),
        SparkAttributes(conf={"spark.kubernetes.submission.waitAppCompletion": " no"}),
        SparkAttributes(options=("--conf", "spark.standalone.submit.waitAppCompletion=false")),
        SparkAttributes(options=("-c", "spark.yarn.submit.waitAppCompletion = FALSE")),
        SparkAttributes(options=("--conf=spark.yarn.submit.waitAppCompletion=false",)),
        SparkAttributes(options=("--version",)),
        SparkAttributes(options=("--kill=driver-20260301000000-0001",)),
    ],
)
@pytest.mark.parametrize("engine", [Engine.SPARK_SUBMIT, Engine.SPARK_SQL])
def test_an_application_that_nobody_would_wait_for_is_refused(
    site: Path, engine: Engine, spark: SparkAttributes
) -> None:
    end = run(spark_call(site, engine, properties={"clicks": ""}, workflow=Workflow(spark=spark)))

    assert (end.exit_code, end.may_retry) == (None, False)
    assert "would succeed before its application has" in end.message
    assert not (site / "called.jsonl").exists()


def test_who_says_aloud_that_an_application_is_waited_for_is_obeyed(site: Path) -> None:
    output = "spark.yarn.submit.waitAppCompletion"
    spark = SparkAttributes(conf={output: True}, options=("--conf", f"{output}= True "))

    assert run(spark_call(site, workflow=Workflow(spark=spark))).succeeded
    assert calls(site)[0].count(f"{output}=true") == 1


def test_secrets_of_the_machine_do_not_go_to_a_cluster_but_providers_do(site: Path) -> None:
    of_variable = Workflow(secrets={"PW": Credential(env="FEEDCTL_SECRET_PW")})
    of_provider = Workflow(secrets={"PW": Credential(alias="pw", provider="jceks://hdfs/keys")})

    refused = run(spark_call(site, cluster=YARN, workflow=of_variable, variables={"FEEDCTL_SECRET_PW": "sesame"}))
    assert "which does not reach a driver on the cluster" in refused.message
    assert run(spark_call(site, cluster=YARN, workflow=of_provider)).succeeded
    assert "spark.hadoop.hadoop.security.credential.provider.path=jceks://hdfs/keys" in calls(site)[0]


@pytest.mark.extended
def test_the_application_is_known_while_it_runs_and_ended_with_a_stop(site: Path) -> None:
    call = spark_call(site, cluster=YARN)
    call = replace(call, environment={**call.environment, "SAYS": APPLICATION, "SLEEPS": "60"})
    marks: list[StepMark] = []

    def check() -> None:
        if marks[-1].application:
            raise Stopped(reason="killed")

    with pytest.raises(Stopped):
        ENGINES[call.engine].run(call, marks.append, check)

    assert [each.application for each in marks] == [None, "application_1700000000000_0042"]
    assert calls(site)[1:] == [["yarn", "application", "-kill", "application_1700000000000_0042"]]


KILL = ["yarn", "application", "-kill"]
NAMED = "application_1700000000000_0042"


@pytest.mark.parametrize("in_log", [True, False])
@pytest.mark.parametrize("listed", [[], [NAMED], [NAMED, "application_1700000000000_0043"]])
def test_of_a_dead_runner_only_what_yarn_has_under_the_tag_of_the_step_is_ended(
    site: Path, listed: list[str], *, in_log: bool
) -> None:
    """Whatever the ledger or the step's own output name."""
    call = spark_call(site, cluster=YARN)
    (site / "listed").write_text("".join(f"{each}\tcount\tSPARK\n" for each in listed))
    call.log.parent.mkdir()
    call.log.write_text(f"another: application_1_1\n{APPLICATION if in_log else ''}\n")

    assert left_over(call, None if in_log else NAMED) == frozenset()

    requested = ["yarn", "application", "-list", "-appTags", tag_of(call.log)]
    shared = [] if listed else [[*requested[:-1], session_tag(call.log, None)]]
    assert calls(site) == [requested, *shared, *([*KILL, each] for each in listed)]


@pytest.mark.parametrize(("owner", "owner_now"), [(None, None), ("first", "first"), (None, "first")])
def test_of_a_dead_runner_the_shared_application_is_ended_that_the_ledger_names_and_no_other(
    site: Path, owner: str | None, owner_now: str | None
) -> None:
    """The next run may be on another machine, which knows the tags of the process and of its group alone."""
    log = site / "logs" / "ledger" / "count" / "primary" / "2026-03-01T00:00Z" / "7" / "count.log"
    call = spark_call(site, cluster=YARN, log=log)
    (site / "listed").write_text("")
    (site / f"listed-{session_tag(log, owner)}").write_text(f"application_1700000000000_0043\tx\n{NAMED}\tcount\n")

    assert left_over(call, NAMED, session_owner=owner_now) == frozenset()

    assert [each for each in calls(site) if "-list" not in each] == [[*KILL, NAMED]]
    again = log.parents[2] / "2026-03-01T01:00Z" / "8" / "count.log"
    other = log.parents[3] / "backup" / "2026-03-01T00:00Z" / "7" / "count.log"
    assert session_tag(again, owner) == session_tag(log, owner) != session_tag(other, owner)


def test_tags_of_an_entity_are_kept_beside_that_of_the_step(site: Path) -> None:
    call = spark_call(site, cluster=YARN, workflow=Workflow(spark=SparkAttributes(conf={"spark.yarn.tags": "etl"})))
    assert run(call).succeeded
    assert f"spark.yarn.tags=etl,{tag_of(call.log)}" in calls(site)[0]


def test_a_driver_that_only_the_ledger_has_is_left_alone(site: Path) -> None:
    master = Interfaces(write=Interface(endpoint="file:///"), spark=Interface(endpoint="spark://m:7077"))
    left_over(spark_call(site, cluster=replace(LOCAL, interfaces=master)), "driver-20261122120000-0001")
    assert not (site / "called.jsonl").exists()


def test_a_driver_of_a_standalone_master_is_ended_by_its_master(site: Path) -> None:
    master = Interfaces(write=Interface(endpoint="file:///"), spark=Interface(endpoint="spark://m:7077"))
    call = spark_call(site, cluster=replace(LOCAL, interfaces=master))

    call.log.parent.mkdir()
    call.log.write_text("Driver successfully submitted as driver-20261122120000-0001\n")

    left_over(call)

    client = ["spark-class", "org.apache.spark.deploy.Client"]
    assert calls(site) == [[*client, "kill", "spark://m:7077", "driver-20261122120000-0001"]]


@pytest.mark.parametrize(
    ("state", "message"),
    [
        ("State of driver driver-20261122120000-0001 is FINISHED, exiting", ""),
        ("State of driver driver-20261122120000-0001 is FAILED, exiting", "ended as FAILED"),
        ("State of driver driver-20261122120000-0002 is FINISHED, exiting", "may still run"),
    ],
)
def test_a_driver_counts_by_what_its_master_says_of_it_since_spark_submit_exits_with_0(
    site: Path, state: str, message: str
) -> None:
    call = spark_call(site)
    output = f"Driver successfully submitted as driver-20261122120000-0001\n{state}"

    end = run(replace(call, environment={**call.environment, "SAYS": output}))

    assert end.exit_code == 0
    assert end.succeeded is not bool(message)
    assert message in end.message
