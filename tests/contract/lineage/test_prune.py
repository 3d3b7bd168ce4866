"""`feedctl ledger prune`: old runs go with what hangs on them, and none that something kept came from."""

from __future__ import annotations

from datetime import timedelta

import pytest
import sqlalchemy as sa
from hypothesis import HealthCheck, given, settings

from tests.contract.ledger.samples import begun, changed, key
from tests.contract.lineage.histories import History, begun_anew, named, reached
from tests.contract.lineage.test_instance_lineage import COMMANDS, INSTANCES, Commands, graph_of, pairs, play
from tests.examples import share_of
from toolkit.ledger import events
from toolkit.ledger.events import NewEvent
from toolkit.ledger.prune import HANGING, PrunedRuns, prune
from toolkit.ledger.tables import event, run
from toolkit.ledger.vocabulary import EventKind, RunStatus
from toolkit.lineage.instance_lineage import InstanceId

pytestmark = pytest.mark.both_databases

A, B, C, D = map(named, "abcd")


def pruned(history: History, *, dry: bool = False, days: int = 1) -> PrunedRuns:
    return prune(history.ledger, history.clock.now + timedelta(days=days), "ada", is_dry=dry)


def left(history: History) -> set[int]:
    return history.ledger.read(lambda tx: set(tx.execute(sa.select(run.c.run_id)).scalars()))


def forget_events(history: History) -> None:
    """Do as `feedctl dataset gc` does for all that is not newest."""
    newest = sa.select(sa.func.max(event.c.sequence)).group_by(event.c.dataset, event.c.instance_key)
    history.ledger.write(lambda tx: tx.execute(sa.delete(event).where(event.c.sequence.not_in(newest))))


def eviction(history: History, day: int, status: RunStatus = RunStatus.SUCCEEDED) -> int:
    history.clock.forward(1)
    of = begun(history.ledger, key(f"2026-03-{day:02}T00:00Z"))
    new = NewEvent(kind=EventKind.EVICTED, feed="clicks", cluster="primary", instance_key=f"2026-02-{day:02}T00:00Z")
    history.ledger.write(lambda tx: events.append(tx, [new], of.run_id))
    return changed(history.ledger, of, status).run_id


def test_evictions_go_but_for_the_last_success_and_their_events_stay(history: History) -> None:
    runs = [eviction(history, day) for day in range(1, 4)]
    failed = eviction(history, 4, RunStatus.FAILED)
    assert pruned(history, dry=True).runs == frozenset(runs[:2])
    assert left(history) == {*runs, failed}
    assert pruned(history).runs == frozenset(runs[:2])
    assert left(history) == {runs[2], failed}
    assert [each.run_id for each in history.ledger.read(lambda tx: events.after(tx, 0))] == [
        None,
        None,
        runs[2],
        failed,
    ]


def test_of_an_instance_the_first_attempt_the_last_success_and_all_after_it_stay(history: History) -> None:
    first = history.begin("p", 0, [A])
    history.kill(first)
    second = history.begin("p", 0, [A])
    history.kill(second)
    last = history.work("p", 0, [A], [])
    after = history.begin("p", 0, [A])
    history.kill(after)
    assert pruned(history).runs == frozenset({second.run_id})
    assert left(history) == {first.run_id, last, after.run_id}
    hanging = sa.union_all(*(sa.select(each.c.run_id) for each in HANGING)).subquery()
    assert second.run_id not in history.ledger.read(lambda tx: set(tx.execute(sa.select(hanging.c.run_id)).scalars()))


def killed(history: History) -> int:
    job = history.begin("p", 0)
    history.kill(job)
    return job.run_id


def test_what_slas_are_decided_by_stays(history: History) -> None:
    first, began, third = (killed(history) for _ in range(3))
    waited = sa.update(run).where(run.c.run_id == first).values(started_at=None)
    history.ledger.write(lambda tx: tx.execute(waited))
    runs = [history.work("p", 0, [], []) for _ in range(3)]
    assert pruned(history).runs == frozenset({third, runs[1]})
    assert left(history) == {first, began, runs[0], runs[2]}


def test_a_version_stays_while_what_was_made_from_it_stays(history: History) -> None:
    history.work("p", 0, [A], [B])
    read, unread = history.work("p", 0, [A], [B]), history.work("p", 0, [A], [B])
    newest = history.work("p", 0, [A], [B])
    forget_events(history)
    assert pruned(history).runs == frozenset({read, unread})
    history.work("q", 0, [B], [C])
    again = history.work("p", 0, [A], [B])
    forget_events(history)
    found = pruned(history)
    assert (found.runs, found.kept) == (frozenset(), 1)
    assert {newest, again} <= left(history)


def test_what_an_event_still_announces_stays(history: History) -> None:
    runs = [history.work("p", 0, [A], [B]) for _ in range(3)]
    assert pruned(history).runs == frozenset()
    assert left(history) == set(runs)


def test_a_run_that_is_young_or_open_stays(history: History) -> None:
    eviction(history, 1)
    open_run = begun(history.ledger, key("2026-03-02T00:00Z"))
    eviction(history, 3)
    assert pruned(history, days=-1).runs == frozenset()
    pruned(history)
    assert open_run.run_id in left(history)


@given(commands=COMMANDS)
@settings(max_examples=share_of(10), suppress_health_check=list(HealthCheck), deadline=None)
def test_what_the_newest_versions_came_from_is_as_it_was(history: History, commands: Commands) -> None:
    played = begun_anew(history)
    play(played, commands)
    forget_events(played)
    before = {each: made_from(played, each) for each in INSTANCES if played.newest(each)}
    planned = pruned(played, dry=True)
    assert pruned(played) == planned
    assert {each: made_from(played, each) for each in before} == before


def made_from(history: History, of: InstanceId) -> set[tuple[str, str]]:
    """Return the edges that lead to the newest version of an instance; its older ones may have been pruned."""
    found = pairs(graph_of(history.ledger, of, down=False))
    return {pair for pair in found if reached(found, [of.vertex_id], up=True).issuperset(pair)}
