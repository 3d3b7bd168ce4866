"""The metrics file while its writers are killed: a reader always finds one that is whole."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families

from tests.e2e.commands import ROOT
from tests.soak.chance import seeded

_SERIES = 5_000
_WRITER = f"""
import sys
from itertools import count
from pathlib import Path
from toolkit.metrics import definitions
from toolkit.metrics.exposition import ExpositionFormat, exposed
from toolkit.metrics.samples import Sample
from toolkit.plain_files import replace_file

for number in count():
    samples = [Sample(definitions.INSTANCES_OPEN, (f"feed_{{each}}", "primary"), number) for each in range({_SERIES})]
    replace_file(Path(sys.argv[1]), exposed(samples, ExpositionFormat.TEXT))
    print(number, flush=True)
"""


@pytest.mark.soak
def test_a_reader_finds_a_whole_file_whenever_writers_are_killed(tmp_path: Path) -> None:
    killed_writers(tmp_path / "feedctl.prom", rounds=100)


@pytest.mark.extended
def test_a_reader_finds_a_whole_file_though_a_writer_is_killed(tmp_path: Path) -> None:
    killed_writers(tmp_path / "feedctl.prom", rounds=3)


def killed_writers(file: Path, rounds: int) -> None:
    """Kill a writer at a random moment after its first file, and read the file all the time."""
    chance, reads = seeded(), 0
    for _ in range(rounds):
        with subprocess.Popen([sys.executable, "-c", _WRITER, file], stdout=subprocess.PIPE, cwd=ROOT) as writer:
            assert writer.stdout is not None
            assert writer.stdout.readline()
            death = time.monotonic() + chance.uniform(0, 0.3)
            while time.monotonic() < death:
                reads += is_whole(file)
            writer.kill()
        reads += is_whole(file)
    assert reads >= rounds


def is_whole(file: Path) -> bool:
    """Fail unless the file has all series, all of one moment."""
    (family,) = text_string_to_metric_families(file.read_text(encoding="utf-8"))
    assert len(family.samples) == _SERIES
    assert len({each.value for each in family.samples}) == 1
    return True
