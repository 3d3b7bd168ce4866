"""Tests of what a config repo registers."""

from __future__ import annotations

from tests.unit.entities.config_repo import CLUSTER, FEED, PROCESS, repository
from toolkit.ledger.registry.registration import (
    ProcessEntry,
    Registration,
    ServerEntry,
    Site,
    StepEntry,
    entity_digest,
    registration_of,
)
from toolkit.ledger.vocabulary import ProcessKind

VALIDITY = "{start: 2026-01-01T00:00Z, end: 2099-01-01T00:00Z}"


def feed(name: str, *clusters: str) -> str:
    on = ", ".join(f"{{name: {each}, validity: {VALIDITY}}}" for each in clusters or ("primary",))
    return (
        f"kind: feed\nname: {name}\nfrequency: hours(1)\nclusters: [{on}]\n"
        f'locations: {{data: "/data/{name}/${{YEAR}}/${{MONTH}}/${{DAY}}/${{HOUR}}"}}\n'
    )


def process(
    name: str,
    *,
    reads: dict[str, str] | None = None,
    makes: tuple[str, ...] = (),
    clusters: tuple[str, ...] = ("primary",),
    workflow: str = "{engine: command, path: run.sh}",
    more: str = "",
) -> str:
    """A process; the names of inputs are those of the feeds, and the value says what else there is to say."""
    on = ", ".join(f"{{name: {each}, validity: {VALIDITY}}}" for each in clusters)
    inputs = "".join(
        f'  {each}: {{feed: {each}, start: "now(0,0)", end: "now(0,0)"{output}}}\n'
        for each, output in (reads or {}).items()
    )
    outputs = "".join(f'  made_{each}: {{feed: {each}, instance: "now(0,0)"}}\n' for each in makes)
    return (
        f"kind: process\nname: {name}\nfrequency: hours(1)\nclusters: [{on}]\nworkflow: {workflow}\n"
        + (f"inputs:\n{inputs}" if inputs else "")
        + (f"outputs:\n{outputs}" if outputs else "")
        + more
    )


def registered(files: dict[str, str], environment: str | None = None) -> Registration:
    return registration_of(repository(dict(files), environment), "commit 1")


def entry(found: Registration, name: str, cluster: str = "primary") -> ProcessEntry:
    return next(each for each in found.processes if each.site == Site(name=name, cluster=cluster))


def main(found: Registration, name: str, cluster: str = "primary") -> StepEntry:
    return entry(found, name, cluster).steps[0]


def test_a_process_is_registered_with_what_it_says_about_itself() -> None:
    more = 'description: counts\ndomain: web\nproperties: {threshold: "10", debug: true, a.b: 3}\n'
    found = entry(registered({"processes/p.yaml": process("p", more=more)}), "p")
    assert (found.kind, found.description, found.domain) == (ProcessKind.PROCESS, "counts", "web")
    assert found.properties == {"threshold": "10", "debug": "true", "a.b": "3"}


def test_a_process_without_steps_has_one_that_reads_everything() -> None:
    found = registered({"processes/p.yaml": process("p", reads={"clicks": ""})})
    assert entry(found, "p").steps == (
        StepEntry(
            name="main",
            position=0,
            engine="command",
            path="run.sh",
            feeds=frozenset({"clicks"}),
            upstreams={"clicks": False},
        ),
    )


def test_a_step_reads_the_inputs_that_it_names_else_all() -> None:
    steps = (
        "{steps: [{name: all, engine: command, path: a.sh}, {name: one, engine: command, path: b.sh, inputs: [views]}, "
        "{name: none, engine: command, path: c.sh, inputs: [], recoverable: false}]}"
    )
    found = registered(
        {
            "feeds/views.yaml": feed("views"),
            "processes/p.yaml": process("p", reads={"clicks": "", "views": ""}, workflow=steps),
        }
    )
    read = [(each.name, each.position, sorted(each.feeds), each.is_recoverable) for each in entry(found, "p").steps]
    assert read == [
        ("all", 0, ["clicks", "views"], True),
        ("one", 1, ["views"], True),
        ("none", 2, [], False),
    ]


def test_who_makes_a_feed_on_the_cluster_is_upstream_of_who_reads_it_there() -> None:
    found = registered(
        {
            "feeds/sums.yaml": feed("sums"),
            "processes/make.yaml": process("make", reads={"clicks": ""}, makes=("sums",)),
            "processes/make_too.yaml": process("make_too", makes=("sums",)),
            "processes/read.yaml": process("read", reads={"sums": ""}),
        }
    )
    assert main(found, "read").upstreams == {"make": False, "make_too": False}
    assert main(found, "read").feeds == {"sums"}
    assert "sums" not in {each.site.name for each in found.processes}


