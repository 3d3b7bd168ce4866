"""Quarantine and restore on the stores of the test bed: the same tree comes back, and runs that die lose nothing."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from uuid import uuid4

import hdfs_native
import pytest

from tests.integration.replications import End
from tests.testbed.hdfs import HdfsCluster
from tests.testbed.s3 import S3Store
from tests.unit.retention.archiving import Dead
from tests.unit.retention.quarantining import LATER, OLD_ONLY, evict, feed, restore
from tests.unit.runs.fakes import MemoryRecorder
from toolkit.el import CanonicalPath
from toolkit.retention import RetentionResult
from toolkit.retention.quarantine_reader import QuarantineEntry, entries
from toolkit.storage import FileKind, FileSystem, open_file_system

pytestmark = [pytest.mark.slow]
OLD, OLDER, YOUNG = "2026/03/01", "2026/02/28", "2026/03/15"
_SECOND = 1.1
"""Times of S3 are whole seconds; what is written in the second of its condemnation counts as written after it."""


def files(*days: str) -> dict[str, bytes]:
    names = ("part-0", "deep/part-1", "_SUCCESS")
    return {f"data/{day}/{name}": f"{day} {name}".encode() for day in days for name in names}


def outcomes(result: RetentionResult) -> list[tuple[str, str, str]]:
    kinds = {"instance", "quarantined", "restored"}
    return [(each.item.type.value, each.outcome.value, each.code) for each in result.items if each.item.type in kinds]


def tree(end: End) -> dict[str, tuple[object, ...]]:
    """All but feedctl's own, with owners, permissions, ACLs, and the times of what is in instances."""
    return dict(_below(end.system, end.at("data"), end.at("data")))


def _below(system: FileSystem, top: CanonicalPath, place: CanonicalPath) -> Iterator[tuple[str, tuple[object, ...]]]:
    for entry in system.list(place):
        path = place.child(entry.name)
        if entry.name.startswith(".feedctl"):
            continue
        name, status = path.relative_to(top), system.status(path)
        is_parent = entry.kind is FileKind.DIRECTORY and name.count("/") < YOUNG.count("/")
        acl = system.acl(path) if system.capabilities.acls else ()
        yield name, (status.owner, status.group, status.permission, acl, None if is_parent else status.modified)
        if entry.kind is FileKind.DIRECTORY:
            yield from _below(system, top, path)


@pytest.fixture(scope="module")
def on_hdfs(hdfs: HdfsCluster) -> End:
    path = f"/quarantines/{uuid4().hex}"
    hdfs_native.Client(hdfs.uri).mkdirs(path, create_parent=True)
    return End(uri=f"{hdfs.uri}{path}")


def test_on_hdfs_the_same_tree_comes_back(on_hdfs: End) -> None:
    end, of = on_hdfs, feed(on_hdfs.uri)
    end.fill(files(OLDER, OLD, YOUNG))
    system, day = end.system, end.at(f"data/{OLD}")
    system.set_permission(day, 0o2750)
    system.set_owner(day.child("part-0"), owner="alice", group="web")
    system.set_permission(end.at("data/2026/02"), 0o771)
    system.set_owner(end.at("data/2026/02"), owner="bob", group="web")
    system.set_acl(end.at("data/2026/02"), ("user::rwx", "user:eve:r-x", "group::r-x", "mask::r-x", "other::---"))
    before, content = tree(end), end.files("data")
    assert outcomes(evict(of, system=system)) == [("instance", "done", "")] * 2
    assert set(end.files("data")) == set(files(YOUNG))
    assert "2026/02" not in tree(end)
    assert outcomes(restore(of, system=system)) == [("restored", "done", "")] * 2
    assert (tree(end), end.files("data")) == (before, content)
    evict(of, system=system, run_name="3")
    later = feed(end.uri, limit=OLD_ONLY)
    assert outcomes(evict(later, system=system, nominal=LATER, run_name="4")) == [("quarantined", "done", "")] * 2
    assert set(end.files("data", hidden=True)) == set(files(YOUNG))


def test_on_an_object_store_the_flag_goes_and_comes_back_and_the_objects_stay(s3: S3Store, s3_bucket: str) -> None:
    end = End(uri=f"s3a://{s3_bucket}/plain", conf=s3.settings)
    of, system, recorder = feed(end.uri), end.system, MemoryRecorder()
    end.fill(files(OLD, YOUNG))
    time.sleep(_SECOND)
    assert outcomes(evict(of, system=system, recorder=recorder)) == [("instance", "done", "")]
    condemned = {name: content for name, content in files(OLD, YOUNG).items() if name != f"data/{OLD}/_SUCCESS"}
    assert end.files("data") == condemned
    assert outcomes(evict(of, system=system, run_name="2")) == []
    assert outcomes(restore(of, system=system, recorder=recorder)) == [("restored", "done", "")]
    assert end.files("data", hidden=True) == files(OLD, YOUNG)
    assert [event.kind.value for event in recorder.events()] == ["evicted", "available"]
    time.sleep(_SECOND)
    evict(of, system=system, run_name="3")
    later = feed(end.uri, limit=OLD_ONLY)
    assert outcomes(evict(later, system=system, nominal=LATER, run_name="4")) == [("quarantined", "done", "")]
    assert end.files("data", hidden=True) == files(YOUNG)


