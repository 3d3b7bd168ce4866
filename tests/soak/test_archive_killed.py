"""Retention that archives and is killed at random moments: no file of an instance is ever nowhere."""

from __future__ import annotations

import os
import random
import secrets
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.e2e.commands import ROOT
from tests.integration.replications import End, hour
from tests.integration.test_retention_archive import Archiving, archived, local, on_s3
from tests.short_leases import short_leases
from tests.testbed.running import ending
from tests.testbed.s3 import S3Store

pytestmark = [pytest.mark.soak, pytest.mark.slow, pytest.mark.timeout(0)]
_ROUNDS, _FILES = 20, 60
_LEASE_SECONDS, _DEADLINE_SECONDS, _LONGEST = 2.0, 240.0, 3.0
_NOT_YET = {5, 143}
_NAMES = [f"part-{number:02}" for number in range(_FILES)]
_OLD, _YOUNG = hour(0, _NAMES) | hour(1, _NAMES), hour(2)


def _round(archiving: Archiving, pause: float) -> bool:
    """A run is killed, the next one finishes; return whether something had begun and not ended."""
    archiving.own.fill(_OLD | _YOUNG)
    assert archiving.code("--dry-run") == 0  # it writes the repo
    command = [sys.executable, str(ROOT / "entrypoints/retention.py"), "--feed", "clicks", *archiving.arguments]
    quiet, known = subprocess.DEVNULL, {**os.environ, **short_leases(_LEASE_SECONDS)}
    started = subprocess.Popen(command, cwd=ROOT, env=known, stdout=quiet, stderr=quiet, start_new_session=True)
    with ending(started) as run:
        deadline = time.monotonic() + _DEADLINE_SECONDS
        while time.monotonic() < deadline and run.poll() is None and not _archive(archiving, hidden=True):
            time.sleep(0.02)
        time.sleep(pause)
    own, has_begun = archiving.own.files(), bool(_archive(archiving, hidden=True))
    _check(own, _archive(archiving))
    code = archiving.code()
    while code in _NOT_YET and time.monotonic() < deadline:
        time.sleep(0.5)
        code = archiving.code()
    assert code == 0
    assert archiving.own.files() == _YOUNG
    assert _archive(archiving, hidden=True) == archived(_OLD)
    return has_begun and own != _YOUNG


def _archive(archiving: Archiving, *, hidden: bool = False) -> dict[str, bytes]:
    return archiving.archive.files("old", hidden=hidden)


def _check(own: Mapping[str, bytes], there: Mapping[str, bytes]) -> None:
    """Every file is somewhere, whole, and a flag is beside all that it announces."""
    expected = archived(_OLD)
    for name, content in _OLD.items():
        assert content in (own.get(name), there.get(*archived({name: b""}))), name
    assert {name: expected.get(name) for name in there} == dict(there)
    for flag in (name for name in there if name.endswith("_SUCCESS")):
        above = flag.removesuffix("_SUCCESS")
        assert {name for name in expected if name.startswith(above)} <= there.keys(), flag
    for flag in (name for name in own if name.endswith("_SUCCESS")):
        above = flag.removesuffix("_SUCCESS")
        assert {name for name in _OLD if name.startswith(above)} <= own.keys(), flag


def _rounds(directory: Path, own: End, archive: End) -> None:
    seed = int(os.environ.get("FEEDCTL_SEED") or secrets.randbelow(10**9))
    print(f"FEEDCTL_SEED={seed}")  # noqa: T201 - how to repeat it
    chance, midway = random.Random(seed), 0  # noqa: S311 - no secret
    for number in range(_ROUNDS):
        ends = [End(uri=f"{end.uri}/{number}", conf=end.conf) for end in (own, archive)]
        place = directory / str(number)
        place.mkdir()
        for end in ends:
            end.system.mkdirs(end.at("old"))
        archiving = Archiving(directory=place, own=ends[0], archive=ends[1])
        midway += _round(archiving, chance.uniform(0, _LONGEST))
    print(f"{_ROUNDS} runs were killed, {midway} of them midway")  # noqa: T201
    assert midway


def test_killed_archiving_to_an_object_store_loses_nothing(
    s3: S3Store, s3_bucket: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in s3.environment.items():
        monkeypatch.setenv(name, value)
    _rounds(tmp_path, local(tmp_path / "own"), on_s3(s3, s3_bucket))


def test_killed_archiving_from_an_object_store_loses_nothing(
    s3: S3Store, s3_bucket: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in s3.environment.items():
        monkeypatch.setenv(name, value)
    _rounds(tmp_path, on_s3(s3, s3_bucket, "warm"), local(tmp_path / "cold"))
