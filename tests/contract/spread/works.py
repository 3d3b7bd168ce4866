"""What the machines of these tests are asked to do: functions of a module, as the port wants them."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

_MOST_SECONDS = 60


@dataclass(frozen=True, kw_only=True, slots=True)
class Numbers:
    """A task with a value of its own, as real ones have.

    Attributes:
        folder: where the work leaves its marks.
    """

    name: str
    count: int = 1
    seconds: float = 0.0
    folder: str = ""


class Broken(Exception):  # noqa: N818 - what a bug raises
    """A bug in the work."""

    def __init__(self, name: str, attempt: int) -> None:
        super().__init__(f"{name} {attempt}")


def named(task: Numbers, attempt: int) -> Iterator[str]:
    """So many answers, after so many seconds."""
    time.sleep(task.seconds)
    for number in range(task.count):
        yield f"{task.name}{number}/{attempt}"


def marking(task: Numbers, attempt: int) -> Iterator[str]:
    """Leaves a file when it begins and another one when it ends."""
    mark(task, f"begun-{attempt}")
    time.sleep(task.seconds)
    mark(task, f"ended-{attempt}")
    yield task.name


def meeting(task: Numbers, attempt: int) -> Iterator[str]:
    """Wait until so many tasks have begun: they meet when they are worked on at once, and never else."""
    mark(task, f"begun-{attempt}")
    deadline = time.monotonic() + _MOST_SECONDS
    while len(list(Path(task.folder).glob("*-begun-*"))) < task.count:
        if time.monotonic() > deadline:
            raise Broken(task.name, attempt)
        time.sleep(0.05)
    yield task.name


def waiting(task: Numbers, attempt: int) -> Iterator[str]:
    """Wait for a file `go-on`, unless the task is quick."""
    deadline = time.monotonic() + _MOST_SECONDS
    while task.name != "quick" and not (Path(task.folder) / "go-on").exists():
        if time.monotonic() > deadline:
            raise Broken(task.name, attempt)
        time.sleep(0.05)
    yield f"{task.name}/{attempt}"


def dying_once(task: Numbers, attempt: int) -> Iterator[str]:
    """The machine is gone when it was half done, the first time."""
    mark(task, f"begun-{attempt}")
    if not attempt:
        os._exit(17)
    yield f"{task.name}/{attempt}"


def killing_the_executor(task: Numbers, attempt: int) -> Iterator[str]:
    """The executor's JVM, which is the parent of the daemon that forks workers, dies with all that it does."""
    if not attempt:
        daemon = Path(f"/proc/{os.getppid()}/stat").read_text()
        os.kill(int(daemon.rpartition(")")[2].split()[1]), signal.SIGKILL)
        time.sleep(60)
    yield f"{task.name}/{attempt}"


def broken(task: Numbers, attempt: int) -> Iterable[str]:
    """Always fails."""
    raise Broken(task.name, attempt)


def where(task: Numbers, attempt: int) -> Iterator[int]:
    """The process that works."""
    del task, attempt
    yield os.getpid()


def mark(task: Numbers, name: str) -> None:
    """Leave an empty file."""
    (Path(task.folder) / f"{task.name}-{name}").touch()
