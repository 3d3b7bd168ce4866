"""`feedctl instance status|running|list|summary|logs|dependencies` over a ledger."""

from __future__ import annotations

import pytest

from tests.contract.ledger.samples import begun, changed, key, started
from tests.unit.cli.running import Feedctl
from tests.unit.management.runs import eviction, execution
from toolkit.ledger.database import Ledger
from toolkit.ledger.vocabulary import LifeCycle, RunStatus

pytestmark = pytest.mark.usefixtures("repo")

JOB = "clicks_hourly_job"
RANGE = ("--start", "2026-03-20T01:00Z", "--end", "2026-03-20T04:00Z")


@pytest.fixture
def filled(cli_ledger: Ledger) -> Ledger:
    execution(cli_ledger, "2026-03-20T01:00Z", name=JOB)
    execution(cli_ledger, "2026-03-20T02:00Z", RunStatus.FAILED, name=JOB)
    started(cli_ledger, key("2026-03-20T02:00Z", entity=JOB, life_cycle=LifeCycle.EXECUTION))
    return cli_ledger


@pytest.mark.usefixtures("filled")
def test_status_has_a_row_for_every_instance(feedctl: Feedctl) -> None:
    rows = feedctl("instance", "status", JOB, *RANGE).rows
    assert rows[0] == ["CLUSTER", "INSTANCE", "STATUS", "ATTEMPT", "STARTED", "ENDED", "LOG", "NOTE"]
    assert [row[:4] for row in rows[1:]] == [
        ["primary", "2026-03-20T01:00Z", "succeeded", "1"],
        ["primary", "2026-03-20T02:00Z", "running", "2"],
        ["primary", "2026-03-20T03:00Z", "waiting", "-"],
    ]
    assert rows[1][6] == "/logs/1"


@pytest.mark.usefixtures("filled")
def test_status_as_json_says_all_there_is(feedctl: Feedctl) -> None:
    document = feedctl("instance", "status", JOB, *RANGE, "--output", "json").document
    assert (document["schema_version"], document["name"], document["life_cycle"]) == (1, JOB, "execution")
    over, runs, waits = document["instances"]
    assert (over["status"], over["who"], over["host"], over["log"]) == ("succeeded", "ada", "edge1", "/logs/1")
    assert "has_live_owner" not in over
    assert (runs["attempt"], runs["has_live_owner"], runs["asked"]) == (2, True, None)
    assert waits == {
        "life_cycle": "execution",
        "cluster": "primary",
        "counterpart": None,
        "instance": "2026-03-20T03:00Z",
        "status": "waiting",
        "attempt": 0,
    }


@pytest.mark.usefixtures("filled")
def test_status_is_filtered_sorted_and_cut(feedctl: Feedctl) -> None:
    def instances(*options: str) -> list[str]:
        found = feedctl("instance", "status", JOB, *RANGE, *options, "--output", "json").document["instances"]
        return [f"{each['instance'][11:13]} {each['status']}" for each in found]

    assert instances("--filter-by", "STATUS:waiting,STATUS:succeeded") == ["01 succeeded", "03 waiting"]
    assert instances("--filter-by", "status:FAILED", "--all-attempts") == ["02 failed"]
    assert instances("--order-by", "status") == ["02 running", "01 succeeded", "03 waiting"]
    assert instances("--sort-order", "desc", "--limit", "1") == ["03 waiting"]
    assert instances("--offset", "2") == ["03 waiting"]
    assert instances("--filter-by", "STARTEDAFTER:2099-01-01T00:00Z") == []
    assert len(instances("--filter-by", "CLUSTER:primary")) == 3


