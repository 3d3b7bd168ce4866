"""Falcon's engines: what they become, and that the scripts do it, with stand-ins for the clients of Pig and Oozie."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tests.unit.migration.migrated import Made, cluster, feed, make_of, process
from toolkit.migration.draft import TextOutcome
from toolkit.migration.spark_engines import HIVE_CHECKS
from toolkit.programs.substitution import filled

IO = """<inputs><input name="in" feed="clicks" start="now(-1,0)" end="now(-1,0)"/></inputs>
  <outputs><output name="out" feed="counts" instance="now(0,0)"/></outputs>
  <properties><property name="limit" value="10"/><property name="a.b" value="x"/></properties>"""
TABLE = '<table uri="catalog:web:clicks#ds=${YEAR}-${MONTH}-${DAY}-${HOUR}"/>'


def made_with(folder: Path, workflow: str, more: str = IO, storage: str = "") -> Made:
    """A process with one input and one output."""
    return make_of(
        folder,
        c=cluster(more='<properties><property name="shared" value="y"/></properties>'),
        i=feed("clicks", storage=storage),
        o=feed("counts"),
        p=process(workflow=workflow, more=more),
    )


def pairs(arguments: list[str]) -> dict[str, str]:
    """`NAME=VALUE` of arguments."""
    return dict(each.split("=", 1) for each in arguments if "=" in each)


def test_pig_is_told_what_falcon_told_it(tmp_path: Path) -> None:
    made = made_with(tmp_path, '<workflow engine="pig" path="/app/a.pig" lib="/app/lib"/>', storage=TABLE)
    workflow = made.document("job")["workflow"]
    assert (workflow["engine"], workflow["path"]) == ("command", "workflows/job.pig.sh")
    reported = pairs(workflow["args"])
    assert "in" not in reported, "a table has no paths"
    assert reported["out"] == "${out}"
    assert reported["limit"] == "${limit}"
    assert reported["in_filter"] == "${falcon_in_partition_filter_pig}"
    assert reported["falcon_in_database"] == "${falcon_in_database}"
    assert reported["falcon_in_storage_type"] == "${falcon_in_storage_type}"
    assert {"shared", "nameNode", "jobTracker"} <= reported.keys(), "properties of the cluster are the workflow's too"
    assert "a.b" not in reported, "no parameter of Pig has a dot in its name"
    assert any("'a.b'" in each.text for each in made.migration.report.tasks)


@pytest.mark.parametrize(
    ("engine", "prepare"), [("pig", "delete"), ("hive", "delete"), ("spark", "delete"), ("oozie", None)]
)
def test_an_output_is_removed_before_each_run_where_falcon_did_it(
    tmp_path: Path, engine: str, prepare: str | None
) -> None:
    made = made_with(tmp_path, f'<workflow engine="{engine}" path="/app/a"/>')
    assert made.document("job")["outputs"]["out"].get("prepare") == prepare
    rows = [each for each in made.rows("process job") if each.target and each.target.key == "outputs.out.prepare"]
    assert [each.outcome for each in rows] == ([TextOutcome.ADDED] if prepare else [])


def test_the_partition_of_an_output_that_falcon_drops_is_to_do(tmp_path: Path) -> None:
    made = make_of(
        tmp_path,
        c=cluster(),
        i=feed("clicks"),
        o=feed("counts", storage=TABLE),
        p=process(workflow='<workflow engine="spark" path="/app/a.py"/>', more=IO),
    )
    assert "prepare" not in made.document("job")["outputs"]["out"]
    tasks = [each.text for each in made.migration.report.tasks]
    assert any("drops the partition of the output out" in each for each in tasks)
    assert any("check the order of the arguments against the application's main" in each for each in tasks)


def test_oozie_is_the_engine_when_none_is_named(tmp_path: Path) -> None:
    made = made_with(tmp_path, '<workflow path="/app/wf" name="wf" version="1.0" lib="/app/lib"/>')
    workflow = made.document("job")["workflow"]
    assert {key: workflow[key] for key in ("engine", "path", "name", "version")} == {
        "engine": "command",
        "path": "workflows/job.oozie.sh",
        "name": "wf",
        "version": "1.0",
    }
    assert workflow["args"][:3] == ["${cluster.name}", "-D", "oozie.libpath=/app/lib"]
    reported = pairs(workflow["args"])
    assert {"in", "out", "limit", "a.b", "shared", "nameNode", "jobTracker", "cluster.colo"} <= reported.keys()
    (row,) = (each for each in made.rows("process job") if each.target and each.target.key == "workflow.engine")
    assert row.outcome is TextOutcome.ADDED


def test_oozie_is_told_the_storage_type_of_tables_and_the_side_locations_of_paths(tmp_path: Path) -> None:
    sides = "".join(f'<location type="{each}" path="/{each}/counts"/>' for each in ("stats", "meta"))
    data = '<location type="data" path="/data/counts/${YEAR}/${MONTH}/${DAY}/${HOUR}"/>'
    made = make_of(
        tmp_path,
        c=cluster(),
        i=feed("clicks", storage=TABLE),
        o=feed("counts", storage=f"<locations>{data}{sides}</locations>"),
        p=process(workflow='<workflow engine="oozie" path="/app/wf"/>', more=IO),
    )
    reported = pairs(made.document("job")["workflow"]["args"])
    assert {"falcon_in_storage_type", "out.stats", "out.meta"} <= reported.keys()
    assert not {"in.stats", "out.tmp"} & reported.keys()


def test_a_side_location_of_some_clusters_is_a_property_only_if_the_process_runs_on_no_other(tmp_path: Path) -> None:
    on = '<locations><location type="stats" path="/stats/clicks"/></locations>'
    workflow = '<workflow engine="oozie" path="/app/wf"/>'
    made = make_of(
        tmp_path, c=cluster(), i=feed("clicks", on=on), o=feed("counts"), p=process(workflow=workflow, more=IO)
    )
    assert "in.stats" in pairs(made.document("job")["workflow"]["args"])


CLIENT = """#!/bin/sh
for each in "$0" "$@"; do printf '%s\\n' "$each" >>"$SEEN"; done
echo "-" >>"$SEEN"
case "$*" in
  *-run*) echo "job: 42-oozie" ;;
  *-info*) echo "Status        : $OOZIE_SAYS" ;;
