"""Each kind of schema violation is one sentence at the right place, with a suggestion where there is one."""

from __future__ import annotations

import pytest

from tests.unit.entities.config_repo import CLUSTER, DATASOURCE, FEED, PROCESS, problems

FILES = {"feeds/clicks.yaml": FEED, "processes/clicks_hourly.yaml": PROCESS, "clusters/primary.yaml": CLUSTER}


@pytest.mark.parametrize(
    ("file", "old", "new", "problem"),
    [
        (
            "feeds/clicks.yaml",
            "frequency: hours(1)",
            "frequncy: hours(1)",
            "feeds/clicks.yaml:3:1: unknown-key: unknown key 'frequncy'; did you mean frequency?",
        ),
        (
            "feeds/clicks.yaml",
            "{limit: days(10)}",
            "{limit: days(10), keeplast: 3}",
            (
                "feeds/clicks.yaml:9:34: unknown-key: unknown key 'keeplast' in clusters[primary].retention; "
                "did you mean keep_last?"
            ),
        ),
        (
            "feeds/clicks.yaml",
            "{limit: days(10)}",
            "{limit: days(10), max_delete: {fraction: 0}}",
            (
                "feeds/clicks.yaml:9:57: bad-value: clusters[primary].retention.max_delete.fraction: "
                "found the number 0, expected more than 0"
            ),
        ),
        (
            "feeds/clicks.yaml",
            "{limit: days(10)}",
            "{limit: days(10), max_delete: {instances: 0}}",
            (
                "feeds/clicks.yaml:9:58: bad-value: clusters[primary].retention.max_delete.instances: "
                "found the number 0, expected at least 1"
            ),
        ),
        (
            "feeds/clicks.yaml",
            "hours(1)",
            "houres(1)",
            (
                "feeds/clicks.yaml:3:12: bad-frequency: frequency: \"houres(1)\": at character 1: found 'houres', "
                "expected minutes(N) or hours(N) or days(N) or months(N)"
            ),
        ),
        (
            "feeds/clicks.yaml",
            "start: 2026-01-01T00:00Z",
            "start: 2026-01-01T00:00",
            (
                'feeds/clicks.yaml:8:39: bad-instant: clusters[primary].validity.start: "2026-01-01T00:00": '
                "at character 17: found the end, expected 'Z' or '+00:00': times are in UTC"
            ),
        ),
        (
            "feeds/clicks.yaml",
            "{limit: days(10)}",
            "{limit: days(10), action: delet}",
            (
                "feeds/clicks.yaml:9:42: bad-value: clusters[primary].retention.action: found 'delet', "
                "expected one of delete, archive, quarantine; did you mean delete?"
            ),
        ),
        (
            "processes/clicks_hourly.yaml",
            "engine: spark_sql",
            "engine: hiv",
            (
                "processes/clicks_hourly.yaml:7:20: bad-value: workflow.engine: found 'hiv', "
                "expected one of spark_submit, spark_sql, command"
            ),
        ),
        (
            "feeds/clicks.yaml",
            "{limit: days(10)}",
            "{action: delete}",
            (
                "feeds/clicks.yaml:9:5: missing-key: missing key 'limit' in clusters[primary].retention; "
                "limit: Instances older than this go; exactly as old stays."
            ),
        ),
        (
            "feeds/clicks.yaml",
            "{limit: days(10)}",
            "{limit: days(10), keep_last: many}",
            (
                "feeds/clicks.yaml:9:45: wrong-type: clusters[primary].retention.keep_last: found the text 'many', "
                "expected a whole number"
            ),
        ),
        (
            "feeds/clicks.yaml",
            "{limit: days(10)}",
            "{limit: days(10), keep_last: 0}",
            (
                "feeds/clicks.yaml:9:45: bad-value: clusters[primary].retention.keep_last: found the number 0, "
                "expected at least 1"
            ),
        ),
        (
            "feeds/clicks.yaml",
            "frequency: hours(1)",
            "frequency: hours(1)\ngroups: online",
            "feeds/clicks.yaml:4:9: wrong-type: groups: found the text 'online', expected a list",
        ),
        (
            "feeds/clicks.yaml",
            "frequency: hours(1)",
            "frequency: hours(1)\navailability_flag: 1",
            (
                "feeds/clicks.yaml:4:20: wrong-type: availability_flag: found the number 1, expected text; "
                "put quotes around it"
            ),
        ),
        (
            "feeds/clicks.yaml",
            "frequency: hours(1)",
            "frequency: hours(1)\ntimezone: Europe/Berln",
            "feeds/clicks.yaml:4:11: bad-timezone: timezone: ",
        ),
        (
            "feeds/clicks.yaml",
            "/${YEAR}/",
            "/",
            "feeds/clicks.yaml:5:",
        ),
        (
            "feeds/clicks.yaml",
            "kind: feed",
            "kind: fed",
            (
                "feeds/clicks.yaml:1:7: wrong-kind: kind: found 'fed', expected 'feed'; "
                "the kind of an entity goes with its folder"
            ),
        ),
        (
            "processes/clicks_hourly.yaml",
            "today(0,0)",
            "todai(0,0)",
            "processes/clicks_hourly.yaml:6:34: bad-el: inputs.clicks.start: ",
        ),
        (
            "processes/clicks_hourly.yaml",
            "today(0,0)",
            "today(0)",
            "processes/clicks_hourly.yaml:6:",
        ),
        (
            "processes/clicks_hourly.yaml",
            "  clicks: {",
            "  my clicks: {",
            "processes/clicks_hourly.yaml:6:3: bad-name: inputs.my clicks: ",
        ),
        (
            "processes/clicks_hourly.yaml",
            "workflow: {engine: spark_sql, path: workflows/clicks_hourly.sql}",
            "workflow: {engine: spark_sql}",
            "processes/clicks_hourly.yaml:7:1: missing-key: missing key 'path' in workflow",
        ),
        (
            "processes/clicks_hourly.yaml",
            "name: clicks_hourly\n",
            "name: clicks_hourly\nlate_process: {policy: backoff}\n",
            "processes/clicks_hourly.yaml:3:1: missing-key: missing key 'delay' in late_process",
        ),
        (
            "clusters/primary.yaml",
            'interfaces: {write: {endpoint: "file:///"}}',
            "interfaces: {}",
            "clusters/primary.yaml:4:1: missing-key: missing key 'write' in interfaces; ",
        ),
    ],
)
def test_a_violation_is_one_sentence_with_its_place(file: str, old: str, new: str, problem: str) -> None:
    text = FILES[file]
    assert old in text
    found = problems({file: text.replace(old, new)})
    assert any(each.startswith(problem) for each in found), found


