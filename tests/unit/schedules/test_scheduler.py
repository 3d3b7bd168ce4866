from __future__ import annotations

from dataclasses import replace

import pytest

from tests.unit.entities.config_repo import CLUSTER, FEED, PROCESS
from tests.unit.schedules.schedules import SETTINGS, scheduled, the
from toolkit.el import Frequency, Unit, parse_instant
from toolkit.entities import UnknownName
from toolkit.entities.errors import NotInEnvironment
from toolkit.entities.repo import Schedules
from toolkit.entities.vocabulary import DeployMode
from toolkit.errors import NotImplementedYet
from toolkit.schedules.actions import ActionKind
from toolkit.schedules.timetable import cron_times

BACKUP = CLUSTER.replace("primary", "backup")
REPLICATED = """\
kind: feed
name: orders
frequency: hours(1)
availability_flag: _SUCCESS
locations: {data: "/data/orders/${YEAR}/${MONTH}/${DAY}/${HOUR}"}
partitions: [colo]
clusters:
  - {name: primary, type: source, validity: {start: 2026-01-01T00:00Z, end: 2099-01-01T00:00Z}, delay: minutes(10)}
  - {name: backup, type: target, validity: {start: 2026-01-01T00:00Z, end: 2099-01-01T00:00Z}}
"""
BOTH = {"clusters/backup.yaml": BACKUP, "feeds/orders.yaml": REPLICATED}
INGESTED = """\
kind: feed
name: page_views
frequency: hours(1)
table: "catalog:web:page_views#ds=${YEAR}-${MONTH}-${DAY}-${HOUR}"
clusters:
  - name: primary
    validity: {start: 2026-01-01T00:00Z, end: 2099-01-01T00:00Z}
    ingest:
      source: {directory: /inbox/page_views}
      format: {type: json}
      columns: [{name: viewed_at, type: timestamp}, {name: page, type: string}]
      event_time: viewed_at
"""
ICEBERG = "iceberg: {type: sql, uri: 'sqlite:////data/catalog.db', warehouse: /warehouse}"
INGESTING = CLUSTER.replace("interfaces: {", f"interfaces: {{{ICEBERG}, ", 1)
EVERYWHERE = "description: all clusters\n"
LATE = """\
kind: process
name: clicks_daily
domain: web
frequency: days(1)
clusters: [{name: primary, validity: {start: 2026-01-02T00:00Z, end: 2099-01-01T00:00Z}}]
inputs:
  clicks: {feed: clicks, start: "yesterday(0,0)", end: "today(-1,0)"}
workflow: {engine: command, path: run.sh}
late_process: LATE
"""
LATE_FEED = FEED.replace("locations:", "late_arrival: {cut_off: hours(6)}\nlocations:", 1)


def test_each_feed_with_retention_and_each_process_has_its_action_then_what_waits_and_monitor_and_watchdog() -> None:
    assert [each.name for each in scheduled().actions] == [
        "process.clicks_hourly",
        "retention.clicks",
        "process_again",
        "monitor",
        "watchdog",
    ]


def test_an_action_is_one_spark_submit_of_its_entrypoint() -> None:
    settings = Schedules(
        entrypoints="/opt/entrypoints",
        config_repo="/srv/feeds",
        spark_submit="/opt/spark/bin/spark-submit",
        master="yarn",
        deploy_mode=DeployMode.CLUSTER,
        options=("--queue", "etl"),
    )
    assert the(scheduled(settings=settings), ActionKind.PROCESS).command == (
        *("/opt/spark/bin/spark-submit", "--master", "yarn", "--deploy-mode", "cluster", "--queue", "etl"),
        *("/opt/entrypoints/process.py", "--process", "clicks_hourly", "--cluster", "primary", "--due"),
        *("--config-repo", "/srv/feeds", "--env", "prod"),
    )


def test_an_entrypoint_without_spark_is_started_by_python_and_the_others_by_spark_submit() -> None:
    settings = replace(
        SETTINGS, master="yarn", options=("--queue", "etl"), without_spark=("process",), python="python3.12"
    )
    schedule = scheduled(settings=settings)
    for kind in (ActionKind.PROCESS, ActionKind.PROCESS_AGAIN):
        assert the(schedule, kind).command[:2] == ("python3.12", "/opt/entrypoints/process.py")
    assert the(schedule, ActionKind.RETENTION).command[:3] == ("spark-submit", "--master", "yarn")


