"""Lineage of entities: every relation of a config repo is an edge, also between two commits and at an instant."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from tests.unit.entities.config_repo import DATASOURCE, repository
from toolkit.entities import UnknownName
from toolkit.lineage.entity_lineage import difference, entity_graph, neighbourhood, start_of
from toolkit.lineage.graph import LineageGraph, VertexKind

LONG = "validity: {start: 2026-01-01T00:00Z, end: 2099-01-01T00:00Z}"
ENDED = "validity: {start: 2026-01-01T00:00Z, end: 2026-02-01T00:00Z}"
CLUSTER = "kind: cluster\nname: {0}\ncolo: east\nowner: ops\ninterfaces: {{write: {{endpoint: 'file:///{0}'}}}}\n"


def feed(name: str, clusters: str, more: str = "", place: str = "") -> str:
    where = place or f"locations: {{data: '/{name}/${{YEAR}}-${{MONTH}}-${{DAY}}'}}"
    return f"kind: feed\nname: {name}\nfrequency: days(1)\n{where}\nclusters: [{clusters}]\n{more}"


def process(name: str, reads: str, makes: str, more: str = "", validity: str = LONG) -> str:
    inputs = ", ".join(f'in_{each}: {{feed: {each}, start: "today(0,0)", end: "today(0,0)"}}' for each in reads.split())
    outputs = ", ".join(f'to_{each}: {{feed: {each}, instance: "today(0,0)"}}' for each in makes.split())
    return (
        f"kind: process\nname: {name}\nfrequency: days(1)\nclusters: [{{name: primary, {validity}}}]\n"
        f"inputs: {{{inputs}}}\noutputs: {{{outputs}}}\nworkflow: {{engine: command, path: a.sh}}\n{more}"
    )


COPIED = (
    f"{{name: primary, type: source, {LONG}, retention: {{limit: days(10)}}}}, {{name: backup, type: target, {LONG}}}"
)
IMPORT = "import: {source: {name: shop, table_name: orders, extract: {type: full, merge_policy: snapshot}}}"
EXPORT = "export: {target: {name: shop, table_name: totals, load: {type: updateonly}}}"
TABLE = 'table: "catalog:web:totals#ds=${YEAR}-${MONTH}-${DAY}"'
SHOP: dict[str, str | None] = {
    "clusters/primary.yaml": CLUSTER.format("primary"),
    "clusters/backup.yaml": CLUSTER.format("backup"),
    "datasources/shop.yaml": DATASOURCE.replace("}}", '}, write: {endpoint: "jdbc:postgresql://db/shop"}}'),
    "feeds/clicks.yaml": feed("clicks", COPIED, "owner: web\ntags: {class: pii}\ngroups: [bi]\nexternal: true\n"),
    "feeds/orders.yaml": feed("orders", f"{{name: primary, {LONG}, {IMPORT}}}"),
    "feeds/totals.yaml": feed("totals", f"{{name: primary, {LONG}, {EXPORT}}}", place=TABLE),
    "processes/clicks_hourly.yaml": None,
    "processes/add.yaml": process(
        "add",
        "clicks orders",
        "totals",
        "domain: sales\npipelines: [daily]\noutlets: ['https://host/notify']\ninlets: ['s3://shop/rates']\n",
    ),
    "processes/report.yaml": process(
        "report", "totals", "", "schedule: also\ntrigger: {any: [{feed: clicks}, 's3://shop/rates']}\n", ENDED
    ),
    "repo.yaml": "name: shop\ndatasets: [{uri: 's3://shop/rates', owner: bank}]\n",
}


def shop(**texts: str | None) -> LineageGraph:
    changed = {name.replace("__", "/") + ".yaml": text for name, text in texts.items()}
    return entity_graph(repository({**SHOP, **changed}))


def edges(graph: LineageGraph) -> set[str]:
    return {f"{each.source} {each.kind} {each.target}" for each in graph.edges}


def test_every_relation_of_an_entity_is_an_edge() -> None:
    graph = shop()
    assert edges(graph) == {
        *("cluster:backup owned-by owner:ops", "cluster:primary owned-by owner:ops"),
        *("feed:clicks stored-on cluster:primary", "feed:clicks stored-on cluster:backup"),
        *("feed:clicks evicted-from cluster:primary", "feed:clicks replicated-to cluster:backup"),
        *("feed:clicks owned-by owner:web", "feed:clicks tagged tag:class=pii", "feed:clicks grouped group:bi"),
        *("datasource:shop imported-from feed:orders", "feed:orders stored-on cluster:primary"),
        *("feed:totals exported-to datasource:shop", "feed:totals stored-on cluster:primary"),
        *("feed:totals stored-on table:web.totals", "dataset:s3://shop/rates owned-by owner:bank"),
        *("feed:clicks consumes process:add", "feed:orders consumes process:add", "process:add produces feed:totals"),
        *("process:add runs-on cluster:primary", "process:add part-of pipeline:daily"),
        *("process:add part-of domain:sales", "process:add produces dataset:https://host/notify"),
        *("dataset:s3://shop/rates consumes process:add", "dataset:s3://shop/rates consumes process:report"),
        *("feed:totals consumes process:report", "feed:clicks consumes process:report"),
        "process:report runs-on cluster:primary",
    }
    facts = {f"{each.source} {each.kind} {each.target}": each.facts for each in graph.edges}
    assert facts["feed:clicks consumes process:add"] == {"link": "input", "cluster": "primary", "inputs": "in_clicks"}
    assert facts["feed:clicks consumes process:report"]["link"] == "trigger"
    assert facts["dataset:s3://shop/rates consumes process:add"] == {"link": "inlet"}
    assert facts["feed:clicks evicted-from cluster:primary"] == {"limit": "days(10)", "action": "delete"}
    assert facts["datasource:shop imported-from feed:orders"] == {"cluster": "primary", "table": "orders"}
    assert facts["feed:clicks stored-on cluster:backup"]["role"] == "target"


def test_a_relation_on_two_clusters_is_one_edge_that_names_both() -> None:
    both = f"{{name: primary, {LONG}}}, {{name: backup, {LONG}}}"
    text = process("add", "clicks", "").replace(f"[{{name: primary, {LONG}}}]", f"[{both}]")
    graph = shop(processes__add=text, feeds__clicks=feed("clicks", both))
    found = [each for each in graph.edges if (each.source, each.target) == ("feed:clicks", "process:add")]
    assert [each.facts["cluster"] for each in found] == ["backup, primary"]


def test_the_files_and_topics_that_an_ingest_reads_are_data() -> None:
    ingest = (
        "ingest: {format: {type: json}, event_time: at, columns: [{name: at, type: timestamp}], source: {%s}}".replace(
            "%s", "kafka: raw, bootstrap: 'k1:9092', group: g"
        )
    )
    table = 'table: "catalog:web:raw#ds=${YEAR}-${MONTH}-${DAY}"'
    iceberg = ", iceberg: {type: sql, uri: 'sqlite:////tables.db', warehouse: 'file:///tables'}}"
    cluster = CLUSTER.format("primary").replace("}}", f"}}{iceberg}")
    graph = shop(clusters__primary=cluster, feeds__raw=feed("raw", f"{{name: primary, {LONG}, {ingest}}}", place=table))
    assert "dataset:kafka://k1:9092/raw imported-from feed:raw" in edges(graph)


def test_entities_that_are_not_valid_at_an_instant_are_left_out() -> None:
    graph = entity_graph(repository(SHOP), datetime(2026, 3, 1, tzinfo=UTC))
    assert "process:add" in graph.vertices
    assert "process:report" not in graph.vertices
    assert "process:report" in entity_graph(repository(SHOP), datetime(2026, 1, 31, tzinfo=UTC)).vertices


def test_up_and_down_follow_the_data_alone() -> None:
    up = neighbourhood(shop(), "feed:totals", up=True, down=False)
    assert {
        "feed:clicks",
        "feed:orders",
        "datasource:shop",
        "process:add",
        "dataset:s3://shop/rates",
    } < up.vertices.keys()
    assert "process:report" not in up.vertices
    down = neighbourhood(shop(), "feed:totals", up=False, down=True)
    assert {"process:report", "datasource:shop"} < down.vertices.keys()
    assert not {"process:add", "feed:clicks"} & down.vertices.keys()


@pytest.mark.parametrize(
    ("start", "named"),
    [("owner:web", {"feed:clicks"}), ("cluster:backup", {"feed:clicks"}), ("pipeline:daily", {"process:add"})],
)
def test_what_describes_entities_has_them(start: str, named: set[str]) -> None:
    found = neighbourhood(shop(), start, up=True, down=True)
    flows = {VertexKind.FEED, VertexKind.PROCESS}
    assert {each for each, vertex in found.vertices.items() if vertex.kind in flows} == named


def test_a_graph_that_is_too_large_says_where_it_was_cut() -> None:
    found = neighbourhood(shop(), "feed:clicks", up=False, limit=2)
    assert found.cut_at == ("feed:clicks",)


def test_a_name_is_that_of_an_entity_or_the_id_of_a_vertex() -> None:
    graph = shop()
    assert [start_of(each, graph) for each in ("add", "shop", "primary", "owner:bank", "dataset:s3://shop/rates")] == [
        *("process:add", "datasource:shop", "cluster:primary", "owner:bank", "dataset:s3://shop/rates")
    ]
    with pytest.raises(UnknownName, match="clicks"):
        start_of("click", graph)


def test_a_change_adds_and_cuts_edges() -> None:
    changed = shop(
        processes__add=process("add", "orders", "totals", "domain: sales\npipelines: [daily]\n"),
        processes__new=process("new", "totals", ""),
    )
    found = difference(shop(), changed)
    marks = {f"{each.facts['change']} {each.source} {each.kind} {each.target}" for each in found.edges}
    assert marks == {
        "cut feed:clicks consumes process:add",
        "cut dataset:s3://shop/rates consumes process:add",
        "cut process:add produces dataset:https://host/notify",
        "added feed:totals consumes process:new",
        "added process:new runs-on cluster:primary",
    }
    changes = {each: vertex.facts.get("change") for each, vertex in found.vertices.items()}
    assert changes["process:new"] == "added"
    assert changes["dataset:https://host/notify"] == "cut"
    assert changes["process:add"] is None
    assert difference(changed, changed) == LineageGraph.of((), ())


def test_feeds_alone_have_an_edge_for_each_process_between_them() -> None:
    only = shop().only({VertexKind.FEED, VertexKind.DATASOURCE})
    assert [(each.source, each.target, each.facts.get("through")) for each in only.edges] == [
        ("datasource:shop", "feed:orders", None),
        ("feed:clicks", "feed:totals", "add"),
        ("feed:orders", "feed:totals", "add"),
        ("feed:totals", "datasource:shop", None),
    ]
