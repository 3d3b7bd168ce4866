"""The graph of datasets: what updates and reads each, which triggers form a cycle, what has no producer."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.entities.config_repo import repository
from toolkit.planning.dataset_graph import DatasetGraph, Link, LinkKind, Outside
from toolkit.planning.dataset_links import dataset_graph, next_run

VALIDITY = "validity: {start: 2026-01-01T00:00Z, end: 2099-01-01T00:00Z}"
CLUSTER = "kind: cluster\nname: {name}\ncolo: east\ninterfaces: {{write: {{endpoint: 'file:///{name}'}}}}\n"


def feed(name: str, more: str = "", clusters: str = f"[{{name: primary, {VALIDITY}}}]") -> str:
    path = f"/data/{name}/${{YEAR}}-${{MONTH}}-${{DAY}}"
    return f"kind: feed\nname: {name}\nfrequency: days(1)\nlocations: {{data: '{path}'}}\nclusters: {clusters}\n{more}"


def process(name: str, more: str = "", inputs: tuple[str, ...] = (), outputs: tuple[str, ...] = ()) -> str:
    reads = ", ".join(f'{each}: {{feed: {each}, start: "today(0,0)", end: "today(0,0)"}}' for each in inputs)
    makes = ", ".join(f'to_{each}: {{feed: {each}, instance: "today(0,0)"}}' for each in outputs)
    return (
        f"kind: process\nname: {name}\nfrequency: days(1)\nclusters: [{{name: primary, {VALIDITY}}}]\n"
        f"inputs: {{{reads}}}\noutputs: {{{makes}}}\nworkflow: {{engine: command, path: a.sh}}\n{more}"
    )


def graph(texts: dict[str, str]) -> DatasetGraph:
    nothing = dict.fromkeys(("feeds/clicks.yaml", "processes/clicks_hourly.yaml", "datasources/shop.yaml"))
    return dataset_graph(repository({**nothing, **texts}))


def uri(name: str, cluster: str = "primary") -> str:
    return f"feedctl:feed/{name}?cluster={cluster}"


SHOP = {
    "clusters/backup.yaml": CLUSTER.format(name="backup"),
    "repo.yaml": "datasets: [{uri: 's3a://shop/orders/', owner: shop@example.com}, {uri: my-dataset}]\n",
    "feeds/raw.yaml": feed(
        "raw",
        "external: true\ngroups: [all]\n",
        f"[{{name: primary, type: source, {VALIDITY}}}, {{name: backup, type: target, {VALIDITY}}}]",
    ),
    "feeds/sums.yaml": feed("sums", "groups: [all]\n"),
    "feeds/alone.yaml": feed("alone"),
    "processes/sum.yaml": process("sum", "outlets: ['https://host/notify']\n", ("raw",), ("sums",)),
    "processes/report.yaml": process(
        "report",
        "schedule: never\ninlets: ['s3://shop/rates']\n"
        "trigger: {any: [{group: all, cluster: primary}, 's3://shop/*', 'file:///data/alone']}\n",
    ),
}


def test_a_dataset_has_its_producers_and_consumers() -> None:
    found = graph(SHOP)
    assert list(found.nodes) == [
        uri("alone"),
        uri("raw", "backup"),
        uri("raw"),
        uri("sums"),
        "https://host/notify",
        "my-dataset",
        "s3://shop/orders",
        "s3://shop/rates",
    ]
    raw, sums = found.nodes[uri("raw")], found.nodes[uri("sums")]
    assert (raw.producers, raw.outside) == ((), (Outside.EXTERNAL,))
    assert raw.consumers == (
        Link(kind=LinkKind.INPUT, process="sum"),
        Link(kind=LinkKind.REPLICATION, dataset=uri("raw", "backup")),
        Link(kind=LinkKind.TRIGGER, process="report"),
    )
    assert found.nodes[uri("raw", "backup")].producers == (Link(kind=LinkKind.REPLICATION, dataset=uri("raw")),)
    assert sums.producers == (Link(kind=LinkKind.OUTPUT, process="sum"),)
    assert found.nodes["https://host/notify"].producers == (Link(kind=LinkKind.OUTLET, process="sum"),)
    orders = found.nodes["s3://shop/orders"]
    assert (orders.owner, orders.outside) == ("shop@example.com", (Outside.LISTED,))
    assert orders.consumers == (Link(kind=LinkKind.TRIGGER, process="report"),)


def test_datasets_without_a_producer_or_a_consumer_are_told() -> None:
    nodes = graph(SHOP).nodes
    assert [each for each, node in nodes.items() if not node.has_producer] == [uri("alone"), "s3://shop/rates"]
    assert [each for each, node in nodes.items() if not node.has_consumer] == [
        uri("raw", "backup"),
        "https://host/notify",
        "my-dataset",
    ]


def test_a_place_of_a_feed_in_a_trigger_is_the_feed() -> None:
    found = graph(SHOP)
    assert found.triggers["report"] == (
        uri("raw"),
        uri("sums"),
        "s3://shop/orders",
        "s3://shop/rates",
        uri("alone"),
    )
    assert found.nodes[uri("alone")].aliases == ("file:///data/alone",)


def test_a_glob_of_places_is_of_the_feeds_there() -> None:
    texts = {
        **SHOP,
        "processes/report.yaml": process("report", "schedule: never\ntrigger: {any: ['file:///data/*']}\n"),
    }
    assert graph(texts).triggers["report"] == (uri("alone"), uri("raw"), uri("sums"))


def test_what_lies_around_a_dataset_leaves_the_rest_out() -> None:
    around = graph(SHOP).around([uri("raw", "backup")])
    assert list(around.nodes) == [uri("raw", "backup"), uri("raw")]
    assert uri("my-dataset") not in graph(SHOP).around([uri("raw")]).nodes


CYCLE = {
    **{f"feeds/{name}.yaml": feed(name) for name in ("a", "b", "c")},
    "processes/one.yaml": process("one", "schedule: never\ntrigger: {all: [{feed: c}]}\n", (), ("a",)),
    "processes/two.yaml": process("two", "schedule: also\ntrigger: {any: [a]}\n", ("a",), ("b",)),
    "processes/three.yaml": process("three", "schedule: never\ntrigger: {any: [{all: [b]}]}\n", ("b",), ("c",)),
}


def test_a_cycle_of_triggers_is_found_from_its_first_process_on() -> None:
    found = graph(CYCLE)
    assert list(found.cycles()) == [("one", "two", "three")]
    assert found.between("one", "two") == uri("a")
    assert list(found.cycles(["two"])) == []


def test_a_process_that_no_data_starts_breaks_a_cycle() -> None:
    assert list(graph({**CYCLE, "processes/two.yaml": process("two", "", ("a",), ("b",))}).cycles()) == []


def test_a_cycle_goes_through_a_copy_and_through_a_glob() -> None:
    clusters = f"[{{name: primary, type: source, {VALIDITY}}}, {{name: backup, type: target, {VALIDITY}}}]"
    found = graph(
        {
            "clusters/backup.yaml": CLUSTER.format(name="backup"),
            "feeds/a.yaml": feed("a", clusters=clusters),
            "processes/one.yaml": process("one", "schedule: never\ntrigger: {all: ['s3://x/*']}\n", (), ("a",)),
            "processes/two.yaml": process(
                "two", "schedule: never\ntrigger: {all: [{feed: a, cluster: backup}]}\noutlets: ['s3://x/y']\n"
            ),
        }
    )
    assert list(found.cycles()) == [("one", "two")]
    assert found.between("one", "two") == uri("a", "backup")


def test_a_process_that_starts_itself_is_no_cycle_of_several() -> None:
    own = {
        "feeds/a.yaml": feed("a"),
        "processes/p.yaml": process("p", "schedule: also\ntrigger: {all: [a]}\n", ("a",), ("a",)),
    }
    assert list(graph(own).cycles()) == []


@given(st.dictionaries(st.integers(0, 9), st.lists(st.integers(0, 9), max_size=4), max_size=10))
def test_cycles_are_found_exactly_where_processes_reach_themselves(edges: dict[int, list[int]]) -> None:
    """Compared with reaching every process from every other, step by step."""
    triggers: dict[str, list[str]] = {f"p{name}": [] for name in range(10)}
    updates = {f"p{name}": tuple(f"d{name}-{other}" for other in others) for name, others in edges.items()}
    for name, others in edges.items():
        for other in others:
            triggers[f"p{other}"].append(f"d{name}-{other}")
    found = list(DatasetGraph(nodes={}, triggers={k: tuple(v) for k, v in triggers.items()}, updates=updates).cycles())
    reach = {name: {each for each in edges.get(name, []) if each != name} for name in range(10)}
    for _ in range(10):
        reach = {name: {*to, *(far for near in to for far in reach[near])} for name, to in reach.items()}
    in_cycle = {name for name in range(10) if name in reach[name]}
    groups = {frozenset(each for each in in_cycle if each in reach[name] and name in reach[each]) for name in in_cycle}
    assert {next(group for group in groups if int(cycle[0][1:]) in group) for cycle in found} == groups
    assert len(found) == len(groups)
    for cycle in found:
        for before, behind in zip(cycle, (*cycle[1:], cycle[0]), strict=True):
            assert int(behind[1:]) in edges[int(before[1:])]


@pytest.mark.parametrize(
    ("schedule", "after", "expected"),
    [
        ("", datetime(2026, 3, 4, 5, tzinfo=UTC), datetime(2026, 3, 5, tzinfo=UTC)),
        ("schedule: never\ntrigger: {all: [my-dataset]}\n", datetime(2026, 3, 4, 5, tzinfo=UTC), None),
        ("", datetime(2099, 3, 4, 5, tzinfo=UTC), None),
    ],
)
def test_the_next_run_is_that_of_the_frequency(schedule: str, after: datetime, expected: datetime | None) -> None:
    repo = repository({**SHOP, "processes/p.yaml": process("p", schedule)})
    assert next_run(repo.process("p"), after) == expected


def test_a_mirror_updates_its_target_directory() -> None:
    mirror = (
        "kind: mirror\nname: sales\ntype: hdfs_snapshot\ncluster: backup\nfrequency: hours(1)\n"
        "validity: {start: 2026-01-01T00:00Z, end: 2099-01-01T00:00Z}\nvalues:\n"
        "  {source_cluster: primary, source_snapshot_dir: /data/s, target_cluster: backup, target_snapshot_dir: %s,\n"
        "   source_snapshot_retention: {limit: days(1), number: 1},\n"
        "   target_snapshot_retention: {limit: days(1), number: 1}}\n"
    )
    backup = {"clusters/backup.yaml": CLUSTER.format(name="backup")}
    found = graph({**backup, "mirrors/sales.yaml": mirror % "/mirror/s"})
    assert found.nodes["file:///backup/mirror/s"].producers == (Link(kind=LinkKind.OUTLET, process="sales"),)
    place = {"feeds/alone.yaml": feed("alone", clusters=f"[{{name: backup, {VALIDITY}}}]")}
    found = graph({**backup, **place, "mirrors/sales.yaml": mirror % "/data/alone"})
    assert found.nodes[uri("alone", "backup")].producers == (Link(kind=LinkKind.OUTLET, process="sales"),)
