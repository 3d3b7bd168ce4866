"""Stands between the runner and a step: keeps what it says within bounds, and lets nothing of it outlive the step.

A process of its own, so that the end of the runner, also by kill -9, ends the step; and so that orphans of the step
become children of this one (PR_SET_CHILD_SUBREAPER), however they left their session. Python's own modules only, none
that is slow to load: a step of a millisecond pays for this, and json, re and typing would double it.

It is forked by a server that has this code and one socket, on which the runner sends the mark of each step with its
three files (`fork_server`). On standard input, after a line with its length, is what to run (`child._order`, by
marshal: its reader is the same Python); each byte after it is a sign of life, its end says that the runner is gone or
wants the step to end. On standard output is one byte when the mark is there; then each report is a line of JSON.
"""
# pathlib is slow to load:
# ruff: noqa: PTH108, PTH123, PTH208

from __future__ import annotations

import ctypes
import marshal
import os
import select
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    import signal
    from typing import Any, NoReturn
else:
    import _signal as signal  # `signal` itself loads enum, which takes as long as Python's own start

_PDEATHSIG, _SUBREAPER = 1, 36
_CHUNK = 1 << 16
_LOOK_SECONDS = 0.2
_KILL_SECONDS = 20.0
"""So long a process may stay in a call of the kernel after SIGKILL; then it is reported as left."""


class BoundedLog:
    """A log in pieces: PATH has the beginning, PATH.1, PATH.2 ... go on; of those only the newest are kept.

    A full disk, or the removal of old pieces, loses output of the step, not the step.
    """

    def __init__(self, path: str, piece_bytes: int, pieces: int) -> None:
        self._path, self._limit, self._kept = path, piece_bytes, pieces
        self._number = self._size = self.lost = 0
        self._file = self._opened(0)

    def write(self, data: bytes) -> None:
        """Append; a piece ends with a line where there is one."""
        try:
            if self._size and self._size + len(data) > self._limit:
                self._begin_next()
            self._size += len(data)
            while data:
                data = data[os.write(self._file, data) :]
        except OSError:
            self.lost += len(data)

    def _begin_next(self) -> None:
        old, self._file = self._file, self._opened(self._number + 1)
        os.close(old)
        self._number, self._size = self._number + 1, 0
        oldest = self._number - self._kept
        if oldest > 0:
            remove(f"{self._path}.{oldest}")

    def _opened(self, number: int) -> int:
        name = f"{self._path}.{number}" if number else self._path
        return os.open(name, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)


class Voice:
    """Output of the step in whole lines: into the log without secrets; numbers of applications are reported."""

    def __init__(self, log: BoundedLog, secrets: list[str], application: str | None) -> None:
        self._log, self._rest = log, b""
        self._secrets = sorted((text.encode("utf-8", "surrogateescape") for text in secrets), key=len, reverse=True)
        self._application = application.encode() if application else None

    def hear(self, data: bytes) -> None:
        """Take some octets; an unfinished line waits for its end, unless it is very long."""
        text = self._rest + data
        cut = text.rfind(b"\n") + 1
        if not cut and len(text) > _CHUNK:
            text = self._masked(text)  # what is still incomplete lies within the octets that wait
            cut = len(text) - max(map(len, self._secrets), default=0)
        self._rest = text[cut:]
        self._say(text[:cut])

    def finish(self, *lines: str) -> None:
        """Nothing more comes; some lines of our own end the log."""
        end = b"\n" if self._rest and lines else b""
        self._say(self._rest + end + b"".join(f"feedctl: {line}\n".encode() for line in lines))
        self._rest = b""

    def _say(self, text: bytes) -> None:
        if text and self._application:
            import re  # noqa: PLC0415 - slow to load, and for a step that says something alone

            for found in re.finditer(self._application, text):
                report(application=found[1].decode())
        if text:
            self._log.write(self._masked(text))

    def _masked(self, text: bytes) -> bytes:
        for secret in self._secrets:
            text = text.replace(secret, b"***")
        return text