def test_the_watchdog_is_feedctl_itself_and_has_no_nominal_time() -> None:
    watchdog = the(scheduled(), ActionKind.WATCHDOG)
    expected = ("feedctl", "status", "--stale", "--config-repo", "/srv/feeds", "--env", "prod")
    assert (watchdog.command, watchdog.takes_time) == (expected, False)


def test_the_monitor_is_feedctl_itself_at_the_pace_of_the_environment() -> None:
    monitor = the(scheduled(), ActionKind.MONITOR)
    assert (monitor.command[:2], monitor.takes_time) == (("feedctl", "monitor"), True)
    assert str(cron_times(monitor.timetable, "UTC")) == "1,6,11,16,21,26,31,36,41,46,51,56 * * * *"
    rarely = replace(SETTINGS, monitor=Frequency(unit=Unit.HOURS, count=1))
    assert str(cron_times(the(scheduled(settings=rarely), ActionKind.MONITOR).timetable, "UTC")) == "1 * * * *"


def test_what_waits_is_looked_at_again_on_all_of_the_cluster() -> None:
    schedule = scheduled(BOTH, environment=EVERYWHERE)
    assert {each.kind: each.command[2:-4] for each in schedule.actions if each.kind.endswith("_again")} == {
        ActionKind.PROCESS_AGAIN: ("--all", "--due", "--cluster", "primary"),
        ActionKind.REPLICATION_AGAIN: ("--all", "--target", "backup"),
    }


def test_a_cluster_with_a_triggered_process_is_polled_and_its_triggers_are_evaluated() -> None:
    triggered = PROCESS.replace("workflow:", "schedule: also\ntrigger: {all: [{feed: clicks}]}\nworkflow:", 1)
    assert triggered != PROCESS
    schedule = scheduled({"processes/clicks_hourly.yaml": triggered})
    trigger = the(schedule, ActionKind.TRIGGER)
    assert trigger.command[1:-4] == ("/opt/entrypoints/trigger.py", "--due", "--poll", "--cluster", "primary")
    assert str(trigger.timetable.frequency) == "minutes(5)"
    assert not [each for each in scheduled().actions if each.kind is ActionKind.TRIGGER]


def test_the_source_of_a_feed_with_ingest_is_read_every_few_minutes() -> None:
    schedule = scheduled({"clusters/primary.yaml": INGESTING, "feeds/page_views.yaml": INGESTED})
    ingest = the(schedule, ActionKind.INGEST)
    own = ("--feed", "page_views", "--cluster", "primary")
    assert ingest.command[1:-4] == ("/opt/entrypoints/ingest.py", *own)
    assert (ingest.name, str(cron_times(ingest.timetable, "UTC"))) == ("ingest.page_views", "*/5 * * * *")


def test_the_time_between_two_ingests_is_a_setting() -> None:
    texts = {"clusters/primary.yaml": INGESTING, "feeds/page_views.yaml": INGESTED}
    settings = replace(SETTINGS, ingest=Frequency(unit=Unit.HOURS, count=1))
    assert str(the(scheduled(texts, settings), ActionKind.INGEST).timetable.frequency) == "hours(1)"


def test_a_feed_that_reads_standard_input_alone_is_left_out_with_the_reason() -> None:
    unread = INGESTED.replace("      source: {directory: /inbox/page_views}\n", "")
    schedule = scheduled({"clusters/primary.yaml": INGESTING, "feeds/page_views.yaml": unread})
    assert [(each.name, "--stdin" in each.reason) for each in schedule.left_out] == [("ingest.page_views", True)]
    assert ActionKind.INGEST not in {each.kind for each in schedule.actions}


def test_an_export_to_a_database_starts_with_its_feed_and_is_looked_at_again() -> None:
    export = "export: {target: {name: crm, table_name: orders, load: {type: allowinsert}}}"
    crm = 'kind: datasource\nname: crm\ntype: postgres\ninterfaces: {write: {endpoint: "jdbc:postgresql://db/crm"}}\n'
    exported = REPLICATED.replace("delay: minutes(10)", export, 1).replace("type: source, ", "", 1)
    texts = {"datasources/crm.yaml": crm, "feeds/orders.yaml": exported.replace(exported.splitlines()[-1], "")}
    schedule = scheduled(texts)
    action = the(schedule, ActionKind.DB_EXPORT)
    assert action.command[1:6] == ("/opt/entrypoints/db_export.py", "--feed", "orders", "--cluster", "primary")
    assert str(action.timetable.frequency) == "hours(1)"
    assert the(schedule, ActionKind.DB_EXPORT_AGAIN).command[2:5] == ("--all", "--cluster", "primary")


