"""The linter over repos that are damaged at random: findings at places that exist, never an exception, never slow."""

from __future__ import annotations

import os
import random
import secrets
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

import pytest

from benchmarks.generate_repo import generate
from tests.soak.lint_fuzz import Damaged, damage
from toolkit.cli.lint import LintFormat
from toolkit.cli.lint_run import Prefixes, render
from toolkit.config_source import Snapshot, SnapshotId, SnapshotKind
from toolkit.entities.source_files import is_config_file
from toolkit.linter.collect import Base
from toolkit.linter.engine import LintRequest, lint
from toolkit.linter.report import LintReport
from toolkit.linter.source_map import LINE_BREAK

_ROUNDS, _SOAK_ROUNDS = 20, 10_000
_MOST_SECONDS = 1.0
"""Of processor time for each step of damage: no step damages more than two files."""

_TEMPLATE = Path(__file__).parents[2] / "config_repo_template"
_TIME = datetime(2026, 3, 20, 12, tzinfo=UTC)


def _seed() -> int:
    return int(os.environ.get("FEEDCTL_SEED") or secrets.randbelow(10**9))


def _files(root: Path) -> dict[str, bytes]:
    found = (path for path in sorted(root.rglob("*")) if path.is_file() and "__pycache__" not in path.parts)
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in found}


def _snapshot(files: Mapping[str, bytes]) -> Snapshot:
    config = {name: data for name, data in files.items() if is_config_file(name)}
    identity = SnapshotId(kind=SnapshotKind.DIRECTORY, value="fuzzed")
    return Snapshot(root="fuzzed", files=config, names=frozenset(files) - config.keys(), id=identity)


def _request(damaged: Damaged, whole: Mapping[str, bytes]) -> LintRequest:
    base = Base(ref="base", snapshot=_snapshot(whole))
    return LintRequest(snapshot=_snapshot(damaged.files), time=_TIME, all_environments=True, base=base)


def _check(report: LintReport, damaged: Damaged) -> None:
    for finding in report.findings:
        lines = LINE_BREAK.split(damaged.files.get(finding.file, b"").decode(errors="replace"))
        assert finding.line <= len(lines)
        assert finding.column <= finding.end_column


def _show(report: LintReport) -> None:
    for form, colours in (*((form, False) for form in LintFormat), (LintFormat.TEXT, True)):
        render(report, form, Prefixes(in_checkout="", shown=""), colours=colours).encode()


def _one_round(seed: int, whole: Mapping[str, bytes]) -> float:
    """Seconds of processor time for each step of damage."""
    damaged = damage(whole, random.Random(seed))  # noqa: S311 - a repeatable test, no secret
    request = _request(damaged, whole)
    began = time.process_time()
    report = lint(request)
    _show(report)
    spent = time.process_time() - began
    _check(report, damaged)
    return spent / damaged.touched


def _fuzz(rounds: int, generated: Path) -> float:
    """The most seconds of processor time of a round, for each step of its damage."""
    generate(generated, 60)
    repos = (_files(_TEMPLATE), _files(generated))
    first, most = _seed(), 0.0
    print(f"FEEDCTL_SEED={first}")  # noqa: T201 - how to repeat it
    for seed in range(first, first + rounds):
        try:
            most = max(most, _one_round(seed, repos[seed % len(repos)]))
        except BaseException as error:  # also a time limit
            error.add_note(f"repeat with FEEDCTL_SEED={seed}")
            raise
    return most


@pytest.mark.slow
@pytest.mark.extended
def test_a_damaged_repo_has_findings_and_the_linter_survives(tmp_path: Path) -> None:
    _fuzz(_ROUNDS, tmp_path)


@pytest.mark.soak
def test_a_damaged_repo_has_findings_and_the_linter_survives_for_long(tmp_path: Path) -> None:
    most = _fuzz(_SOAK_ROUNDS, tmp_path)
    print(f"{_SOAK_ROUNDS} damaged repos; the slowest took {most:.3f} s for each step of damage")  # noqa: T201
    assert most <= _MOST_SECONDS
