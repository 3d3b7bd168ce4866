from __future__ import annotations

from collections.abc import Mapping

import pytest

from tests.unit.entities.config_repo import CLUSTER, problems, repository, rules, snapshot
from toolkit.entities import Feed, Kind, Process, Selection
from toolkit.entities.loader import load_known
from toolkit.entities.mirror_work import TreeMirror
from toolkit.entities.not_implemented import Area, not_implemented
from toolkit.entities.vocabulary import GoneAtSource

BACKUP = CLUSTER.replace("primary", "backup")
TREE = """\
kind: mirror
name: manuals
type: hdfs
cluster: backup
owner: team@example.com
validity: {start: 2026-01-01T00:00Z, end: 2099-01-01T00:00Z}
frequency: hours(6)
retry: {policy: periodic, delay: minutes(5), attempts: 2}
values:
  source_cluster: primary
  source_dir: /data/manuals
  target_cluster: backup
  target_dir: /mirror/manuals
  on_source_delete: quarantine
"""
LANDING = """\
description: a landed feed and its check
values:
  path: {description: where, type: string, format: path-template}
  days: {description: how long, type: integer, minimum: 1, optional: true}
  limit: {description: kept so long, type: string, format: frequency, default: days(9)}
entities:
  - kind: feed
    name: raw
    owner: ${owner}
    frequency: ${frequency}
    locations: {data: "${path}"}
    clusters:
      - name: ${cluster}
        validity: ${validity}
        retention: {limit: "${limit}", keep_last: "${days}"}
  - kind: process
    name: ${name}
    frequency: ${frequency}
    clusters: [{name: "${cluster}", validity: "${validity}"}]
    inputs: {raw: {feed: "${entity.raw}", start: "now(0,0)", end: "now(0,0)"}}
    workflow: {engine: command, path: check.sh, args: ["${nominalTime}"]}
"""
LANDED = """\
kind: mirror
name: orders
type: landing
cluster: primary
validity: {start: 2026-01-01T00:00Z, end: 2099-01-01T00:00Z}
frequency: hours(1)
values: {path: "/data/orders/${YEAR}/${MONTH}/${DAY}/${HOUR}", days: 7}
"""
FILES: Mapping[str, str | bytes | None] = {"clusters/backup.yaml": BACKUP, "mirrors/web/manuals.yaml": TREE}
OWN: Mapping[str, str | bytes | None] = {"templates/landing.yaml": LANDING, "mirrors/orders.yaml": LANDED}


def _with(old: str, new: str, text: str = TREE) -> dict[str, str | bytes | None]:
    assert old in text
    return {**FILES, "mirrors/web/manuals.yaml": text.replace(old, new)}


def test_a_mirror_stands_for_a_process_of_its_name_that_refers_to_its_file() -> None:
    repo = repository(FILES)
    process = repo.process("manuals")
    assert process.workflow.mirror is not None
    assert process.workflow.mirror.given() == {
        "hdfs": TreeMirror(
            source_cluster="primary",
            target_cluster="backup",
            source_dir="/data/manuals",
            target_dir="/mirror/manuals",
            on_source_delete=GoneAtSource.QUARANTINE,
        )
    }
    assert (str(process.frequency), process.owner, [each.name for each in process.clusters]) == (
        "hours(6)",
        "team@example.com",
        ["backup"],
    )
    places = {pointer: str(place) for pointer, place in repo.origins("manuals").items()}
    assert places["workflow", "mirror", "hdfs", "target_dir"] == "mirrors/web/manuals.yaml:13:15"
    assert places["clusters", 0, "validity", "start"] == "mirrors/web/manuals.yaml:6:19"
    assert places["workflow", "engine"] == "mirrors/web/manuals.yaml:3:7", "what the type says is where it is named"
    assert repo.graph.depends_on("manuals") == ("backup", "primary")
    assert [each.name for each in repo.select(Selection(kind=Kind.MIRROR))] == ["manuals"]
    assert [each.KIND for each in repo.entities() if each.name == "manuals"] == [Kind.PROCESS]


def test_a_mirror_of_files_does_all_that_its_values_say() -> None:
    requested = (
        "  preserve: [permission, block_size, replication_number, checksum_type]\n  tde_encryption_enabled: true\n"
    )
    files = {**FILES, "mirrors/web/manuals.yaml": f"{TREE}{requested}  ignore_errors: true\n"}
    assert not_implemented(repository(files).process("manuals"), Area.PROCESS) == ()
    retention = "{limit: days(1), number: 2}"
    text = TREE.replace("type: hdfs", "type: hdfs_snapshot").replace("_dir:", "_snapshot_dir:")
    text = text.replace("on_source_delete: quarantine", f"source_snapshot_retention: {retention}")
    files["mirrors/web/manuals.yaml"] = f"{text}  target_snapshot_retention: {retention}\n{requested}"
    assert not_implemented(repository(files).process("manuals"), Area.PROCESS) == ()


