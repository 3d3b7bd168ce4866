"""The engine `spark_sql` with `spark: {session: shared}`: steps of a process, or of a group, share an application.

What a step says goes through its runner into its own log, without secrets. A step that is stopped is cancelled by its
tag, and its application ends with all that runs on it when that takes too long: no step is tried again while a task of
its last attempt runs (ADR 0075).
"""

from __future__ import annotations

import json
import logging
import os
import re
import secrets
import select
import socket
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field, replace
from importlib.resources import files
from pathlib import Path
from typing import Any

from typing_extensions import override

from toolkit.entities import SparkAttributes, SparkSessionUse
from toolkit.errors import InvalidInput
from toolkit.printable import on_one_line
from toolkit.programs.child import Program, masked, secret_lines
from toolkit.programs.port import LINEAGE, OUTLETS, StepCall, StepEnd, StepEngine, StepMark, ignore_mark
from toolkit.programs.shared_session import SharedSession
from toolkit.programs.spark_sql import script_statements, with_own_python
from toolkit.programs.step_log import (
    forget_session,
    note_session,
    private,
    session_folder,
    session_log,
    session_tag,
    tag_of,
)
from toolkit.programs.submission import may_share, submission
from toolkit.programs.supervisor import BoundedLog, Voice
from toolkit.programs.variables import secret_variables

_LOG = logging.getLogger(__name__)
_LOOK_SECONDS = 0.2
_PATIENCE_SECONDS = 30.0
"""Beyond its grace, for an application that ends a step; then the application is ended."""
_DEAF_SECONDS = 30.0
"""So long an application may take nothing that is sent, which begins a minute after it has stopped to read."""
_MOST_IDLE = 2
_OF_A_JVM = re.compile(
    r"""\busing\b(?:\s|/\*.*?\*/|--[^\n]*\n)*r?['"] | \bd?fs\.(?:\w+\.\w|defaultfs)""",
    re.IGNORECASE | re.DOTALL | re.VERBOSE,
)
"""A program that is run (TRANSFORM), since what it leaves ends with its application; and settings of a store, since a
JVM keeps what it has opened of a store with those of the first step that did."""
_HOST = ("session_host.py", "sql_runner.py")
_OF_APPLICATION = ("queueName", "jobPriority")
"""Properties that are settings of the application; the others are texts in the script."""
_SHARED_BY_ALL = re.compile(r"\b(?:cache|global|execute)\b|\badd\s+(?:jar|file|archive)s?\b", re.IGNORECASE)
"""Words of statements that change what all sessions of an application have in common where they share a catalog;
`execute` runs a text that is not seen here."""


class SharedSqlEngine(StepEngine):
    """Runs scripts of SQL, several of a process on one application; see `StepEngine`.

    Args:
        own: runs the steps that cannot share one.
    """

    def __init__(self, own: StepEngine) -> None:
        self._own, self._lock = own, threading.Lock()
        self._sessions: dict[object, SharedSession] = {}
        self._hosted: dict[tuple[str, str], StepCall] = {}
        self._ending: list[SharedSession] = []
        self._lost: set[tuple[Path, str]] = set()

    @override
    def run(self, call: StepCall, started: Callable[[StepMark], None], check: Callable[[], None]) -> StepEnd:
        if not may_share(call) or _attempted(call) in self._lost:
            return self._own.run(call, started, check)
        try:
            statements = script_statements(call)
            if any(_OF_A_JVM.search(each["text"]) for each in statements):
                return self._own.run(call, started, check)
            session = self._acquired(call)
        except InvalidInput as error:
            return StepEnd(exit_code=None, message=str(error), may_retry=False)
        except OSError as error:
            _LOG.warning('event=session_not_shared step=%s why="%s"', call.step, error)
            return self._own.run(call, started, check)
        self._hosted[_process_of(call)] = call
        try:
            end = _SharedStep(session=session, call=call, started=started, statements=statements).run(check)
            if session.is_over:
                self._lost.add(_attempted(call))  # whichever step has ended it does so alone when it is tried again
        finally:
            self._release(session)
        return end or self._own.run(call, started, check)

    def host_of(self, process: str, cluster: str) -> StepCall | None:
        """Return the call of a step of a process that shared an application in this run; None: none did."""
        return self._hosted.get((process, cluster))

    def validate(
        self, host: StepCall, call: StepCall, order: Mapping[str, object], check: Callable[[], None]
    ) -> tuple[StepEnd | None, bool]:
        """Validate data on the application that a step of the process would share.

        Args:
            host: see `host_of`.
            call: of the validation: its log, and how it is ended.
            order: what `session_host` is to do.
            check: see `StepEngine.run`.

        Returns:
            its end, and True if the application ended below it. No end: no application can be had.

        Raises:
            Stopped: see `StepEngine.run`.
        """
        try:
            session = self._acquired(host)
        except (InvalidInput, OSError):
            return None, False
        try:
            end = _SharedStep(session=session, call=call, started=ignore_mark, order=order).run(check)
            return end, session.is_over
        finally:
            self._release(session)

    def close(self) -> None:
        """End all applications; returns when they are gone. No step may run or begin."""
        with self._lock:
            left = [*self._sessions.values(), *self._ending]
        for each in left:
            each.close()
        for each in left:
            each.wait()

    def _acquired(self, call: StepCall) -> SharedSession:
        key = _key(call)
        with self._lock:
            self._ending = [each for each in self._ending if not each.is_over]
            session = self._sessions.get(key)
            if session is not None and session.try_acquire():
                return session
            if session is not None:
                self._ending.append(session)
            session = self._sessions[key] = _begun(call)
            session.try_acquire()
            return session

    def _release(self, session: SharedSession) -> None:
        """Keep the applications that were idle last: each has a JVM."""
        session.release()
        with self._lock:
            idle = [(each.idle_since, each) for each in self._sessions.values() if each.idle_since is not None]
        for _, each in sorted(idle, key=lambda found: found[0] or 0.0)[:-_MOST_IDLE]:
            each.retire()


