"""Calls that Falcon evaluates and feedctl does not: never accepted by a comment, always something to do."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.migration.migrated import Made, cluster, feed, make_of, process

DAY = "${formatTime(dateOffset(instanceTime(), -1, 'DAY'), 'yyyy-MM-dd')}"


def of_property(folder: Path, value: str, name: str = "mine") -> Made:
    """A process with a property."""
    more = f'<properties>\n<property name="{name}" value="{value}"/>\n</properties>'
    return make_of(folder, c=cluster(), f=feed(), p=process(more=more))


def todos(made: Made) -> list[str]:
    return [each.text for each in made.migration.report.tasks if "calls" in each.text]


@pytest.mark.parametrize("value", [DAY, "${user()}", "a-${ user () }-b", "${latest(0)}"])
def test_a_call_without_a_value_is_to_do_and_stays_a_finding(tmp_path: Path, value: str) -> None:
    made = of_property(tmp_path, value)
    (task,) = (each for each in made.migration.report.tasks if "calls" in each.text)
    assert "the property 'mine' calls" in task.text
    assert (Path(task.file).name, task.source.line, task.target.key) == ("p.xml", 7, "properties.mine")
    assert [each.rule for each in made.migration.report.refused] == ["property-expression"]
    assert made.migration.report.accepted == ()
    assert b"feedctl: ignore" not in made.files()["processes/job.yaml"]


@pytest.mark.parametrize("value", ["${wf:user()}", "${coord:formatTime(coord:nominalTime(), 'yyyy')}"])
def test_a_call_of_oozie_that_would_be_handed_on_as_text_is_to_do(tmp_path: Path, value: str) -> None:
    (text,) = todos(of_property(tmp_path, value))
    assert value[2:].partition("(")[0] in text


@pytest.mark.parametrize("value", ["${nominalTime}", "${now(0,-30)}", "${instanceTime()}", "f(x)", "${threshold} (a)"])
def test_what_has_a_value_is_nothing_to_do(tmp_path: Path, value: str) -> None:
    made = of_property(tmp_path, value)
    assert (todos(made), made.migration.report.refused) == ([], ())


def test_what_a_secret_is_made_of_is_not_shown(tmp_path: Path) -> None:
    (text,) = todos(of_property(tmp_path, "${decode('c2VzYW1l')}", name="my.token"))
    assert "c2VzYW1l" not in text


def test_a_property_of_a_cluster_reaches_its_processes(tmp_path: Path) -> None:
    more = '<properties><property name="who" value="${user()}"/></properties>'
    made = make_of(tmp_path, c=cluster(more=more), p=process())
    assert len(todos(made)) == 1
    assert [(each.file, each.rule) for each in made.migration.report.refused] == [
        ("clusters/main.yaml", "property-expression")
    ]


def test_an_argument_of_spark(tmp_path: Path) -> None:
    workflow = """<workflow engine="spark" path="/app"/><spark-attributes><name>a</name><jar>/app/a.jar</jar>
      <arg>${user()}</arg><arg>${nominalTime}</arg></spark-attributes>"""
    (text,) = todos(make_of(tmp_path, c=cluster(), p=process(workflow=workflow)))
    assert text.startswith("the argument calls user,")
