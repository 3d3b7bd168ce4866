"""Tests of what no schema can check: between the values of an entity, and between entities."""

from __future__ import annotations

import pytest

from tests.unit.entities.config_repo import CLUSTER, DATASOURCE, FEED, PROCESS, problems, repository

TABLE = 'table: "catalog:logs:clicks#ds=${YEAR}-${MONTH}-${DAY}-${HOUR}"\n'
PATHS = 'locations:\n  data: "/data/clicks/${YEAR}/${MONTH}/${DAY}/${HOUR}"\n'
SECOND = "  - name: primary\n    validity: {start: 2026-01-01T00:00Z, end: 2099-01-01T00:00Z}\n"


def feed_with(old: str, new: str) -> list[str]:
    assert old in FEED
    return problems({"feeds/clicks.yaml": FEED.replace(old, new)})


def process_with(old: str, new: str) -> list[str]:
    assert old in PROCESS
    return problems({"processes/clicks_hourly.yaml": PROCESS.replace(old, new)})


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        (PATHS, "", "feeds/clicks.yaml:1:1: feed-storage: expected exactly one of locations and table, found neither"),
        (
            PATHS,
            PATHS + TABLE,
            "feeds/clicks.yaml:1:1: feed-storage: expected exactly one of locations and table, found both",
        ),
        (
            "    retention: {limit: days(10)}\n",
            f"    {TABLE}",
            "feeds/clicks.yaml:9:5: feed-storage: found table on the cluster primary of a path feed; ",
        ),
        ("  data:", "  stats:", "feeds/clicks.yaml:7:5: feed-storage: no data location on the cluster primary; "),
        (
            "/${YEAR}/${MONTH}/${DAY}/${HOUR}",
            "",
            "feeds/clicks.yaml:5:9: undated-data: the data location has no date field, but the cluster primary has a ",
        ),
        (
            "    retention:",
            "    locations: {data: /data/all}\n    retention:",
            "feeds/clicks.yaml:9:23: undated-data: the data location has no date",
        ),
        (
            "/data/clicks",
            "/data/${cluster.name}/${flavour}",
            "feeds/clicks.yaml:5:9: bad-template: on the cluster primary: ",
        ),
        (
            "end: 2099",
            "end: 2025",
            "feeds/clicks.yaml:8:47: empty-validity: the validity ends before it starts, expected start < end; ",
        ),
        (
            "    retention:",
            f"{SECOND}    retention:",
            "feeds/clicks.yaml:9:11: duplicate-name: the name 'primary' is there twice in clusters; ",
        ),
        (
            "name: primary",
            "name: primry",
            (
                "feeds/clicks.yaml:7:11: unknown-cluster: found the cluster 'primry', expected one under clusters/; "
                "did you mean primary?"
            ),
        ),
        (
            "    retention:",
            "    version: 3\n    retention:",
            "feeds/clicks.yaml:9:14: cluster-version: asks for version 3 of the cluster primary, which is 0; ",
        ),
        (
            "    retention:",
            "    import: {source: {name: shopp, table_name: t, extract: {type: full}}}\n    retention:",
            (
                "feeds/clicks.yaml:9:29: unknown-datasource: found the datasource 'shopp', "
                "expected one under datasources/; did you mean shop?"
            ),
        ),
        (
            "    retention:",
            "    export: {target: {name: shopp, table_name: t, load: {type: allowinsert}}}\n    retention:",
            "feeds/clicks.yaml:9:29: unknown-datasource: found the datasource 'shopp'",
        ),
        (
            "kind: feed",
            (
                "kind: feed\n"
                'lifecycle: {retention_stage: {properties: {"retention.policy.agebaseddelete.limit": days(3)}}}'
            ),
            (
                "feeds/clicks.yaml:8:5: lifecycle-limit: the retention stage has the limit days(3), "
                "the retention of the cluster primary days(10); "
            ),
        ),
    ],
)
def test_a_feed_that_would_be_acted_on_wrongly_is_refused(old: str, new: str, problem: str) -> None:
    properties = "\nproperties: {flavour: a/b}\n" if "flavour" in new else ""
    found = (
        feed_with(old, new) if not properties else problems({"feeds/clicks.yaml": FEED.replace(old, new) + properties})
    )
    assert any(each.startswith(problem) for each in found), found


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        (
            "feed: clicks",
            "feed: click",
            (
                "processes/clicks_hourly.yaml:6:18: unknown-feed: found the feed 'click', expected one under feeds/; "
                "did you mean clicks?"
            ),
        ),
        ("feed: clicks", "feed: primary", "processes/clicks_hourly.yaml:6:18: unknown-feed: found the feed 'primary'"),
        (
            "{name: primary",
            "{name: primari",
            "processes/clicks_hourly.yaml:4:19: unknown-cluster: found the cluster 'primari', ",
        ),
        ("end: 2099", "end: 2026", "processes/clicks_hourly.yaml:4:70: empty-validity: "),
        (
            "workflow: {engine",
            "workflow: {steps: [{name: a, engine: command, path: x}], engine",
            "processes/clicks_hourly.yaml:7:12: ambiguous-workflow: found steps beside engine, path or args",
        ),
        (
            "{engine: spark_sql, path: workflows/clicks_hourly.sql}",
            "{engine: command, path: x, spark: {session: own}}",
            "processes/clicks_hourly.yaml:7:55: bad-value: found session: own, expected none: no step is a script",
        ),
        (
            "{engine: spark_sql, path: workflows/clicks_hourly.sql}",
            "{engine: spark_sql, path: x, spark: {session: shared, mode: cluster}}",
            "processes/clicks_hourly.yaml:7:57: bad-value: found session: shared beside mode: cluster, expected mode",
        ),
        (
            "inputs:",
            'outputs:\n  clicks: {feed: clicks, instance: "now(0,0)"}\ninputs:',
            "processes/clicks_hourly.yaml:6:3: duplicate-name: the name 'clicks' is an input and an output",
        ),
        (
            "inputs:",
            "late_process: {policy: final, inputs: {click: x}}\ninputs:",
            (
                "processes/clicks_hourly.yaml:5:40: unknown-input: found the late input 'click', "
                "expected one of the process's inputs; did you mean clicks?"
            ),
        ),
        (
            "{engine: spark_sql, path: workflows/clicks_hourly.sql}",
            "{steps: [{name: a, engine: hive, path: x}, {name: b, engine: hive, path: y, inputs: [clicks, cliks]}]}",
            (
                "processes/clicks_hourly.yaml:7:104: unknown-input: found the input 'cliks' of the step b, "
                "expected one of the process's inputs; did you mean clicks?"
            ),
        ),
        (
            "{engine: spark_sql, path: workflows/clicks_hourly.sql}",
            "{steps: [{name: a, engine: command, path: x}, {name: a, engine: command, path: y}]}",
            "processes/clicks_hourly.yaml:7:64: duplicate-name: the name 'a' is there twice in steps; ",
        ),
        (
            "{engine: spark_sql",
            "{steps: [{name: a b, engine: command, path: x}]",
            'processes/clicks_hourly.yaml:7:27: bad-name: workflow.steps[a b].name: "a b": expected a letter, then ',
        ),
    ],
)
def test_a_process_that_would_be_acted_on_wrongly_is_refused(old: str, new: str, problem: str) -> None:
    found = process_with(old, new)
    assert any(each.startswith(problem) for each in found), found


