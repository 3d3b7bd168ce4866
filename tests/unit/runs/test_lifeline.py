"""A run ends with its parent or on a signal, and starts no effect after that."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
import time

import pytest

from tests.testbed.running import ending
from toolkit.runs.errors import Stopped
from toolkit.runs.spark_submit import gateway_is_alive, gateway_port
from toolkit.runs.stop import NeverStopped, ProcessStop, watch_parent, watched_signals

_CHILD = """
import os, sys, time
from toolkit.runs.errors import Stopped
from toolkit.runs.stop import watched_signals
if os.fork():
    os.wait() if sys.argv[1] == "wait" else time.sleep(60)
    os._exit(0)
with watched_signals({"PYSPARK_GATEWAY_PORT": sys.argv[2]}) as line:
    print("up", os.getpid(), flush=True)
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        try:
            line.check()
        except Stopped as stopped:
            print(stopped.code, stopped.status, flush=True)
            os._exit(0)
        time.sleep(0.01)
print("never stopped", flush=True)
"""


@pytest.mark.parametrize(("number", "interrupted"), [(signal.SIGTERM, False), (signal.SIGINT, True)])
def test_a_signal_stops_the_run_at_its_next_check(number: signal.Signals, *, interrupted: bool) -> None:
    with watched_signals({}) as line:
        line.check()
        os.kill(os.getpid(), number)
        with pytest.raises(Stopped, match=number.name) as caught:
            line.check()
    assert caught.value.interrupted is interrupted


def test_the_first_reason_stays() -> None:
    with watched_signals({}) as line:
        os.kill(os.getpid(), signal.SIGTERM)
        os.kill(os.getpid(), signal.SIGINT)
        with pytest.raises(Stopped, match="SIGTERM"):
            line.check()


def test_a_second_interrupt_comes_at_once() -> None:
    with watched_signals({}), pytest.raises(KeyboardInterrupt):  # noqa: PT012 - two signals are the case
        os.kill(os.getpid(), signal.SIGINT)
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(1)


def test_handlers_are_put_back() -> None:
    before = signal.getsignal(signal.SIGTERM), signal.getsignal(signal.SIGINT)
    with watched_signals({}):
        assert signal.getsignal(signal.SIGTERM) != before[0]
    assert (signal.getsignal(signal.SIGTERM), signal.getsignal(signal.SIGINT)) == before


def test_a_gateway_that_refuses_means_that_the_parent_is_gone() -> None:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port = listener.getsockname()[1]
        listener.listen()
        assert gateway_is_alive(port)
    assert not gateway_is_alive(port)


def test_a_run_whose_parent_died_before_it_began_starts_nothing() -> None:
    script = (
        "from toolkit.runs.stop import watched_signals\n"
        "with watched_signals({'PYSPARK_GATEWAY_PORT': '1'}) as line: line.check()"
    )
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False, timeout=30)
    assert "spark-submit is gone" in run.stderr


@pytest.mark.parametrize(("environment", "port"), [({}, None), ({"PYSPARK_GATEWAY_PORT": "25333"}, 25333)])
def test_the_gateway_port_tells_whether_spark_submit_started_the_run(
    environment: dict[str, str], port: int | None
) -> None:
    assert gateway_port(environment) == port


def test_a_killed_parent_stops_the_run() -> None:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        command = [sys.executable, "-c", _CHILD, "sleep", str(listener.getsockname()[1])]
        with ending(subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True)) as parent:
            assert parent.stdout is not None
            assert parent.stdout.readline().startswith("up")
            parent.kill()
            assert parent.stdout.readline().split() == ["parent_lost", "failed"]


def test_a_signal_that_somebody_sends_to_a_run_with_a_parent_kills_it() -> None:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        command = [sys.executable, "-c", _CHILD, "wait", str(listener.getsockname()[1])]
        with ending(subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True)) as parent:
            assert parent.stdout is not None
            os.kill(int(parent.stdout.readline().split()[1]), signal.SIGTERM)
            assert parent.stdout.readline().split() == ["stopped", "killed"]


def test_the_watcher_alone_notices_another_parent() -> None:
    """A kernel that does not report the parent's death."""
    line = ProcessStop()
    watch_parent(line, os.getppid() + 1, threading.Event())
    with pytest.raises(Stopped, match="died"):
        line.check()


def test_the_kernel_alone_tells_of_the_parents_death() -> None:
    script = (
        "import os, signal, time\n"
        "from toolkit.runs.spark_submit import die_with_parent\n"
        "ready, told = os.pipe()\n"
        "if os.fork():\n"
        "    os.read(ready, 1)\n"
        "    os._exit(0)\n"
        "die_with_parent(signal.SIGTERM)\n"
        "os.write(told, b'x')\n"
        "time.sleep(20)\n"
        "print('lived on')\n"
    )
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60)
    assert run.stdout == ""


def test_an_unbounded_run_goes_on() -> None:
    NeverStopped().check()