def test_retention_has_its_cadence_and_a_minute_of_its_own() -> None:
    retention = the(scheduled(), ActionKind.RETENTION)
    assert str(retention.timetable.frequency) == "days(1)"
    times = cron_times(retention.timetable, "UTC")
    assert (times.hours, len(times.minutes), times.is_exact) == ((0,), 1, True)


def test_retention_of_a_rare_feed_runs_daily() -> None:
    rare = FEED.replace("frequency: hours(1)", "frequency: months(1)")
    assert rare != FEED
    retention = the(scheduled({"feeds/clicks.yaml": rare, "processes/clicks_hourly.yaml": None}), ActionKind.RETENTION)
    assert str(retention.timetable.frequency) == "days(1)"


def test_the_retention_stage_says_how_often() -> None:
    stage = "lifecycle: {retention_stage: {frequency: hours(6)}}\nlocations:"
    retention = the(scheduled({"feeds/clicks.yaml": FEED.replace("locations:", stage, 1)}), ActionKind.RETENTION)
    assert cron_times(retention.timetable, "UTC").hours == (0, 6, 12, 18)


def test_the_retention_stage_says_in_which_queue_and_how_urgent() -> None:
    for priority, number in (("LOW", "2"), ('"7"', "7")):
        stage = f"lifecycle: {{retention_stage: {{queue: '--x y', priority: {priority}}}}}\nlocations:"
        found = scheduled({"feeds/clicks.yaml": FEED.replace("locations:", stage, 1)})
        conf = ("--conf", "spark.yarn.queue=--x y", "--conf", f"spark.yarn.priority={number}")
        command = the(found, ActionKind.RETENTION).command
        at = command.index("--conf")
        assert command[at : at + 4] == conf
        assert command[at + 4].endswith("/retention.py")
        others = [each for each in found.actions if each.kind is not ActionKind.RETENTION]
        assert not any("--conf" in each.command for each in others)


def test_the_queue_and_priority_of_a_feed_are_those_of_its_own_actions_and_a_stage_wins_for_retention() -> None:
    own = "properties: {queueName: etl, jobPriority: HIGH}\nlifecycle: {retention_stage: {queue: night}}\nlocations:"
    orders = REPLICATED.replace("locations:", own, 1).replace("delay: minutes(10)", "retention: {limit: days(9)}")
    found = scheduled({**BOTH, "feeds/orders.yaml": orders}, environment=EVERYWHERE)
    commands = {each.kind: each.command for each in found.actions if each.entity == "orders"}
    for kind, queue in ((ActionKind.RETENTION, "night"), (ActionKind.REPLICATION, "etl")):
        command = commands[kind]
        at = command.index("--conf")
        conf = ("--conf", f"spark.yarn.queue={queue}", "--conf", "spark.yarn.priority=4")
        assert command[at : at + 4] == conf
    assert "--conf" not in the(found, ActionKind.REPLICATION_AGAIN).command, "one run of all feeds"


def test_a_replication_has_the_delay_of_its_slowest_source_and_runs_at_the_target() -> None:
    other = "  - {name: third, type: source, partition: x, delay: hours(2), validity: VALID}\n"
    two = REPLICATED.replace("type: source,", "type: source, partition: y,") + other.replace(
        "VALID", "{start: 2026-01-01T00:00Z, end: 2099-01-01T00:00Z}"
    )
    texts = {**BOTH, "feeds/orders.yaml": two, "clusters/third.yaml": CLUSTER.replace("primary", "third")}
    replication = the(scheduled(texts, environment=EVERYWHERE), ActionKind.REPLICATION)
    assert str(replication.timetable) == "hours(1), hours(2) after its time"
    assert replication.command[2:-4] == ("--feed", "orders", "--target", "backup")


def test_only_the_clusters_that_were_asked_for_are_in_it() -> None:
    schedule = scheduled(BOTH, SETTINGS, "backup", environment=EVERYWHERE)
    assert [each.name for each in schedule.actions] == [
        "replication.orders",
        "replication_again",
        "monitor",
        "watchdog",
    ]
    assert (schedule.clusters, schedule.is_whole) == (("backup",), False)


def test_a_cluster_outside_of_the_environment_or_none_at_all_is_refused() -> None:
    with pytest.raises(NotInEnvironment, match="cluster backup is not in environment prod"):
        scheduled(BOTH, SETTINGS, "backup")
    with pytest.raises(UnknownName, match="no cluster named 'bakcup'; did you mean backup"):
        scheduled(BOTH, SETTINGS, "bakcup")


