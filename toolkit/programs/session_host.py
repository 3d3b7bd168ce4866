"""Serves one Spark application to many steps: the program of a shared session, which `shared_sql` submits.

No import of toolkit, as in `sql_runner`, beside which it lies. Its argument is the Unix socket to listen on.

Each connection is one step, or asks for the end. After a line of JSON (`tag`, `description`, `quiet_seconds`,
`grace_seconds`, and `statements`, or the `module` of a validation) each octet is a sign of life of its runner; the end
of these cancels the step. Answers are lines of JSON: `application` and `catalog`, then `say` for the step's log, last
`ended` and `retire`.
"""

from __future__ import annotations

import importlib
import json
import os
import select
import signal
import socket
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from operator import attrgetter
from pathlib import Path
from typing import Any, NoReturn

from py4j.protocol import Py4JError, Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

TYPE_CHECKING = False
if TYPE_CHECKING:
    from toolkit.programs import sql_runner
else:
    sys.path.insert(0, str(Path(__file__).parent))  # PYTHONSAFEPATH would leave it out
    import sql_runner

_LOOK_SECONDS = 0.2
_PIECE_CHARACTERS = 1 << 16
"""Most of the text in a line of an answer: its runner holds a whole line."""
_IN_MEMORY = "in-memory"
_BEGUN_WITH = os.getppid()
"""The driver's JVM."""


class StepSession:
    """A session for one step, of which nothing stays when it is released.

    Where the catalog is in memory, all that sessions of an application share is its own: tables, global views, caches.
    With a metastore the session is one of many, as tables are meant to stay; `shared_sql` lets no script use the rest.

    Args:
        base: of the application.
        settings: of a session that is apart with either catalog; None: of a step, which has the application's.
    """

    _making = threading.Lock()

    def __init__(self, base: SparkSession, settings: Mapping[str, str] | None = None) -> None:
        self._scala: Any = base.sparkContext._jsc.sc()  # noqa: SLF001 - Python's Spark has no way to it
        self._is_apart = settings is not None or catalog_of(base) == _IN_MEMORY
        with self._making:
            before = len(self._tabs())
            self.session = _apart(base, settings or {}) if self._is_apart else base.newSession()
            self._own_tabs = self._tabs()[before:]

    def release(self) -> None:
        """Drop what the application would keep of the session."""
        if not self._is_apart:
            return
        shared = self.session._jsparkSession.sharedState()  # noqa: SLF001 - Python's Spark has no way to it
        shared.cacheManager().clearCache()
        listener = shared.statusStore().listener()
        if listener.isDefined():
            self._scala.listenerBus().removeListener(listener.get())
        for tab in self._own_tabs:
            self._scala.ui().get().detachTab(tab)

    def _tabs(self) -> list[Any]:
        ui = self._scala.ui()
        if not ui.isDefined():
            return []
        tabs = ui.get().getTabs()
        return [tabs.apply(number) for number in range(tabs.size())]


def _apart(base: SparkSession, settings: Mapping[str, str]) -> SparkSession:
    """Return a session with a shared state of its own, as Python's Spark makes the first one."""
    jvm: Any = base._jvm  # noqa: SLF001 - Python's Spark has no way to it
    options = jvm.java.util.HashMap()
    for name, text in settings.items():
        options.put(name, text)
    made = _java_class(jvm)(base.sparkContext._jsc.sc(), options)  # noqa: SLF001
    made.sharedState()
    return SparkSession(base.sparkContext, made)


def _java_class(jvm: Any) -> Any:  # noqa: ANN401 - Python's Spark has no type for it
    return getattr(SparkSession, "_get_j_spark_session_class", attrgetter("SparkSession"))(jvm)


@contextmanager
def _opened(base: SparkSession, settings: Mapping[str, str] | None = None) -> Iterator[SparkSession]:
    own = StepSession(base, settings)
    try:
        yield own.session
    finally:
        own.release()


def catalog_of(session: SparkSession) -> str:
    """Return the kind of the catalog of an application: `in-memory` or `hive`."""
    return str(session.conf.get("spark.sql.catalogImplementation"))


class _Cancelled(BaseException):
    """A validation has to end; Great Expectations catches every `Exception`, and goes on."""


