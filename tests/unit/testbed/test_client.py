"""Tests share a server of the test bed, or one test uses it alone."""

from __future__ import annotations

import fcntl
import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from tests.testbed.client import Testbed
from tests.testbed.controller import Controller
from tests.testbed.waiting import becomes_true


@pytest.fixture
def bed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Testbed:
    """A test bed without servers."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    made = Testbed(controller=Controller.this_process())
    made.controller.directory.mkdir()
    return made


def test_many_share_a_server_and_nobody_passes_one_who_waits_to_use_it_alone(bed: Testbed) -> None:
    used = []

    def use(how: Callable[[str], AbstractContextManager[None]], name: str) -> None:
        with how("hdfs"):
            used.append(name)

    with ThreadPoolExecutor(2) as threads:
        with bed.shared("hdfs"), bed.shared("hdfs"):
            alone = threads.submit(use, bed.alone, "alone")
            assert becomes_true(lambda: _is_shut(bed), seconds=30)
            later = threads.submit(use, bed.shared, "later")
            with pytest.raises(TimeoutError):
                later.result(0.2)
            assert used == []
        alone.result(30)
        later.result(30)
    assert used == ["alone", "later"]


def _is_shut(bed: Testbed) -> bool:
    with (bed.controller.directory / "hdfs.door.lock").open("w") as door:
        try:
            fcntl.flock(door, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False
