"""The places of a call where its process can die: before each statement, and right before and after each COMMIT."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable

import sqlalchemy as sa

BEFORE_COMMIT = "COMMIT"
AFTER_COMMIT = "after COMMIT"


class KillPoints:
    """Listens to an engine, and kills this process (kill -9) at one of the points, if it is told to.

    Args:
        engine: of the call; a fresh one, whose connection this process made itself.
        kill_at: the number of the point, from 0; None: only list them.
    """

    def __init__(self, engine: sa.Engine, kill_at: int | None = None) -> None:
        self.passed: list[str] = []
        self._kill_at = kill_at
        sa.event.listen(engine, "before_cursor_execute", self._statement)
        sa.event.listen(engine, "commit", lambda _connection: self._point(BEFORE_COMMIT))
        sa.event.listen(engine, "checkin", lambda *_: self._point(AFTER_COMMIT))

    def _statement(self, _connection: object, _cursor: object, statement: str, *_more: object) -> None:
        self._point(" ".join(statement.split()[:6]))

    def _point(self, name: str) -> None:
        if len(self.passed) == self._kill_at:
            os.kill(os.getpid(), signal.SIGKILL)
        self.passed.append(name)


def is_committed(points: list[str], number: int) -> bool:
    """Return whether a process that dies at the point has committed something by then."""
    return BEFORE_COMMIT in points[:number]


def listed(engine: sa.Engine, call: Callable[[], object]) -> list[str]:
    """The points of a call that runs to its end."""
    points = KillPoints(engine)
    call()
    return points.passed
