"""Many runs of the same due instances at once: each instance runs exactly once."""

from __future__ import annotations

import os
import threading
from collections import Counter
from datetime import timedelta
from pathlib import Path

import pytest
import sqlalchemy as sa

from tests.databases.ledgers import make_ledger
from tests.databases.postgresql import running_postgres
from tests.integration.process_runs import KEYS, Runs
from toolkit.actions.progress import NoProgress
from toolkit.actions.selection import NO_FEED
from toolkit.bootstrap.action_context import ActionOptions
from toolkit.bootstrap.config import RepoRequest
from toolkit.bootstrap.process import ProcessOptions, run_processes
from toolkit.clock import SystemClock
from toolkit.el import parse_instant
from toolkit.process_runner.selection import ProcessSelection
from toolkit.result import ExitCode
from toolkit.runs.stop import NeverStopped


def due_at_once(runs: Runs, invocations: int, instances: int, monkeypatch: pytest.MonkeyPatch) -> list[ExitCode]:
    """The exit codes of so many `--due` at once."""
    monkeypatch.setenv("FEEDCTL_LOG_DIR", str(runs.directory / "logs"))
    nominal = parse_instant(KEYS[0]) + timedelta(hours=instances - 1)
    codes: list[ExitCode] = []
    barrier = threading.Barrier(invocations)
    requested = ActionOptions(
        selection=NO_FEED, repo=RepoRequest(config_repo=str(runs.directory / "repo"), variables=os.environ),
        nominal_time=nominal, dry_run=False, approve=None, allow_dirty=False, parallel=2,
    )  # fmt: skip

    def work() -> None:
        own = ProcessOptions(selection=ProcessSelection(name="count", cluster=None), due=True)
        barrier.wait()
        codes.append(run_processes(own, requested, SystemClock(), NeverStopped(), NoProgress()).exit_code)

    threads = [threading.Thread(target=work) for _ in range(invocations)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    return codes


def check(runs: Runs, codes: list[ExitCode], invocations: int, instances: int) -> None:
    """Every instance ran once, and nobody was told of an error."""
    assert Counter(line.split()[0] for line in runs.output()) == Counter(KEYS[:instances])
    assert len(codes) == invocations
    assert set(codes) <= {ExitCode.DONE, ExitCode.SKIPPED}


@pytest.mark.parametrize("parallel", [1, 4])
def test_several_runs_of_what_is_due_run_each_instance_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, parallel: int
) -> None:
    runs = Runs(directory=tmp_path)
    runs.write(more=f"parallel: {parallel}")
    runs.fill(*KEYS[:6])
    check(runs, due_at_once(runs, 5, 6, monkeypatch), 5, 6)


@pytest.mark.parametrize(
    ("invocations", "parallel"),
    [
        pytest.param(30, 6, marks=pytest.mark.extended),
        *(pytest.param(100, each, marks=pytest.mark.soak) for each in (1, 6)),
    ],
)
def test_many_runs_on_one_server_run_each_instance_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, parallel: int, invocations: int
) -> None:
    with running_postgres(max_connections=150) as server:
        server.create_database("ledger")
        url = sa.make_url(server.url("ledger"))
        make_ledger(url)
        monkeypatch.setenv("FEEDCTL_LEDGER", url.render_as_string(hide_password=False))
        runs = Runs(directory=tmp_path)
        runs.write(more=f"parallel: {parallel}")
        runs.fill(*KEYS[:12])
        check(runs, due_at_once(runs, invocations, 12, monkeypatch), invocations, 12)
