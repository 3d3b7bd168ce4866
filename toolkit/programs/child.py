"""Runs a program below its supervisor, as a child of this process (`supervisor` says why there is one between)."""

from __future__ import annotations

import json
import logging
import marshal
import os
import select
import signal
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from toolkit.errors import InvalidInput
from toolkit.printable import on_one_line
from toolkit.programs.fork_server import Supervisor, fork_server
from toolkit.programs.left_over import MARK_VARIABLE, TAG_VARIABLE, end_processes
from toolkit.programs.port import NOTHING_CHANGED, StepCall, StepEnd, StepMark, ignore_mark
from toolkit.programs.step_log import last_line, private, tag_of

_LOG = logging.getLogger(__name__)
_LOOK_SECONDS = 0.2
_PATIENCE_SECONDS = 30.0
"""Beyond its grace, for a supervisor that ends a step; then its processes are ended by their mark."""
_PIECE_BYTES, _PIECES = 16 << 20, 3
_SHORTEST_SECRET = 4
"""A shorter one would blacken half of the log, and protects nothing."""
_OF_ANOTHER_JVM = ("PYSPARK_GATEWAY_PORT", "PYSPARK_GATEWAY_SECRET", "PYSPARK_DRIVER_CALLBACK_HOST")
"""Variables of spark-submit's own driver: a step that read them would talk to the runner's JVM, or hang on it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Program:
    """Program that an engine starts for a step.

    Attributes:
        path: of the file that is started.
        arguments: the first is what the program is called.
        variables: beside the step's environment.
        secrets: the same, but their texts stay out of the log.
        application: a pattern whose group is the application's number, in what the program says.
        end_application: ends the application when the step has to stop, and its processes are gone.
        piece_bytes, pieces: of the log; see `supervisor.BoundedLog`.
    """

    path: str
    arguments: tuple[str, ...]
    variables: Mapping[str, str] = field(default_factory=dict)
    secrets: Mapping[str, str] = field(default_factory=dict)
    application: str | None = None
    end_application: Callable[[str], None] | None = None
    piece_bytes: int = _PIECE_BYTES
    pieces: int = _PIECES


def run_prepared(
    prepare: Callable[[StepCall], Program],
    call: StepCall,
    started: Callable[[StepMark], None],
    check: Callable[[], None],
) -> StepEnd:
    """Run what an engine makes of a step; one of which nothing can be made ends before it begins.

    Raises:
        Stopped: see `StepEngine.run`.
    """
    try:
        program = prepare(call)
    except InvalidInput as error:
        return StepEnd(exit_code=None, message=str(error), may_retry=False)
    return run_program(program, call, started, check)


def run_program(
    program: Program, call: StepCall, started: Callable[[StepMark], None], check: Callable[[], None]
) -> StepEnd:
    """Run a program to its end; see `StepEngine.run`.

    Raises:
        Stopped: what `check` raises.
        OSError: the log cannot be written.
    """
    private(call.log)
    started(StepMark(log=call.log))
    with call.log.open("ab") as log_file:
        supervisor = fork_server().supervisor(str(call.log), call.environment, log_file.fileno())
    with supervisor:
        return _Watch(program, call, supervisor, started).until_end(check)


class _Watch:
    """A supervisor at work, seen from the runner."""

    def __init__(
        self,
        program: Program,
        call: StepCall,
        supervisor: Supervisor,
        started: Callable[[StepMark], None],
    ) -> None:
        self._program, self._call, self._supervisor, self._started = program, call, supervisor, started
        self._rest = b""
        self._known: dict[str, Any] = {}

    def until_end(self, check: Callable[[], None]) -> StepEnd:
        """Give the supervisor its order, and wait for the step; `check` may end it."""
        try:
            order = marshal.dumps(json.loads(json.dumps(_order(self._program, self._call))))  # of plain types alone
            self._send(b"%d\n" % len(order) + order)
            while self._listen(_LOOK_SECONDS):
                check()
                self._send(b".")
        except BaseException:
            self._stop()
            raise
        if not self._is_over:
            self._end_by_mark()
        return self._end()

    @property
    def _is_over(self) -> bool:
        """True if the supervisor reported the end of the step and of all that it started."""
        return "failure" in self._known or self._known.get("left") == 0

    @property
    def _application(self) -> str | None:
        return self._known.get("application")

    def _stop(self) -> None:
        """End the step, whatever goes wrong on the way: only the wait for a supervisor that works has an end."""
        self._started = ignore_mark
        self._supervisor.give_no_more_orders()
        deadline = time.monotonic() + self._call.grace_seconds + _PATIENCE_SECONDS
        while time.monotonic() < deadline and self._listen(_LOOK_SECONDS):
            pass
        if not self._is_over:
            self._end_by_mark()
        if self._application and self._program.end_application:
            self._program.end_application(self._application)

    def _end_by_mark(self) -> None:
        left = end_processes(self._call.log, grace_seconds=self._call.grace_seconds)
        if left:
            _LOG.error("event=step_left_over step=%s processes=%s", self._call.step, sorted(left))

    def _listen(self, seconds: float) -> bool:
        """Take what the supervisor says; False: it says no more."""
        ear = select.poll()  # `select` cannot look at a process's thousandth file
        ear.register(self._supervisor.reports, select.POLLIN)
        if not ear.poll(seconds * 1000):
            return True
        octets = os.read(self._supervisor.reports, 1 << 16)
        *lines, self._rest = (self._rest + octets).split(b"\n")
        for line in lines:
            facts = json.loads(line)
            self._known.update(facts)
            if "application" in facts:
                self._started(StepMark(log=self._call.log, application=self._application))
        return bool(octets)

    def _send(self, octets: bytes) -> None:
        """A supervisor that is gone says so by the end of its reports."""
        with suppress(BrokenPipeError):
            while octets:
                octets = octets[os.write(self._supervisor.orders, octets) :]

    def _end(self) -> StepEnd:
        known = self._known
        if "failure" in known:
            message = f"{on_one_line(known['place'])} cannot be started: {known['failure']}"
            return StepEnd(exit_code=None, message=message, may_retry=False)
        exit_code = known.get("exit_code")
        why = known.get("why", "its supervisor died")
        if not why and exit_code in {0, NOTHING_CHANGED}:
            return StepEnd(exit_code=exit_code, application=self._application)
        output = last_line(self._call.log)
        message = _how(exit_code) if not why and exit_code else f"was ended: {why}"
        message += f"; its log ends with: {on_one_line(output)}" if output else ""
        return StepEnd(exit_code=exit_code, application=self._application, message=message)


def _how(exit_code: int) -> str:
    if exit_code >= 0:
        return f"ended with exit code {exit_code}"
    hint = " (the system does so when memory runs out)" if exit_code == -signal.SIGKILL else ""
    return f"was ended by {signal.Signals(-exit_code).name}{hint}"


def _order(program: Program, call: StepCall) -> dict[str, object]:
    """Return the order that `supervisor` reads."""
    own = {name: text for name, text in call.environment.items() if name not in _OF_ANOTHER_JVM}
    return {
        "program": program.path,
        "arguments": program.arguments,
        "environment": {**own, **program.variables, **program.secrets, **_marks(call)},
        "directory": str(call.directory),
        "log": str(call.log),
        "secrets": secret_lines(program),
        "application": program.application,
        "grace_seconds": call.grace_seconds,
        "quiet_seconds": call.quiet_seconds,
        "piece_bytes": program.piece_bytes,
        "pieces": program.pieces,
    }


def _marks(call: StepCall) -> dict[str, str]:
    """Return the marks of a step's processes, and the tag for applications that it submits by itself."""
    return {MARK_VARIABLE: str(call.log), TAG_VARIABLE: tag_of(call.log)}


def masked(text: str, program: Program) -> str:
    """Return a text of a step with `***` for the secrets of its program, as its log has them."""
    for secret in sorted(secret_lines(program), key=len, reverse=True):
        text = text.replace(secret, "***")
    return text


def secret_lines(program: Program) -> list[str]:
    """Return the texts that stay out of the log of a program."""
    lines = {line.strip() for text in program.secrets.values() for line in text.splitlines()}
    return [line for line in lines if len(line) >= _SHORTEST_SECRET]
