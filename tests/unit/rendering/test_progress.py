"""How far an action is, told by many threads and drawn or logged now and then."""

from __future__ import annotations

import logging
import threading
from dataclasses import dataclass

import pytest

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
