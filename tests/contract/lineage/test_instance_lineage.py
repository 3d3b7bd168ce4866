"""Lineage of instances: written with each success, in versions that never lead back to where they were."""

from __future__ import annotations

from graphlib import TopologicalSorter
from itertools import product

import pytest
import sqlalchemy as sa
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.contract.ledger_jobs.calls import ref
from tests.contract.lineage.histories import FEEDS, History, ModelJob, begun_anew, named, reached
from tests.examples import share_of
from tests.unit.entities.config_repo import repository
from toolkit.ledger.batches.rows import FeedInstance
from toolkit.ledger.batches.updates import JobUpdates
from toolkit.ledger.database import Ledger
from toolkit.ledger.jobs.job_end import halt_job
from toolkit.ledger.tables import lineage_edge, run
from toolkit.ledger.vocabulary import EventKind, LineageDirection, RunStatus
from toolkit.lineage.graph import LineageGraph
from toolkit.lineage.instance_lineage import InstanceId, instance_graph, start_vertices

pytestmark = pytest.mark.both_databases

NO_PROCESS = repository({"processes/clicks_hourly.yaml": None})
A, B, C, D = map(named, FEEDS)


def graph_of(
    ledger: Ledger, start: InstanceId, *, up: bool = True, down: bool = True, depth: int | None = None, limit: int = 500
) -> LineageGraph:
    return ledger.read(lambda tx: instance_graph(tx, NO_PROCESS, start, up=up, down=down, depth=depth, limit=limit))


def pairs(graph: LineageGraph) -> set[tuple[str, str]]:
    return {(each.source, each.target) for each in graph.edges}


def state(graph: LineageGraph, vertex: str) -> tuple[str | None, str | None]:
    facts = graph.vertices[vertex].facts
    return facts.get("state"), facts.get("version")


def test_a_run_stands_between_what_it_read_and_what_it_wrote(history: History) -> None:
    history.report(EventKind.AVAILABLE, A)
    first = history.work("p", 0, [A], [B])
    second = history.work("q", 0, [B], [C])
    graph = graph_of(history.ledger, B)
    assert pairs(graph) == {
        (A.vertex_id, f"run:{first}"),
        (f"run:{first}", B.vertex_id),
        (B.vertex_id, f"run:{second}"),
        (f"run:{second}", C.vertex_id),
    }
    (read, *_) = (each for each in graph.edges if each.source == A.vertex_id)
    assert (read.facts["input"], len(read.facts["fingerprint"])) == ("in_a", 64)
    assert state(graph, B.vertex_id) == ("available", None)
    assert graph.vertices[f"run:{first}"].facts["instance_key"] == A.key


def test_one_direction_and_a_depth_leave_the_rest_out(history: History) -> None:
    first = history.work("p", 0, [A], [B])
    second = history.work("q", 0, [B], [C])
    assert set(graph_of(history.ledger, B, down=False).vertices) == {A.vertex_id, f"run:{first}", B.vertex_id}
    assert set(graph_of(history.ledger, B, up=False).vertices) == {C.vertex_id, f"run:{second}", B.vertex_id}
    assert set(graph_of(history.ledger, A, depth=1).vertices) == {A.vertex_id, f"run:{first}"}


def test_a_rerun_adds_a_version_and_readers_keep_the_one_that_they_read(history: History) -> None:
    first = history.work("p", 0, [A], [B])
    reader = history.work("q", 0, [B], [C])
    again = history.work("p", 0, [A], [B])
    old = f"{B.vertex_id}#{first}"
    graph = graph_of(history.ledger, A, up=False)
    assert (old, f"run:{reader}") in pairs(graph)
    assert (B.vertex_id, f"run:{reader}") not in pairs(graph)
    assert state(graph, old) == ("superseded", "1 of 2")
    assert state(graph, B.vertex_id) == ("available", "2 of 2")
    assert (f"run:{again}", B.vertex_id) in pairs(graph)
    assert start_vertices(graph_of(history.ledger, B), B) == (B.vertex_id, old)


def test_a_process_that_reads_what_it_writes_makes_no_circle(history: History) -> None:
    first = history.work("p", 0, [], [A])
    second = history.work("q", 0, [A], [A])
    assert pairs(graph_of(history.ledger, A)) == {
        (f"run:{first}", f"{A.vertex_id}#{first}"),
        (f"{A.vertex_id}#{first}", f"run:{second}"),
        (f"run:{second}", A.vertex_id),
    }


