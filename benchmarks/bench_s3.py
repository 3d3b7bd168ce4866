"""10,000 keys removed from S3 (moto) by `delete_all`, and by a loop of single requests of the same client.

The loop knows the keys and lists nothing; `delete_all` is given paths and finds the keys itself. Medians of several
rounds that take turns, on one server. Goal: at least 5 times faster than the loop, however the keys are spread.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from statistics import median
from uuid import uuid4

from tests.testbed.client import Testbed
from tests.testbed.controller import Controller
from tests.testbed.s3 import S3Store
from toolkit.el import CanonicalPath
from toolkit.storage import StorageSpec, open_file_system
from toolkit.storage.local.file_system import no_check
from toolkit.storage.s3.client import ClientMaker, S3Settings

KEYS = 10_000
ROUNDS = 3
GOAL = 5.0
LOOP = "a loop of single requests"
LAYOUTS = {
    "10,000 instances of 1 key": (KEYS, 1),
    "100 instances of 100 keys": (100, 100),
    "1 instance of 10,000 keys": (1, KEYS),
}


def paths_and_keys(instances: int, each: int) -> tuple[list[str], list[str]]:
    """The instances' paths, and all their keys with an availability flag among them where there is more than one."""
    paths = [f"base/{number:05}" for number in range(instances)]
    names = ["_SUCCESS", *(f"part-{part:05}" for part in range(each - 1))]
    return paths, [f"{path}/{name}" for path in paths for name in names]


def in_bulk(spec: StorageSpec, paths: Sequence[str]) -> None:
    """What a removal of instances does."""
    base = CanonicalPath("s3", spec.authority, "/base")
    wanted = [CanonicalPath("s3", spec.authority, f"/{path}") for path in paths]
    answers = list(open_file_system(spec).delete_all(wanted, below=base, first="_SUCCESS"))
    assert len(answers) == len(paths)
    assert all(answer.error is None for answer in answers)


def one_by_one(spec: StorageSpec, keys: Sequence[str]) -> None:
    """One request for each key, one after the other."""
    client = ClientMaker(S3Settings.of(spec), no_check)()
    for key in keys:
        client.delete_object(Bucket=spec.authority, Key=key)


def seconds(store: S3Store, keys: Sequence[str], remove: Callable[[StorageSpec], None]) -> float:
    """How long the removal takes, in a bucket that holds the keys and a neighbour, which stays."""
    bucket = f"bench-{uuid4().hex}"
    with store.client() as client:
        client.create_bucket(Bucket=bucket)
        store.fill(bucket, [*keys, "base/stays"])
        spec = StorageSpec(scheme="s3", authority=bucket, hadoop_conf=store.settings)
        began = time.perf_counter()
        remove(spec)
        took = time.perf_counter() - began
        left = [each["Key"] for each in client.list_objects_v2(Bucket=bucket)["Contents"]]
    assert left == ["base/stays"]
    return took


def medians(store: S3Store) -> Mapping[str, float]:
    """Seconds by name; the names take turns, so that a busy machine slows all of them alike."""
    found: dict[str, list[float]] = {}
    for _ in range(ROUNDS):
        for name, layout in LAYOUTS.items():
            paths, keys = paths_and_keys(*layout)
            took = seconds(store, keys, lambda spec, paths=paths: in_bulk(spec, paths))  # type: ignore[misc] # bound now
            found.setdefault(name, []).append(took)
        _, keys = paths_and_keys(100, 100)
        found.setdefault(LOOP, []).append(seconds(store, keys, lambda spec, keys=keys: one_by_one(spec, keys)))  # type: ignore[misc] # bound now
    return {name: median(times) for name, times in found.items()}


def main() -> int:
    """Prints medians and ratios; 1 when a ratio misses the goal."""
    testbed = Testbed(controller=Controller.this_process())
    try:
        store = S3Store.of(testbed)
        os.environ.update(store.environment)
        found = medians(store)
    finally:
        testbed.end()
    ratios = {name: found[LOOP] / figure for name, figure in found.items()}
    print(f"{KEYS:,} keys on moto, medians of {ROUNDS} rounds; goal: at least {GOAL:.0f} times faster than the loop")
    for name, figure in found.items():
        print(f"{name:<28} {figure:8.2f} s  {KEYS / figure:8.0f} keys/s  {ratios[name]:6.1f}x")
    return int(min(ratios[name] for name in LAYOUTS) < GOAL)


if __name__ == "__main__":
    raise SystemExit(main())