def test_what_no_action_can_do_yet_is_left_out_with_the_reason() -> None:
    refusal = NotImplementedYet(what="engine: oozie", instead="wait")
    feed = FEED.replace('"/data/clicks/', '"viewfs://all/data/clicks/')
    assert feed != FEED
    schedule = scheduled({"feeds/clicks.yaml": feed}, refused={"clicks_hourly": refusal})
    assert [each.name for each in schedule.actions] == ["monitor", "watchdog"]
    assert [(each.name, each.reason[:50]) for each in schedule.left_out] == [
        ("process.clicks_hourly", "engine: oozie is not implemented yet; wait"),
        ("retention.clicks", "feed clicks: storage viewfs://all is not implement"),
    ]


def test_table_feeds_are_evicted_like_others_and_pulled_by_their_own_entrypoint() -> None:
    table = 'table: "catalog:db:orders#ds=${YEAR}-${MONTH}-${DAY}-${HOUR}"\n'
    lines = [line for line in REPLICATED.splitlines() if not line.startswith(("locations", "partitions"))]
    feed = "\n".join(lines).replace("cluster", f"{table}cluster", 1) + "\n"
    registry = CLUSTER.replace("interfaces: {", 'interfaces: {registry: {endpoint: "thrift://hms:9083"}, ')
    assert registry != CLUSTER
    clusters = {f"clusters/{name}.yaml": registry.replace("primary", name) for name in ("primary", "backup")}
    actions = {
        each.name: each for each in scheduled({**clusters, "feeds/orders.yaml": feed}, environment=EVERYWHERE).actions
    }
    assert any(part.endswith("/hive_replication.py") for part in actions["hive_replication.orders"].command)
    assert any(part.endswith("/hive_replication.py") for part in actions["hive_replication_again"].command)
    assert "replication_again" not in actions


def _late(late: str) -> dict[str, str | None]:
    return {"feeds/clicks.yaml": LATE_FEED, "processes/clicks_daily.yaml": LATE.replace("LATE", late)}


def test_the_only_late_check_is_at_the_cut_off() -> None:
    late = the(scheduled(_late("{policy: final, inputs: {clicks: late.sh}}")), ActionKind.LATE_CHECK)
    assert str(cron_times(late.timetable, "UTC")) == "0 5 * * *", "yesterday's last hour, and 6 hours"
    assert late.timetable.start > parse_instant("2026-01-02T00:00Z")


def test_late_checks_of_other_policies_come_with_their_delay() -> None:
    late = the(scheduled(_late("{policy: backoff, delay: hours(2), inputs: {clicks: late.sh}}")), ActionKind.LATE_CHECK)
    assert str(cron_times(late.timetable, "UTC")) == "0 */2 * * *"


def test_late_checks_come_no_more_often_than_the_process_has_instances_when_their_delay_is_longer() -> None:
    texts = _late("{policy: periodic, delay: days(2), inputs: {clicks: late.sh}}")
    assert str(cron_times(the(scheduled(texts), ActionKind.LATE_CHECK).timetable, "UTC")) == "0 0 * * *"


def test_nobody_looks_for_late_data_of_feeds_that_have_none() -> None:
    texts = {**_late("{policy: final, inputs: {clicks: late.sh}}"), "feeds/clicks.yaml": FEED}
    assert ActionKind.LATE_CHECK not in {each.kind for each in scheduled(texts).actions}


def test_a_cut_off_that_only_a_run_can_tell_counts_from_the_instance() -> None:
    text = LATE.replace("LATE", "{policy: final, inputs: {clicks: late.sh}}")
    text = text.replace('start: "yesterday(0,0)", end: "today(-1,0)"', 'start: "latest(0)", end: "latest(0)"')
    texts = {"feeds/clicks.yaml": LATE_FEED, "processes/clicks_daily.yaml": text}
    assert str(cron_times(the(scheduled(texts), ActionKind.LATE_CHECK).timetable, "UTC")) == "0 0 * * *"


def test_a_feed_has_the_domain_of_the_process_that_makes_it() -> None:
    made = PROCESS.replace("workflow:", 'outputs: {made: {feed: clicks, instance: "now(0,0)"}}\nworkflow:')
    text = made.replace("inputs:\n", "domain: web\ninputs:\n")
    schedule = scheduled({"processes/clicks_hourly.yaml": text})
    assert {each.name: each.domain for each in schedule.actions} == {
        "process.clicks_hourly": "web",
        "retention.clicks": "web",
        "process_again": "",
        "monitor": "",
        "watchdog": "",
    }
