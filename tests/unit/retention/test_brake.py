"""When a run that deletes looks for holds, and what it believes."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from tests.unit.retention.feeds import FeedText, days, run
from tests.unit.retention.memory import MemoryFileSystem
from toolkit.errors import Unavailable
from toolkit.retention.brake import ITEMS_BETWEEN_LOOKS, SECONDS_BETWEEN_LOOKS, Brake
from toolkit.retention.targets import FeedTarget


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
class Scene:
    added: Added = field(default_factory=Added)
    seconds: float = 0.0

    def __post_init__(self) -> None:
        system = MemoryFileSystem()
        system.put(*days(1))
        plan = run(system, FeedText(), dry_run=True).feeds[0].plan
        assert plan.target is not None
        self.item = plan.items[0]
        self.brake = Brake(
            target=plan.target,
            storage=lambda _: system,
            new_holds=self.added,
            now=lambda: self.seconds,
        )

    def holds(self, times: int = 1) -> bool:
        return [self.brake.holds(self.item) for _ in range(times)][-1]


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


def test_holds_that_cannot_be_read_hold(scene: Scene) -> None:
    scene.added.is_lost = True
    assert scene.holds()
