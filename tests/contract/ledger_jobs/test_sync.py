"""`feedctl ledger sync`: what becomes of the registry (DESIGN section 6)."""

from __future__ import annotations

from dataclasses import replace

import pytest
import sqlalchemy as sa

from tests.contract.ledger_jobs.calls import Calls
from tests.contract.ledger_jobs.pipelines import CLUSTER, feed, process, registration, step
from toolkit.ledger.jobs.errors import NothingEnqueued
from toolkit.ledger.registry import lookup
from toolkit.ledger.registry.lookup import ProcessProperty, RegisteredProcess, RegisteredStep
from toolkit.ledger.registry.registration import ServerEntry, Site, UnknownProcess
from toolkit.ledger.registry.sync import sync
from toolkit.ledger.state import commands
from toolkit.ledger.tables import server
from toolkit.ledger.tables import step as step_table


def site(name: str, cluster: str = CLUSTER) -> Site:
    return Site(name=name, cluster=cluster)


def found(calls: Calls, name: str, cluster: str = CLUSTER) -> RegisteredProcess:
    return calls.ledger.read(lambda tx: lookup.source(tx, site(name, cluster)))


def steps(calls: Calls, name: str) -> tuple[RegisteredStep, ...]:
    number = found(calls, name).process_id
    return calls.ledger.read(lambda tx: lookup.live_steps(tx, number))


def test_what_is_new_is_registered_with_all_that_it_says(calls: Calls) -> None:
    report = calls.register(
        feed("a"), process("p", step("one", "a"), step("two", recoverable=False)), snapshot="commit x"
    )
    assert (report.added, report.changed, report.removed) == ((site("a"), site("p")), (), ())
    registered = found(calls, "p")
    assert (registered.domain, registered.description, registered.snapshot) == ("web", "makes p", "commit x")
    assert [(each.name, each.position, each.path, each.is_recoverable) for each in steps(calls, "p")] == [
        ("one", 0, "workflows/one.sh", True),
        ("two", 1, "workflows/two.sh", False),
    ]


def test_the_same_again_changes_nothing_but_the_record_of_commands(calls: Calls) -> None:
    entries = (feed("a"), process("p", step("one", "a"), properties={"spark.cores": "2"}))
    calls.register(*entries)
    before = calls.everything()
    report = calls.register(*entries, snapshot="commit 2")
    after = calls.everything()
    assert report.unchanged == (site("a"), site("p"))
    assert not report.has_changed
    assert {name for name in before if before[name] != after[name]} == {"command", "resource"}


def test_who_asked_and_what_changed_is_recorded(calls: Calls) -> None:
    calls.register(process("p"), snapshot="commit x")
    calls.register(process("p"), snapshot="commit y")
    last, first = calls.ledger.read(lambda tx: commands.recent(tx, 2))
    assert (first.command, first.subject, first.who, first.has_changed) == ("ledger sync", "commit x", "ada", True)
    assert first.detail == "1 added, 0 changed, 0 removed"
    assert (last.subject, last.has_changed) == ("commit y", False)


def test_a_process_that_changed_keeps_its_number_and_its_steps_keep_theirs(calls: Calls) -> None:
    calls.register(feed("a"), process("p", step("one", "a"), step("two", "a")))
    number, before = found(calls, "p").process_id, {each.name: each.step_id for each in steps(calls, "p")}
    changed = process("p", step("two"), step("new", "a"))
    report = calls.register(feed("a"), replace(changed, domain="sales"), snapshot="commit 2")
    assert report.changed == (site("p"),)
    after = {each.name: each.step_id for each in steps(calls, "p")}
    assert (found(calls, "p").process_id, found(calls, "p").domain) == (number, "sales")
    assert found(calls, "p").snapshot == "commit 2"
    assert list(after) == ["two", "new"]
    assert after["two"] == before["two"]


@pytest.mark.parametrize(
    "changed",
    [
        process("p", step("one", "a", "b")),
        process("p", step("one", "a", feeds=("b",))),
        process("p", step("one", optional=("a",))),
        process("p", step("one", "a", recoverable=False)),
        process("p", step("one", "a"), properties={"x": "2"}),
        process("p", step("one", "a"), step("two")),
        process("p"),
    ],
)
def test_every_kind_of_change_is_noticed_and_written(calls: Calls, changed: object) -> None:
    calls.register(feed("a"), feed("b"), process("p", step("one", "a"), properties={"x": "1"}))
    assert calls.register(feed("a"), feed("b"), changed).changed == (site("p"),)  # type: ignore[arg-type]
    assert calls.register(feed("a"), feed("b"), changed).changed == ()  # type: ignore[arg-type]


