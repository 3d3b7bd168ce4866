"""The processes of a supervisor: started from one thread that lives as long as it, ended with it."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from tests.databases.child import dying_with_this_process

_MOST_CHARACTERS = 4000
_END_SECONDS = 10


class DidNotStart(Exception):  # noqa: N818 - named for what happened
    """A server ended, or was not ready in time; the message ends with what its log ends with."""

    def __init__(self, *, program: str, log: Path) -> None:
        output = log.read_text(errors="replace")[-_MOST_CHARACTERS:].strip() if log.exists() else ""
        super().__init__(f"{program} did not start; its log {log} ends with:\n{output or '(nothing)'}")


@dataclass(frozen=True, kw_only=True, slots=True)
class Command:
    """How a process is started.

    Args:
        arguments: the program and what it is told.
        environment: all of its environment.
        directory: its working directory; its log is there too, named after the program.
        name: what it is called in messages.
    """

    arguments: Sequence[str]
    environment: Mapping[str, str]
    directory: Path
    name: str

    @property
    def log(self) -> Path:
        """Return what it writes; a restart appends to it."""
        return self.directory / f"{self.name}.log"


class Starter:
    """Starts processes; the kernel ends them when this process ends, by kill -9 too.

    Strictly it does so when the thread ends that started them, so all are started from one that never ends.
    """

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="starter")
        self._started: list[subprocess.Popen[bytes]] = []

    def start(self, command: Command) -> subprocess.Popen[bytes]:
        """Start a process, in a process group of its own: Ctrl-C is not for it."""
        return self._thread.submit(self._start, command).result()

    def end(self) -> None:
        """Kill all of them and start no more."""
        self._thread.submit(self._end).result()
        self._thread.shutdown(wait=False, cancel_futures=True)

    def _start(self, command: Command) -> subprocess.Popen[bytes]:
        with command.log.open("ab") as log:
            process = subprocess.Popen(
                command.arguments,
                env=command.environment,
                cwd=command.directory,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                process_group=0,
                preexec_fn=dying_with_this_process(signal.SIGKILL),  # noqa: PLW1509 - it takes no lock
            )
        self._started.append(process)
        return process

    def _end(self) -> None:
        for process in self._started:
            process.kill()
        for process in self._started:
            process.wait(_END_SECONDS)


class Program:
    """A process that can be stopped and started again; the commands of a test come from several threads."""

    def __init__(self, starter: Starter, command: Command) -> None:
        self._starter, self.command = starter, command
        self._process: subprocess.Popen[bytes] | None = None
        self._lock = threading.Lock()

    @property
    def pid(self) -> int | None:
        """Its process, None while there is none."""
        return self._process.pid if self._process and self._process.poll() is None else None

    def start(self) -> None:
        """Start it when it does not run; it is not ready yet."""
        with self._lock:
            if self.pid is None:
                self._process = self._starter.start(self.command)

    def stop(self, number: int) -> None:
        """Send it a signal and wait until it has ended; one that was frozen goes on, or it would never notice."""
        with self._lock:
            pid = self.pid
            if self._process is None or pid is None:
                return
            os.kill(pid, number)
            os.kill(pid, signal.SIGCONT)
            self._process.wait()

    def check(self, *, ready: Callable[[], bool]) -> bool:
        """Return whether it is ready.

        Raises:
            DidNotStart: it has ended.
        """
        if self.pid is None:
            raise DidNotStart(program=self.command.name, log=self.command.log)
        return ready()
