"""The children that tests kill: what they do is told, and none outlives the tests."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.databases.forking import Forks, Task, forking

pytestmark = pytest.mark.extended

_SECONDS = 20


@pytest.fixture(scope="module")
def forks() -> Iterator[Forks]:
    """What forks."""
    with forking() as started:
        yield started


def say(word: str) -> str:
    """A child that tells something."""
    return word


def fail() -> str:
    """A child that fails."""
    message = "it failed"
    raise ValueError(message)


def die() -> str:
    """A child that kills itself."""
    os.kill(os.getpid(), signal.SIGKILL)
    return "it lived"


def sleep(file: Path) -> str:
    """A child that would go on for ever; writes down which process it is."""
    file.write_text(str(os.getpid()))
    time.sleep(600)
    return "it lived"


def test_what_a_child_says_is_told(forks: Forks) -> None:
    ended = forks.call(say, "hello")
    assert (ended.code, ended.said, ended.was_killed) == (0, "hello", False)


def test_a_child_that_fails_tells_where(forks: Forks) -> None:
    ended = forks.call(fail)
    assert ended.code == 1
    assert ended.said.endswith("ValueError: it failed\n")


def test_a_child_that_kills_itself_is_seen(forks: Forks) -> None:
    assert forks.call(die).was_killed


def test_each_of_many_children_tells_of_its_own_task(forks: Forks) -> None:
    tasks = [Task(function=say, arguments=(str(number),)) for number in range(20)]
    assert {ended.task: ended.said for ended in forks.run(tasks, at_once=4)} == {n: str(n) for n in range(20)}


def test_children_end_with_the_tests(tmp_path: Path) -> None:
    file = tmp_path / "pid"
    with forking() as started:
        next(started.run([Task(function=say, arguments=("a",)), Task(function=sleep, arguments=(file,))], at_once=2))
        _until(lambda: file.exists() and bool(file.read_text()))
        started.stop()
    _until(lambda: not Path(f"/proc/{file.read_text()}").exists())


def _until(is_so: Callable[[], bool]) -> None:
    deadline = time.monotonic() + _SECONDS
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.01)