class HostedStep:
    """A step at work: its statements in a thread, its runner watched by another."""

    _validating = threading.Lock()
    """Great Expectations has one context for a process."""

    def __init__(self, host: Host, order: dict[str, Any], connection: socket.socket) -> None:
        self._host, self._order, self._connection = host, order, connection
        self._sending, self._cancelled = threading.Lock(), False
        self._message, self._is_done, self._is_harmed = "", False, False
        self._may_retry: bool | None = None
        self._woken, self._waker = os.pipe()

    def run(self) -> None:
        """Run the step to its end, and say how it ended once nothing of it runs."""
        worker = threading.Thread(target=self._work, daemon=True)
        worker.start()
        why = self._watch()
        if not why and not self._is_done:
            self._message = self._message or "the session failed; its log says why"
        if why or self._message:
            self._cancel(worker, why)
        os.close(self._woken)
        ended = {"message": self._message, "may_retry": self._may_retry}
        self._send(ended=ended, retire=self._is_harmed or self._host.has_changed)

    def _watch(self) -> str:
        """Return when the statements are over, or why they have to end."""
        last_sign, quiet = time.monotonic(), self._order["quiet_seconds"]
        while True:
            ready = select.select([self._woken, self._connection.fileno()], [], [], _LOOK_SECONDS)[0]
            if self._woken in ready:
                return ""
            if ready:
                with suppress(OSError):
                    if not self._connection.recv(1 << 16):
                        return "its runner is gone, or told it to end"
                last_sign = time.monotonic()
            if quiet is not None and time.monotonic() - last_sign > quiet:
                return f"its runner gave no sign of life for {quiet:g} seconds"

    def _cancel(self, worker: threading.Thread, why: str) -> None:
        """Return when no task of the step runs; the application ends when that takes too long."""
        if why:
            self._cancelled = True
            self._message = self._message or f"was ended: {why}"
        seconds = self._order["grace_seconds"]
        late = f"a step did not end within {seconds:g} seconds after it was cancelled"
        deadline = threading.Timer(seconds, end_application, [late])  # the JVM may answer none of the calls below
        deadline.daemon = True
        deadline.start()
        try:
            while not self._is_ended(worker):
                pass
        finally:
            deadline.cancel()

    def _is_ended(self, worker: threading.Thread) -> bool:
        self._host.context.cancelJobsWithTag(self._order["tag"])
        worker.join(_LOOK_SECONDS)
        if worker.is_alive():
            return False
        time.sleep(_LOOK_SECONDS)  # Spark's own record of its tasks is that late
        return self._is_drained()

    def _is_drained(self) -> bool:
        tracker = self._host.context.statusTracker()
        jobs = (tracker.getJobInfo(each) for each in tracker.getJobIdsForGroup(self._order["tag"]))
        stages = [tracker.getStageInfo(each) for job in jobs if job is not None for each in job.stageIds]
        return not any(each.numActiveTasks for each in stages if each is not None)

    def _work(self) -> None:
        try:
            self._host.context.setJobGroup(self._order["tag"], self._order["description"], True)  # noqa: FBT003
            self._host.context.addJobTag(self._order["tag"])
            if "module" in self._order:
                self._validate()
            else:
                with _opened(self._host.session) as session:
                    self._statements(session)
            self._is_done = True
        except Py4JJavaError as error:
            self._fail("the session failed", str(error.java_exception))
        except (Py4JError, OSError) as error:  # the JVM is gone
            end_application(f"the driver does not answer: {error}")
        finally:
            os.close(self._waker)

    def _statements(self, session: SparkSession) -> None:
        statements = self._order["statements"]
        for each in statements:
            if self._cancelled:
                return
            place = f"statement {each['number']} of {len(statements)}, line {each['line']}"
            self._say(place)
            try:
                shown = sql_runner.shown(session, each["text"])
            except PySparkException as error:
                self._say(f"{place}, failed: {error}")
                self._fail(f"{place}, failed", str(error), may_retry=sql_runner.may_retry(error))
                return
            except Py4JJavaError as error:
                self._say(f"{place}, failed: {error}")
                self._fail(f"{place}, failed", str(error.java_exception))
                return
            self._show(shown)

    def _validate(self) -> None:
        """Let a module of feedctl validate data in a session of its own."""
        if self._order["path"] not in sys.path:
            sys.path.append(self._order["path"])
        module = importlib.import_module(self._order["module"])
        while not self._validating.acquire(timeout=_LOOK_SECONDS):
            if self._cancelled:
                return
        try:
            with _opened(self._host.session, module.SETTINGS) as session:
                # This thread has no other: by it Spark 3.5 decides whether a sum that is built here may overflow.
                _java_class(session._jvm).setActiveSession(session._jsparkSession)  # noqa: SLF001
                module.answer_in(session, self._check, *self._order["arguments"])
        except OSError as error:
            self._fail("the validation failed", str(error))
        except _Cancelled:
            return
        finally:
            self._validating.release()
        if self._host.is_stopped:  # or the JVM does not answer: data that could not be read says nothing
            end_application("the application was stopped")

    def _check(self) -> None:
        if self._cancelled:
            raise _Cancelled

    def _fail(self, what: str, why: str, *, may_retry: bool | None = None) -> None:
        self._message, self._may_retry = f"{what}: {sql_runner.first_line(why)[:_PIECE_CHARACTERS]}", may_retry
        self._is_harmed = "java.lang.OutOfMemoryError" in why

    def _say(self, text: str) -> None:
        self._show(f"feedctl: {text}\n")

    def _show(self, text: str) -> None:
        for begin in range(0, len(text), _PIECE_CHARACTERS):
            self._send(say=text[begin : begin + _PIECE_CHARACTERS])

    def _send(self, **facts: object) -> None:
        with self._sending, suppress(OSError):  # its runner may be gone
            self._connection.sendall(json.dumps(facts).encode() + b"\n")