def test_a_hive_mirror_is_refused_only_for_what_it_does_not_do() -> None:
    text = f"{TREE.partition('values:')[0].replace('type: hdfs', 'type: hive')}values:\n"
    text += "  source_cluster: primary\n  target_cluster: backup\n  source_databases: [sales]\n"
    files = {**FILES, "mirrors/web/manuals.yaml": text + "  on_source_delete: delete\n  max_events: 100\n"}
    assert not_implemented(repository(files).process("manuals"), Area.PROCESS) == ()
    text += "  source_staging_path: /a\n  target_staging_path: /b\n  tde_encryption_enabled: true\n"
    files["mirrors/web/manuals.yaml"] = text + "  on_source_delete: quarantine\n"
    assert [each.value for each in not_implemented(repository(files).process("manuals"), Area.PROCESS)] == [
        "source_staging_path: /a",
        "target_staging_path: /b",
        "tde_encryption_enabled: true",
        "on_source_delete: quarantine",
    ]


def test_a_template_of_the_repo_makes_several_entities_from_values() -> None:
    repo = repository(OWN)
    feed, process = repo.entity("orders_raw"), repo.entity("orders")
    assert isinstance(feed, Feed)
    assert isinstance(process, Process)
    assert feed.locations is not None
    assert feed.locations.data == "/data/orders/${YEAR}/${MONTH}/${DAY}/${HOUR}", (
        "what a value says is never read again"
    )
    retention = feed.cluster("primary").retention
    assert retention is not None
    assert (str(retention.limit), retention.keep_last, feed.owner) == ("days(9)", 7, None)
    assert process.inputs["raw"].feed == "orders_raw"
    assert process.workflow.args == ("${nominalTime}",)
    places = {pointer: str(place) for pointer, place in repo.origins("orders_raw").items()}
    assert places["locations", "data"] == "mirrors/orders.yaml:7:16"
    assert places["clusters", 0, "retention", "limit"] == "templates/landing.yaml:5:10"
    assert places["kind",] == "templates/landing.yaml:7:11"
    assert [each.name for each in repo.expanded("orders")] == ["orders", "orders_raw"]


def test_the_kept_entities_of_a_repo_are_expanded_again() -> None:
    files = snapshot({**FILES, **OWN})
    loaded = repository({**FILES, **OWN})
    known = load_known(files, None, dict.fromkeys((entry.file for entry in loaded.entries.values()), b""))
    assert sorted(known.entries) == sorted(loaded.entries)
    assert known.process("manuals") == loaded.process("manuals")
    assert dict(known.feed_documents()) == dict(loaded.feed_documents())
    assert known.mirrors["orders"].entity == loaded.mirrors["orders"].entity


def test_defaults_and_environments_are_laid_over_the_mirror() -> None:
    texts = {
        **_with("frequency: hours(6)\n", ""),
        "repo.yaml": "name: web-feeds\nenvironments: [dev]\n",
        "mirrors/defaults.yaml": "mirror: {frequency: days(1), timezone: Europe/Berlin}\n",
        "environments/dev.yaml": "entities: {manuals: {values: {max_maps: 3}, retry: null}}\n",
    }
    repo = repository(texts, "dev")
    process = repo.process("manuals")
    assert (str(process.frequency), process.timezone, process.retry) == ("days(1)", "Europe/Berlin", None)
    places = {pointer: str(place) for pointer, place in repo.origins("manuals").items()}
    assert places["frequency",] == "mirrors/defaults.yaml:1:21"
    assert places["workflow", "mirror", "hdfs", "max_maps"] == "environments/dev.yaml:1:41"
    overlay = "entities: {orders_raw: {owner: x}}\n"
    inside = {**OWN, "repo.yaml": texts["repo.yaml"], "environments/dev.yaml": overlay}
    assert rules(inside, "dev") == ["unknown-entity"], "it would change nothing"


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("type: hdfs", "type: hdfs_snapshott", "mirrors/web/manuals.yaml:3:7: unknown-type"),
        ("type: hdfs", "type: ../../etc/passwd", "mirrors/web/manuals.yaml:3:7: bad-name"),
        ("  source_dir:", "  source_dri:", "mirrors/web/manuals.yaml:11:3: unknown-key"),
        ("  target_dir: /mirror/manuals\n", "", "mirrors/web/manuals.yaml:9:1: missing-key"),
        ("/mirror/manuals", "mirror/manuals", "mirrors/web/manuals.yaml:13:15: bad-value"),
        ("/mirror/manuals", '"/mirror/${YEAR}"', "mirrors/web/manuals.yaml:13:"),
        ("/mirror/manuals", "/mirror/../data", "mirrors/web/manuals.yaml:13:15: bad-value"),
        ("source_cluster: primary", "source_cluster: primry", "mirrors/web/manuals.yaml:10:19: unknown-cluster"),
        ("cluster: backup\nowner", "cluster: backp\nowner", "mirrors/web/manuals.yaml:4:10: unknown-cluster"),
        ("2099-01-01T00:00Z", "2025-01-01T00:00Z", "mirrors/web/manuals.yaml:6:43: empty-validity"),
        ("name: manuals", "name: clicks", "mirrors/web/manuals.yaml:2:7: file-name"),
        ("hours(6)", "hours(six)", "mirrors/web/manuals.yaml:7:18: bad-frequency"),
        ("values:", "value:", "mirrors/web/manuals.yaml:9:1: unknown-key"),
    ],
)
def test_what_is_wrong_with_a_mirror_is_reported_where_it_is_written(old: str, new: str, expected: str) -> None:
    found = problems(_with(old, new))
    assert any(each.startswith(expected) for each in found), found


