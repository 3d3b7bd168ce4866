"""A site with an engine whose steps share a program that answers as a Spark application does and runs no SQL."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import count
from pathlib import Path

from typing_extensions import override

from tests.unit.programs.calls import a_call, never
from toolkit.entities import Engine
from toolkit.programs.left_over import processes_of
from toolkit.programs.port import StepCall, StepEnd, StepEngine, StepMark
from toolkit.programs.shared_sql import SharedSqlEngine

HOST = """#!/usr/bin/env python3
import json, os, select, signal, socket, sys, threading, time
assert set(os.listdir(os.path.dirname(sys.argv[-2]))) >= {"session_host.py", "sql_runner.py"}
if "NO_START" in os.environ:
    sys.exit(3)
ear = socket.socket(socket.AF_UNIX)
ear.bind(sys.argv[-1])
ear.listen()
def serve(connection):
    def send(**facts):
        connection.sendall(json.dumps(facts).encode() + b"\\n")
    send(application=f"local-{os.getpid()}", catalog=os.environ.get("CATALOG", "in-memory"))
    head, _, _ = connection.recv(1 << 20).partition(b"\\n")
    if not head:
        return
    order = json.loads(head)
    if order.get("end"):
        os._exit(0)
    text = order["statements"][0]["text"] if "statements" in order else order["arguments"][0]
    if text == "die once":
        text = "die" if not os.path.exists("died") else "again"
        open("died", "w").close()
    send(say=f"ran {text}\\n")
    if text == "freeze":
        os.kill(os.getpid(), signal.SIGSTOP)
        time.sleep(600)  # this thread may go on before it stops
    if text == "die":
        os._exit(7)
    if text in {"hang", "deaf"}:
        while connection.recv(1 << 16):
            pass
        if text == "deaf":
            time.sleep(600)
    send(ended={"message": f"failed: {text}" if "fail" in text else "", "may_retry": None}, retire=text == "retire")
while True:
    threading.Thread(target=serve, args=(ear.accept()[0],), daemon=True).start()
"""


@dataclass
class Own(StepEngine):
    """The engine of steps that share nothing, which only counts them."""

    ran: list[Path] = field(default_factory=list)

    @override
    def run(self, call: StepCall, started: Callable[[StepMark], None], check: Callable[[], None]) -> StepEnd:
        self.ran.append(call.log)
        return StepEnd(exit_code=0, application="own")


@dataclass
class SharedSite:
    """An engine, and calls for it."""

    directory: Path
    own: Own = field(default_factory=Own)
    numbers: count[int] = field(default_factory=count)

    def __post_init__(self) -> None:
        self.engine = SharedSqlEngine(self.own)

    def call(self, text: str, process: str = "count", **changes: object) -> StepCall:
        number = next(self.numbers)
        path = self.directory / f"script{number}"
        path.write_text(text)
        known = {name: each for name, each in os.environ.items() if name not in {"SPARK_HOME", "PYTEST_CURRENT_TEST"}}
        environment = {**known, "PATH": f"{self.directory}/bin:{os.environ['PATH']}"}
        log = self.directory / "logs" / "ledger" / process / "primary" / str(number) / "1" / "count.log"
        call = a_call(self.directory, path, engine=Engine.SPARK_SQL, environment=environment, log=log)
        return replace(call, **changes)  # type: ignore[arg-type]  # the fields' own names

    def run(self, call: StepCall, check: Callable[[], None] = never) -> StepEnd:
        return self.engine.run(call, lambda _mark: None, check)

    def ran(self, text: str = "one", process: str = "count", **changes: object) -> str | None:
        """The application that a step ran on."""
        return self.run(self.call(text, process, **changes)).application

    @property
    def hosts(self) -> list[Path]:
        """The logs of all applications that were started."""
        return sorted(self.directory.glob("logs/ledger/*/primary/session/*/host.log"))


@contextmanager
def opened_site(directory: Path) -> Iterator[SharedSite]:
    """Yield a site; nothing of its applications runs after it."""
    (directory / "bin").mkdir()
    program = directory / "bin" / "spark-submit"
    program.write_text(HOST)
    program.chmod(0o755)
    found = SharedSite(directory)
    yield found
    found.engine.close()
    assert not any(processes_of(each) for each in found.hosts)
