"""End of the process that owns a run: only what is certain counts."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from tests.unit.ledger.runs.samples import a_run
from toolkit.ledger.runs.rows import Run
from toolkit.runs.owner import ProcessTable

HERE = ProcessTable()
_MARK = "import toolkit.runs.owner as o; print(o.ProcessTable().own_mark(), flush=True); input()"
_MAIN_THREAD_GONE = f"""
import ctypes, threading
threading.Thread(target=lambda: exec({_MARK!r})).start()
ctypes.CDLL(None).syscall(60, 0)  # exit of this thread alone
"""

pytestmark = pytest.mark.skipif(HERE.own_mark() is None, reason="this system has no /proc")


@contextmanager
def _owner(program: str = _MARK) -> Iterator[tuple[Run, subprocess.Popen[str]]]:
    """A process that owns a run, until it is told to end."""
    with subprocess.Popen(
        [sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout is not None
            mark = process.stdout.readline().strip()
            yield a_run(host=HERE.host, pid=process.pid, owner_mark=mark), process
        finally:
            process.kill()


def _wait_until(happened: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 120
    while not happened():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def _state(pid: int) -> str:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]


def test_one_that_was_killed_is_gone_as_a_zombie_and_after_it_was_waited_for() -> None:
    with _owner() as (run, process):
        assert not HERE.is_gone(run)
        process.kill()
        _wait_until(lambda: _state(process.pid) == "Z")
        assert HERE.is_gone(run)
        process.wait()
        assert HERE.is_gone(run)


def test_one_that_is_stopped_lives() -> None:
    with _owner() as (run, process):
        process.send_signal(signal.SIGSTOP)
        _wait_until(lambda: _state(process.pid) == "T")
        assert not HERE.is_gone(run)


@pytest.mark.skipif(os.uname().machine != "x86_64", reason="the number of a system call")
def test_one_whose_main_thread_alone_has_ended_lives() -> None:
    with _owner(_MAIN_THREAD_GONE) as (run, process):
        _wait_until(lambda: _state(process.pid) == "Z")
        assert not HERE.is_gone(run)


def test_one_whose_number_has_gone_to_another_process_is_gone() -> None:
    mark = HERE.own_mark()
    assert mark is not None
    own = a_run(host=HERE.host, pid=os.getpid(), owner_mark=mark)
    assert not HERE.is_gone(own)
    assert HERE.is_gone(replace(own, owner_mark=f"{mark}1"))


def _another_boot(run: Run) -> Run:
    boot, _, rest = str(run.owner_mark).partition(" ")
    return replace(run, owner_mark=f"{boot[::-1]} {rest}")


@pytest.mark.parametrize(
    "differing",
    [
        _another_boot,
        lambda run: replace(run, owner_mark=run.owner_mark.replace("pid:[", "pid:[9")),
        lambda run: replace(run, owner_mark=run.owner_mark.replace("time:[", "time:[9")),
        lambda run: replace(run, host="edge2"),
        lambda run: replace(run, host=None),
        lambda run: replace(run, owner_mark=None),
        lambda run: replace(run, owner_mark="1"),
        lambda run: replace(run, owner_mark=""),
        lambda run: replace(run, pid=None),
        lambda run: replace(run, pid=-1),
        lambda run: replace(run, pid=1 << 40),
    ],
)
def test_of_one_elsewhere_or_without_a_mark_nobody_can_tell(differing: Callable[[Run], Run]) -> None:
    with _owner() as (run, process):
        process.kill()
        process.wait()
        assert HERE.is_gone(run)
        assert not HERE.is_gone(differing(run))


@pytest.mark.parametrize("refusal", [PermissionError, None])
def test_one_that_the_system_hides_lives_when_a_signal_finds_it(tmp_path: Path, refusal: type[OSError] | None) -> None:
    def signal_to(pid: int, number: int) -> None:
        assert (pid, number) == (4711, 0)
        if refusal is not None:
            raise refusal

    hidden = replace(_fake_proc(tmp_path), signal=signal_to)
    mark = hidden.own_mark()
    assert mark == "b00t pid:[1] - 500"
    assert not hidden.is_gone(a_run(host=hidden.host, pid=4711, owner_mark=mark))


def _fake_proc(proc: Path) -> ProcessTable:
    """One that shows no process but this."""
    (proc / "77").mkdir()
    (proc / "77/stat").write_text(f"77 (a) b)) S {' '.join(['0'] * 18)} 500 0\n")
    (proc / "77/ns").mkdir()
    (proc / "77/ns/pid").symlink_to("pid:[1]")
    (proc / "self").symlink_to("77")
    (proc / "sys/kernel/random").mkdir(parents=True)
    (proc / "sys/kernel/random/boot_id").write_text("b00t\n")
    return ProcessTable(proc=proc, pid=77)


def test_a_process_has_no_mark_where_the_system_shows_that_of_another_namespace_or_nothing(tmp_path: Path) -> None:
    table = _fake_proc(tmp_path)
    assert replace(table, pid=78).own_mark() is None
    (tmp_path / "77/stat").write_text("")
    assert table.own_mark() is None
    assert replace(table, proc=tmp_path / "none").own_mark() is None