def test_a_password_is_refused_with_what_to_do() -> None:
    text = DATASOURCE.replace("env: FEEDCTL_DATASOURCE_SHOP_PASSWORD", "password: s3cret")
    found = problems({"datasources/shop.yaml": text})
    assert found == [
        (
            "datasources/shop.yaml:5:28: unknown-key: unknown key 'password' in credential; "
            "nothing secret may stand in the repo: give env, file, or alias and provider"
        )
    ]


def test_a_password_in_a_url_is_refused_and_not_repeated() -> None:
    text = DATASOURCE.replace("jdbc:postgresql://db/shop", "jdbc:postgresql://me:s3cret@db/shop")
    (found,) = problems({"datasources/shop.yaml": text})
    assert found.startswith("datasources/shop.yaml:4:")
    assert "expected a reference such as ${env:NAME}" in found
    assert "s3cret" not in found


def test_all_violations_of_all_files_are_reported() -> None:
    found = problems(
        {
            "feeds/clicks.yaml": FEED.replace("hours(1)", "hour(1)").replace("limit", "limt"),
            "clusters/primary.yaml": CLUSTER + "colour: red\n",
            "processes/clicks_hourly.yaml": PROCESS.replace("now(0,0)", "nowadays(0,0)"),
        }
    )
    assert [each.split(": ")[1] for each in found] == [
        "unknown-key", "bad-frequency", "unknown-key", "bad-el",
    ]  # fmt: skip
