"""A Spark application that many steps share, seen from the runner: its start and its end."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path

from toolkit.errors import Failed
from toolkit.programs.child import Program, run_program
from toolkit.programs.port import StepCall, StepEnd, ignore_mark
from toolkit.programs.session_folder import end_dead_sessions, new_folder

_LOOK_SECONDS = 0.05
_IDLE_SECONDS = 60.0
_MOST_STEPS = 500
"""So many steps an application runs: what Spark keeps of each (classes, records of jobs) ends with it."""


class _Over(Failed):
    """The application has to end; ends its process on its way through `run_program`."""


@dataclass(kw_only=True)
class SharedSession:
    """An application below its supervisor. It ends when asked, with this process, or when idle for a minute.

    Attributes:
        program: makes the program that listens on a socket.
        call: of the application, as of a step: its log is that of the whole application.
        end: of the application; None: it runs.
    """

    program: Callable[[Path], Program]
    call: StepCall
    end: StepEnd | None = field(default=None, init=False)
    _steps: int = field(default=0, init=False)
    _total: int = field(default=0, init=False)
    _is_retired: bool = field(default=False, init=False)
    _idle_since: float = field(default_factory=time.monotonic, init=False)
    _ends_at: float | None = field(default=None, init=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False)
    _is_over: threading.Event = field(default_factory=threading.Event, init=False)

    def __post_init__(self) -> None:
        """Start the application.

        Raises:
            InvalidInput: nothing can be started.
            OSError: there is no place for its socket.
        """
        end_dead_sessions(grace_seconds=0.0)
        self._folder = new_folder(self.call.log)
        with ExitStack() as stack:
            stack.callback(self._folder.remove)
            self.made = self.program(self._folder.socket)
            stack.pop_all()
        self._thread = threading.Thread(target=self._run, name="shared session", daemon=True)
        self._thread.start()

    def try_acquire(self) -> bool:
        """Let a step begin on it, unless it ends or has run many; each that began has to be released."""
        with self._lock:
            is_usable = not self._is_retired and self._ends_at is None and not self._is_over.is_set()
            if is_usable and self._total < _MOST_STEPS:
                self._steps, self._total = self._steps + 1, self._total + 1
                return True
            self._is_retired = True
            return False

    def release(self) -> None:
        """End the use by a step, of which nothing runs any more."""
        with self._lock:
            self._steps -= 1
            self._idle_since = time.monotonic()

    def retire(self) -> None:
        """Let no further step begin; the application ends after the last one."""
        self._is_retired = True

    @property
    def idle_since(self) -> float | None:
        """Monotonic time since when no step runs on it; None: one does, or the application ends."""
        return None if self._steps or self._is_retired or self._is_over.is_set() else self._idle_since

    @property
    def is_over(self) -> bool:
        """True if nothing of the application runs."""
        return self._is_over.is_set()

    def close(self) -> None:
        """Begin to end the application: at once while it starts, else in its own time."""
        self._is_retired = True
        if self._ends_at is None:
            seconds = 0.0
            with suppress(OSError), self._connection() as connection:
                connection.sendall(b'{"end": true}\n')
                seconds = self.call.grace_seconds
            self._ends_at = time.monotonic() + seconds

    def end_now(self, within: float = 0.0) -> StepEnd:
        """End the application with all that runs on it, and return when it is gone.

        Args:
            within: seconds for an end of its own, of which more is known.
        """
        at = time.monotonic() + within
        self._is_retired, self._ends_at = True, at if self._ends_at is None else min(at, self._ends_at)
        return self.wait()

    def wait(self) -> StepEnd:
        """Return the end of the application when it is gone."""
        self._thread.join()
        return self.end or StepEnd(exit_code=None, message="was ended")

    def connect(self, check: Callable[[], None]) -> socket.socket | None:
        """Return a connection to the application once it is up; None: it ended.

        Raises:
            Stopped: what `check` raises.
        """
        while not self._is_over.is_set():
            with suppress(OSError):
                return self._connection()
            check()
            self._is_over.wait(_LOOK_SECONDS)
        return None

    def _connection(self) -> socket.socket:
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            connection.connect(str(self._folder.socket))
        except OSError:
            connection.close()
            raise
        return connection

    def _run(self) -> None:
        try:
            self.end = run_program(self.made, self.call, ignore_mark, self._check)
        except _Over:
            self.end = StepEnd(exit_code=None, message="was ended")
        except OSError as error:
            self.end = StepEnd(exit_code=None, message=str(error))
        finally:
            self._is_over.set()
            self._folder.remove()

    def _check(self) -> None:
        with self._lock:
            is_idle = not self._steps and time.monotonic() - self._idle_since > _IDLE_SECONDS
            self._is_retired = self._is_retired or is_idle
            is_done = self._is_retired and not self._steps
        if is_done:
            self.close()
        if self._ends_at is not None and time.monotonic() >= self._ends_at:
            raise _Over