@dataclass(kw_only=True)
class _SharedStep:
    """A step on an application that is shared: statements, or another order."""

    session: SharedSession
    call: StepCall
    started: Callable[[StepMark], None]
    statements: Sequence[dict[str, Any]] = ()
    order: Mapping[str, object] = field(default_factory=dict)
    _known: dict[str, Any] = field(default_factory=dict)
    _rest: bytes = b""
    _unsent: bytes = b""
    _taken_at: float = 0.0
    _is_deaf: bool = False

    def run(self, check: Callable[[], None]) -> StepEnd | None:
        """Run the step to its end; None: it has to run on an application of its own."""
        private(self.call.log)
        self.started(StepMark(log=self.call.log))
        connection = self.session.connect(check)
        if connection is None:
            return self._unstarted()
        log = _Log(str(self.call.log), self.session.made.piece_bytes, self.session.made.pieces)
        self._voice = Voice(log, secret_lines(self.session.made), None)
        try:
            with connection:
                return self._run(connection, check)
        finally:
            self._voice.finish()
            log.close()

    def _run(self, connection: socket.socket, check: Callable[[], None]) -> StepEnd | None:
        while "application" not in self._known:
            if not self._listen(connection):
                return self._lost()
            check()
        uses_all = any(_SHARED_BY_ALL.search(each["text"]) for each in self.statements)
        if uses_all and self._known["catalog"] != "in-memory":
            return None
        application, shared = self._known["application"], self.session.call.log
        self._voice.hear(f"feedctl: runs on the shared application {application}, whose log is {shared}\n".encode())
        note_session(self.call.log, shared)
        self.started(StepMark(log=self.call.log, application=application))
        self._taken_at, self._unsent = time.monotonic(), json.dumps(self._order()).encode() + b"\n"
        with ExitStack() as stack:
            stack.callback(self._cancel, connection)
            while self._send(connection) and self._listen(connection) and "ended" not in self._known:
                check()
            stack.pop_all()
        end = self._end() if "ended" in self._known else self._lost()
        forget_session(self.call.log)
        return end

    def _order(self) -> dict[str, object]:
        return {
            **(self.order or {"statements": self.statements}),
            "tag": tag_of(self.call.log),
            "description": "/".join(self.call.log.parts[-5:]),
            "quiet_seconds": self.call.quiet_seconds,
            "grace_seconds": self.call.grace_seconds,
        }

    def _cancel(self, connection: socket.socket) -> None:
        """Return when nothing of the step runs."""
        with suppress(OSError):
            connection.shutdown(socket.SHUT_WR)
        deadline = time.monotonic() + self.call.grace_seconds + _PATIENCE_SECONDS
        while "ended" not in self._known and time.monotonic() < deadline and self._listen(connection):
            pass
        if "ended" not in self._known:
            self.session.end_now()
        forget_session(self.call.log)

    def _listen(self, connection: socket.socket) -> bool:
        """Take what the application says; False: it says no more."""
        ear = select.poll()  # `select` cannot look at a process's thousandth file
        ear.register(connection, select.POLLIN)
        if not ear.poll(_LOOK_SECONDS * 1000):
            return True
        octets = b""
        with suppress(OSError):
            octets = connection.recv(1 << 16)
        *lines, self._rest = (self._rest + octets).split(b"\n")
        for line in lines:
            facts = json.loads(line)
            self._voice.hear(str(facts.pop("say", "")).encode("utf-8", "replace"))
            self._known.update(facts)
        return bool(octets)

    def _send(self, connection: socket.socket) -> bool:
        """Send the order, then signs of life, without a wait; False: the application has taken nothing for long."""
        self._unsent = self._unsent or b"."
        with suppress(OSError):  # an application that is gone says so by the end of its answers
            self._unsent = self._unsent[connection.send(self._unsent, socket.MSG_DONTWAIT) :]
            self._taken_at = time.monotonic()
        self._is_deaf = time.monotonic() - self._taken_at > _DEAF_SECONDS
        return not self._is_deaf

    def _end(self) -> StepEnd:
        ended, application = self._known["ended"], self._known["application"]
        if self._known["retire"]:
            self.session.retire()
        message, may_retry = str(ended["message"]), False if ended["may_retry"] is False else None
        if not message:
            return StepEnd(exit_code=0, application=application)
        text = on_one_line(masked(message, self.session.made))
        return StepEnd(exit_code=1, application=application, message=text, may_retry=may_retry)

    def _lost(self) -> StepEnd:
        """Return the end of a step whose application has ended below it, or says nothing that is understood."""
        end = self.session.end_now(within=self.call.grace_seconds)
        why = "did not answer and was ended" if self._is_deaf else end.why
        message = f"its shared Spark application {why}; its log is {self.session.call.log}"
        return StepEnd(exit_code=end.exit_code or 1, application=self._known.get("application"), message=message)

    def _unstarted(self) -> StepEnd:
        end = self.session.wait()
        message = f"its shared Spark application did not start: {end.why}; its log is {self.session.call.log}"
        return StepEnd(exit_code=end.exit_code or None, message=message, may_retry=end.may_retry)


