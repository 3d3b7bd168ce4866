"""How far an action is, told by many threads and drawn or logged now and then."""

from __future__ import annotations

import logging
import threading
from dataclasses import dataclass

import pytest

from toolkit.actions.progress import Volume
from toolkit.rendering.progress import SECONDS_BETWEEN_LINES, LoggedProgress
from toolkit.rendering.terminal_progress import TerminalProgress


@dataclass
class Time:
    now: float = 0.0

    def __call__(self) -> float:
        return self.now


def test_a_long_run_says_every_ten_seconds_how_far_it_is(caplog: pytest.LogCaptureFixture) -> None:
    time = Time()
    progress = LoggedProgress(what="retention", now=time)
    progress.begin(1000)
    for _ in range(50):
        time.now += 1
        progress.advance(10)
    progress.end()
    assert SECONDS_BETWEEN_LINES == 10
    assert [record.getMessage() for record in caplog.records] == [
        f"event=progress action=retention done={done} total=1000 rate=10" for done in (100, 200, 300, 400, 500)
    ]


def test_it_is_shown_although_other_loggers_only_warn() -> None:
    assert logging.getLogger("toolkit.rendering.progress").isEnabledFor(logging.INFO)


def test_a_short_run_says_nothing(caplog: pytest.LogCaptureFixture) -> None:
    progress = LoggedProgress(what="retention")
    progress.begin(3)
    progress.advance(3)
    progress.end()
    assert caplog.records == []


def test_threads_lose_no_count(caplog: pytest.LogCaptureFixture) -> None:
    time = Time()
    progress = LoggedProgress(what="retention", now=time)
    progress.begin(8000)

    def work() -> None:
        for _ in range(1000):
            progress.advance(1)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    time.now += SECONDS_BETWEEN_LINES
    progress.advance(0)
    assert "done=8000 total=8000" in caplog.text


def test_a_bar_is_drawn_on_standard_error_and_gone_at_the_end(capsys: pytest.CaptureFixture[str]) -> None:
    progress = TerminalProgress(what="retention")
    progress.begin(10)
    for _ in range(10):
        progress.advance(1)
    progress.end()
    assert capsys.readouterr().out == ""


def test_a_copy_says_files_bytes_rate_and_the_time_left(caplog: pytest.LogCaptureFixture) -> None:
    time = Time()
    progress = LoggedProgress(what="replication", now=time)
    progress.begin(4, Volume(files=40, bytes=4_000_000))
    time.now += 5
    progress.copied(Volume(bytes=1_500_000))
    progress.copied(Volume(bytes=-500_000))  # a file begins anew
    progress.advance(1)
    time.now += 5
    progress.copied(Volume(files=10))
    assert [record.getMessage() for record in caplog.records] == [
        (
            "event=progress action=replication done=1 total=4 files=10 of_files=40 bytes=1000000 of_bytes=4000000 "
            "bytes_per_second=100000 seconds_left=30"
        )
    ]


def test_a_copy_of_which_nothing_has_come_yet_says_so(caplog: pytest.LogCaptureFixture) -> None:
    time = Time()
    progress = LoggedProgress(what="replication", now=time)
    progress.begin(1, Volume(files=1, bytes=100))
    time.now += 10
    progress.copied(Volume())
    assert "bytes_per_second=0 seconds_left=unknown" in caplog.text


def test_the_bar_of_a_copy_shows_files_bytes_and_rate(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")  # it counts as a terminal
    monkeypatch.setenv("COLUMNS", "200")
    progress = TerminalProgress(what="replication")
    progress.begin(2, Volume(files=3, bytes=5_000_000))
    progress.end()
    assert "0/2, 0/3 files, 0 bytes/5.0 MB" in capsys.readouterr().err
