"""Retention beside reruns and backfills at random moments, on a local disk and on HDFS, against a slow oracle."""

from __future__ import annotations

import os
import random
import secrets
import shutil
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.integration.process_runs import KEYS
from tests.loss.rewriting import PARTS, Rewriting
from tests.testbed.hdfs import HdfsCluster
from toolkit.storage import NotFound

_ROUNDS, _HDFS_ROUNDS, _SOAK_ROUNDS = 5, 2, 40
_LAYOUTS = ("${YEAR}-${MONTH}-${DAY}-${HOUR}", "${YEAR}/${MONTH}/${DAY}/${HOUR}")
_HOURS = KEYS[:6]
_LONGEST = 0.05


@dataclass(kw_only=True)
class Seen:
    """Counts of the events of all rounds; they show a loop that no longer meets any."""

    rewritten: int = 0
    skipped: int = 0
    waited: int = 0


def _round(seed: int, directory: Path, seen: Seen, uri: str = "") -> None:
    """Some instances are there; runs write some of these and others anew while retention runs again and again."""
    chance = random.Random(seed)  # noqa: S311 - a repeatable test, no secret
    archives = chance.random() < 1 / 2
    site = Rewriting(directory=directory, archives=archives, layout=chance.choice(_LAYOUTS), uri=uri)
    site.fill(*_HOURS)
    for key in chance.sample(_HOURS, 3):
        assert site.process(key=key, text="old").exit_code == 0
    pauses = {key: [chance.uniform(0, _LONGEST) for _ in range(PARTS)] for key in _HOURS}
    again, starts_at = chance.sample(_HOURS, 4), [chance.uniform(0, 1) for _ in range(4)]

    def write(key: str, after: float) -> int:
        time.sleep(after)
        done = site.process(lambda part: time.sleep(pauses[key][part]), key=key, text="new")
        return int(done.exit_code)

    def evict() -> list[str]:
        time.sleep(chance.uniform(0, 0.5))
        found: list[str] = []
        for _ in range(3):
            found += [each.code for each in site.evict().items]
        return found

    with ThreadPoolExecutor(5) as pool:
        evicting = pool.submit(evict)
        codes = dict(zip(again, pool.map(write, again, starts_at), strict=True))
        seen.skipped += evicting.result().count("lease_held")
    seen.waited += list(codes.values()).count(75)
    assert set(codes.values()) <= {0, 75}
    if codes[again[0]] == 75:  # on a busy machine retention may have been at work all the time
        codes[again[0]] = write(again[0], 0)
        assert codes[again[0]] == 0
    seen.rewritten += list(codes.values()).count(0)
    _check(site)
    for _ in range(2):
        assert site.evict().exit_code == 0, "retention fails for ever"
    assert [key for key in _HOURS if site.seen(key=key)] == []
    if archives:
        assert {text for key in _HOURS for text in _versions(site, key)} <= {"old", "new"}
        for key, code in codes.items():
            assert ("new" in _versions(site, key)) == (code == 0)


def _check(site: Rewriting) -> None:
    """Assert that readers see whole data or none; announced data is there unless evicted; a run announces it once."""
    for key in _HOURS:
        there, events = site.seen(key=key), site.events(key)
        assert _text_of(there) in {"old", "new", ""}, f"{key} is not whole: {there}"
        kinds = [kind for kind, _ in events]
        assert (kinds[-1:] in (["available"], ["updated"])) == bool(there), f"{key}: {events}, {there}"
        for run in {run for _, run in events}:
            assert [each for each in events if each[1] == run] in [[(kind, run)] for kind in kinds], f"{key}: {events}"


def _text_of(files: dict[str, str]) -> str:
    """The text of a whole instance; empty: there is none; else what is wrong."""
    if not files:
        return ""
    texts = {text.split()[0] for name, text in files.items() if name != "_SUCCESS"}
    names = {"_SUCCESS", *(f"part-{part}" for part in range(PARTS))}
    return texts.pop() if files.keys() == names and len(texts) == 1 else f"wrong: {files}"


def _versions(site: Rewriting, key: str) -> set[str]:
    """The texts of all versions of an instance in the archive, each of which has to be whole."""
    above, _, own = site.at(key, "old").rpartition("/")
    try:
        names = [each.name for each in site.end.system.list(site.end.at(above))]
    except NotFound:
        return set()
    versions = [name for name in names if name.startswith(".feedctl-version-") and name.endswith(f"-{own}")]
    return {_text_of(site.files(f"{above}/{name}")) for name in versions + [own] * (own in names)}


def _rounds(count: int, directory: Path, uri: str = "") -> Seen:
    first, seen = int(os.environ.get("FEEDCTL_SEED") or secrets.randbelow(10**9)), Seen()
    print(f"FEEDCTL_SEED={first}")  # noqa: T201 - how to repeat it
    for seed in range(first, first + count):
        place = directory / str(seed)
        place.mkdir()
        try:
            _round(seed, place, seen, uri and f"{uri}{place}")
        except Exception as error:
            error.add_note(f"repeat with FEEDCTL_SEED={seed}")
            raise
        shutil.rmtree(place)
    print(seen)  # noqa: T201 - what the rounds had in them
    return seen


@pytest.mark.extended
def test_no_round_leaves_half_an_instance(tmp_path: Path) -> None:
    assert _rounds(_ROUNDS, tmp_path).rewritten


@pytest.mark.soak
def test_no_round_of_many_leaves_half_an_instance(tmp_path: Path) -> None:
    seen = _rounds(_SOAK_ROUNDS, tmp_path)
    assert seen.rewritten
    assert seen.skipped


@pytest.mark.extended
def test_no_round_leaves_half_an_instance_on_hdfs(tmp_path: Path, hdfs: HdfsCluster) -> None:
    assert _rounds(_HDFS_ROUNDS, tmp_path, hdfs.uri).rewritten


@pytest.mark.soak
def test_no_round_of_many_leaves_half_an_instance_on_hdfs(tmp_path: Path, hdfs: HdfsCluster) -> None:
    seen = _rounds(_SOAK_ROUNDS, tmp_path, hdfs.uri)
    assert seen.rewritten
    assert seen.skipped
