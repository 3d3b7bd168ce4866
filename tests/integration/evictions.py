"""An eviction in this process on a store of the test bed, with a moment in its middle, and what must become of it."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from math import inf

import hdfs_native

from tests.soak.layouts import LAYOUTS, Layout
from tests.soak.places import HdfsPlace, Kind, Place, Tree
from tests.soak.retention_feed import Opening, run
from tests.soak.retention_oracle import Case
from tests.soak.retention_rounds import MortalRecorder
from toolkit.result import Outcome
from toolkit.retention import RetentionResult
from toolkit.retention.plan import ItemKind
from toolkit.runs.stop import NeverStopped

DIRECTORIES = next(each for each in LAYOUTS if each.template == "/data/${YEAR}/${MONTH}/${DAY}/${HOUR}")
FLAT = next(each for each in LAYOUTS if each.template == "/data/${YEAR}-${MONTH}-${DAY}-${HOUR}")
NOMINAL = datetime(2026, 3, 20, 12, tzinfo=UTC)
OLD, YOUNG = 300, 40
"""Hours that have data, before and after the horizon."""
SLOW = Opening(rate=60)
"""So that evicting what is old takes some seconds."""
_DEADLINE_SECONDS = 60.0


def hourly(layout: Layout) -> Case:
    """An hourly feed that keeps ten days."""
    return Case(
        layouts=(layout,),
        zone="UTC",
        calendar_zone="UTC",
        frequency="hours(1)",
        start=datetime(2026, 1, 1, tzinfo=UTC),
        end=datetime(2099, 1, 1, tzinfo=UTC),
        keeps_beyond=True,
        limit="days(10)",
        keep_last=0,
        cut_off="",
        hold=None,
        has_hold_file=False,
        nominal=NOMINAL,
        flag="_SUCCESS",
    )


def hours(case: Case, old: int = OLD, young: int = YOUNG) -> Tree:
    """Empty instances around the horizon, a name that is none, and something outside of the base."""
    layout, first = case.layouts[0], case.horizon - timedelta(hours=old)
    names = [layout.name_at(first + timedelta(hours=at), "UTC") for at in range(old + young)]
    tree = dict.fromkeys(names, Kind.DIRECTORY)
    tree[f"{layout.base}/notes"] = tree["/elsewhere/file"] = Kind.FILE
    above = {path[:at] for path in tree for at in range(1, len(path)) if path[at] == "/"}
    return dict.fromkeys(above, Kind.DIRECTORY) | tree


@dataclass(kw_only=True)
class Eviction:
    """What is old of an hourly feed goes; the tree is made, and remembered as it was.

    Attributes:
        opening: how its runs open the store.
    """

    case: Case
    place: Place
    opening: Opening = SLOW
    recorder: MortalRecorder = field(default_factory=lambda: MortalRecorder(left_entity="fuzzed"))
    before: Tree = field(init=False)

    def __post_init__(self) -> None:
        self.before = self.place.tree()

    @property
    def expected(self) -> Tree:
        """The tree of an uninterrupted run."""
        return self.case.expected(self.before)

    @property
    def old(self) -> set[str]:
        """The instances that have to go."""
        return set(self.case.evicted(self.before))

    def run(self, opening: Opening | None = None) -> RetentionResult:
        """One run; instances that it leaves unsettled are there for the next one."""
        result = run(self.case, self.place, NeverStopped(), self.recorder, opening=opening or self.opening)
        self.recorder.die()
        return result

    def check_done(self) -> None:
        """Everything that is old is gone, nothing else is, and each instance was told once."""
        assert self.place.tree() == self.expected
        assert set(Counter(self.recorder.reported()).values()) == {1}
        assert len(self.recorder.reported()) == len(self.old)

    def check_partly_done(self) -> None:
        """Nothing is gone but what is old and the directories that it was in."""
        left = self.place.tree()
        assert self.expected.items() <= left.items()
        assert left.items() <= self.before.items()

    def check_second_run(self) -> None:
        """A rerun finishes what is left, and the next one finds nothing to do."""
        again = self.run(replace(self.opening, rate=inf))
        assert again.exit_code == 0, [each for each in again.items if each.outcome is Outcome.FAILED][:3]
        self.check_done()
        assert [*self.run(replace(self.opening, rate=inf)).items] == []

    @contextmanager
    def in_the_middle(self, act: Callable[[], None]) -> Iterator[Future[None]]:
        """While the block runs, do something as soon as the first of what is old is gone."""
        first, is_over = min(self.old), threading.Event()

        def wait_and_act() -> None:
            deadline = time.monotonic() + _DEADLINE_SECONDS
            while self.place.has(first) and not is_over.wait(0.05):
                assert time.monotonic() < deadline, "the eviction did not begin"
            act()

        with ThreadPoolExecutor(1) as pool:
            acted = pool.submit(wait_and_act)
            try:
                yield acted
            finally:
                is_over.set()
            acted.result(_DEADLINE_SECONDS)


def on_hdfs(endpoint: str, layout: Layout = FLAT, opening: Opening = SLOW) -> Eviction:
    """An eviction on HDFS, below a directory that is made."""
    case, place = hourly(layout), HdfsPlace(endpoint, hdfs_native.Client(endpoint))
    place.client.delete(place.root, recursive=True)
    place.client.mkdirs(place.root, create_parent=True)
    place.build(hours(case))
    return Eviction(case=case, place=place, opening=opening)


def codes(result: RetentionResult) -> Counter[str]:
    """How many instances had which code; without one they are done."""
    return Counter(each.code for each in result.items if each.item.type is ItemKind.INSTANCE)