class Host:
    """The application, and what all of its steps have in common."""

    def __init__(self, session: SparkSession) -> None:
        self.session, self.context = session, session.sparkContext
        self.is_over = threading.Event()
        self._first = self._resources()

    @property
    def has_changed(self) -> bool:
        """True if a step has added a jar or a file, which stays, or the application was stopped."""
        return self.is_stopped or self._resources() != self._first

    @property
    def is_stopped(self) -> bool:
        """True if the application was stopped, as by YARN."""
        return bool(self.context._jsc.sc().isStopped())  # noqa: SLF001 - Python's Spark has no way to it

    def serve(self, connection: socket.socket) -> None:
        """Serve a connection to its end."""
        with connection:
            facts = {"application": self.context.applicationId, "catalog": catalog_of(self.session)}
            with suppress(OSError):  # who asks for the end may have left already
                connection.sendall(json.dumps(facts).encode() + b"\n")
            order = _order(connection)
            if order is not None and order.get("end"):
                self.is_over.set()
            elif order is not None:
                HostedStep(self, order, connection).run()

    def _resources(self) -> list[str]:
        scala = self.context._jsc.sc()  # noqa: SLF001 - Python's Spark has no way to it
        return [str(each.mkString(",")) for each in (scala.listJars(), scala.listFiles(), scala.listArchives())]


def _order(connection: socket.socket) -> dict[str, Any] | None:
    """Return what a connection asks for; None: it was closed before."""
    text = b""
    while b"\n" not in text:
        octets = connection.recv(1 << 16)
        if not octets:
            return None
        text += octets
    order: dict[str, Any] = json.loads(text.partition(b"\n")[0])  # signs of life may follow
    return order


def end_application(why: str) -> NoReturn:
    """End the JVM and this process at once: what a step left running must not go on."""
    with suppress(OSError):  # the JVM, through which that text goes, may be gone
        sql_runner.say(why)
        time.sleep(_LOOK_SECONDS)
    if os.getppid() == _BEGUN_WITH:
        with suppress(OSError):
            os.kill(_BEGUN_WITH, signal.SIGKILL)
    os._exit(1)


def main() -> int:
    """Serve until the end is asked for, or the JVM or the application is gone."""
    session = SparkSession.builder.getOrCreate()
    sql_runner.say(f"application {session.sparkContext.applicationId}")
    host = Host(session)
    with socket.socket(socket.AF_UNIX) as ear:
        ear.bind(sys.argv[1])
        ear.listen(128)
        while not host.is_over.is_set():
            if select.select([ear], [], [], _LOOK_SECONDS)[0]:
                threading.Thread(target=host.serve, args=(ear.accept()[0],), daemon=True).start()
            if os.getppid() != _BEGUN_WITH or host.is_stopped:
                end_application("the application was stopped")
    session.stop()
    return 0


if __name__ == "__main__":
    sys.exit(main())