esac
"""


def run(made: Made, folder: Path, arguments: list[str], **environment: str) -> tuple[int, list[list[str]]]:
    """The exit code of a process's script, and what the clients were started with."""
    for name in ("pig", "oozie"):
        (folder / name).write_text(CLIENT)
        (folder / name).chmod(0o755)
    seen = folder / "seen"
    seen.unlink(missing_ok=True)
    ran = subprocess.run(
        [made.path / made.document("job")["workflow"]["path"], *arguments],
        env={**os.environ, "PATH": f"{folder}:{os.environ['PATH']}", "SEEN": str(seen), **environment},
        cwd=folder,
        check=False,
        capture_output=True,
        timeout=60,
    )
    calls = seen.read_text().split("\n-\n") if seen.exists() else []
    return ran.returncode, [each.splitlines()[1:] for each in calls if each]


HOSTILE = "/app/it's; touch pwned $(touch pwned) `touch pwned` &amp;"
PLAIN = HOSTILE.replace("&amp;", "&")


def test_the_script_of_pig_hands_everything_on_and_nothing_to_the_shell(tmp_path: Path) -> None:
    made = made_with(tmp_path, f'<workflow engine="pig" path="{HOSTILE}"/>')
    reported = made.document("job")["workflow"]["args"]
    names = ("in", "out", "limit", "nominalTime", "shared", "nameNode", "jobTracker")
    properties = dict.fromkeys(names, "$(touch pwned) 'a' \"b\"")
    code, calls = run(made, tmp_path, [filled(each, properties) for each in reported], nameNode="hdfs://nn:8020")
    assert code == 0
    assert calls == [[*(filled(each, properties) for each in reported), "-f", f"hdfs://nn:8020{PLAIN}"]]
    assert not list(tmp_path.rglob("pwned"))


@pytest.mark.parametrize(("status", "code"), [("SUCCEEDED", 0), ("KILLED", 1), ("FAILED", 1)])
def test_the_script_of_oozie_takes_the_end_of_the_workflow_for_its_own(tmp_path: Path, status: str, code: int) -> None:
    made = made_with(tmp_path, f'<workflow engine="oozie" path="{HOSTILE}"/>')
    found, calls = run(made, tmp_path, ["main", "-D", "a=b c"], nameNode="hdfs://nn:8020", OOZIE_SAYS=status)
    assert found == code
    path = f"oozie.wf.application.path=hdfs://nn:8020{PLAIN}"
    assert calls[:2] == [["job", "-run", "-D", path, "-D", "a=b c"], ["job", "-info", "42-oozie"]]
    assert not list(tmp_path.rglob("pwned"))


def test_the_script_of_oozie_knows_the_oozie_of_its_clusters_alone(tmp_path: Path) -> None:
    made = made_with(tmp_path, '<workflow engine="oozie" path="/app"/>')
    assert run(made, tmp_path, ["elsewhere"], nameNode="hdfs://nn:8020") == (1, [])
    text = made.files()["workflows/job.oozie.sh"].decode()
    assert "main) OOZIE_URL=http://oozie.example.com:11000/oozie/ ;;" in text