def test_a_process_runs_only_where_its_feeds_are() -> None:
    found = problems(
        {
            "clusters/backup.yaml": CLUSTER.replace("name: primary", "name: backup"),
            "processes/clicks_hourly.yaml": PROCESS.replace("{name: primary", "{name: backup"),
        }
    )
    assert found == [
        (
            "processes/clicks_hourly.yaml:6:18: feed-not-on-cluster: the feed clicks is not on the cluster backup, "
            "where the process runs; the feed is on primary"
        )
    ]


@pytest.mark.parametrize(
    ("credential", "found"), [("{user: me}", "none"), ("{env: FEEDCTL_DATASOURCE_A, file: b}", "env and file")]
)
def test_a_credential_is_found_in_exactly_one_place(credential: str, found: str) -> None:
    text = DATASOURCE.replace("{user: reader, env: FEEDCTL_DATASOURCE_SHOP_PASSWORD}", credential)
    assert problems({"datasources/shop.yaml": text}) == [
        f"datasources/shop.yaml:5:1: credential: expected exactly one of env, file and alias, found {found}"
    ]


@pytest.mark.parametrize("name", ["prepareQuery", "sessionInitStatement", "keytab"])
def test_a_connection_property_is_no_option_of_spark(name: str) -> None:
    (found,) = problems({"datasources/shop.yaml": f"{DATASOURCE}\nproperties: {{{name}: DROP TABLE t}}\n"})
    assert f"exchange: the property {name} is an option of Spark" in found


