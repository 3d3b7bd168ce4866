"""The part of an eviction that another machine does: sent by its name, with everything that it needs in the task."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from toolkit.retention.pace import Pace
from toolkit.runs.errors import Stopped
from toolkit.storage import NotFound, StorageError, StorageSpec, open_file_system

if TYPE_CHECKING:
    from toolkit.el import CanonicalPath

TOO_LATE = "too_late"
"""The code of a path for which the task had no time left: it was not begun, or not finished."""

_SKEW_SECONDS = 5.0
"""A clock that is behind the sender's by no more than this is taken for right."""


@dataclass(frozen=True, kw_only=True, slots=True)
class DeletionTask:
    """Paths to remove in one store.

    The deadline travels as a duration with the time at which it was told, since no clock of one machine but the wall
    clock means anything on another (DESIGN section 6, Lease); clocks that differ by more than a lease has to spare
    must be set right.

    Attributes:
        spec: the store.
        base: all paths are strictly below it.
        first: the availability flag, see `FileSystem.delete_all`; empty: there is none.
        paths: what goes.
        issued_at: seconds of the wall clock of the machine that sends the task.
        seconds_left: so long from then on effects may start.
        rate: so many changes a second this task may ask the store for.
    """

    spec: StorageSpec
    base: CanonicalPath
    first: str
    paths: tuple[CanonicalPath, ...]
    issued_at: float
    seconds_left: float
    rate: float


class PathAnswer(NamedTuple):
    """What became of a path; `code` is empty when it was removed, else that of the error; `message` is for people."""

    path: CanonicalPath
    code: str
    message: str


class OutOfTime(Stopped):
    """The task's deadline is over; whoever sent it may not own the feed any more."""

    code = "out_of_time"

    def __init__(self) -> None:
        super().__init__(reason="the time that the lease had left is over")


def delete_paths(task: DeletionTask, attempt: int) -> Iterator[PathAnswer]:
    """Remove the paths of a task; what is not told in time is told to have been too late.

    Args:
        task: what goes.
        attempt: from the second on, what is not there counts as removed: the first may have got so far.

    Yields:
        One answer for each path.
    """
    return deleted(task, attempt, time.time)


def deleted(task: DeletionTask, attempt: int, now: Callable[[], float]) -> Iterator[PathAnswer]:
    """See `delete_paths`.

    Args:
        task: what goes.
        attempt: counts from 0.
        now: seconds of the wall clock.
    """

    def check() -> None:
        if not -_SKEW_SECONDS <= now() - task.issued_at < task.seconds_left:
            raise OutOfTime

    pace = Pace(rate=task.rate, check=check)
    system = open_file_system(task.spec, before_effect=pace.wait, while_waiting=check)
    waiting = dict.fromkeys(task.paths)
    try:
        check()
        for path, error in system.delete_all(task.paths, below=task.base, first=task.first):
            del waiting[path]
            yield _answer(path, error, attempt)
    except OutOfTime as late:
        yield from (PathAnswer(path, TOO_LATE, str(late)) for path in waiting)
    except StorageError as error:
        yield from (PathAnswer(path, error.code, str(error)) for path in waiting)


def _answer(path: CanonicalPath, error: StorageError | None, attempt: int) -> PathAnswer:
    if error is None or (attempt and isinstance(error, NotFound)):
        return PathAnswer(path, "", "")
    return PathAnswer(path, error.code, str(error))
