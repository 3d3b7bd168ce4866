"""Which servers are started when, and whose they are."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.testbed.controller import Controller, left_behind
from tests.testbed.processes import Command, DidNotStart, Program, Starter
from tests.testbed.requests import FACTS, START, STOP, Request
from tests.testbed.servers import Facts, Server, Servers

pytestmark = pytest.mark.extended


class Sleeper:
    """A server that sleeps; one whose name is `broken` does not start."""

    def __init__(self, starter: Starter, directory: Path) -> None:
        self.directory, self.starts = directory, 0
        environment = {"PATH": os.environ["PATH"]}
        command = Command(arguments=["sleep", "60"], environment=environment, directory=directory.parent, name="sleep")
        self.programs: Mapping[str, Program] = {"sleep": Program(starter, command)}

    def start(self) -> None:
        self.starts += 1
        if self.directory.name == "broken":
            raise DidNotStart(program="sleep", log=self.directory / "none")
        self.programs["sleep"].start()

    def facts(self) -> Facts:
        return {"starts": self.starts}


FACTORIES: Mapping[str, Callable[[Starter, Path], Server]] = {"sleeper": Sleeper, "broken": Sleeper}


def test_a_server_is_started_once_though_many_ask_and_ends_with_the_starter(tmp_path: Path) -> None:
    starter = Starter()
    servers = Servers(starter, tmp_path, FACTORIES)
    with ThreadPoolExecutor(4) as threads:
        answers = list(threads.map(servers.answer, [Request(action=FACTS, server="sleeper")] * 8))
    pid = int(answers[0]["sleep_pid"])
    assert all(each == {"starts": 1, "sleep_pid": pid} for each in answers)
    starter.end()
    assert not Path(f"/proc/{pid}").exists()


def test_a_stopped_program_is_another_process_after_its_start(tmp_path: Path) -> None:
    starter = Starter()
    servers = Servers(starter, tmp_path, FACTORIES)
    first = servers.answer(Request(action=FACTS, server="sleeper"))["sleep_pid"]
    os.kill(int(first), 19)  # frozen, it must end all the same
    stopped = servers.answer(Request(action=STOP, server="sleeper", program="sleep", signal=15))
    assert stopped["sleep_pid"] == 0
    again = servers.answer(Request(action=START, server="sleeper", program="sleep"))
    assert again["sleep_pid"] not in {0, first}
    starter.end()


def test_a_server_that_does_not_start_says_why_each_time(tmp_path: Path) -> None:
    starter = Starter()
    servers = Servers(starter, tmp_path, FACTORIES)
    for _ in range(2):
        assert "sleep did not start" in str(servers.answer(Request(action=FACTS, server="broken"))["error"])
    starter.end()


def test_a_request_survives_its_line() -> None:
    request = Request(action=STOP, server="hdfs", program="namenode", signal=9)
    assert Request.read(request.line()) == request


def test_a_process_is_not_taken_for_another_with_its_number() -> None:
    this = Controller.this_process()
    assert this.is_alive
    assert not Controller(pid=this.pid, started=this.started - 1).is_alive
    with subprocess.Popen(["true"]) as ended:
        controller = Controller.of(ended.pid)
    assert not controller.is_alive


def test_only_directories_of_processes_that_are_gone_count_as_left_behind(tmp_path: Path) -> None:
    this = Controller.this_process()
    gone = Controller(pid=this.pid, started=1)
    for each in (this, gone):
        (tmp_path / each.directory.name).mkdir()
    assert left_behind(tmp_path) == [tmp_path / gone.directory.name]