def test_a_directory_is_never_mirrored_into_itself() -> None:
    same = TREE.replace("target_cluster: backup", "target_cluster: primary").replace("/mirror/", "/data/manuals/")
    assert problems({**FILES, "mirrors/web/manuals.yaml": same}) == [
        "mirrors/web/manuals.yaml:13:15: bad-value: found source and target in one another, expected two directories"
    ]


def test_names_are_taken_by_mirrors_and_by_what_they_stand_for() -> None:
    feed = "kind: feed\nname: orders_raw\n"
    assert "duplicate-name" in rules({**OWN, "feeds/orders_raw.yaml": feed})
    assert "duplicate-name" in rules({**FILES, "processes/manuals.yaml": "kind: process\nname: manuals\n"})


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("${limit}", "${lmit}", "templates/landing.yaml:15:28: unknown-value"),
        ("${path}", "/data/${path}", "templates/landing.yaml:11:23: unknown-value"),
        ("${entity.raw}", "${entity.row}", "templates/landing.yaml:20:26: unknown-value"),
        ("kind: feed", "kind: cluster", "templates/landing.yaml:7:11: bad-value"),
        ("kind: feed", "kind: mirror", "templates/landing.yaml:7:11: bad-value"),
        ("kind: feed", "kind: ${kind}", "templates/landing.yaml:7:11: bad-value"),
        ("name: raw", "name: ${name}", "templates/landing.yaml:17:11: duplicate-name"),
        ("name: raw", "name: ../raw", "templates/landing.yaml:8:11: bad-value"),
        ("  path: {", "  owner: {", "templates/landing.yaml:3:3: duplicate-name"),
        ("engine: command", "engin: command", "templates/landing.yaml:21:16: unknown-key"),
        ("type: string, format: path-template", 'type: string, pattern: "(a+)+$"', "templates/landing.yaml:3:44: unk"),
    ],
)
def test_what_is_wrong_with_a_template_is_reported_in_its_file(old: str, new: str, expected: str) -> None:
    found = problems({**OWN, "templates/landing.yaml": LANDING.replace(old, new, 1)})
    assert any(each.startswith(expected) for each in found), found


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ("{limit: days(3)}", "mirrors/orders.yaml:7:1: missing-key: missing key 'path' in values"),
        ("{path: /x, days: 0}", "mirrors/orders.yaml:7:26: "),
        ("{path: /x, days: seven}", "mirrors/orders.yaml:7:26: wrong-type"),
        ("{path: /x, dys: 7}", "mirrors/orders.yaml:7:20: unknown-key"),
        ("{path: {a: b}}", "mirrors/orders.yaml:7:16: wrong-type"),
        ('{path: "${path}/${YEAR"}', "mirrors/orders.yaml:7:"),
    ],
)
def test_values_are_checked_by_the_template(values: str, expected: str) -> None:
    text = "".join(
        f"values: {values}\n" if line.startswith("values") else line for line in LANDED.splitlines(keepends=True)
    )
    found = problems({**OWN, "mirrors/orders.yaml": text})
    assert any(each.startswith(expected) for each in found), found


def test_aliases_make_no_more_of_a_template_than_its_limit() -> None:
    bomb = "a: &a [1, 2, 3, 4, 5, 6, 7, 8, 9]\n"
    levels = "".join(f"{name}: &{name} [{', '.join([f'*{above}'] * 9)}]\n" for above, name in ("ab", "bc", "cd", "de"))
    tags = LANDED + "tags: &t {" + ", ".join(f"k{index}: v" for index in range(4000)) + "}\n"
    many = "    tags: ${tags}\n    " + "\n    ".join(f"p{index}: ${{tags}}" for index in range(9)) + "\n"
    assert "too-large" in rules({**OWN, "templates/landing.yaml": LANDING + many, "mirrors/orders.yaml": tags})
    nested = LANDING + "    x:\n" + "".join(f"      {line}\n" for line in (bomb + levels).splitlines())
    assert "too-large" in rules({**OWN, "templates/landing.yaml": nested})