def test_an_evicted_instance_stays_with_its_end(history: History) -> None:
    history.work("p", 0, [A], [B])
    history.report(EventKind.EVICTED, B)
    facts = graph_of(history.ledger, A).vertices[B.vertex_id].facts
    assert (facts["state"], facts["ended"]) == ("evicted", history.clock.now.strftime("%Y-%m-%dT%H:%M:%SZ"))


def test_a_killed_run_leaves_no_edge(history: History) -> None:
    history.kill(history.begin("p", 0, [A]))
    assert pairs(graph_of(history.ledger, A)) == set()


def test_a_graph_that_is_too_large_says_where_it_was_cut(history: History) -> None:
    for hour in range(4):
        history.work("p", hour, [A], [named("b", hour)])
    graph = graph_of(history.ledger, A, limit=4)
    assert len(graph.vertices) <= 4
    assert A.vertex_id in graph.cut_at


INSTANCES = [named(feed, hour) for feed, hour in product(FEEDS, range(2))]
Commands = list[tuple[str, str, int, list[InstanceId], list[InstanceId]]]
SOME = st.lists(st.sampled_from(INSTANCES), max_size=3, unique=True)
COMMANDS = st.lists(
    st.tuples(
        st.sampled_from(["begin", "end", "end", "kill", "evict"]), st.sampled_from("pqr"), st.integers(0, 1), SOME, SOME
    ),
    max_size=25,
)


def play(history: History, commands: Commands) -> None:
    """Let jobs run beside each other, be killed and run again, and instances go."""
    running: dict[tuple[str, int], ModelJob] = {}
    for verb, name, hour, reads, writes in commands:
        job = running.pop((name, hour), None) if verb in {"end", "kill"} else running.get((name, hour))
        if verb == "begin" and job is None:
            running[name, hour] = history.begin(name, hour, reads)
        elif verb == "end":
            history.end(job or history.begin(name, hour, reads), writes)
        elif verb == "kill" and job is not None:
            history.kill(job)
        elif verb == "evict" and writes:
            history.report(EventKind.EVICTED, writes[0])


@given(commands=COMMANDS)
@settings(max_examples=share_of(10), suppress_health_check=list(HealthCheck), deadline=None)
def test_what_is_downstream_of_an_instance_has_it_upstream(history: History, commands: Commands) -> None:
    played = begun_anew(history)
    play(played, commands)
    wanted = played.edges()
    before: dict[str, list[str]] = {}
    for source, target in wanted:
        before.setdefault(target, []).append(source)
    TopologicalSorter(before).prepare()  # the model has no circle either
    for each in INSTANCES:
        starts = [played.vertex(each, version) for version in (0, *played.written.get(each, []))]
        up = graph_of(played.ledger, each, down=False)
        down = graph_of(played.ledger, each, up=False)
        expected = {
            is_up: {pair for pair in wanted if reached(wanted, starts, up=is_up).issuperset(pair)}
            for is_up in (True, False)
        }
        assert (pairs(up), pairs(down)) == (expected[True], expected[False])
    with played.ledger.engine.connect() as connection:
        of_others = sa.select(lineage_edge.c.run_id).join(run).where(run.c.status != RunStatus.SUCCEEDED)
        assert connection.execute(of_others).all() == []
        outputs = sa.select(sa.func.count()).where(lineage_edge.c.direction == LineageDirection.OUTPUT)
        assert connection.execute(outputs).scalar_one() == sum(len(made) for _, made in played.done)


def test_inputs_that_the_runner_names_are_recorded_beside_fingerprints(history: History) -> None:
    """Most inputs have neither a batch nor a fingerprint: others write them, and no late data is looked for."""
    read = [
        (f"in_{each.feed}", FeedInstance(feed=each.feed, cluster=each.cluster, instance_key=each.key))
        for each in (A, B)
    ]
    job = history.begin("p", 0, [A])
    history.calls.step("p", key=job.key)
    made = FeedInstance(feed=C.feed, cluster=C.cluster, instance_key=C.key)
    digest = f"contents:{'0' * 64}"
    updates = JobUpdates(read=read, digests={made: digest}, is_silent=True)
    history.ledger.write(lambda tx: halt_job(tx, ref("p", job.key), outputs=[made], updates=updates))
    graph = graph_of(history.ledger, C, down=False)
    facts = {each.source: each.facts for each in graph.edges if each.target == f"run:{job.run_id}"}
    assert facts.keys() == {A.vertex_id, B.vertex_id}
    assert len(facts[A.vertex_id]["fingerprint"]) == 64
    assert facts[B.vertex_id] == {"input": "in_b"}
    (written,) = (each for each in graph_of(history.ledger, C).edges if each.source == f"run:{job.run_id}")
    assert written.facts["fingerprint"] == digest
