"""Evictions on an S3 that asks to slow down, cuts connections, refuses keys, or answers nothing but 503."""

from __future__ import annotations

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from math import inf

import pytest

from tests.integration.evictions import DIRECTORIES, hourly
from tests.soak.retention_feed import Opening, run
from tests.soak.retention_rounds import MortalRecorder
from tests.testbed.faults import Effect, Fault
from tests.testbed.fixtures import FaultyS3
from tests.testbed.s3 import S3Store
from toolkit.result import ExitCode, Outcome
from toolkit.retention import RetentionResult
from toolkit.runs.stop import NeverStopped
from toolkit.storage import StorageSpec

pytestmark = [pytest.mark.slow, pytest.mark.extended]

_CASE = hourly(DIRECTORIES)
_LARGE = "data/2026/03/01/05"
_DELETION = Fault(effect=Effect.SLOW_DOWN, method="POST", query="delete")


@dataclass(frozen=True, kw_only=True)
class Bucket:
    """A bucket of the test's own; the product reaches it through a proxy."""

    store: S3Store
    faults: FaultyS3
    name: str

    @property
    def endpoint(self) -> str:
        return f"s3://{self.name}"

    @property
    def spec(self) -> StorageSpec:
        return StorageSpec(scheme="s3", authority=self.name, hadoop_conf=self.faults.store.settings)

    def keys(self) -> set[str]:
        with self.store.client() as client:
            pages = client.get_paginator("list_objects_v2").paginate(Bucket=self.name)
            return {found["Key"] for page in pages for found in page.get("Contents", [])}

    def refuse_after_the_first(self) -> None:
        """Every removal from the second on."""
        deadline = time.monotonic() + 60
        while not self.faults.proxy.seen(method="POST", query="delete"):
            assert time.monotonic() < deadline
            time.sleep(0.01)
        self.faults.proxy.add(_DELETION)

    def evict(self, patience: float = 60, rate: float = inf) -> RetentionResult:
        recorder = MortalRecorder(left_entity="fuzzed")
        return run(_CASE, self, NeverStopped(), recorder, opening=Opening(patience=patience, rate=rate))


@pytest.fixture
def bucket(s3: S3Store, s3_bucket: str, s3_faults: FaultyS3) -> Iterator[Bucket]:
    yield Bucket(store=s3, faults=s3_faults, name=s3_bucket)
    s3_faults.proxy.clear()


def _neighbours() -> set[str]:
    """Return what looks like the large instance and is none of it, what is young, and a key that no path can name."""
    like = (
        f"{_LARGE}x/part",
        f"{_LARGE}-2/part",
        "data/2026/03/01/0",
        "data/2026/03/01/055/part",
        "data/2026//01/05/part",
    )
    return {*like, "data/2026/03/15/05/part", "data2/2026/03/01/05/part", "other"}


def _small(count: int) -> list[str]:
    return [f"data/2026/03/0{1 + at // 24}/{at % 24:02}" for at in range(count)]


def _files_of(instances: list[str]) -> set[str]:
    return {f"{each}/{name}" for each in instances for name in ("_SUCCESS", "part-0", "part-1")}


@pytest.mark.parametrize(
    ("count", "refused"),
    [
        (5_000, 1 / 8),
        pytest.param(25_000, 1 / 8, marks=pytest.mark.soak),
        pytest.param(25_000, 1 / 3, marks=pytest.mark.soak),
    ],
)
def test_thousands_of_keys_of_one_instance_go_through_refusals_and_cut_connections_and_nothing_else_does(
    bucket: Bucket, count: int, refused: float
) -> None:
    neighbours = _neighbours()
    keys = {f"{_LARGE}/", f"{_LARGE}/_SUCCESS", *(f"{_LARGE}/part-{number:05}" for number in range(count - 2))}
    bucket.store.fill(bucket.name, sorted(keys | neighbours))
    for effect in (Effect.CUT_BEFORE, Effect.CUT_AFTER, Effect.CUT_INSIDE):
        bucket.faults.proxy.add(Fault(effect=effect, method="GET", times=2, share=0.2))
    bucket.faults.proxy.add(Fault(effect=Effect.SLOW_DOWN, share=refused))
    done = bucket.evict()
    assert [(each.item.path.path, each.outcome) for each in done.items] == [(f"/{_LARGE}", Outcome.DONE)]
    assert done.exit_code is ExitCode.DONE
    assert bucket.keys() == neighbours


def test_a_removal_that_is_not_answered_is_not_repeated_and_a_rerun_finishes(bucket: Bucket) -> None:
    old, neighbours = _small(30), _neighbours()
    bucket.store.fill(bucket.name, sorted(_files_of(old) | neighbours))
    bucket.faults.proxy.add(Fault(effect=Effect.CUT_BEFORE, method="POST", query="delete", times=1))
    ended = bucket.evict()
    assert ended.exit_code is ExitCode.FAILED
    assert {each.code for each in ended.items} == {"unreachable"}
    assert bucket.keys() == _files_of(old) | neighbours
    assert bucket.evict().exit_code is ExitCode.DONE
    assert bucket.keys() == neighbours


@pytest.mark.soak
def test_an_instance_of_which_something_is_left_has_lost_its_flag_already(bucket: Bucket) -> None:
    keys = {f"{_LARGE}/{name}" for name in ("_SUCCESS", *(f"part-{number:04}" for number in range(2500)))}
    bucket.store.fill(bucket.name, sorted(keys))
    with ThreadPoolExecutor(1) as pool:
        refused = pool.submit(bucket.refuse_after_the_first)
        ended = bucket.evict(patience=2, rate=1)
        refused.result()
    left = bucket.keys()
    assert ended.exit_code is ExitCode.FAILED
    assert left
    assert f"{_LARGE}/_SUCCESS" not in left


def test_503_for_ever_names_what_is_left_and_a_rerun_finishes(bucket: Bucket) -> None:
    old, neighbours = _small(30), _neighbours()
    bucket.store.fill(bucket.name, sorted(_files_of(old) | neighbours))
    with bucket.faults.proxy.during(_DELETION):
        ended = bucket.evict(patience=2)
    assert ended.exit_code is ExitCode.FAILED
    assert {each.item.path.path[1:]: each.code for each in ended.items} == dict.fromkeys(old, "unreachable")
    assert bucket.keys() == _files_of(old) | neighbours
    assert bucket.evict().exit_code is ExitCode.DONE
    assert bucket.keys() == neighbours


@pytest.mark.soak
def test_a_silent_s3_fails_the_feed_and_touches_nothing(bucket: Bucket) -> None:
    keys = _files_of(_small(3))
    bucket.store.fill(bucket.name, sorted(keys))
    with bucket.faults.proxy.during(Fault(effect=Effect.SLOW_DOWN)):
        ended = bucket.evict(patience=2)
    assert (ended.exit_code, [*ended.items]) == (ExitCode.FAILED, [])
    assert bucket.keys() == keys
