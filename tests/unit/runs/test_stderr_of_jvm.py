"""Tests of what a run says when the JVM that should write it is not there, or dies."""

from __future__ import annotations

import os
import socket
import threading
from pathlib import Path

import pytest

from toolkit.runs.spark_submit import StderrOfJvm


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "log"


def _append(log: Path) -> int:
    return os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT)


def _gateway(server: socket.socket, calls: list[str], answers: list[str]) -> None:
    """Answers so often, then is dead."""
    connection, _ = server.accept()
    with connection, connection.makefile("r") as lines:
        for answer in answers:
            while (line := lines.readline().rstrip("\n")) not in ("e", "secret"):
                calls.append(line)
            connection.sendall(f"{answer}\n".encode())


@pytest.mark.parametrize(
    ("answers", "left"),
    [
        pytest.param([], "one\ntwo\n", id="it dies at once"),
        pytest.param(["!x"], "one\ntwo\n", id="it knows another secret"),
        pytest.param(["!yv", "!yro7", "!yv"], "two\n", id="it dies between two lines"),
    ],
)
def test_what_the_jvm_does_not_write_goes_to_the_end_of_the_log(log: Path, answers: list[str], left: str) -> None:
    calls: list[str] = []
    with socket.create_server(("127.0.0.1", 0)) as server:
        thread = threading.Thread(target=_gateway, args=(server, calls, answers))
        thread.start()
        stderr = StderrOfJvm(server.getsockname()[1], "secret", _append(log))
        assert stderr.write(b"one\n") == 4
        thread.join()
    assert stderr.write(b"two\n") == 4
    assert log.read_text() == left
    assert ("jb25lCg==" in calls) is (left == "two\n")


def test_without_a_jvm_everything_does(log: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    assert StderrOfJvm(port, "secret", _append(log)).write(b"one\n") == 4
    assert log.read_text() == "one\n"