def test_copies_are_filtered_by_their_source(feedctl: Feedctl, cli_ledger: Ledger) -> None:
    for source in ("primary", "one_that_is_gone"):
        copy = key(cluster="backup", life_cycle=LifeCycle.REPLICATION, counterpart=source)
        changed(cli_ledger, begun(cli_ledger, copy), RunStatus.FAILED)
    at = ("clicks", "--time", "2026-03-20T12:00Z", "--env", "pair", "--output", "json")

    def sources(command: str, *options: str) -> list[str]:
        return [each["counterpart"] for each in feedctl("instance", command, *at, *options).document["instances"]]

    for command in (("status",), ("list", "--life-cycle", "replication")):
        assert sorted(sources(*command)) == ["one_that_is_gone", "primary"]
        assert sources(*command, "--filter-by", "SOURCECLUSTER:primary") == ["primary"]
    wrong = feedctl("instance", "status", *at, "--filter-by", "SOURCECLUSTER:backup")
    assert (wrong.code, "source cluster named 'backup'" in wrong.err) == (2, True), wrong.err
    data = feedctl("instance", "list", *at, "--filter-by", "SOURCECLUSTER:primary")
    assert (data.code, "only runs have it" in data.err) == (2, True), data.err


@pytest.mark.usefixtures("filled")
def test_running_is_what_runs_now(feedctl: Feedctl) -> None:
    (_, row) = feedctl("instance", "running", JOB).rows
    assert row[:4] == ["execution", "primary", "2026-03-20T02:00Z", "running"]


def test_runs_of_retention_are_listed_by_their_life_cycle(feedctl: Feedctl, cli_ledger: Ledger) -> None:
    eviction(cli_ledger, "2026-03-20T06:00Z")
    eviction(cli_ledger, "2026-03-20T12:00Z", RunStatus.FAILED)
    rows = feedctl("instance", "list", "clicks", "--life-cycle", "eviction").rows
    assert [row[1:3] for row in rows[1:]] == [["2026-03-20T12:00Z", "failed"], ["2026-03-20T06:00Z", "succeeded"]]
    one = feedctl("instance", "list", "clicks", "--life-cycle", "eviction", "--start", "2026-03-20T06:00Z").rows
    assert [row[2] for row in one[1:]] == ["succeeded"]


@pytest.mark.usefixtures("filled")
def test_the_summary_counts_by_status(feedctl: Feedctl) -> None:
    rows = feedctl("instance", "summary", JOB, *RANGE).rows
    assert rows[1:] == [["primary", "waiting", "1"], ["primary", "running", "1"], ["primary", "succeeded", "1"]]
    document = feedctl("instance", "summary", JOB, *RANGE, "--output", "json").document
    assert document["clusters"] == [{"cluster": "primary", "counts": {"waiting": 1, "running": 1, "succeeded": 1}}]
    assert document["range"] == "2026-03-20T01:00Z to 2026-03-20T04:00Z"


@pytest.mark.usefixtures("filled")
def test_logs_say_where_the_logs_are(feedctl: Feedctl) -> None:
    rows = feedctl("instance", "logs", JOB, *RANGE, "--all-attempts").rows
    assert [(row[1], row[2], row[-1]) for row in rows[1:]] == [
        ("2026-03-20T01:00Z", "1", "/logs/1"),
        ("2026-03-20T02:00Z", "1", "/logs/1"),
        ("2026-03-20T02:00Z", "2", "/logs/1"),
    ]
    document = feedctl("instance", "logs", JOB, *RANGE, "--output", "json").document
    assert [each["attempt"] for each in document["logs"]] == [1, 2]


@pytest.mark.usefixtures("filled")
def test_dependencies_name_inputs_and_outputs_with_their_state(feedctl: Feedctl) -> None:
    rows = feedctl("instance", "dependencies", JOB, "--start", "2026-03-20T03:00Z").rows
    assert [row[1:] for row in rows[1:]] == [
        ["input", "feed", "clicks", "clicks", "primary", "2026-03-20T02:00Z", "-"],
        ["output", "feed", "clicks_hourly", "counts", "primary", "2026-03-20T02:00Z", "-"],
    ]
    made = feedctl("instance", "dependencies", "clicks_hourly", "--start", "2026-03-20T00:00Z", "--output", "json")
    producer = made.document["clusters"][0]["dependencies"][0]
    assert (producer["relation"], producer["name"], producer["instance"], producer["state"]) == (
        "producer",
        JOB,
        "2026-03-20T01:00Z",
        "succeeded",
    )