class _Log(BoundedLog):
    """The log of a step that has no supervisor of its own."""

    def close(self) -> None:
        """Close its file."""
        os.close(self._file)


def _process_of(call: StepCall) -> tuple[str, str]:
    """Return the names of the process and the cluster of a step."""
    place = call.log.parents[2]
    return place.parent.name, place.name


def _attempted(call: StepCall) -> tuple[Path, str]:
    """Return what all attempts at a step of an instance have in common."""
    return call.log.parent.parent, call.log.name


def _key(call: StepCall) -> object:
    """Return what two steps must have in common to share an application: whose it is, and all that starts it.

    Raises:
        InvalidInput: a secret is not there.
    """
    shared = _shared_call(call, call.log)
    workflow = shared.workflow
    settings = (workflow.spark, workflow.lib, workflow.secrets, shared.cluster, shared.directory, shared.properties)
    variables = {**shared.environment, **secret_variables(call)}
    return session_folder(call.log, call.session_owner), repr(settings), tuple(sorted(variables.items()))


def _begun(call: StepCall) -> SharedSession:
    token = f"{time.strftime('%Y%m%dT%H%M%SZ', time.gmtime())}-{secrets.token_hex(4)}"
    shared = _shared_call(call, session_log(call.log, token, call.session_owner))

    def program(place: Path) -> Program:
        for name in _HOST:  # beside each other, also where feedctl is a zip file
            place.with_name(name).write_bytes((files(__package__) / name).read_bytes())
        tag = session_tag(call.log, call.session_owner)
        made = submission(shared, str(place.with_name(_HOST[0])), (str(place),), tag=tag)
        made = with_own_python(made, shared.environment)
        return replace(made, variables={**made.variables, "PYSPARK_PIN_THREAD": "true"})

    return SharedSession(program=program, call=shared)


def _shared_call(call: StepCall, log: Path) -> StepCall:
    """Return the call of an application for all steps that are like one; its driver runs here, as its socket does."""
    spark = replace(call.workflow.spark or SparkAttributes(), mode="client", session=SparkSessionUse.SHARED)
    return replace(
        call,
        step=log.parents[3].name,
        workflow=replace(call.workflow, spark=spark),
        data=(),
        properties={name: call.properties[name] for name in _OF_APPLICATION if name in call.properties},
        environment={name: text for name, text in call.environment.items() if name not in {OUTLETS, LINEAGE}},
        log=log,
    )
