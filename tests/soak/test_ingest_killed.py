"""Ingests that are killed at random moments while files arrive: the table equals the input, and nothing is put away."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.e2e.ingest_site import IngestSite
from tests.soak.chance import seeded
from tests.unit.ingest_job.scene import line

pytestmark = pytest.mark.soak
HERE = Path(__file__).parents[2]
ROUNDS = int(os.environ.get("FEEDCTL_ROUNDS") or 100)
POINTS = ("written", "before commit", "in commit", "after commit")


def _killed(site: IngestSite, after: str, chosen: random.Random) -> None:
    """Run in a process that dies at a point, or at any moment."""
    command = [sys.executable, "-m", "tests.e2e.ingest_site", str(site.root), after]
    if chosen.random() < 0.5:
        subprocess.run([*command, chosen.choice(POINTS), str(chosen.randint(1, 6))], cwd=HERE, check=False)
        return
    (site.root / "go").touch()
    run = subprocess.Popen(command, cwd=HERE, stdout=subprocess.DEVNULL)
    time.sleep(0.6 + chosen.random())
    run.kill()
    run.wait()


@pytest.mark.timeout(3600)
@pytest.mark.parametrize("after", ["keep", "archive", "delete"])
def test_the_table_equals_the_input_after_many_kills(tmp_path: Path, after: str) -> None:
    chosen = seeded()
    site, words = IngestSite.make(tmp_path, after=after, rows=7), list[str]()
    for number in range(ROUNDS // 3):
        for file in range(chosen.randint(0, 4)):
            own = [f"{number}-{file}-{each}" for each in range(chosen.randint(0, 40))]
            site.put(f"{number}-{file}.json", *map(line, own))
            words += own
        _killed(site, after, chosen)
    assert site.run() == 0
    assert site.run() == 0
    assert site.table.words == sorted(words)
    assert bool(site.inbox) == (after == "keep")
