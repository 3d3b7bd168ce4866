"""Evictions by a user who may not remove everything: the others go, those that stay are named, exit 4."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.e2e.commands import BIN, ROOT
from tests.e2e.retention_process import environment
from tests.integration.evictions import DIRECTORIES, Eviction, hourly, hours
from tests.soak.hdfs_feed import NOMINAL, HdfsFeed
from tests.soak.places import LocalPlace
from tests.soak.retention_feed import Opening
from toolkit.result import ExitCode, Outcome

pytestmark = [pytest.mark.slow, pytest.mark.extended]

_USER, _OTHER_USER = "evictor", 65534
_DENIED = "permission_denied"


def _evict_as(
    user: str, feed: HdfsFeed, more: Mapping[str, str] | None = None, program: Sequence[str] = (sys.executable,)
) -> tuple[int, dict[str, str | None]]:
    """The exit code of a run by a user, and the codes of its items by their paths."""
    moment = NOMINAL.strftime("%Y-%m-%dT%H:%MZ")
    options = ["--config-repo", str(feed.repo), "--feed", "clicks", "--time", moment, "--output", "json"]
    command = [*program, str(ROOT / "entrypoints" / "retention.py"), *options]
    env = {**os.environ, "HADOOP_USER_NAME": user, **(more or {})}
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False, timeout=120)
    items = json.loads(done.stdout)["items"] if done.stdout else []
    return done.returncode, {item["path"].partition(feed.root)[2]: item["code"] for item in items}


def _owned(directory: Path, place: str, template: str) -> tuple[HdfsFeed, set[str]]:
    """A feed whose directories are all the user's own, and its old instances."""
    feed = HdfsFeed.make(directory, place, template, 10_000)
    names = [f"{feed.root}/clicks/2026/03/{day:02}/{hour:02}" for day in (3, 4, 5, 6, 12) for hour in range(4)]
    for name in names:
        feed.client.mkdirs(name, create_parent=True)
        with feed.client.create(f"{name}/part-0"):
            pass
    for path in [f"{feed.root}/clicks", *feed.tree()]:
        feed.client.set_owner(path, owner=_USER)
    return feed, {name for name in names if name < f"{feed.root}/clicks/2026/03/10"}


def test_instances_in_a_read_only_directory_stay_and_are_named_and_all_others_go(tmp_path: Path, hdfs_dir: str) -> None:
    feed, old = _owned(tmp_path, f"{hdfs_dir}/users", "${YEAR}/${MONTH}/${DAY}/${HOUR}")
    before, locked = feed.tree(), f"{feed.root}/clicks/2026/03/04"
    feed.client.set_permission(locked, 0o555)
    stay = {path for path in old if path.startswith(locked)}
    code, items = _evict_as(_USER, feed)
    assert code == ExitCode.PARTIAL
    assert {path for path, why in items.items() if why == _DENIED} == {path.removeprefix(feed.root) for path in stay}
    assert feed.tree() == feed.expected(before, old - stay)
    feed.client.set_permission(locked, 0o755)
    assert _evict_as(_USER, feed)[0] == ExitCode.DONE
    assert feed.tree() == feed.expected(before, old)
    assert feed.reported() == feed.keys(old)


def test_a_locked_directory_in_an_instance_keeps_that_one_alone_though_all_around_it_went_as_a_whole(
    tmp_path: Path, hdfs_dir: str
) -> None:
    feed, old = _owned(tmp_path, f"{hdfs_dir}/users", "${YEAR}/${MONTH}/${DAY}/${HOUR}")
    (other,) = sorted(old)[5:6]
    feed.client.mkdirs(f"{other}/theirs/inner", create_parent=True)
    feed.client.set_owner(f"{other}/theirs", owner="somebody")
    feed.client.set_permission(f"{other}/theirs", 0o700)
    before = feed.tree()
    code, items = _evict_as(_USER, feed)
    assert code == ExitCode.PARTIAL
    assert [path for path, why in items.items() if why == _DENIED] == [other.removeprefix(feed.root)]
    assert feed.tree() == feed.expected(before, old - {other})


def test_a_directory_that_may_not_be_listed_stays_and_is_named(tmp_path: Path, hdfs_dir: str) -> None:
    feed, old = _owned(tmp_path, f"{hdfs_dir}/users", "${YEAR}/${MONTH}/${DAY}/${HOUR}")
    before, locked = feed.tree(), f"{feed.root}/clicks/2026/03/05"
    feed.client.set_owner(locked, owner="somebody")
    feed.client.set_permission(locked, 0o700)
    code, items = _evict_as(_USER, feed)
    assert code == ExitCode.PARTIAL
    assert [path for path, why in items.items() if why == _DENIED] == [locked.removeprefix(feed.root)]
    assert feed.tree() == feed.expected(before, {path for path in old if not path.startswith(locked)})


def test_what_is_young_and_somebody_elses_is_no_obstacle_to_what_is_old_beside_it(
    tmp_path: Path, hdfs_dir: str
) -> None:
    feed, old = _owned(tmp_path, f"{hdfs_dir}/users", "${YEAR}/${MONTH}/${DAY}/${HOUR}")
    before, theirs = feed.tree(), f"{feed.root}/clicks/2026/03/12"
    feed.client.set_owner(theirs, owner="somebody")
    feed.client.set_permission(theirs, 0o700)
    code, items = _evict_as(_USER, feed)
    assert (code, set(items.values())) == (ExitCode.DONE, {None})
    assert feed.tree() == feed.expected(before, old)