def test_a_feed_is_upstream_itself_where_nobody_makes_it() -> None:
    two = {"clusters/primary.yaml": CLUSTER, "clusters/backup.yaml": CLUSTER.replace("primary", "backup")}
    found = registered(
        {
            **two,
            "feeds/sums.yaml": feed("sums", "primary", "backup"),
            "processes/make.yaml": process("make", makes=("sums",)),
            "processes/read.yaml": process("read", reads={"sums": ""}, clusters=("primary", "backup")),
        }
    )
    assert main(found, "read").upstreams == {"make": False}
    assert main(found, "read", "backup").upstreams == {"sums": False}
    assert entry(found, "sums", "backup").kind is ProcessKind.FEED
    assert entry(found, "sums", "backup").steps == ()


def test_a_feed_that_nobody_reads_is_not_registered() -> None:
    found = registered({"feeds/views.yaml": feed("views")})
    assert {each.site.name for each in found.processes} == {"clicks", "clicks_hourly"}


def test_an_optional_upstream_is_waited_for_only_when_another_input_needs_it() -> None:
    files = {
        "feeds/sums.yaml": feed("sums"),
        "feeds/counts.yaml": feed("counts"),
        "processes/make.yaml": process("make", makes=("sums", "counts")),
    }
    optional = ", optional: true"
    one = process("p", reads={"sums": optional, "clicks": optional})
    both = process("p", reads={"sums": optional, "counts": ""})
    turned = process("p", reads={"counts": "", "sums": optional})
    assert main(registered({**files, "processes/p.yaml": one}), "p").upstreams == {"make": True, "clicks": True}
    assert main(registered({**files, "processes/p.yaml": both}), "p").upstreams == {"make": False}
    assert main(registered({**files, "processes/p.yaml": turned}), "p").upstreams == {"make": False}


def test_a_process_that_reads_what_it_makes_is_not_its_own_upstream() -> None:
    found = registered(
        {"feeds/sums.yaml": feed("sums"), "processes/p.yaml": process("p", reads={"sums": ""}, makes=("sums",))}
    )
    assert main(found, "p").upstreams == {}
    assert main(found, "p").feeds == {"sums"}


def test_the_environment_says_on_which_clusters_processes_are_registered() -> None:
    files = {
        "repo.yaml": "name: web-feeds\nenvironments: [dev]\n",
        "environments/dev.yaml": "clusters: [primary]\n",
        "clusters/backup.yaml": CLUSTER.replace("primary", "backup"),
        "processes/p.yaml": process("p", clusters=("primary", "backup")),
    }
    everywhere, dev = registered(files), registered(files, "dev")
    assert {each.site.cluster for each in everywhere.processes} == {"primary", "backup"}
    assert {each.site.cluster for each in dev.processes} == {"primary"}
    assert not everywhere.elsewhere
    assert dev.elsewhere == {"backup"}


def test_spark_settings_are_properties_too_and_win() -> None:
    workflow = (
        "{engine: spark_submit, path: run.py, spark: {conf: {spark.executor.memory: 2g, spark.executor.cores: 4}}}"
    )
    more = "properties: {spark.executor.memory: 1g, threshold: 10}\n"
    found = entry(registered({"processes/p.yaml": process("p", workflow=workflow, more=more)}), "p")
    assert found.properties == {"spark.executor.cores": "4", "spark.executor.memory": "2g", "threshold": "10"}


def test_servers_are_clusters_and_datasources_without_anything_secret() -> None:
    shop = (
        "kind: datasource\nname: shop\ntype: postgres\n"
        "credential: {user: reader, env: FEEDCTL_DATASOURCE_SHOP_PASSWORD}\n"
        'interfaces: {readonly: {endpoint: "jdbc:postgresql://reader@db:5432/shop?ssl=true&user=reader"}}\n'
    )
    found = registered({"datasources/shop.yaml": shop})
    assert found.servers == (
        ServerEntry(name="primary", kind="cluster", endpoint="file:///"),
        ServerEntry(name="shop", kind="datasource", endpoint="jdbc:postgresql://db:5432/shop"),
    )


def test_the_digest_of_an_entity_changes_with_what_it_says_and_not_with_how_it_is_written() -> None:
    same = FEED.replace("frequency: hours(1)", "frequency:   hours(1) # an hour")
    other = FEED.replace("days(10)", "days(11)")
    digests = [entity_digest(repository({"feeds/clicks.yaml": text}), "clicks") for text in (FEED, same, other)]
    assert digests[0] == digests[1] != digests[2]
    assert digests[0].startswith("sha256:")


def test_the_same_repo_registers_the_same() -> None:
    assert registered({}) == registered({"processes/clicks_hourly.yaml": PROCESS})