def test_what_is_gone_is_flagged_and_comes_back_under_its_old_number(calls: Calls) -> None:
    calls.register(process("p", step("one"), step("two")))
    number, before = found(calls, "p").process_id, steps(calls, "p")
    assert calls.register().removed == (site("p"),)
    with pytest.raises(UnknownProcess, match="no longer in the config repo"):
        found(calls, "p")
    assert calls.register().removed == ()
    assert calls.register(process("p", step("one"), step("two"))).changed == (site("p"),)
    assert (found(calls, "p").process_id, steps(calls, "p")) == (number, before)


def test_a_step_that_is_gone_keeps_its_unread_batches_until_it_is_back(calls: Calls) -> None:
    calls.register(feed("a"), process("p", step("one", "a"), step("two", "a")))
    calls.enqueue("a")
    calls.register(feed("a"), process("p", step("one", "a")))
    calls.work("p")
    assert [row.step for row in calls.queue()] == ["two"]
    calls.register(feed("a"), process("p", step("one", "a"), step("two", "a")))
    with pytest.raises(NothingEnqueued) as refused:
        calls.init("p")
    assert [each.step for each in refused.value.missing] == ["one"]


def test_a_process_is_registered_for_each_cluster_apart(calls: Calls) -> None:
    calls.register(process("p"), process("p", cluster="backup"))
    assert found(calls, "p").process_id != found(calls, "p", "backup").process_id


def test_clusters_that_the_environment_may_not_act_on_are_left_alone(calls: Calls) -> None:
    calls.register(process("p"), process("p", cluster="backup"), process("p", cluster="sold"))
    report = calls.register(process("p"), elsewhere=("backup",))
    assert report.removed == (site("p", "sold"),)
    assert not found(calls, "p", "backup").is_deleted


def test_a_name_that_was_a_feed_may_become_a_process(calls: Calls) -> None:
    calls.register(feed("x"))
    number = found(calls, "x").process_id
    calls.register(process("x"))
    assert calls.work("x").run.process_id == number


def test_properties_are_read_by_config_group(calls: Calls) -> None:
    properties = {"spark.cores": "2", "spark.memory": "1g", "threshold": "10", "spark": "yes"}
    calls.register(process("p", properties=properties), process("q", properties={"spark.cores": "9"}))

    def read(group: str | None) -> tuple[ProcessProperty, ...]:
        return calls.ledger.read(lambda tx: lookup.get_properties(tx, site("p"), group))

    assert [(each.key, each.value) for each in read("spark")] == [("spark.cores", "2"), ("spark.memory", "1g")]
    assert [each.key for each in read("default")] == ["spark", "threshold"]
    assert len(read(None)) == 4
    assert read("spar") == ()
    with pytest.raises(UnknownProcess):
        calls.ledger.read(lambda tx: lookup.get_properties(tx, site("x"), "spark"))


def test_servers_are_updated_by_name_and_never_removed(calls: Calls) -> None:
    calls.register()
    moved = ServerEntry(name="primary", kind="cluster", endpoint="hdfs://ns2")
    wanted = replace(registration(), servers=(moved,))
    calls.ledger.write(lambda tx: sync(tx, wanted, "ada"))
    rows = calls.ledger.read(lambda tx: tx.execute(sa.select(server.c.name, server.c.endpoint)).tuples().all())
    assert dict(rows) == {"primary": "hdfs://ns2", "shop": "jdbc:postgresql://db/shop"}


def test_a_thousand_processes_are_registered_with_as_many_statements_as_one(calls: Calls) -> None:
    def statements(count: int) -> int:
        seen: list[str] = []

        def note(_connection: object, _cursor: object, statement: str, *_more: object) -> None:
            seen.append(statement)

        sa.event.listen(calls.ledger.engine, "before_cursor_execute", note)
        calls.register(feed("a"), *(process(f"p{number}", step("one", "a")) for number in range(count)))
        sa.event.remove(calls.ledger.engine, "before_cursor_execute", note)
        return len(seen)

    few, many = statements(1), statements(1000)
    assert many <= few + 10
    assert (
        calls.ledger.read(lambda tx: tx.execute(sa.select(sa.func.count()).select_from(step_table)).scalar_one())
        == 1000
    )
