"""Exports and imports of a table that are killed at random moments: nobody imports half an export."""

from __future__ import annotations

import os
import random
import secrets
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.integration.table_copies import TableCopies
from tests.integration.test_hive_killed import change, scene, wait_for_late_calls
from tests.testbed.metastore import HiveMetastoreServer
from toolkit.catalog.errors import NoSuchTable

pytestmark = [pytest.mark.soak, pytest.mark.slow, pytest.mark.timeout(0)]
_ROUNDS = 20
_LEASE_SECONDS, _DEADLINE_SECONDS = 2.0, 240.0
_NOT_YET = {5, 143}
_WHOLE = "--whole-table"


def _killed(copies: TableCopies, name: str, arguments: tuple[str, ...], root: Path, pause: float) -> bool:
    """Kill a run a while after its first file; return whether there was one."""
    before = set(root.rglob("*"))
    with copies.started(name, *arguments, lease_seconds=_LEASE_SECONDS) as run:
        deadline = time.monotonic() + _DEADLINE_SECONDS
        while time.monotonic() < deadline and run.poll() is None and set(_there(root)) <= before:
            time.sleep(0.02)
        time.sleep(pause)
        is_midway = run.poll() is None
        os.killpg(run.pid, signal.SIGKILL)
        run.communicate()
    return is_midway


def _there(root: Path) -> list[Path]:
    return [Path(at) / name for at, directories, files in os.walk(root) for name in (*directories, *files)]


def _finished(action: Callable[..., tuple[int, dict[str, Any]]], *arguments: str) -> tuple[int, dict[str, Any]]:
    deadline = time.monotonic() + _DEADLINE_SECONDS
    code, result = action(*arguments)
    while code in _NOT_YET and time.monotonic() < deadline:
        time.sleep(0.5)
        code, result = action(*arguments)
    return code, result


def _rows(copies: TableCopies) -> dict[str, dict[str, bytes]]:
    try:
        return copies.target.rows()
    except NoSuchTable:
        return {}


def _round(copies: TableCopies, chance: random.Random, exports: Path) -> int:
    """An export is killed, imported as it is, and finished; then an import is killed and finished."""
    now, before, place = copies.source.rows(), _rows(copies), f"file://{exports}"
    midway = 0
    midway += _killed(
        copies, "hive_export", ("--cluster", "primary", "--to", place, _WHOLE), exports, chance.uniform(0, 1)
    )
    _finished(copies.imported, place, _WHOLE)
    assert _rows(copies) in ({**before, **now}, before)
    code, result = _finished(copies.exported, place, _WHOLE)
    assert code == 0, result
    target = Path(copies.target.end.uri.removeprefix("file://"))
    midway += _killed(
        copies, "hive_import", ("--cluster", "backup", "--from", place, _WHOLE), target, chance.uniform(0, 1)
    )
    for name, files in _rows(copies).items():
        assert files in (before.get(name), now.get(name)), name
    for _ in range(2):
        code, result = _finished(copies.imported, place, _WHOLE)
        assert code == 0, result
        assert _rows(copies) == {**before, **now}
        wait_for_late_calls(copies)
    assert [each for each in copies.target.orphans() if each.startswith(".feedctl-")] == []
    return midway


def test_killed_exports_and_imports_of_a_table_leave_nothing_half(
    metastore: HiveMetastoreServer, restartable_metastore: HiveMetastoreServer, tmp_path: Path
) -> None:
    seed = int(os.environ.get("FEEDCTL_SEED") or secrets.randbelow(10**9))
    print(f"FEEDCTL_SEED={seed}")  # noqa: T201 - how to repeat it
    chance, midway = random.Random(seed), 0  # noqa: S311 - no secret
    copies = scene(metastore, restartable_metastore, tmp_path)
    (tmp_path / "exports").mkdir()
    for number in range(_ROUNDS):
        midway += _round(copies, chance, tmp_path / "exports")
        change(copies, number)
    print(f"{2 * _ROUNDS} exports and imports were killed, {midway} of them midway")  # noqa: T201
    assert midway
