"""When a run looks for holds, and what it believes."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import pytest

from tests.unit.actions.fake_action import BASE, MarkAction, StatusStore, outcomes
from tests.unit.actions.fake_action import Scene as Running
from toolkit.actions.guard import HELD
from toolkit.actions.hold_watch import ITEMS_BETWEEN_LOOKS, SECONDS_BETWEEN_LOOKS, HoldCheckFailed, HoldWatch
from toolkit.el import CanonicalPath
from toolkit.errors import Unavailable
from toolkit.storage import PermissionDenied, Unreachable

PAIRS = (("clicks", "primary"),)


@dataclass
class Added:
    """Holds that a command adds."""

    is_held: bool = False
    is_lost: bool = False
    looks: int = 0
    calls: Callable[[], None] = lambda: None

    def are_on(self, pairs: Sequence[tuple[str, str]]) -> bool:
        assert pairs == PAIRS
        self.looks += 1
        self.calls()
        if self.is_lost:
            raise Unavailable
        return self.is_held


@dataclass
class Scene:
    added: Added = field(default_factory=Added)
    store: StatusStore = field(default_factory=StatusStore)
    seconds: float = 0.0
    others: tuple[CanonicalPath, ...] = ()

    def __post_init__(self) -> None:
        self.watch = HoldWatch(
            bases=(BASE, *self.others),
            pairs=PAIRS,
            storage=lambda _: self.store,
            new_holds=self.added,
            now=lambda: self.seconds,
        )

    def holds(self, times: int = 1) -> bool:
        return [self.watch.holds(BASE) for _ in range(times)][-1]


@pytest.fixture
def scene() -> Scene:
    return Scene()


def test_a_hold_that_is_added_meanwhile_stops_the_target_within_fifty_items(scene: Scene) -> None:
    assert not scene.holds()
    scene.added.is_held = True
    assert not scene.holds(ITEMS_BETWEEN_LOOKS - 1)
    assert scene.holds()


def test_after_a_pause_it_looks_before_the_next_item(scene: Scene) -> None:
    assert not scene.holds()
    scene.added.is_held = True
    scene.seconds = SECONDS_BETWEEN_LOOKS
    assert scene.holds()


def test_what_was_held_once_stays_so_for_the_run(scene: Scene) -> None:
    scene.added.is_held = True
    assert scene.holds()
    scene.added.is_held = False
    assert scene.holds(2 * ITEMS_BETWEEN_LOOKS)
    assert scene.added.looks == 1


def test_holds_that_cannot_be_read_are_neither_there_nor_not(scene: Scene) -> None:
    scene.added.is_lost = True
    with pytest.raises(HoldCheckFailed, match="a hold could not be looked for") as caught:
        scene.holds()
    assert caught.value.code == "ledger_unavailable"


def test_a_base_that_must_not_be_looked_at_is_told_with_the_stores_code(scene: Scene) -> None:
    def refuse(path: CanonicalPath) -> None:
        assert path == BASE.child(".feedctl-hold")
        raise PermissionDenied(path=BASE)

    scene.store.before = refuse
    with pytest.raises(HoldCheckFailed, match="permission denied") as caught:
        scene.holds()
    assert caught.value.code == "permission_denied"


def test_a_look_that_failed_stands_for_the_rest_of_the_run(scene: Scene) -> None:
    scene.added.is_lost = True
    refusal = scene.watch.refusal(BASE)
    assert refusal is not None
    assert (refusal.code, refusal.why[-23:]) == ("ledger_unavailable", "; run again when it can be"[-23:])
    scene.added.is_lost = False
    assert scene.watch.refusal(BASE, must_look=True) is refusal


def test_items_that_are_let_through_together_are_counted_one_by_one(scene: Scene) -> None:
    for _ in range(ITEMS_BETWEEN_LOOKS // 10):
        assert not scene.watch.holds(BASE, items=10)
    scene.added.is_held = True
    assert scene.watch.holds(BASE, items=10)
    assert scene.added.looks == 2


@pytest.mark.parametrize("other", ["/data/stats", "/neighbour"])
def test_a_hold_file_counts_in_every_base_that_the_plan_looks_at(other: str) -> None:
    scene = Scene(others=tuple(map(CanonicalPath.parse, ("file:///data/stats", "file:///neighbour"))))
    assert not scene.holds()
    scene.store.there.add(f"{other}/.feedctl-hold")
    assert scene.watch.refusal(BASE, must_look=True) == HELD


def test_a_look_that_waits_for_a_silent_store_does_not_wait_for_itself(scene: Scene) -> None:
    """While it is waited for the store asks the run, which asks here."""
    calls = list[bool]()

    def wait(path: CanonicalPath) -> None:
        del path
        scene.seconds += 100
        calls.append(scene.watch.holds(BASE, items=0))

    scene.store.before = wait
    looker = threading.Thread(target=scene.holds, daemon=True)
    looker.start()
    looker.join(60)
    assert (looker.is_alive(), calls) == (False, [False])


def test_what_takes_much_at_once_never_relies_on_an_old_look(scene: Scene) -> None:
    assert not scene.holds()
    scene.added.is_held = True
    assert scene.watch.holds(BASE, must_look=True)


def test_while_one_thread_looks_the_others_go_on_for_a_while_and_then_wait_for_it(scene: Scene) -> None:
    may_look, is_looking, passed = threading.Event(), threading.Event(), list[bool]()

    def look() -> None:
        is_looking.set()
        assert may_look.wait(60)

    assert not scene.holds(ITEMS_BETWEEN_LOOKS)
    scene.added.calls, scene.added.is_held = look, True
    looker = threading.Thread(target=scene.holds)
    looker.start()
    assert is_looking.wait(60)
    assert not scene.holds(ITEMS_BETWEEN_LOOKS - 1)
    waiter = threading.Thread(target=lambda: passed.append(scene.holds()))
    waiter.start()
    waiter.join(0.1)
    assert passed == []
    may_look.set()
    for thread in (looker, waiter):
        thread.join(60)
    assert passed == [True]


def test_threads_that_all_must_look_share_looks_that_began_after_they_asked(scene: Scene) -> None:
    together = threading.Barrier(8)

    def take() -> None:
        together.wait(60)
        assert not scene.watch.holds(BASE, must_look=True)

    threads = [threading.Thread(target=take) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert 1 <= scene.added.looks <= 8


def test_a_store_that_does_not_answer_is_no_hold(scene: Scene) -> None:
    def silent(path: CanonicalPath) -> None:
        raise Unreachable(path=path)

    scene.store.before = silent
    for _ in range(2):
        with pytest.raises(Unreachable):
            scene.holds()


def test_a_hold_that_appears_while_a_run_works_stops_the_rest_of_its_target(scene: Scene) -> None:
    running = Running(action=MarkAction(todo={"clicks": 120}, size=200, watched=[scene.watch]))
    running.action.before = lambda mark: setattr(scene.added, "is_held", mark.number > 20)
    result = running.run()
    assert outcomes(result) == [("done", "")] * ITEMS_BETWEEN_LOOKS + [("skipped", "held")] * 70
    assert (result.status.value, result.stopped) == ("succeeded", None)


def test_a_hold_that_cannot_be_looked_for_fails_the_target_aloud(scene: Scene) -> None:
    scene.added.is_lost = True
    running = Running(action=MarkAction(todo={"clicks": 2}, watched=[scene.watch]))
    result = running.run()
    assert outcomes(result) == [("failed", "ledger_unavailable")] * 2
    assert {"a hold could not be looked for" in each.message for each in result.items} == {True}
