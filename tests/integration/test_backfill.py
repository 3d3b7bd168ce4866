"""`feedctl backfill`: a range of a process's instances."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.integration.process_runs import KEYS, Runs, hours
from toolkit.cli.main import main


@pytest.fixture
def counting(tmp_path: Path) -> Runs:
    """A process that counts hours of clicks, of which six are there, and of which one cannot be counted."""
    runs = Runs(directory=tmp_path)
    fails = f'test "$nominalTime" != {KEYS[2]} || test -f {tmp_path}/ok\n'
    runs.write(scripts={"count": f"{fails}{runs.making()}"}, more="parallel: 2")
    runs.fill(*KEYS[:6])
    return runs


def backfill(runs: Runs, *more: str) -> int:
    repo = str(runs.directory / "repo")
    return main(["backfill", "count", "--config-repo", repo, "--start", KEYS[0], "--end", KEYS[4], *more])


def ran(runs: Runs) -> list[str]:
    return hours(line.split()[0] for line in runs.output())


def test_a_backfill_fills_a_range_and_a_second_one_has_what_failed(
    counting: Runs, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("FEEDCTL_LOG_DIR", str(counting.directory / "logs"))
    assert backfill(counting, "--dry-run") == 0
    assert ran(counting) == []
    assert backfill(counting, "--max-parallel", "1") == 4
    assert ran(counting) == ["00", "01"]
    assert "1 instances of count on primary were not begun" in capsys.readouterr().out
    assert backfill(counting, "--only", "missing", "--order", "LIFO") == 0
    assert ran(counting) == ["00", "01", "03"]
    (counting.directory / "ok").touch()
    assert backfill(counting, "--only", "failed", "--keep-going") == 0
    assert ran(counting) == ["00", "01", "03", "02"]
    assert backfill(counting, "--only", "all", "--max-parallel", "1") == 0
    assert ran(counting)[4:] == ["00", "01", "02", "03"]


def test_a_range_that_is_none_is_refused(counting: Runs) -> None:
    assert backfill(counting, "--end", KEYS[0]) == 2