def test_in_a_sticky_directory_what_is_somebody_elses_stays_and_is_named(tmp_path: Path, hdfs_dir: str) -> None:
    feed, old = _owned(tmp_path, f"{hdfs_dir}/users", "${YEAR}/${MONTH}/${DAY}/${HOUR}")
    before, theirs = feed.tree(), min(old)
    day = theirs.rpartition("/")[0]
    feed.client.set_owner(theirs, owner="somebody")
    feed.client.set_permission(theirs, 0o777)
    feed.client.set_owner(day, owner="admin")
    feed.client.set_permission(day, 0o1777)
    code, items = _evict_as(_USER, feed)
    assert code == ExitCode.PARTIAL
    assert [path for path, why in items.items() if why == _DENIED] == [theirs.removeprefix(feed.root)]
    assert feed.tree() == feed.expected(before, old - {theirs})


def test_what_spark_submit_starts_as_a_proxy_user_evicts_as_that_owner_where_the_operator_allows_it(
    tmp_path: Path, hdfs_dir: str, java_home: Path
) -> None:
    feed, old = _owned(tmp_path, f"{hdfs_dir}/users", "${YEAR}/${MONTH}/${DAY}/${HOUR}")
    superuser = feed.client.get_file_info("/").owner
    theirs = f"{feed.root}/clicks/2026/03/04"
    feed.client.set_owner(theirs, owner="somebody")
    for path, more in (("feeds/clicks.yaml", f"acl: {{owner: {_USER}}}"), ("repo.yaml", "act_as_owner: true")):
        (feed.repo / path).write_text(f"{(feed.repo / path).read_text().rstrip()}\n{more}\n")
    before = feed.tree()
    program = [str(BIN / "spark-submit"), "--proxy-user"]
    known = {key: value for key, value in environment(java_home).items() if key != "HADOOP_USER_NAME"}
    allowed = {**known, "FEEDCTL_PROXY_USERS": _USER}
    # With a proxy user Spark ends with 1 whatever the program's exit code is.
    assert _evict_as(superuser, feed, known, [*program, _USER]) == (1, {})
    assert _evict_as(superuser, feed, allowed, [*program, "somebody"]) == (1, {})
    assert feed.tree() == before
    code, items = _evict_as(superuser, feed, allowed, [*program, _USER])
    stay = {path for path in old if path.startswith(theirs)}
    assert code == 1
    assert {path for path, why in items.items() if why == _DENIED} == {path.removeprefix(feed.root) for path in stay}
    assert feed.tree() == feed.expected(before, old - stay)


@contextmanager
def _not_root() -> Iterator[None]:
    """As somebody who is bound by permissions; root becomes nobody for a while."""
    if os.geteuid():
        yield
        return
    os.seteuid(_OTHER_USER)
    try:
        yield
    finally:
        os.seteuid(0)


def test_on_a_disk_too_the_others_go_and_those_that_stay_are_named() -> None:
    case = hourly(DIRECTORIES)
    with _not_root(), tempfile.TemporaryDirectory() as root:
        place = LocalPlace(Path(root))
        place.build(hours(case))
        eviction = Eviction(case=case, place=place, opening=Opening())
        locked = Path(root, "data/2026/03/04")
        stay = {path for path in eviction.old if path.startswith("/data/2026/03/04/")}
        locked.chmod(0o555)
        ended = eviction.run()
        assert ended.exit_code is ExitCode.PARTIAL
        failed = {
            each.item.path.path.removeprefix(root): each.code for each in ended.items if each.outcome is Outcome.FAILED
        }
        assert failed == dict.fromkeys(stay, _DENIED)
        assert set(place.tree()) & eviction.old == stay
        locked.chmod(0o755)
        eviction.check_second_run()


def test_a_run_acts_as_the_owner_of_the_feed_whom_the_operator_allows(tmp_path: Path, hdfs_dir: str) -> None:
    feed, old = _owned(tmp_path, f"{hdfs_dir}/users", "${YEAR}/${MONTH}/${DAY}/${HOUR}")
    superuser = feed.client.get_file_info("/").owner
    theirs = f"{feed.root}/clicks/2026/03/04"
    feed.client.set_owner(theirs, owner="somebody")
    for path in (feed.repo / "feeds/clicks.yaml", feed.repo / "repo.yaml"):
        more = f"acl: {{owner: {_USER}}}" if path.name == "clicks.yaml" else "act_as_owner: true"
        path.write_text(f"{path.read_text().rstrip()}\n{more}\n")
    before = feed.tree()
    assert _evict_as(superuser, feed)[0] == ExitCode.INVALID
    assert _evict_as(superuser, feed, {"FEEDCTL_PROXY_USERS": "somebody"})[0] == ExitCode.INVALID
    assert feed.tree() == before
    code, items = _evict_as(superuser, feed, {"FEEDCTL_PROXY_USERS": f"etl,{_USER}"})
    stay = {path for path in old if path.startswith(theirs)}
    assert code == ExitCode.PARTIAL
    assert {path for path, why in items.items() if why == _DENIED} == {path.removeprefix(feed.root) for path in stay}
    assert feed.tree() == feed.expected(before, old - stay)
