"""`feedctl instance list` on the config repo of the template."""

from __future__ import annotations

import pytest

from tests.unit.cli.running import Feedctl

pytestmark = pytest.mark.usefixtures("repo")


def rows(feedctl: Feedctl, *arguments: str) -> list[tuple[str, str, str]]:
    document = feedctl("instance", "list", "--planned", *arguments, "--output", "json").document
    return [(each["instance"], each["what"], each["where"]) for each in document["instances"]]


def test_a_path_feeds_instances_have_their_paths(feedctl: Feedctl) -> None:
    assert rows(feedctl, "clicks", "--start", "2026-03-20T00:30Z", "--end", "2026-03-20T02:00Z") == [
        ("2026-03-20T01:00Z", "data", "/data/clicks/2026/03/20/01"),
        ("2026-03-20T01:00Z", "stats", "/data/clicks_stats/2026/03/20/01"),
        ("2026-03-20T01:00Z", "meta", "/data/clicks_meta"),
    ]


def test_a_table_feeds_instances_have_their_partitions(feedctl: Feedctl) -> None:
    found = rows(feedctl, "clicks_by_country", "--start", "2026-03-19T23:00Z")
    assert found == [("2026-03-19T23:00Z", "partition", "ds=2026-03-20/region=emea")]


def test_a_processs_instances_have_what_they_read_and_make(feedctl: Feedctl) -> None:
    assert rows(feedctl, "clicks_hourly_job", "--start", "2026-03-20T03:00Z") == [
        ("2026-03-20T03:00Z", "clicks", "/data/clicks/2026/03/20/02/*/*"),
        ("2026-03-20T03:00Z", "counts", "/data/clicks_hourly/2026-03-20/02"),
    ]


def test_inputs_that_depend_on_availability_are_said_to(feedctl: Feedctl) -> None:
    found = rows(feedctl, "customer_activity_job", "--start", "2026-03-20T04:00Z")
    assert found[0][2] == "latest(0) to latest(0) of crm_customers, by availability"


def test_every_cluster_is_listed_that_the_environment_may_act_on(feedctl: Feedctl) -> None:
    requested = ("instance", "list", "clicks", "--planned", "--start", "2026-03-20T00:00Z", "--output", "json")
    assert {each["cluster"] for each in feedctl(*requested).document["instances"]} == {"primary"}
    assert {each["cluster"] for each in feedctl(*requested, "--env", "prod").document["instances"]} == {
        "primary",
        "backup",
    }
    named = feedctl(*requested, "--env", "prod", "--cluster", "backup").document
    assert {each["cluster"] for each in named["instances"]} == {"backup"}


def test_a_range_outside_the_validity_is_empty(feedctl: Feedctl) -> None:
    assert rows(feedctl, "clicks", "--start", "2025-01-01T00:00Z", "--end", "2025-02-01T00:00Z") == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("clicks", "--start", "2026-03-20T00:30Z"), "expected an instance of hours(1) from 2026-01-01T00:00Z"),
        (("primary", "--start", "2026-03-20T00:30Z"), "primary is a cluster and has no instances"),
        (("clicks", "--start", "2026-03-20"), "expected 'T' and a time"),
        (("clicks", "--start", "2026-03-20T00:00Z", "--cluster", "prmary"), "did you mean primary"),
        (("clicks",), "Missing option '--start'"),
    ],
)
def test_bad_input_is_one_message_and_exit_code_2(feedctl: Feedctl, arguments: tuple[str, ...], message: str) -> None:
    ran = feedctl("instance", "list", "--planned", *arguments)
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
    assert message in ran.err
