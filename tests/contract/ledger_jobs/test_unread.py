"""Instances of a feed whose batches a step has not finished: what retention does not evict."""

from __future__ import annotations

from collections.abc import Collection

from tests.contract.ledger_jobs.calls import NOON, ONE, Calls, instance
from tests.contract.ledger_jobs.pipelines import CLUSTER, feed, process, step
from toolkit.ledger.batches.unread import unread_instances

TWO = "2026-03-01T14:00Z"


def _unread(calls: Calls, of: str = "a", keys: Collection[str] = (NOON, ONE, TWO)) -> dict[str, str]:
    return calls.ledger.read(lambda tx: unread_instances(tx, of, CLUSTER, keys))


def test_a_batch_counts_until_the_job_that_took_it_has_succeeded(calls: Calls) -> None:
    calls.register(feed("a"), process("p", step("load", "a")))
    calls.enqueue("a", of=instance("a"))
    assert _unread(calls) == {NOON: "p/load"}
    calls.init("p", NOON, inputs=[instance("a")])
    assert _unread(calls) == {NOON: "p/load"}
    calls.step("p", "load", NOON)
    calls.halt("p", NOON)
    assert _unread(calls) == {}


def test_only_the_instances_that_were_asked_for_count(calls: Calls) -> None:
    calls.register(feed("a"), feed("b"), process("p", step("load", "a"), step("join", "b")))
    for number, key in enumerate((NOON, ONE)):
        calls.enqueue("a", f"/in/{number}", of=instance("a", key))
    assert _unread(calls, keys=(ONE, TWO)) == {ONE: "p/load"}
    assert _unread(calls, of="b") == {}


def test_a_step_that_is_gone_reads_nothing(calls: Calls) -> None:
    calls.register(feed("a"), process("p", step("load", "a"), step("join", "a")))
    calls.enqueue("a", of=instance("a"))
    calls.register(feed("a"), process("p", step("load", "a")), snapshot="commit 2")
    assert _unread(calls) == {NOON: "p/load"}
    calls.register(feed("a"), snapshot="commit 3")
    assert _unread(calls) == {}
