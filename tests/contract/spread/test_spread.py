"""The contract of `ExecutorPool`: in this process, on Spark's local executors, and on a real cluster."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from statistics import median

import pytest

from tests.contract.spread.places import LOCAL, spark, standalone
from tests.contract.spread.works import (
    Broken,
    Numbers,
    broken,
    dying_once,
    killing_the_executor,
    marking,
    meeting,
    named,
    waiting,
    where,
)
from tests.local_executors import LocalExecutorPool
from tests.testbed.client import Testbed
from tests.testbed.spark import SparkStandalone
from toolkit.runs.errors import Stopped
from toolkit.transfer.adapters.spark_executors import SparkApplication
from toolkit.transfer.errors import TasksFailed
from toolkit.transfer.port import ExecutorPool

# Spark leaves it to Python to close its sockets, some time.
pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(600),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]


def go_on() -> None:
    """Nothing stops the run."""


def stopping(when: Callable[[], bool]) -> Callable[[], None]:
    """A check that stops the run as soon as something is so."""

    def check() -> None:
        if when():
            raise Stopped(reason="test")

    return check


STANDALONE = pytest.param("standalone", marks=pytest.mark.extended)
"""The same code as local executors, with the faults of a cluster."""


@pytest.fixture(scope="module", params=["here", "local", STANDALONE])
def spread(request: pytest.FixtureRequest, java_home: Path) -> Iterator[ExecutorPool]:
    """One of the implementations; of Spark's only one at a time."""
    if request.param == "here":
        yield LocalExecutorPool()
    elif request.param == "local":
        with spark(java_home, LOCAL) as machines:
            yield machines
    else:
        testbed: Testbed = request.getfixturevalue("testbed")
        cluster = SparkStandalone.of(testbed)
        with testbed.alone("spark"):
            cluster.wait_idle()
            with spark(java_home, standalone(cluster)) as machines:
                yield machines


on_spark = pytest.mark.parametrize("spread", ["local", STANDALONE], indirect=True, scope="module")
near_and_far = pytest.mark.parametrize("spread", ["here", "standalone"], indirect=True, scope="module")
on_executors = pytest.mark.parametrize("spread", ["standalone"], indirect=True, scope="module")


def test_every_task_is_answered_once_and_is_a_first_attempt(spread: ExecutorPool) -> None:
    tasks = [Numbers(name=name, count=count) for name, count in zip("abcdefg", range(7), strict=True)]
    answers = list(spread.run(named, tasks, check=go_on))
    expected = [f"{task.name}{number}/0" for task in tasks for number in range(task.count)]
    assert sorted(answers) == expected


def test_no_tasks_have_no_answers(spread: ExecutorPool) -> None:
    assert list(spread.run(named, [], check=go_on)) == []


def test_at_least_one_task_is_worked_on_at_once(spread: ExecutorPool) -> None:
    assert spread.parallel >= 1


@pytest.mark.extended
@near_and_far
def test_a_run_that_is_told_to_stop_begins_nothing_more(spread: ExecutorPool, tmp_path: Path) -> None:
    tasks = [Numbers(name=f"{number:02}", seconds=0.3, folder=str(tmp_path)) for number in range(20)]
    has_begun = stopping(lambda: any(tmp_path.iterdir()))
    with pytest.raises(Stopped):
        list(spread.run(marking, tasks, check=has_begun))
    left = sorted(tmp_path.iterdir())
    time.sleep(1)
    assert sorted(tmp_path.iterdir()) == left
    assert len(left) < len(tasks)


@pytest.mark.extended
@near_and_far
def test_answers_that_nobody_wants_any_more_end_the_work(spread: ExecutorPool, tmp_path: Path) -> None:
    tasks = [Numbers(name=f"{number:02}", seconds=0.2, folder=str(tmp_path)) for number in range(20)]
    answers = spread.run(marking, tasks, check=go_on)
    next(answers)
    answers.close()  # type: ignore[attr-defined]  # an iterator in the port, a generator in each adapter
    left = sorted(tmp_path.iterdir())
    time.sleep(1)
    assert sorted(tmp_path.iterdir()) == left