@pytest.mark.usefixtures("cli_ledger")
@pytest.mark.parametrize(
    ("arguments", "nothing"),
    [
        (("hold", "list", "impressions"), "no holds"),
        (("instance", "running", JOB), "no such instances"),
        (("instance", "list", JOB, "--life-cycle", "execution"), "no such instances"),
        (
            ("instance", "list", JOB, "--start", "2025-01-01T00:00Z", "--end", "2025-01-02T00:00Z"),
            "no instances in that",
        ),
        (("instance", "logs", JOB), "nothing ran"),
        (("entity", "list", "--group", "nowhere"), "no such entities"),
    ],
)
def test_an_empty_table_says_so_and_keeps_its_headings(
    feedctl: Feedctl, arguments: tuple[str, ...], nothing: str
) -> None:
    ran = feedctl(*arguments)
    assert (ran.code, len(ran.rows)) == (0, 1)
    assert ran.err.startswith(nothing)
    assert feedctl(*arguments, "--output", "json").err == ""


def test_a_question_about_a_feed_takes_the_only_life_cycle_that_it_has(feedctl: Feedctl, cli_ledger: Ledger) -> None:
    eviction(cli_ledger, "2026-03-20T12:00Z")
    ran = feedctl("instance", "status", "clicks")
    assert [row[:3] for row in ran.rows[1:]] == [["primary", "2026-03-20T12:00Z", "succeeded"]]
    assert ran.err == "note: clicks has only eviction here, so that is shown\n"
    assert feedctl("instance", "status", "clicks", "--life-cycle", "eviction").err == ""


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ("status", JOB, "--start", "2025-12-31T00:00Z"),
            "the validity of clicks_hourly_job (primary: 2026-01-01T01:00Z",
        ),
        (("status", JOB, "--start", "2026-03-20T01:30Z"), "expected an instance of hours(1)"),
        (("status", JOB, "--end", "2026-03-20T01:30Z"), "found --end alone, expected --start with it"),
        (("status", JOB, *RANGE, "--filter-by", "STATE:failed"), "found 'STATE:failed', expected KEY:VALUE"),
        (("status", JOB, *RANGE, "--filter-by", "STATUS:faild"), "did you mean failed?"),
        (("status", JOB, *RANGE, "--filter-by", "CLUSTER:prmary"), "did you mean primary?"),
        (("status", JOB, *RANGE, "--filter-by", "STARTEDAFTER:today"), "expected a date such as"),
        (("status", JOB, *RANGE, "--filter-by", "STARTEDAFTER:2026-13-20T00:00Z"), "expected a month from 01 to 12"),
        (("status", JOB, *RANGE, "--cluster", "backup"), "has no cluster named 'backup'"),
        (("kill", "clicks", *RANGE), "clicks has no replication on primary; give --life-cycle eviction"),
        (("status", "primary", *RANGE), "primary is a cluster and has no runs"),
        (("status", "clicks", "--life-cycle", "eviction", "--start", "2026-03-20T01:00Z"), "is recorded for"),
        (("kill", JOB), "Missing option '--time'"),
        (("list", JOB, *RANGE, "--limit", "3"), "--limit: found '3', expected --life-cycle beside it"),
        (("dependencies", JOB, "--start", "2026-03-20T01:30Z"), "expected an instance of hours(1)"),
    ],
)
@pytest.mark.usefixtures("cli_ledger")
def test_bad_input_is_one_message_and_exit_code_2(feedctl: Feedctl, arguments: tuple[str, ...], message: str) -> None:
    ran = feedctl("instance", *arguments)
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
    assert message in ran.err
