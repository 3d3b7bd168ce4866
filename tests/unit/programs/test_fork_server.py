"""Tests of the process that starts supervisors: what happens when it is gone, and what a supervisor has of it."""

from __future__ import annotations

import os
import signal
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest

from toolkit.programs import fork_server
from toolkit.programs.fork_server import ForkServer
from toolkit.programs.left_over import processes_of

ENVIRONMENT = {"PATH": os.environ["PATH"], "LANG": "C"}


@pytest.fixture
def server() -> Iterator[ForkServer]:
    started = ForkServer()
    yield started
    started.end()


def test_a_supervisor_carries_the_mark_of_its_step_before_it_has_its_order(tmp_path: Path, server: ForkServer) -> None:
    logs = [tmp_path / f"{number}" / "a.log" for number in range(2)]
    with ExitStack() as stack, (tmp_path / "errors").open("wb") as errors:
        for log in logs:
            stack.enter_context(server.supervisor(str(log), ENVIRONMENT, errors.fileno()))
        pids = [pid for log in logs for pid in processes_of(log)]
        assert len(set(pids)) == 2, "one each, and the server itself is no process of a step"
        for pid in pids:
            assert os.getsid(pid) == pid, "a session of its own"
            assert sorted(each.name for each in Path(f"/proc/{pid}/fd").iterdir()) == ["0", "1", "2"]


def test_a_mark_is_made_of_octets_as_paths_are(tmp_path: Path, server: ForkServer) -> None:
    log = tmp_path / os.fsdecode(b"caf\xe9") / "a.log"
    with (
        (tmp_path / "errors").open("wb") as errors,
        server.supervisor(str(log), ENVIRONMENT, errors.fileno()),
    ):
        assert processes_of(log)


def test_a_supervisor_ends_when_nobody_gives_it_an_order_any_more(tmp_path: Path, server: ForkServer) -> None:
    log = tmp_path / "a.log"
    with (tmp_path / "errors").open("wb") as errors, server.supervisor(str(log), ENVIRONMENT, errors.fileno()):
        assert processes_of(log)
    deadline = time.monotonic() + 120
    while processes_of(log):
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_a_server_that_takes_nothing_any_more_is_ended_and_another_one_started(
    tmp_path: Path, server: ForkServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fork_server, "_READY_SECONDS", 5.0)
    pairs, socketpair = list[socket.socket](), socket.socketpair

    def noted(family: socket.AddressFamily, kind: socket.SocketKind) -> tuple[socket.socket, socket.socket]:
        pair = socketpair(family, kind)
        pairs.append(pair[0].dup())
        return pair

    monkeypatch.setattr(socket, "socketpair", noted)
    log = tmp_path / "a.log"
    with (tmp_path / "errors").open("wb") as errors:
        with server.supervisor(str(log), ENVIRONMENT, errors.fileno()):
            (supervisor,) = processes_of(log)
            os.kill(int(Path(f"/proc/{supervisor}/stat").read_text().rpartition(")")[2].split()[1]), signal.SIGSTOP)
        with pairs[0] as requests, suppress(BlockingIOError):
            while True:
                requests.send(b"of others", socket.MSG_DONTWAIT)
        started = threading.Thread(target=_start_another, args=(server, log, errors.fileno()), daemon=True)
        started.start()
        started.join(30.0)
        assert not started.is_alive()
    pairs[1].close()


def _start_another(server: ForkServer, log: Path, errors: int) -> None:
    with server.supervisor(str(log), ENVIRONMENT, errors):
        pass


def test_a_server_that_was_killed_is_started_again_and_its_supervisors_go_on(
    tmp_path: Path, server: ForkServer
) -> None:
    first, second = tmp_path / "a.log", tmp_path / "b.log"
    with (tmp_path / "errors").open("wb") as errors, server.supervisor(str(first), ENVIRONMENT, errors.fileno()):
        (supervisor,) = processes_of(first)
        os.kill(int(Path(f"/proc/{supervisor}/stat").read_text().rpartition(")")[2].split()[1]), signal.SIGKILL)
        with server.supervisor(str(second), ENVIRONMENT, errors.fileno()):
            assert processes_of(first) == {supervisor}
            assert processes_of(second)
