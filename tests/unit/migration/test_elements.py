"""Tests of what becomes of each element that Falcon's specification and feature list know."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.migration.migrated import cluster, feed, make_of, process
from toolkit.entities.documents import Value
from toolkit.entities.pointers import value_at
from toolkit.migration.draft import TextOutcome

ON_FEED = [
    ("<timezone>America/Los_Angeles</timezone>", ("timezone",), "America/Los_Angeles"),
    ("<availabilityFlag>_SUCCESS</availabilityFlag>", ("availability_flag",), "_SUCCESS"),
    ('<late-arrival cut-off="hours(6)"/>', ("late_arrival", "cut_off"), "hours(6)"),
    ("<groups>online,bi</groups>", ("groups",), ["online", "bi"]),
    ("<tags>owner=web, classification=pii</tags>", ("tags",), {"owner": "web", "classification": "pii"}),
    ('<partitions><partition name="a"/><partition name="b"/></partitions>', ("partitions",), ["a", "b"]),
    ('<partition name="a"/>', ("partitions",), ["a"]),
    ('<ACL owner="etl" group="g" permission="0x755"/>', ("acl", "permission"), "0755"),
    ('<ACL owner="etl" group="g" permission="*"/>', ("acl", "permission"), "*"),
    ('<ACL owner="etl" group="g" permission="0x755"/>', ("owner",), "etl"),
    ('<sla slaLow="hours(2)" slaHigh="hours(4)"/>', ("sla",), {"low": "hours(2)", "high": "hours(4)"}),
    ('<schema location="/s" provider="avro"/>', ("schema",), {"location": "/s", "provider": "avro"}),
    (
        '<notification type="email" level="attempt" to="a@example.com, b@example.com"/>',
        ("notification",),
        {"email": ["a@example.com", "b@example.com"], "level": "attempt"},
    ),
    ('<properties><property name="parallel" value="3"/></properties>', ("properties", "parallel"), 3),
    ('<properties><property name="job.counter" value="true"/></properties>', ("properties", "job.counter"), True),
    ('<properties><property name="order" value="ONLYLAST"/></properties>', ("properties", "order"), "LAST_ONLY"),
    ('<properties><property name="mine" value="003"/></properties>', ("properties", "mine"), "003"),
    ('<properties><property name="mine" value=" a b "/></properties>', ("properties", "mine"), " a b "),
    ('<properties><property name="mine" value=""/></properties>', ("properties", "mine"), ""),
]

ON_ITS_CLUSTER = [
    ('<retention limit="days(10)" action="DELETE"/>', ("retention",), {"limit": "days(10)", "action": "delete"}),
    (
        '<retention type="instance" limit="days(10)" action="delete"/>',
        ("retention",),
        {"type": "instance", "limit": "days(10)", "action": "delete"},
    ),
    ('<sla slaLow="hours(2)" slaHigh="hours(4)"/>', ("sla",), {"low": "hours(2)", "high": "hours(4)"}),
    (
        '<locations><location type="stats" path="/stats"/></locations>',
        ("locations",),
        {"stats": "/stats"},
    ),
    ('<location type="stats" path="/stats"/>', ("locations",), {"stats": "/stats"}),
    (
        (
            "<lifecycle><retention-stage><policy>AgeBasedDelete</policy><frequency>hours(6)</frequency><queue>q</queue>"
            "<priority>LOW</priority><properties>"
            '<property name="retention.policy.agebaseddelete.limit" value="days(3)"/>'
            "</properties></retention-stage></lifecycle>"
        ),
        ("lifecycle", "retention_stage"),
        {
            "policy": "age_based_delete",
            "frequency": "hours(6)",
            "queue": "q",
            "priority": "LOW",
            "properties": {"retention.policy.agebaseddelete.limit": "days(3)"},
        },
    ),
    (
        (
            '<lifecycle><retention-stage><properties><property name="retention.policy.agebaseddelete.limit" '
            'value="days(3)"/></properties></retention-stage></lifecycle>'
        ),
        ("retention",),
        {"limit": "days(3)"},
    ),
    (
        (
            '<retention limit="days(9)"/><lifecycle><retention-stage><properties><property '
            'name="retention.policy.agebaseddelete.limit" value="days(3)"/></properties></retention-stage></lifecycle>'
        ),
        ("retention",),
        {"limit": "days(3)"},
    ),
]

ON_PROCESS = [
    ("<pipelines>a,b</pipelines>", ("pipelines",), ["a", "b"]),
    ("<parallel>2</parallel>", ("parallel",), 2),
    ("<concurrency>2</concurrency>", ("parallel",), 2),
    ("<order>ONLYLAST</order>", ("order",), "LAST_ONLY"),
    ("<order>LIFO</order>", ("order",), "LIFO"),
    ("<timeout>hours(7)</timeout>", ("timeout",), "hours(7)"),
    ('<sla shouldStartIn="hours(1)" shouldEndIn="hours(2)"/>', ("sla", "should_end_in"), "hours(2)"),
    (
        '<retry policy="exp-backoff" delay="minutes(10)" attempts="3" onTimeout="true"/>',
        ("retry",),
        {"policy": "exp_backoff", "delay": "minutes(10)", "attempts": 3, "on_timeout": True},
    ),
    ('<retry policy="final" delay="minutes(10)" attempts="3"/>', ("retry",), None),
    ('<retry policy="periodic" delay="minutes(10)" attempts="0"/>', ("retry",), None),
    (
        '<input name="in" feed="clicks" start-instance="now(-1,0)" end-instance="now(0,0)" partition="*/US"/>',
        ("inputs", "in"),
        {"feed": "clicks", "start": "now(-1,0)", "end": "now(0,0)", "partition": "*/US"},
    ),
    (
        '<inputs><input name="in" feed="clicks" start="now(-1,0)" end="now(0,0)" optional="true"/></inputs>',
        ("inputs", "in", "optional"),
        True,
    ),
    (
        (
            '<inputs><input name="in" feed="clicks" start="now(-1,0)" end="now(0,0)"/></inputs><late-process '
            'policy="exp-backoff" delay="hours(1)"><late-input input="in" workflow-path="/late/in.pig"/></late-process>'
        ),
        ("late_process",),
        {"policy": "exp_backoff", "delay": "hours(1)", "inputs": {"in": "workflows/job.late.in.pig.sh"}},
    ),
]

FEED_ON = '<partitions><partition name="a"/><partition name="b"/></partitions><late-arrival cut-off="hours(1)"/>'


@pytest.mark.parametrize(("more", "pointer", "value"), ON_FEED)
def test_an_element_of_a_feed(tmp_path: Path, more: str, pointer: tuple[str, ...], value: Value) -> None:
    made = make_of(tmp_path, c=cluster(), f=feed(more=more))
    assert value_at(made.document("clicks"), pointer) == value


@pytest.mark.parametrize(("on", "pointer", "value"), ON_ITS_CLUSTER)
def test_an_element_of_a_feeds_cluster(tmp_path: Path, on: str, pointer: tuple[str, ...], value: Value) -> None:
    made = make_of(tmp_path, c=cluster(), f=feed(on=on))
    assert value_at(made.document("clicks"), ("clusters", 0, *pointer)) == value


@pytest.mark.parametrize(("more", "pointer", "value"), ON_PROCESS)
def test_an_element_of_a_process(tmp_path: Path, more: str, pointer: tuple[str, ...], value: Value) -> None:
    made = make_of(tmp_path, c=cluster(), f=feed(more=FEED_ON), p=process(more=more))
    assert value_at(made.document("job"), pointer) == value


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        ("/a/${YEAR}-${MONTH}-${DAY}-${HOUR}", "/a/${YEAR}-${MONTH}-${DAY}-${HOUR}"),
        ("/a/${yyyy}/${MM}/${dd}/${HH}", "/a/${YEAR}/${MONTH}/${DAY}/${HOUR}"),
        ("/a/yyyy-MM-dd/HH", "/a/${YEAR}-${MONTH}-${DAY}/${HOUR}"),
        ("/a/yyyyMMddHH", "/a/${YEAR}${MONTH}${DAY}${HOUR}"),
        ("/COMMON/add/yyyy/MM/dd/HH", "/COMMON/add/${YEAR}/${MONTH}/${DAY}/${HOUR}"),
        ("/yyyy/${YEAR}/${MONTH}/${DAY}/${HOUR}", "/yyyy/${YEAR}/${MONTH}/${DAY}/${HOUR}"),
        ("${nameNode}/a/${YEAR}/${MONTH}/${DAY}/${HOUR}", "/a/${YEAR}/${MONTH}/${DAY}/${HOUR}"),
        ("s3a://b/a/${YEAR}/${MONTH}/${DAY}/${HOUR}", "s3a://b/a/${YEAR}/${MONTH}/${DAY}/${HOUR}"),
    ],
)
def test_paths_in_both_dialects(tmp_path: Path, found: str, expected: str) -> None:
    made = make_of(tmp_path, c=cluster(), f=feed(path=found))
    assert made.document("clicks")["locations"] == {"data": expected}
    (row,) = (each for each in made.rows("feed clicks") if each.source and each.source.text == found)
    assert (row.outcome is TextOutcome.CHANGED) == bool(row.note) == (found != expected)


def test_paths_are_dated_in_utc_and_the_report_says_that_falcon_did_not_say_so(tmp_path: Path) -> None:
    made = make_of(tmp_path, c=cluster(), f=feed(frequency="days(1)", more="<timezone>Asia/Tokyo</timezone>"))
    assert made.document("clicks")["path_timezone"] == "UTC"
    added = {each.target.key for each in made.rows("feed clicks") if each.outcome is TextOutcome.ADDED and each.target}
    assert added == {"path_timezone", "external"}
    assert b"# not in Falcon: its paths and partitions are named in UTC" in made.files()["feeds/clicks.yaml"]


def test_archiving_is_never_read_as_deleting(tmp_path: Path) -> None:
    on = '<retention limit="days(10)" action="archive"/>'
    made = make_of(tmp_path, c=cluster(), f=feed(on=on))
    assert "retention" not in made.document("clicks")["clusters"][0]
    dropped = [each for each in made.rows("feed clicks") if each.outcome is TextOutcome.DROPPED]
    assert {each.source.text for each in dropped if each.source} == {"days(10)", "archive"}
    assert ["retention with action archive" in each.text for each in made.migration.report.tasks] == [True]


def test_an_end_without_its_z_is_utc(tmp_path: Path) -> None:
    made = make_of(tmp_path, c=cluster(), f=feed(validity='start="2026-01-01T00:00Z" end="2030-01-01T00:00"'))
    assert made.document("clicks")["clusters"][0]["validity"]["end"] == "2030-01-01T00:00Z"


def test_a_time_zone_beside_the_validity_is_the_entitys(tmp_path: Path) -> None:
    validity = 'start="2026-01-01T00:00Z" end="2030-01-01T00:00Z" timezone="PST8PDT"'
    made = make_of(tmp_path, c=cluster(), f=feed(validity=validity))
    assert made.document("clicks")["timezone"] == "PST8PDT"


def test_a_feed_in_a_table(tmp_path: Path) -> None:
    uri = "catalog:web:clicks#ds=${yyyy}-${MM}-${dd}-${HH};region=${region};"
    more = '<properties><property name="region" value="eu"/></properties>'
    made = make_of(tmp_path, c=cluster(), f=feed(storage=f'<table uri="{uri}"/>', more=more))
    expected = "catalog:web:clicks#ds=${YEAR}-${MONTH}-${DAY}-${HOUR};region=${region}"
    assert made.document("clicks")["table"] == expected


def test_import_export_and_their_datasource(tmp_path: Path) -> None:
    datasource = """<datasource name="crm" colo="east" type="mysql" xmlns="uri:falcon:datasource:0.1">
      <interfaces>
        <interface type="readonly" endpoint="jdbc:mysql://db.example.com/crm">
          <driver><clazz>com.mysql.Driver</clazz><jar>/lib/a.jar</jar><jar>/lib/b.jar</jar></driver>
          <credential type="password-alias"><userName>sqoop</userName>
            <passwordAlias><alias>crm</alias><providerPath>jceks://hdfs/p</providerPath></passwordAlias></credential>
        </interface>
        <interface type="write" endpoint="jdbc:mysql://db.example.com/crm">
          <credential type="password-text"><userName>sqoop</userName><passwordText>sesame</passwordText></credential>
        </interface>
        <credential type="password-file"><userName>sqoop</userName><passwordFile>/p</passwordFile></credential>
      </interfaces>
    </datasource>"""
    on = """<import><source name="crm" tableName="t"><extract type="full"><mergepolicy>snapshot</mergepolicy></extract>
        <fields><includes><field>id</field><field>name</field></includes></fields></source>
        <arguments><argument name="--split-by" value="id"/></arguments></import>
      <export><target name="crm" tableName="u"><load type="allowInsert"/></target>
        <arguments><argument name="--update-key" value="id"/><argument name="--input-null-string" value="NIL"/>
          <argument name="--input-null-non-string" value="NIL"/></arguments></export>"""
    made = make_of(tmp_path, c=cluster(), d=datasource, f=feed(on=on))
    crm = made.document("crm")
    assert crm["interfaces"]["readonly"] == {
        "endpoint": "jdbc:mysql://db.example.com/crm",
        "driver": {"class": "com.mysql.Driver", "jars": ["/lib/a.jar", "/lib/b.jar"]},
        "credential": {"user": "sqoop", "alias": "crm", "provider": "jceks://hdfs/p"},
    }
    assert crm["interfaces"]["write"]["credential"] == {"user": "sqoop", "env": "FEEDCTL_DATASOURCE_CRM_WRITE_PASSWORD"}
    assert crm["credential"] == {"user": "sqoop", "file": "/p"}
    on_cluster = made.document("clicks")["clusters"][0]
    assert on_cluster["import"] == {
        "source": {
            "name": "crm",
            "table_name": "t",
            "extract": {"type": "full", "merge_policy": "snapshot"},
            "fields": {"includes": ["id", "name"]},
        },
        "arguments": {"--split-by": "id"},
    }
    assert on_cluster["export"]["target"] == {"name": "crm", "table_name": "u", "load": {"type": "allowinsert"}}
    assert on_cluster["export"]["format"] == "csv", "a text for nulls is one of files of text"
    assert "external" not in made.document("clicks")
    assert b"sesame" not in b"".join(made.files().values())
    assert all("sesame" not in (each.source.text if each.source else "") for each in made.migration.report.rows)


def test_what_a_cluster_says_of_hadoop_is_where_clients_look(tmp_path: Path) -> None:
    more = """<properties>
        <property name="dfs.namenode.kerberos.principal" value="nn/_HOST@EXAMPLE.COM"/>
        <property name="brokerImplClass" value="org.apache.activemq.ActiveMQConnectionFactory"/>
      </properties>"""
    interfaces = '<interface type="messaging" endpoint="tcp://mq.example.com:61616?daemon=true" version="5"/>'
    made = make_of(tmp_path, c=cluster(more=more, interfaces=interfaces), f=feed())
    main = made.document("main")
    assert main["hadoop_conf"] == {"dfs.namenode.kerberos.principal": "nn/_HOST@EXAMPLE.COM"}
    assert main["properties"] == {"brokerImplClass": "org.apache.activemq.ActiveMQConnectionFactory"}
    assert main["interfaces"]["messaging"] == {"endpoint": "stomp://mq.example.com:61613", "version": "5"}
    assert main["interfaces"]["readonly"]["endpoint"] == "webhdfs://nn.example.com:50070"


def test_a_broker_that_cannot_be_told_is_left_out_aloud(tmp_path: Path) -> None:
    endpoint = "failover:(tcp://a:61616,tcp://b:61616)"
    interfaces = f'<interface type="messaging" endpoint="{endpoint}" version="5"/>'
    made = make_of(tmp_path, c=cluster(interfaces=interfaces), f=feed())
    assert "messaging" not in made.document("main")["interfaces"]
    dropped = {
        each.source.text for each in made.rows("cluster main") if each.outcome is TextOutcome.DROPPED and each.source
    }
    assert dropped == {"messaging", endpoint, "5"}


def test_a_login_in_an_end_point_is_not_shown(tmp_path: Path) -> None:
    endpoint = "tcp://etl:Tr0ub4dor@mq.example.com:61616"
    made = make_of(tmp_path, c=cluster(interfaces=f'<interface type="messaging" endpoint="{endpoint}" version="5"/>'))
    assert "Tr0ub4dor" not in str(made.migration.report)
    assert b"Tr0ub4dor" not in b"".join(made.files().values())


def test_a_validity_of_a_process_is_that_of_its_clusters(tmp_path: Path) -> None:
    text = """<process name="old"><cluster name="main"/><frequency>hours(1)</frequency>
      <validity start="2026-03-01T08:40Z" end="2026-04-01T08:00Z" timezone="PST8PDT"/>
      <workflow engine="oozie" path="/app"/></process>"""
    document = make_of(tmp_path, c=cluster(), p=text).document("old")
    assert document["timezone"] == "PST8PDT"
    assert document["clusters"] == [
        {"name": "main", "validity": {"start": "2026-03-01T08:40Z", "end": "2026-04-01T08:00Z"}}
    ]


def test_common_values_are_said_once(tmp_path: Path) -> None:
    acl = '<ACL owner="etl" group="g" permission="0750"/>'
    flag = "<availabilityFlag>_SUCCESS</availabilityFlag>"
    feeds = {name: feed(name, more=acl + (flag if name != "c" else "")) for name in ("a", "b", "c")}
    made = make_of(tmp_path, main=cluster(), **feeds)
    defaults = made.files()["defaults.yaml"].decode()
    assert "owner: etl" in defaults
    assert "_SUCCESS" not in defaults, "one feed has no flag, and would get it"
    assert made.document("c")["acl"] == {"owner": "etl", "group": "g", "permission": "0750"}
    assert b"acl" not in made.files()["feeds/a.yaml"]


def test_a_property_that_has_no_effect_here_is_reported_as_changed(tmp_path: Path) -> None:
    more = '<properties><property name="skipChecksum" value="{}"/></properties>'
    outcomes = []
    for each in ("true", "false"):
        (tmp_path / each).mkdir()
        rows = make_of(tmp_path / each, c=cluster(), f=feed(more=more.format(each))).rows("feed clicks")
        outcomes += [row.outcome for row in rows if row.source and row.source.text == each]
    assert outcomes == [TextOutcome.CHANGED, TextOutcome.CARRIED]
