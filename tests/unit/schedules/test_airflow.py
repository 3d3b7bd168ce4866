from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.unit.entities.config_repo import FEED, PROCESS
from tests.unit.schedules.cron_clock import CronClock
from tests.unit.schedules.schedules import SETTINGS, scheduled
from toolkit.schedules.airflow import airflow_files
from toolkit.schedules.errors import NotSayable
from toolkit.schedules.files import mark_in


def constants(text: str) -> dict[str, Any]:
    """The plain values that a file gives names to."""
    assigned = (each for each in ast.parse(text).body if isinstance(each, ast.Assign))
    return {cast("ast.Name", each.targets[0]).id: ast.literal_eval(each.value) for each in assigned}


def in_domain(domain: str) -> Mapping[str, str | None]:
    return {"processes/clicks_hourly.yaml": PROCESS.replace("inputs:\n", f"domain: {domain}\ninputs:\n")}


def test_each_cluster_and_domain_has_a_file_and_a_dag() -> None:
    files = airflow_files(scheduled(in_domain("web")))
    assert {name: constants(text)["DAG_ID"] for name, text in files.texts.items()} == {
        "prod/primary/actions.py": "feedctl.prod.primary",
        "prod/primary/domain-web.py": "feedctl.prod.primary.web",
        "prod/_all/actions.py": "feedctl.prod",
    }


def test_each_action_is_a_task() -> None:
    actions = constants(airflow_files(scheduled()).texts["prod/primary/actions.py"])["ACTIONS"]
    assert [each["task_id"] for each in actions] == ["process.clicks_hourly", "retention.clicks", "process_again"]
    assert [each["cron"] for each in actions][::2] == ["0 * * * *", "7,22,37,52 * * * *"]
    assert [each["seconds_to_next_turn"] for each in actions] == [3600, 86400, 900]


@given(text=st.text(min_size=1))
@settings(max_examples=30, deadline=None)
def test_no_text_becomes_python(text: str) -> None:
    own = replace(SETTINGS, options=(text,), working_directory=text)
    schedule = scheduled(settings=own)
    written = airflow_files(schedule).texts["prod/primary/actions.py"]
    assert written.isascii()
    found = constants(written)
    assert [tuple(each["command"]) for each in found["ACTIONS"]] == [each.command for each in schedule.actions[:3]]
    assert found["WORKING_DIRECTORY"] == text
    plain = airflow_files(scheduled(settings=replace(own, options=("x",), working_directory="/"))).texts
    same = ast.parse(plain["prod/primary/actions.py"]).body
    assert [type(each) for each in ast.parse(written).body] == [type(each) for each in same]


@pytest.mark.parametrize("domain", ["\"'''\\n\"", '"../x"', '"{{ 1 }}"', '"ü b"', f'"{"x" * 300}"'])
def test_any_domain_has_a_plain_name_of_a_file(domain: str) -> None:
    files = airflow_files(scheduled(in_domain(domain)))
    (name,) = (each for each in files.texts if "domain-" in each)
    assert name.startswith("prod/primary/domain-")
    assert name.removeprefix("prod/primary/").replace("-", "").replace("_", "").removesuffix(".py").isalnum()
    assert len(constants(files.texts[name])["DAG_ID"]) <= 250


def test_two_domains_never_share_a_file() -> None:
    (name,) = (each for each in airflow_files(scheduled(in_domain("a b"))).texts if "domain-" in each)
    same = name.removeprefix("prod/primary/domain-").removesuffix(".py")
    other = PROCESS.replace("clicks_hourly", "other").replace("inputs:\n", f"domain: {same}\ninputs:\n")
    with pytest.raises(NotSayable, match=r"the domain .*, which another one is too much like"):
        airflow_files(scheduled({**in_domain("a b"), "processes/other.yaml": other}))


def is_chosen_by() -> Callable[[str, datetime], bool]:
    """The function of a generated file."""
    text = airflow_files(scheduled()).texts["prod/primary/actions.py"]
    (found,) = (each for each in ast.parse(text).body if isinstance(each, ast.FunctionDef) and each.name == "has_turn")
    names: dict[str, Any] = {}
    exec(compile(ast.Module(body=[found], type_ignores=[]), "dag", "exec"), names)  # noqa: S102 - what Airflow would do
    return cast("Callable[[str, datetime], bool]", names["has_turn"])


@pytest.mark.parametrize(
    "cron", ["0 * * * *", "7,22,37,52 */6 * * *", "5 3 1,15 2,8 *", "0 4 * * 0,3", "*/15 */4 * * *"]
)
def test_a_task_has_its_turn_whenever_its_expression_fires(cron: str) -> None:
    ours, theirs = is_chosen_by(), CronClock(cron, "UTC")
    minutes = [datetime(2026, 2, 1, tzinfo=UTC) + timedelta(minutes=step * 5) for step in range(9000)]
    minutes += [datetime(2026, 8, 1, hour, minute, tzinfo=UTC) for hour in range(24) for minute in range(60)]
    assert [ours(cron, at) for at in minutes] == [theirs.fires_at(at) for at in minutes]
    assert any(ours(cron, at) for at in minutes)


def test_every_file_says_whose_it_is() -> None:
    feed = FEED.replace("name: clicks", "name: other")
    for name, text in airflow_files(scheduled({"feeds/other.yaml": feed})).texts.items():
        mark = mark_in(text)
        assert mark is not None
        assert (mark.form, mark.repo, mark.environment, mark.cluster) == ("airflow", "web-feeds", *name.split("/")[:2])