def test_a_restore_on_an_object_store_lists_the_manifests_once_for_all_instances(
    s3: S3Store, s3_bucket: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    end, folders = End(uri=f"s3a://{s3_bucket}/many", conf=s3.settings), list[CanonicalPath]()

    def counted(system: FileSystem, folder: CanonicalPath, check: Callable[[], None]) -> Iterator[QuarantineEntry]:
        folders.append(folder)
        return entries(system, folder, check)

    of, system = feed(end.uri), end.system
    end.fill(files(OLDER, OLD, YOUNG))
    time.sleep(_SECOND)
    evict(of, system=system)
    monkeypatch.setattr("toolkit.retention.restore_data.entries", counted)
    assert outcomes(restore(of, system=system)) == [("restored", "done", "")] * 2
    assert end.files("data", hidden=True) == files(OLDER, OLD, YOUNG)
    assert len(folders) == 1


def test_an_instance_of_which_a_killed_purge_has_taken_a_part_is_not_restored(s3: S3Store, s3_bucket: str) -> None:
    end = End(uri=f"s3a://{s3_bucket}/half", conf=s3.settings)
    of, system, recorder = feed(end.uri), end.system, MemoryRecorder()
    end.fill(files(OLD))
    time.sleep(_SECOND)
    evict(of, system=system)
    system.delete(end.at(f"data/{OLD}/part-0"), below=end.at("data"))  # as a purge that dies between two of its calls
    assert outcomes(restore(of, system=system, recorder=recorder)) == [("restored", "failed", "not_whole")]
    assert set(end.files("data")) == {f"data/{OLD}/deep/part-1"}
    assert recorder.events() == []
    later = feed(end.uri, limit=OLD_ONLY)
    assert outcomes(evict(later, system=system, nominal=LATER, run_name="4")) == [("quarantined", "done", "")]
    assert end.files("data", hidden=True) == {}


@pytest.mark.extended
def test_an_object_store_s_instance_that_is_written_again_is_neither_purged_nor_replaced(
    s3: S3Store, s3_bucket: str
) -> None:
    end = End(uri=f"s3a://{s3_bucket}/again", conf=s3.settings)
    of, later, system = feed(end.uri), feed(end.uri, limit=OLD_ONLY), end.system
    end.fill(files(OLD))
    time.sleep(_SECOND)
    evict(of, system=system)
    end.fill({f"data/{OLD}/rerun": b"rerun"})  # without its flag yet
    assert outcomes(restore(of, system=system)) == [("restored", "failed", "already_exists")]
    assert outcomes(evict(later, system=system, nominal=LATER, run_name="3")) == [
        ("quarantined", "skipped", "written_again")
    ]
    assert f"data/{OLD}/rerun" in end.files("data", hidden=True)
    time.sleep(_SECOND)
    assert outcomes(evict(of, system=system, run_name="4")) == [("instance", "done", "")]
    end.fill(files(OLD))  # with its flag
    time.sleep(_SECOND)
    assert outcomes(evict(of, system=system, run_name="5")) == [("instance", "done", "")]
    assert outcomes(restore(of, system=system)) == [("restored", "done", "")]
    assert end.files("data", hidden=True) == files(OLD) | {f"data/{OLD}/rerun": b"rerun"}


def _dying(end: End, effects: int) -> FileSystem:
    left = [effects]

    def count() -> None:
        left[0] -= 1
        if left[0] < 0:
            raise Dead

    return open_file_system(end.spec, before_effect=count, patience=5)


def _died(act: Callable[[], object]) -> None:
    try:
        act()
    except Dead:
        return


def _crash_round(end: End, effects: int) -> None:
    of, later = feed(end.uri), feed(end.uri, limit=OLD_ONLY)
    end.fill(files(OLD, YOUNG))
    has_directories = end.system.capabilities.directories
    time.sleep(0 if has_directories else _SECOND)
    _died(lambda: evict(of, system=_dying(end, effects)))
    assert evict(of, system=end.system, run_name="2").exit_code == 0
    assert f"data/{OLD}/_SUCCESS" not in end.files("data")
    _died(lambda: restore(of, system=_dying(end, effects), run_name="3"))
    assert restore(of, system=end.system, run_name="4").exit_code == 0
    assert end.files("data") == files(OLD, YOUNG)
    time.sleep(0 if has_directories else _SECOND)
    evict(of, system=end.system, run_name="5")
    _died(lambda: evict(later, system=_dying(end, effects), nominal=LATER, run_name="6"))
    for number in (7, 8):
        assert evict(later, system=end.system, nominal=LATER, run_name=str(number)).exit_code == 0
    assert end.files("data", hidden=True) == files(YOUNG)


@pytest.mark.extended
def test_on_hdfs_a_run_that_dies_before_any_of_its_effects_can_be_run_again(on_hdfs: End) -> None:
    for effects in range(8):
        _crash_round(End(uri=f"{on_hdfs.uri}/{effects}"), effects)


@pytest.mark.extended
def test_on_an_object_store_too(s3: S3Store, s3_bucket: str) -> None:
    for effects in range(8):
        _crash_round(End(uri=f"s3a://{s3_bucket}/{effects}", conf=s3.settings), effects)