class StepProcesses:
    """The program, all that it started, and what they say."""

    def __init__(self, order: dict[str, Any], voice: Voice) -> None:
        self._order, self._voice = order, voice
        self._ears, mouth = os.pipe()
        self._is_listening, self._signalled = True, set[int]()
        self.exit_code: int | None = None
        self._pid = self._begun(mouth)
        os.close(mouth)

    def watch(self, ended: Runner) -> str:
        """Until it is over (an empty text), or why it has to end."""
        while self.exit_code is None:
            self._attend(_LOOK_SECONDS, ended.sources)
            why = ended.why()
            if why and self.exit_code is None:
                return why
        return ""

    def end_all(self) -> tuple[int, int]:
        """End whatever is left: ask, wait, kill.

        Returns:
            how many there were, and how many could not be ended.
        """
        self._until_none(signal.SIGTERM, self._order["grace_seconds"])
        left = self._until_none(signal.SIGKILL, _KILL_SECONDS)
        while self._is_listening and select.select([self._ears], [], [], 0)[0]:
            self._hear()
        return len(self._signalled), left

    def _until_none(self, number: int, seconds: float) -> int:
        deadline, signalled = time.monotonic() + seconds, set[int]()
        while True:
            there = descendants(os.getpid()) if self._reap() else set[int]()
            if not there or time.monotonic() > deadline:
                return len(there)
            for pid in there - signalled if number == signal.SIGTERM else there:
                signalled.add(pid)
                tell(pid, number)
            self._signalled |= signalled
            self._attend(0.02 if len(signalled) else _LOOK_SECONDS, [])

    def _attend(self, seconds: float, others: list[int]) -> None:
        ears = [self._ears] if self._is_listening else []
        ready = select.select([*ears, *others], [], [], seconds)[0]
        if self._ears in ready:
            self._hear()
        self._reap()

    def _hear(self) -> None:
        data = os.read(self._ears, _CHUNK)
        self._is_listening = bool(data)
        self._voice.hear(data)

    def _reap(self) -> bool:
        """Return whether there are children; without children no descendant lives, since orphans become children."""
        try:
            while True:
                pid, status = os.waitpid(-1, os.WNOHANG)
                if pid == 0:
                    return True
                if pid == self._pid:
                    self.exit_code = os.waitstatus_to_exitcode(status)
        except ChildProcessError:
            return False

    def _begun(self, mouth: int) -> int:
        """The number of the program's process.

        Raises:
            OSError: the program cannot be started.
        """
        broken, errors = os.pipe()
        pid = os.fork()
        if pid == 0:
            self._become_program(mouth, errors)
        os.close(errors)
        failure = os.read(broken, _CHUNK).decode("utf-8", "replace")
        os.close(broken)
        if failure:
            number, _, place = failure.partition(" ")
            raise OSError(int(number), os.strerror(int(number)), place)
        return pid

    def _become_program(self, mouth: int, errors: int) -> NoReturn:
        order, place = self._order, self._order["directory"]
        try:
            # Two at once: the parent may be gone before the kernel was asked to tell of it.
            prctl(_PDEATHSIG, signal.SIGKILL)
            os.chdir(place)
            place = order["arguments"][0]
            os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
            os.dup2(mouth, 1)
            os.dup2(mouth, 2)
            for number in (signal.SIGPIPE, signal.SIGXFSZ, signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
                signal.signal(number, signal.SIG_DFL)
            os.execve(order["program"], order["arguments"], order["environment"])  # noqa: S606 - what the entity names
        except OSError as error:
            os.write(errors, f"{error.errno} {place}".encode())
        finally:
            os._exit(127)


class Runner:
    """Process that started this one: whether it still wants the step."""

    def __init__(self, quiet_seconds: float | None) -> None:
        self._quiet, self._last_sign_at = quiet_seconds, time.monotonic()
        self._signal = 0
        self.sources = [0, self._woken()]

    def why(self) -> str:
        """Why the step has to end; empty: it goes on."""
        if self._signal:
            from signal import Signals  # noqa: PLC0415 - slow to load

            return f"its supervisor received {Signals(self._signal).name}"
        while select.select([0], [], [], 0)[0]:
            if not os.read(0, _CHUNK):
                return "its runner is gone, or told it to end"
            self._last_sign_at = time.monotonic()
        if self._quiet is not None and time.monotonic() - self._last_sign_at > self._quiet:
            return f"its runner gave no sign of life for {self._quiet:g} seconds"
        while select.select([self.sources[1]], [], [], 0)[0]:
            os.read(self.sources[1], _CHUNK)
        return ""

    def _woken(self) -> int:
        """A pipe that is readable after a signal: `select` would begin its wait anew."""
        source, target = os.pipe()
        os.set_blocking(target, False)
        signal.set_wakeup_fd(target, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, self._on_signal)
        return source

    def _on_signal(self, number: int, _frame: object) -> None:
        self._signal = number


def descendants(root: int) -> set[int]:
    """Return all living processes below one."""
    children: dict[int, list[int]] = {}
    for name in os.listdir("/proc"):
        if name.isdecimal():
            parent = parent_of(name)
            if parent is not None:
                children.setdefault(parent, []).append(int(name))
    found, new = set[int](), [root]
    while new:
        below = children.get(new.pop(), [])
        found.update(below)
        new += below
    return found


def parent_of(pid: str) -> int | None:
    """The parent of a process; None: it is gone, or only its exit code is left."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as stat:
            words = stat.read().rpartition(b")")[2].split()
    except OSError:
        return None
    return None if not words or words[0] in {b"Z", b"X"} else int(words[1])


def tell(pid: int, number: int) -> None:
    """Send a signal; who is gone, or has become another user, is left to the next look."""
    try:
        os.kill(pid, number)
    except OSError:
        return


def remove(path: str) -> None:
    """Remove a file; one that stays, or was gone, is nothing that a step should end for."""
    try:
        os.unlink(path)
    except OSError:
        return


def prctl(option: int, value: int) -> None:
    """Ask the kernel; where there is no such call, the step's own processes are found by their environment alone."""
    if sys.platform.startswith("linux"):
        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


def report(**facts: str | int | None) -> None:
    """Send a message to the runner, which may not listen any more."""
    line = str(facts).replace("'", '"').replace("None", "null")
    if any(isinstance(value, str) and value for value in facts.values()):
        import json  # noqa: PLC0415 - slow to load, and not needed for numbers

        line = json.dumps(facts)
    try:
        os.write(1, f"{line}\n".encode())
    except OSError:
        return


def ordered() -> dict[str, Any]:
    """Return the order from the runner."""
    text = b""
    while not (head := text.partition(b"\n"))[1] or len(head[2]) < int(head[0]):
        octets = os.read(0, _CHUNK)
        if not octets:
            sys.exit(1)
        text += octets
    order: dict[str, Any] = marshal.loads(head[2])  # noqa: S302 - of our own runner
    return order


def main() -> None:
    """Run a step to its end."""
    order = ordered()
    prctl(_SUBREAPER, 1)
    log = BoundedLog(order["log"], order["piece_bytes"], order["pieces"])
    voice = Voice(log, order["secrets"], order["application"])
    runner = Runner(order["quiet_seconds"])
    try:
        step = StepProcesses(order, voice)
    except OSError as error:
        voice.finish(f"{error.filename} cannot be started: {error.strerror}")
        report(failure=error.strerror, place=error.filename)
        return
    why = step.watch(runner)
    ended, left = step.end_all()
    lines = [f"the step was ended: {why}"] if why else []
    if ended and not why:
        lines.append(f"ended {ended} processes that the step had left in the background")
    voice.finish(*lines)
    report(exit_code=step.exit_code, why=why, ended=ended, left=left, lost=log.lost)