def test_the_script_of_oozie_is_told_the_queue_and_priority_of_one_of_its_clusters(tmp_path: Path) -> None:
    more = """<properties><property name="queueName" value="etl"/><property name="jobPriority" value="HIGH"/>
      <property name="a.b" value="x"/></properties>"""
    text = process(workflow='<workflow engine="oozie" path="/app"/>')
    on = text[text.index('<cluster name="main">') : text.index("</clusters>")]
    both = text.replace(on, on + on.replace('"main"', '"other"'))
    made = make_of(tmp_path, c=cluster(more=more), d=cluster("other"), p=both)
    reported = {"nameNode": "hdfs://nn:8020", "queueName": "it's $(touch pwned)", "jobPriority": "HIGH"}
    _, calls = run(made, tmp_path, ["main", "-D", "n=1"], **reported, OOZIE_SAYS="SUCCEEDED")
    assert calls[0][4:] == ["-D", "n=1", "-D", "queueName=it's $(touch pwned)", "-D", "jobPriority=HIGH"]
    _, calls = run(made, tmp_path, ["other", "-D", "n=1"], **reported, OOZIE_SAYS="SUCCEEDED")
    assert calls[0][4:] == ["-D", "n=1"]
    assert not list(tmp_path.rglob("pwned"))
    assert any("'a.b' of the cluster main" in each.text for each in made.migration.report.tasks)


def test_a_mark_of_the_script_in_an_end_point_stays_a_text(tmp_path: Path) -> None:
    text = cluster().replace("http://oozie.example.com:11000/oozie/", "http://o@PATH@;touch pwned")
    made = make_of(tmp_path, c=text, p=process(workflow='<workflow engine="oozie" path="/app/$(touch pwned)"/>'))
    run(made, tmp_path, ["main"], nameNode="hdfs://nn:8020", OOZIE_SAYS="SUCCEEDED")
    assert not list(tmp_path.rglob("pwned"))


def test_hive_becomes_spark_sql_with_a_list_of_what_to_check(tmp_path: Path) -> None:
    made = made_with(tmp_path, '<workflow engine="hive" path="${nameNode}/app/a.hql" lib="/app/u.jar,/app/lib"/>')
    workflow = made.document("job")["workflow"]
    assert workflow == {
        "engine": "spark_sql",
        "path": "workflows/app/a.hql",
        "lib": ["hdfs://nn.example.com:8020/app/u.jar"],
    }
    texts = [each.text for each in made.migration.report.tasks]
    assert [f"check the script: {each}" for each in HIVE_CHECKS] == [each for each in texts if "check" in each]
    assert "copy ${nameNode}/app/a.hql to workflows/app/a.hql in the config repo" in texts


@pytest.mark.parametrize("path", ["/a/../../../etc/passwd", "//a/./b/../../x.hql"])
def test_a_script_of_hive_stays_below_the_workflows(tmp_path: Path, path: str) -> None:
    made = made_with(tmp_path, f'<workflow engine="hive" path="{path}"/>')
    found = made.document("job")["workflow"]["path"]
    assert found in {"workflows/etc/passwd", "workflows/x.hql"}


def test_spark_keeps_its_attributes(tmp_path: Path) -> None:
    text = """<workflow engine="spark" path="/app/spark"/>
      <spark-attributes><master>yarn-cluster</master><name>counts</name><class>com.example.Main</class>
        <jar>/app/spark/lib/a.jar</jar><spark-opts>--num-executors 3 --conf "a=b c"</spark-opts>
        <arg>one</arg><arg>${limit}</arg></spark-attributes>"""
    workflow = made_with(tmp_path, text).document("job")["workflow"]
    assert workflow == {
        "engine": "spark_submit",
        "path": "hdfs://nn.example.com:8020/app/spark/lib/a.jar",
        "spark": {
            "master": "yarn",
            "mode": "cluster",
            "name": "counts",
            "class": "com.example.Main",
            "options": ["--num-executors", "3", "--conf", "a=b c"],
            "args": ["one", "${limit}"],
        },
    }


def test_a_late_workflow_of_oozie_is_a_script_of_its_own(tmp_path: Path) -> None:
    late = """<late-process policy="final" delay="hours(1)">
      <late-input input="in" workflow-path="hdfs://late/wf"/></late-process>"""
    cut_off = '<late-arrival cut-off="hours(6)"/>'
    made = make_of(
        tmp_path,
        c=cluster(),
        i=feed("clicks", more=cut_off),
        o=feed("counts"),
        p=process(workflow=f'<workflow engine="oozie" path="/app/wf"/>{late}', more=IO),
    )
    path = made.document("job")["late_process"]["inputs"]["in"]
    assert path == "workflows/job.late.in.oozie.sh"
    assert b"oozie.wf.application.path=hdfs://late/wf " in made.files()[path]
    assert os.access(made.path / path, os.X_OK)
