"""Random feeds on local storage and on a real HDFS against a slow oracle: undisturbed, and stopped anywhere."""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from uuid import uuid4

import hdfs_native
import pytest

from tests.soak.places import HdfsPlace, LocalPlace, Place
from tests.soak.retention_quarantine import QuarantineCovered, QuarantineRound
from tests.soak.retention_rounds import Covered, Round
from tests.soak.s3_place import S3Place
from tests.testbed.s3 import S3Store

_ROUNDS, _HDFS_ROUNDS, _S3_ROUNDS = 10, 2, 1
_SOAK_ROUNDS, _HDFS_SOAK_ROUNDS, _S3_SOAK_ROUNDS = 2000, 300, 150


def _seeds(rounds: int) -> range:
    first = int(os.environ.get("FEEDCTL_SEED") or secrets.randbelow(10**9))
    print(f"FEEDCTL_SEED={first}")  # noqa: T201 - how to repeat it
    return range(first, first + rounds)


def _checked(seed: int, place: Place, covered: Covered) -> None:
    try:
        one = Round.draw(seed, place)
        one.check(covered)
    except Exception as error:
        error.add_note(f"repeat with FEEDCTL_SEED={seed}")
        raise


def _quarantined(rounds: int, place_of: Callable[[int], Place]) -> QuarantineCovered:
    covered = QuarantineCovered()
    for seed in _seeds(rounds):
        try:
            QuarantineRound(one=Round.draw(seed, place_of(seed))).check(covered)
        except Exception as error:
            error.add_note(f"repeat with FEEDCTL_SEED={seed}")
            raise
    print(covered)  # noqa: T201 - what the rounds had in them
    return covered


def _local_place(directory: Path, seed: int) -> Place:
    root = directory / str(seed)
    root.mkdir()
    return LocalPlace(root)


def _hdfs_place(directory: str, client: hdfs_native.Client, seed: int) -> Place:
    place = HdfsPlace(f"{directory}/{seed}", client)
    client.mkdirs(place.root)
    return place


def _s3_place(store: S3Store, seed: int) -> Place:
    place = S3Place(store, f"fuzz-{seed}-{uuid4().hex[:8]}")
    with store.client() as client:
        client.create_bucket(Bucket=place.bucket)
    return place


def _locally(rounds: int, directory: Path) -> Covered:
    covered = Covered()
    for seed in _seeds(rounds):
        root = directory / str(seed)
        root.mkdir()
        _checked(seed, LocalPlace(root), covered)
        shutil.rmtree(root)
    print(covered)  # noqa: T201 - what the rounds had in them
    return covered


def _on_hdfs(rounds: int, directory: str) -> Covered:
    covered, client = Covered(), hdfs_native.Client(directory)
    for seed in _seeds(rounds):
        place = HdfsPlace(f"{directory}/{seed}", client)
        client.mkdirs(place.root)
        _checked(seed, place, covered)
    print(covered)  # noqa: T201 - what the rounds had in them
    return covered


def _on_s3(rounds: int, store: S3Store) -> Covered:
    covered = Covered()
    with store.client() as client:
        for seed in _seeds(rounds):
            place = S3Place(store, f"fuzz-{uuid4().hex}")
            client.create_bucket(Bucket=place.bucket)
            _checked(seed, place, covered)
    print(covered)  # noqa: T201 - what the rounds had in them
    return covered


def _too_rare(covered: Covered, *never: str) -> Iterator[str]:
    """Yield what fewer than one round in two hundred had, but for what cannot be there."""
    for name, count in vars(covered).items():
        if name not in never and count < covered.rounds / 200:
            yield f"{name}: {count}"


def test_retention_agrees_with_a_slow_oracle(tmp_path: Path) -> None:
    assert _locally(_ROUNDS, tmp_path).evictions


@pytest.mark.extended
@pytest.mark.slow
def test_retention_on_hdfs_agrees_with_a_slow_oracle(hdfs_dir: str) -> None:
    """In so few rounds chance may evict nothing; that all rounds agree is what counts."""
    assert _on_hdfs(_HDFS_ROUNDS, hdfs_dir).rounds == _HDFS_ROUNDS


@pytest.mark.extended
@pytest.mark.slow
def test_retention_on_s3_agrees_with_a_slow_oracle(s3: S3Store) -> None:
    assert _on_s3(_S3_ROUNDS, s3).rounds == _S3_ROUNDS


@pytest.mark.soak
def test_retention_agrees_with_a_slow_oracle_for_long(tmp_path: Path) -> None:
    covered = _locally(_SOAK_ROUNDS, tmp_path)
    assert list(_too_rare(covered, "subtrees")) == []
    assert not covered.subtrees, "nothing goes as a whole where that is not one step"


@pytest.mark.soak
def test_retention_on_hdfs_agrees_with_a_slow_oracle_for_long(hdfs_dir: str) -> None:
    assert list(_too_rare(_on_hdfs(_HDFS_SOAK_ROUNDS, hdfs_dir), "links")) == []


@pytest.mark.soak
def test_retention_on_s3_agrees_with_a_slow_oracle_for_long(s3: S3Store) -> None:
    assert list(_too_rare(_on_s3(_S3_SOAK_ROUNDS, s3), "links", "subtrees", "empties")) == []


@pytest.mark.parametrize(
    "rounds", [pytest.param(5, marks=pytest.mark.extended), pytest.param(500, marks=pytest.mark.soak)]
)
def test_quarantine_restore_and_purge_agree_with_a_slow_oracle(tmp_path: Path, rounds: int) -> None:
    covered = _quarantined(rounds, partial(_local_place, tmp_path))
    assert rounds < 500 or (covered.evictions and covered.purges and covered.undisturbed)


@pytest.mark.slow
@pytest.mark.parametrize(
    "rounds", [pytest.param(1, marks=pytest.mark.extended), pytest.param(100, marks=pytest.mark.soak)]
)
def test_quarantine_on_hdfs_agrees_with_a_slow_oracle(hdfs_dir: str, rounds: int) -> None:
    assert _quarantined(rounds, partial(_hdfs_place, hdfs_dir, hdfs_native.Client(hdfs_dir))).rounds == rounds


@pytest.mark.slow
@pytest.mark.parametrize(
    "rounds", [pytest.param(1, marks=pytest.mark.extended), pytest.param(50, marks=pytest.mark.soak)]
)
def test_quarantine_on_s3_agrees_with_a_slow_oracle(s3: S3Store, rounds: int) -> None:
    assert _quarantined(rounds, partial(_s3_place, s3)).rounds == rounds