def test_a_password_behind_a_semicolon_of_an_end_point_is_refused() -> None:
    end = DATASOURCE.replace("jdbc:postgresql://db/shop", "jdbc:db2://h/shop:password=s3cret;")
    assert any("has a password among its options" in each for each in problems({"datasources/shop.yaml": end}))


def test_an_alias_needs_its_provider() -> None:
    text = DATASOURCE.replace("env: FEEDCTL_DATASOURCE_SHOP_PASSWORD", "alias: shop")
    (found,) = problems({"datasources/shop.yaml": text})
    assert found.startswith("datasources/shop.yaml:5:1: missing-key: missing key 'provider' in credential")


def test_a_table_feed_is_loaded() -> None:
    feed = repository({"feeds/clicks.yaml": FEED.replace(PATHS, TABLE)}).feed("clicks")
    assert feed.is_table
    assert list(feed.locations_on("primary").by_type()) == []
    assert feed.table_on("primary") == "catalog:logs:clicks#ds=${YEAR}-${MONTH}-${DAY}-${HOUR}"


def test_a_lifecycle_limit_that_agrees_is_fine() -> None:
    stage = 'lifecycle: {retention_stage: {properties: {"retention.policy.agebaseddelete.limit": days(10)}}}\n'
    assert problems({"feeds/clicks.yaml": FEED + stage}) == []


def test_undated_data_without_retention_is_fine() -> None:
    text = FEED.replace("/${YEAR}/${MONTH}/${DAY}/${HOUR}", "").replace("    retention: {limit: days(10)}\n", "")
    assert problems({"feeds/clicks.yaml": text}) == []


@pytest.mark.parametrize(
    ("endpoint", "found"),
    [
        ("/data", '"/data": at character 1: expected a scheme such as hdfs:// or file:// (no default is known)'),
        ("hdfss://nn:8020", "\"hdfss://nn:8020/\": at character 1: found 'hdfss', expected one of the schemes file, "),
        ("file://data", "\"file://data/\": at character 8: found 'data', expected no host: file:///path"),
    ],
)
def test_a_cluster_has_a_file_system_that_paths_can_be_on(endpoint: str, found: str) -> None:
    (problem,) = problems({"clusters/primary.yaml": CLUSTER.replace("file:///", endpoint)})
    assert problem.startswith(f"clusters/primary.yaml:4:32: bad-url: interfaces.write.endpoint: {found}")


@pytest.mark.parametrize(
    ("root", "found"),
    [
        ("maprfs://cluster", "found 'maprfs', expected one of the schemes file, hdfs, "),
        ("hdfs:", "expected '//' and the host, name service or bucket"),
    ],
)
def test_a_template_is_on_a_store_that_can_be_told(root: str, found: str) -> None:
    (problem,) = feed_with("/data/clicks/", f"{root}/data/clicks/")
    assert problem.startswith(f'feeds/clicks.yaml:5:9: bad-template: on the cluster primary: "{root}/data/clicks": at ')
    assert found in problem
