"""Many processes that emit updates and decide at once, some of which die, and proof that each condition has one run."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass

import sqlalchemy as sa

from tests.contract.triggers.rules import CLUSTER, DAYS, caused, consumer, cursors, decide, pending
from tests.databases.forking import Forks, Task
from tests.databases.invariants import violations
from tests.databases.kill_points import KillPoints
from tests.databases.ledgers import open_ledger
from toolkit.el.dataset_uri import feed_uri
from toolkit.ledger import external_events, triggers
from toolkit.ledger.database import Ledger
from toolkit.ledger.external_events import ExternalUpdate
from toolkit.triggers.consumer import TriggerConsumer

FEEDS = ("a", "b", "c")
_POINTS = 30
"""About so many statements a decision has that creates runs."""


def consumers() -> tuple[TriggerConsumer, ...]:
    """Return consumers of all of two feeds, of all of three, and of any of two, for each instance."""
    return (
        consumer("both", "a", "b"),
        consumer("all", *FEEDS),
        consumer("either", "b", "c", is_all=False),
        *(consumer(f"copy-{number}", "a") for number in range(5)),
    )


def updates() -> list[tuple[str, str]]:
    """Return all updates: feed and key."""
    return [(feed, key) for feed in FEEDS for key in DAYS]


def emit(ledger: Ledger, feed: str, key: str) -> None:
    """Record an update once, however often it is tried."""
    new = ExternalUpdate(
        dataset=feed_uri(feed, CLUSTER), feed=feed, cluster=CLUSTER, instance_key=key, idempotency_key=f"{feed}/{key}"
    )
    ledger.write(lambda tx: external_events.emit(tx, new))


def produce(url: str, part: Sequence[tuple[str, str]], kill_at: int | None) -> str:
    """Emit updates in a process of its own, which dies at a point, if it is told to."""
    with closing(open_ledger(sa.make_url(url))) as ledger:
        if kill_at is not None:
            KillPoints(ledger.engine, kill_at)
        for feed, key in part:
            emit(ledger, feed, key)
    return "emitted"


def decide_once(url: str, kill_at: int | None) -> str:
    """Decide in a process of its own, as `trigger.py` does, and tell whether a cursor went back."""
    with closing(open_ledger(sa.make_url(url))) as ledger:
        if kill_at is not None:
            KillPoints(ledger.engine, kill_at)
        before = cursors(ledger)
        decide(ledger, *consumers())
        after = cursors(ledger)
    went_back = [name for name, place in before.items() if after[name] < place]
    return f"went back: {went_back}" if went_back else "decided"


@dataclass(frozen=True, kw_only=True, slots=True)
class TriggerSwarm:
    """Processes of one round.

    Attributes:
        deciders: so many decide.
        producers: so many emit updates.
        at_once: so many of all of them are there at a time.
        killed: this share of them dies at some statement.
        seed: of everything.
    """

    deciders: int
    producers: int
    at_once: int
    killed: float = 0.0
    seed: int = 1

    def run(self, url: sa.URL, forks: Forks) -> Counter[str]:
        """Let all of them work, then check; how often what happened."""
        text = url.render_as_string(hide_password=False)
        counts = Counter[str]()
        for ended in forks.run(list(self._tasks(text)), at_once=self.at_once):
            counts["killed" if ended.was_killed else ended.output] += 1
            assert ended.was_killed or ended.code == 0, ended.output
        assert not [each for each in counts if each.startswith("went back")], counts
        with closing(open_ledger(url)) as ledger:
            for feed, key in updates():  # of producers that died
                emit(ledger, feed, key)
            decide(ledger, *consumers())
            check(ledger)
        return counts

    def _tasks(self, url: str) -> Iterator[Task]:
        chance = random.Random(self.seed)  # noqa: S311 - no secret
        todo = updates()
        chance.shuffle(todo)
        parts = [todo[number :: self.producers] for number in range(self.producers)]
        kill_at = [chance.randrange(_POINTS) if chance.random() < self.killed else None for _ in range(self.deciders)]
        tasks = [Task(function=decide_once, arguments=(url, each)) for each in kill_at]
        for part in parts:
            dies = chance.randrange(6 * len(part) + 1) if chance.random() < self.killed else None
            tasks.append(Task(function=produce, arguments=(url, part, dies)))
        chance.shuffle(tasks)
        yield from tasks


def check(ledger: Ledger) -> None:
    """Each satisfied condition has exactly one run, and each event is consumed once by each of its consumers."""
    numbers = _numbers(ledger)
    wanted: dict[tuple[str, str, int], list[int]] = {}
    for key in DAYS:
        wanted["both", key, 1] = sorted(numbers[feed, key] for feed in "ab")
        wanted["all", key, 1] = sorted(numbers[feed, key] for feed in FEEDS)
        for copy in range(5):
            wanted[f"copy-{copy}", key, 1] = [numbers["a", key]]
        wanted["either", key, 1] = [min(numbers[feed, key] for feed in "bc")]
    found = caused(ledger)
    # The second event of `either` either waits for the end of the first run, as it is not worked off here.
    assert found == wanted
    assert sorted(number for _, number in pending(ledger)) == sorted(
        max(numbers[feed, key] for feed in "bc") for key in DAYS
    )
    newest = ledger.read(triggers.positions).newest
    assert newest == len(updates())
    assert set(cursors(ledger).values()) == {newest}
    assert not ledger.read(lambda tx: violations(tx.connection))


def _numbers(ledger: Ledger) -> dict[tuple[str, str], int]:
    found = ledger.read(lambda tx: triggers.updates(tx, 0, len(updates())))
    return {(each.feed, each.instance_key): each.sequence for each in found}
