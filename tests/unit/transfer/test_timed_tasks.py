"""Tasks with a deadline, sent in rounds until every key has an answer or a round brings none."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import pytest

from tests.local_executors import LocalExecutorPool
from toolkit.errors import StopRequested, Unavailable
from toolkit.transfer.port import Work
from toolkit.transfer.timed_tasks import (
    CLOCK_SKEW,
    LONGEST_SECONDS,
    SKEW_SECONDS,
    TOO_LATE,
    ClockSkew,
    OutOfTime,
    Rounds,
    TaskTime,
)

SENT = 1_774_008_000.0  # 2026-03-20T12:00:00Z


class Answer(NamedTuple):
    """About a number."""

    number: int
    code: str = ""


class Paused(StopRequested):
    """The run is to pause."""


def answered(task: Sequence[int], attempt: int) -> Iterable[Answer]:
    """Return the whole answer of a task."""
    del attempt
    return map(Answer, task)


@dataclass(kw_only=True)
class Scene:
    """Machines that are late as often as told, and what was asked of them."""

    late: dict[int, int] = field(default_factory=dict)
    check: Callable[[], None] = lambda: None
    rested: int = 0
    sent: list[tuple[int, ...]] = field(default_factory=list)

    def work(self, task: Sequence[int], attempt: int) -> Iterator[Answer]:
        for answer in answered(task, attempt):
            times = self.late.get(answer.number, 0)
            self.late[answer.number] = times - 1
            yield answer if times <= 0 else answer._replace(code=TOO_LATE)

    def tasks(self, numbers: Sequence[int]) -> list[tuple[int, ...]]:
        self.sent.append(tuple(numbers))
        return [tuple(numbers[at : at + 2]) for at in range(0, len(numbers), 2)]

    def rest(self) -> None:
        self.rested += 1

    def ask(self, count: int) -> list[tuple[int, str, bool]]:
        work: Work[Sequence[int], Answer] = self.work
        rounds = Rounds(
            pool=LocalExecutorPool(),
            work=work,
            tasks=self.tasks,
            key=lambda answer: answer.number,
            is_late=lambda answer: answer.code == TOO_LATE,
            check=self.check,
            rest=self.rest,
            is_pause=lambda stop: isinstance(stop, Paused),
        )
        return [(answer.number, answer.code, is_again) for answer, is_again in rounds.answers(range(count))]


def test_one_round_is_enough_when_every_key_is_answered() -> None:
    scene = Scene()
    assert scene.ask(3) == [(0, "", False), (1, "", False), (2, "", False)]
    assert (scene.sent, scene.rested) == ([(0, 1, 2)], 0)


def test_nothing_is_sent_for_no_keys() -> None:
    scene = Scene()
    assert (scene.ask(0), scene.sent) == ([], [])


def test_what_was_too_late_is_asked_for_again_and_alone_and_its_later_answer_counts() -> None:
    scene = Scene(late={1: 1})
    assert scene.ask(3) == [(0, "", False), (1, TOO_LATE, False), (2, "", False), (1, "", True)]
    assert (scene.sent, scene.rested) == ([(0, 1, 2), (1,)], 1)


def test_a_round_that_brings_no_answer_is_the_last() -> None:
    scene = Scene(late={0: 99, 2: 1})
    assert scene.ask(3)[-1] == (0, TOO_LATE, True)
    assert scene.sent == [(0, 1, 2), (0, 2), (0,)]


def test_a_pause_is_followed_by_another_round_for_what_was_not_answered() -> None:
    scene, calls = Scene(), list[int]()

    def check() -> None:
        calls.append(1)
        if len(calls) in (2, 3):
            raise Paused

    scene.check = check
    assert [number for number, _, _ in scene.ask(4)] == [0, 1, 2, 3]
    assert (scene.sent, scene.rested) == ([(0, 1, 2, 3), (2, 3), (2, 3)], 2)


@pytest.mark.parametrize("error", [StopRequested, Unavailable])
def test_any_other_stop_and_lost_machines_go_on_to_the_caller(error: type[Exception]) -> None:
    def check() -> None:
        raise error

    with pytest.raises(error):
        Scene(check=check).ask(2)


def test_a_task_may_begin_effects_until_its_time_is_over() -> None:
    until = TaskTime.now(30, lambda: SENT)
    until.check(lambda: SENT + 29.9)
    with pytest.raises(OutOfTime) as caught:
        until.check(lambda: SENT + 30)
    assert caught.value.code == TOO_LATE


def test_no_task_may_work_longer_than_the_longest_time() -> None:
    assert TaskTime.now(float("inf"), lambda: SENT).seconds_left == LONGEST_SECONDS


def test_a_clock_that_is_a_little_behind_is_right_and_one_further_behind_says_both_times() -> None:
    until = TaskTime.now(30, lambda: SENT)
    until.check(lambda: SENT - SKEW_SECONDS)
    with pytest.raises(ClockSkew) as caught:
        until.check(lambda: SENT - 90)
    assert caught.value.code == CLOCK_SKEW
    assert "the clock of the executor says 2026-03-20T11:58:30Z" in str(caught.value)
    assert "the driver sent the task at 2026-03-20T12:00:00Z by its own, 90 s later" in str(caught.value)