@pytest.mark.extended
@near_and_far
def test_one_run_after_the_other_works(spread: ExecutorPool) -> None:
    for _ in range(3):
        assert list(spread.run(named, [Numbers(name="a")], check=go_on)) == ["a0/0"]


@pytest.mark.extended
@on_executors
def test_executors_are_other_processes_and_work_at_once(spread: ExecutorPool, tmp_path: Path) -> None:
    assert os.getpid() not in list(spread.run(where, [Numbers(name=name) for name in "abcd"], check=go_on))
    both = [Numbers(name=name, count=2, folder=str(tmp_path)) for name in "ab"]
    assert sorted(spread.run(meeting, both, check=go_on)) == ["a", "b"]
    assert spread.parallel == 2


@on_spark
def test_no_task_is_given_to_two_executors_by_intention_and_ctrl_c_stays_ours(spread: ExecutorPool) -> None:
    assert isinstance(spread, SparkApplication)
    assert spread.context.getConf().get("spark.speculation") == "false"
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.extended
@on_executors
def test_answers_come_while_other_tasks_are_under_way(spread: ExecutorPool, tmp_path: Path) -> None:
    answers = spread.run(waiting, [Numbers(name=name, folder=str(tmp_path)) for name in ("quick", "slow")], check=go_on)
    assert next(answers) == "quick/0"
    (tmp_path / "go-on").touch()
    assert list(answers) == ["slow/0"]


@on_spark
def test_a_stop_is_noticed_within_a_second_and_ends_what_is_under_way(spread: ExecutorPool, tmp_path: Path) -> None:
    tasks = [Numbers(name=name, seconds=60, folder=str(tmp_path)) for name in "ab"]
    reported: list[float] = []

    def check() -> None:
        if len(list(tmp_path.iterdir())) == 2:
            reported.append(time.monotonic())
            raise Stopped(reason="test")

    with pytest.raises(Stopped):
        list(spread.run(marking, tasks, check=check))
    assert time.monotonic() - reported[0] < 30
    time.sleep(1)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a-begun-0", "b-begun-0"]
    assert list(spread.run(named, [Numbers(name="c")], check=go_on)) == ["c0/0"]


@pytest.mark.extended
@on_executors
def test_check_is_asked_at_least_once_a_second(spread: ExecutorPool) -> None:
    calls: list[float] = []
    list(spread.run(named, [Numbers(name="a", seconds=2.5)], check=lambda: calls.append(time.monotonic())))
    # Not the longest: a busy machine gives this process no time for a second now and then.
    assert median(later - earlier for earlier, later in pairwise(calls)) < 1


@on_spark
def test_a_task_whose_machine_died_is_tried_again_as_the_next_attempt(spread: ExecutorPool, tmp_path: Path) -> None:
    tasks = [Numbers(name=name, folder=str(tmp_path)) for name in "ab"]
    assert sorted(spread.run(dying_once, tasks, check=go_on)) == ["a/1", "b/1"]


@pytest.mark.extended
@on_executors
def test_an_executor_that_dies_leads_to_another_attempt_elsewhere(spread: ExecutorPool) -> None:
    answers = list(spread.run(killing_the_executor, [Numbers(name="a"), Numbers(name="b")], check=go_on))
    assert [answer.partition("/")[0] for answer in sorted(answers)] == ["a", "b"]
    assert not any(answer.endswith("/0") for answer in answers)


@pytest.mark.extended
@on_executors
def test_work_that_always_fails_is_given_up_and_named(spread: ExecutorPool) -> None:
    with pytest.raises(TasksFailed, match="Broken: a 3"):
        list(spread.run(broken, [Numbers(name="a")], check=go_on))
    with pytest.raises(Broken):
        list(LocalExecutorPool().run(broken, [Numbers(name="a")], check=go_on))
