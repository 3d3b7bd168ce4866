"""Writers and shippers of a spool are killed at random moments: no event is lost, none is torn, few are doubled."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.e2e.commands import ROOT
from tests.lineage_events.receiver import Receiver, receiving
from tests.soak.chance import seeded
from toolkit.entities.lineage import LineageTransport, OpenLineageSettings
from toolkit.lineage.ship import ship
from toolkit.lineage.spool import Spool

WRITER = """
import json, sys, time
from pathlib import Path
from toolkit.lineage.spool import Spool
spool, noted = Spool(Path(sys.argv[1])), open(sys.argv[2], "a", buffering=1)
for number in range(100_000):
    spool.append(json.dumps({"writer": sys.argv[3], "n": number, "long": "x" * 300}).encode())
    noted.write(f"{sys.argv[3]} {number}\\n")
    time.sleep(0.002)
"""
SHIPPER = """
import sys
from pathlib import Path
from toolkit.entities.lineage import LineageTransport, OpenLineageSettings
from toolkit.lineage.ship import ship
from toolkit.lineage.spool import Spool
settings = OpenLineageSettings(transport=LineageTransport.HTTP, url=sys.argv[2])
while True:
    ship(Spool(Path(sys.argv[1])), settings, ["127.0.0.1"], {}, patience=1)
"""


@pytest.mark.parametrize(
    "kills", [pytest.param(5, marks=pytest.mark.extended), pytest.param(50, marks=pytest.mark.soak)]
)
def test_no_event_of_a_killed_writer_or_shipper_is_lost_torn_or_doubled_but_one_a_kill(
    tmp_path: Path, kills: int
) -> None:
    chance, spool, noted = seeded(), tmp_path / "openlineage", tmp_path / "noted"
    killed_shippers = 0
    with receiving() as receiver:
        shipper = _started(SHIPPER, str(spool), receiver.url)
        for number in range(kills):
            writer = _started(WRITER, str(spool), str(noted), str(number))
            _until_something_was_written(noted, str(number))
            time.sleep(chance.uniform(0, 0.2))
            _kill(writer)
            if chance.random() < 0.5:
                _kill(shipper)
                killed_shippers += 1
                shipper = _started(SHIPPER, str(spool), receiver.url)
        _kill(shipper)
        settings = OpenLineageSettings(transport=LineageTransport.HTTP, url=receiver.url)
        assert ship(Spool(spool), settings, ["127.0.0.1"], {}).failure is None
        _check(receiver, noted, killed_shippers + 1)
    assert not spool.exists()


def _check(receiver: Receiver, noted: Path, kills_of_shippers: int) -> None:
    came = [(each["writer"], each["n"]) for each in receiver.events]
    written = {(writer, int(n)) for writer, n in (line.split() for line in noted.read_text().splitlines())}
    assert written <= set(came)
    assert len(came) - len(set(came)) <= kills_of_shippers
    for writer in {each for each, _ in came}:
        of_one = list(dict.fromkeys(n for each, n in came if each == writer))
        assert of_one == list(range(len(of_one)))


def _started(code: str, *arguments: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-c", code, *arguments], cwd=ROOT)


def _kill(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.wait()


def _until_something_was_written(noted: Path, writer: str) -> None:
    latest = time.monotonic() + 60
    while not (noted.exists() and f"{writer} 0\n" in noted.read_text()):
        assert time.monotonic() < latest
        time.sleep(0.01)
