"""When a run that deletes looks for holds, and what it believes."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import pytest

from tests.unit.retention.acting import BASE, SharedStore
from tests.unit.retention.feeds import FeedText, days, run
from tests.unit.retention.memory import MemoryFileSystem
from toolkit.el import CanonicalPath
from toolkit.entities import LocationType
from toolkit.errors import Unavailable
from toolkit.retention.brake import ITEMS_BETWEEN_LOOKS, SECONDS_BETWEEN_LOOKS, Brake, HoldUnknown
from toolkit.retention.targets import FeedTarget
from toolkit.storage import FileStatus, PermissionDenied, Unreachable


@dataclass
class Added:
    """Holds that a command adds."""

    is_held: bool = False
    is_lost: bool = False
    looks: int = 0

    def are_on(self, target: FeedTarget) -> bool:
        assert target.feed == "clicks"
        self.looks += 1
        if self.is_lost:
            raise Unavailable
        return self.is_held


@dataclass
class LooksBy:
    """Asks a function."""

    are_on: Callable[[FeedTarget], bool]


@dataclass
class Scene:
    added: Added = field(default_factory=Added)
    seconds: float = 0.0

    def __post_init__(self) -> None:
        system = MemoryFileSystem()
        system.put(*days(1))
        plan = run(system, FeedText(), dry_run=True).feeds[0].plan
        assert plan.target is not None
        self.system, self.item = system, plan.items[0]
        self.brake = Brake(
            target=plan.target,
            storage=lambda _: system,
            new_holds=self.added,
            now=lambda: self.seconds,
        )

    def holds(self, times: int = 1) -> bool:
        return [self.brake.holds(self.item.base) for _ in range(times)][-1]


@pytest.fixture
def scene() -> Scene:
    return Scene()


def test_a_hold_that_is_added_meanwhile_stops_the_feed_within_fifty_items(scene: Scene) -> None:
    assert not scene.holds()
    scene.added.is_held = True
    assert not scene.holds(ITEMS_BETWEEN_LOOKS - 1)
    assert scene.holds()


def test_after_a_pause_it_looks_before_the_next_item(scene: Scene) -> None:
    assert not scene.holds()
    scene.added.is_held = True
    scene.seconds = SECONDS_BETWEEN_LOOKS
    assert scene.holds()


def test_a_feed_that_was_held_once_stays_so_for_the_run(scene: Scene) -> None:
    scene.added.is_held = True
    assert scene.holds()
    scene.added.is_held = False
    assert scene.holds(2 * ITEMS_BETWEEN_LOOKS)
    assert scene.added.looks == 1


def test_holds_that_cannot_be_read_are_neither_there_nor_not(scene: Scene) -> None:
    scene.added.is_lost = True
    with pytest.raises(HoldUnknown, match="a hold could not be looked for") as caught:
        scene.holds()
    assert caught.value.code == "ledger_unavailable"


def test_a_base_that_must_not_be_looked_at_is_told_with_the_stores_code(scene: Scene) -> None:
    def refuse(call: str, path: str) -> None:
        assert (call, path) == ("status", f"{BASE.path}/.feedctl-hold")
        raise PermissionDenied(path=BASE)

    scene.brake.storage = lambda _: SharedStore(broken=refuse)
    with pytest.raises(HoldUnknown, match="permission denied") as caught:
        scene.holds()
    assert caught.value.code == "permission_denied"


def test_items_that_are_let_through_together_are_counted_one_by_one(scene: Scene) -> None:
    for _ in range(ITEMS_BETWEEN_LOOKS // 10):
        assert not scene.brake.holds(BASE, items=10)
    scene.added.is_held = True
    assert scene.brake.holds(BASE, items=10)
    assert scene.added.looks == 2


@pytest.mark.parametrize("other", ["/data/stats", "/neighbour"])
def test_a_hold_file_counts_in_every_base_that_the_plan_looks_at(scene: Scene, other: str) -> None:
    place = CanonicalPath.parse(f"file://{other}")
    target = scene.brake.target
    (data,) = target.locations
    stats = replace(data, type=LocationType.STATS, base=CanonicalPath.parse("file:///data/stats"))
    neighbour = CanonicalPath.parse("file:///neighbour")
    scene.brake.target = replace(target, locations=(data, stats), neighbour_bases=(neighbour,))
    assert not scene.holds()
    scene.system.put(f"{place.path}/.feedctl-hold")
    assert scene.brake.holds(data.base, must_look=True)


def test_a_look_that_waits_for_a_silent_store_does_not_wait_for_itself(scene: Scene) -> None:
    """While it is waited for the store asks the run, which asks here."""
    asked = list[bool]()

    def wait(call: str, path: str) -> None:
        del call, path
        scene.seconds += 100
        asked.append(scene.brake.holds(BASE, items=0))

    scene.brake.storage = lambda _: SharedStore(broken=wait)
    looker = threading.Thread(target=scene.holds, daemon=True)
    looker.start()
    looker.join(10)
    assert (looker.is_alive(), asked) == (False, [False])


def test_a_directory_is_never_dropped_on_an_old_look(scene: Scene) -> None:
    assert not scene.holds()
    scene.added.is_held = True
    assert scene.brake.holds(scene.item.base, must_look=True)


def test_while_one_thread_looks_the_others_go_on_for_a_while_and_then_wait_for_it(scene: Scene) -> None:
    may_look, is_looking, passed = threading.Event(), threading.Event(), list[bool]()

    def look(target: FeedTarget) -> bool:
        del target
        is_looking.set()
        assert may_look.wait(10)
        return True

    assert not scene.holds(ITEMS_BETWEEN_LOOKS)
    scene.brake.new_holds = LooksBy(look)
    looker = threading.Thread(target=scene.holds)
    looker.start()
    assert is_looking.wait(10)
    assert not scene.holds(ITEMS_BETWEEN_LOOKS - 1)
    waiter = threading.Thread(target=lambda: passed.append(scene.holds()))
    waiter.start()
    waiter.join(0.1)
    assert passed == []
    may_look.set()
    for thread in (looker, waiter):
        thread.join(10)
    assert passed == [True]


def test_threads_that_all_must_look_share_looks_that_began_after_they_asked(scene: Scene) -> None:
    together = threading.Barrier(8)

    def drop() -> None:
        together.wait(10)
        assert not scene.brake.holds(scene.item.base, must_look=True)

    threads = [threading.Thread(target=drop) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(10)
    assert 1 <= scene.added.looks <= 8


def test_a_store_that_does_not_answer_is_no_hold(scene: Scene) -> None:
    class Silent(MemoryFileSystem):
        def status(self, path: CanonicalPath) -> FileStatus:
            raise Unreachable(path=path)

    scene.brake.storage = lambda _: Silent()
    for _ in range(2):
        with pytest.raises(Unreachable):
            scene.holds()
