"""Tests of what a killed runner leaves of a shared application: the next one ends it, wherever logs go."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.unit.programs.shared_site import SharedSite, opened_site
from toolkit.programs.left_over import MARK_VARIABLE, processes_of
from toolkit.programs.session_folder import end_dead_sessions, new_folder

ROOT = Path(__file__).parents[3]
RUNNER = """
import sys
from pathlib import Path
from tests.unit.programs.shared_site import SharedSite
site = SharedSite(Path(sys.argv[1]))
site.run(site.call("hang"))
"""


def is_supervisor(pid: int) -> bool:
    return b"marshal" in Path(f"/proc/{pid}/cmdline").read_bytes()


@pytest.fixture
def place(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Return a directory for temporary files of this test alone; its path is short."""
    with tempfile.TemporaryDirectory(dir="/tmp") as name:
        monkeypatch.setattr(tempfile, "tempdir", name)
        yield Path(name)


@pytest.mark.extended
def test_an_application_whose_runner_was_killed_is_ended_by_the_next_runner(tmp_path: Path, place: Path) -> None:
    with opened_site(tmp_path) as site:
        environment = {**os.environ, "TMPDIR": str(place)}
        with subprocess.Popen([sys.executable, "-c", RUNNER, str(tmp_path)], cwd=ROOT, env=environment) as runner:
            deadline = time.monotonic() + 60
            while not any("ran hang" in each.read_text() for each in tmp_path.rglob("count.log")):
                assert time.monotonic() < deadline
                time.sleep(0.05)
            (left,) = site.hosts
            (supervisor,) = (each for each in processes_of(left) if is_supervisor(each))
            os.kill(supervisor, signal.SIGSTOP)  # it would end the application
            runner.kill()
        os.kill(supervisor, signal.SIGKILL)
        assert len(list(place.glob("feedctl-session-*"))) == 1
        marked = {**os.environ, MARK_VARIABLE: str(left)}  # as what an application has started
        with subprocess.Popen(["sleep", "60"], env=marked) as beside:
            assert processes_of(left)
            (tmp_path / "elsewhere").mkdir()
            elsewhere = SharedSite(tmp_path / "elsewhere")
            end = elsewhere.run(site.call("one"))
            elsewhere.engine.close()
            assert (end.succeeded, beside.wait()) == (True, -signal.SIGKILL)
    assert list(place.iterdir()) == []


def test_the_directories_of_living_runners_and_what_is_none_stay(place: Path, tmp_path: Path) -> None:
    folder = new_folder(tmp_path / "ledger/count/primary/session/token/host.log")
    (place / "feedctl-session-none").mkdir()
    (place / "feedctl-session-link").symlink_to(folder.path)
    there = sorted(place.iterdir())
    assert end_dead_sessions(grace_seconds=0.0) == frozenset()
    assert sorted(place.iterdir()) == there
    os.close(folder.lock)  # as the end of a process does
    end_dead_sessions(grace_seconds=0.0)
    assert not folder.path.exists()
    assert (place / "feedctl-session-none").exists()


def test_a_directory_that_its_runner_removes_meanwhile_is_none_of_a_dead_runner(
    tmp_path: Path, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, opened = new_folder(tmp_path / "host.log"), os.open

    def removed(path: Path, *how: int) -> int:
        lock = opened(path, *how)
        monkeypatch.setattr(os, "open", opened)
        shutil.rmtree(folder.path)
        return lock

    monkeypatch.setattr(os, "open", removed)
    assert end_dead_sessions(grace_seconds=0.0) == frozenset()
    folder.remove()
    assert not list(place.iterdir())
