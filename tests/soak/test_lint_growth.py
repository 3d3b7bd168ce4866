"""Lint of files that grow: processor time grows as their size does, whatever they are made of."""

from __future__ import annotations

import os
import random
import secrets
import time
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.soak.lint_growth import Shape, mixed, shapes
from toolkit.cli.lint import LintFormat
from toolkit.cli.lint_run import Prefixes, render
from toolkit.config_source import Snapshot, SnapshotId, SnapshotKind
from toolkit.entities.source_files import is_config_file
from toolkit.linter.engine import LintRequest, lint

_SIZE = 64 << 10
_ROUNDS = 40
_MOST_GROWTH = 3.0
"""Growth of processor time from a size to twice that: 2 is linear, 4 is quadratic."""
_LITTLE = 1.0
"""Seconds of processor time below which growth is not looked at."""
_TEMPLATE = Path(__file__).parents[2] / "config_repo_template"


def _seconds(shape: Shape, size: int, seed: int) -> float:
    """Return the processor time of lint and its report for the template with a shape of a size."""
    paths = [each for each in sorted(_TEMPLATE.rglob("*")) if each.is_file() and "__pycache__" not in each.parts]
    files = {each.relative_to(_TEMPLATE).as_posix(): each.read_bytes() for each in paths}
    made = shape(size, random.Random(seed))  # noqa: S311 - a repeatable test, no secret
    files |= {name: text.encode() for name, text in made.items()}
    config = {name: data for name, data in files.items() if is_config_file(name)}
    identity = SnapshotId(kind=SnapshotKind.DIRECTORY, value="grown")
    snapshot = Snapshot(root="grown", files=config, names=frozenset(files) - config.keys(), id=identity)
    began = time.process_time()
    report = lint(LintRequest(snapshot=snapshot, time=datetime(2026, 3, 20, 12, tzinfo=UTC)))
    render(report, LintFormat.TEXT, Prefixes(in_checkout="", shown=""), colours=True)
    return time.process_time() - began


@pytest.mark.soak
def test_lint_takes_twice_as_long_for_twice_as_much() -> None:
    seed = int(os.environ.get("FEEDCTL_SEED") or secrets.randbelow(10**9))
    print(f"FEEDCTL_SEED={seed}")  # noqa: T201 - how to repeat it
    chance, known, slow = random.Random(seed), shapes(), []  # noqa: S311 - a repeatable test, no secret
    for _ in range(int(os.environ.get("FEEDCTL_ROUNDS") or _ROUNDS)):
        first, second = chance.sample(sorted(known), 2)
        shape = mixed(first, second)
        once, twice = (_seconds(shape, size, seed) for size in (_SIZE, 2 * _SIZE))
        print(f"{first} + {second}: {once:.2f} s, {twice:.2f} s")  # noqa: T201 - the figures are the point of a soak
        if twice > max(_LITTLE, _MOST_GROWTH * once):
            slow.append(f"{first} + {second}: {once:.2f} s, then {twice:.2f} s")
    assert not slow
