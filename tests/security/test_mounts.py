"""A directory that is mounted inside an instance keeps what is on it, also when it is on the same disk.

Against: whoever mounts (an administrator who binds a directory into the data, a container's volume), and forgets it.
The device number of a bind mount is that of the disk, so it tells nothing; the kernel is asked. A machine that cannot
tell loses nothing: what is inside an instance stays.
"""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from tests.security.local_data import bind_mounted, files_below, place, tree
from toolkit.storage import ASIDE_PREFIX, LocalFileSystem, MountRefused, StorageError, StorageFailure
from toolkit.storage.local.system import OpenInside, by_mount_id, by_openat2, first_opener


def _unknown_call(parent: int, name: str) -> int:
    """A kernel, or a sandbox, that lacks the call."""
    raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS), name, None, str(parent))


def _forbidden_call(parent: int, name: str) -> int:
    raise OSError(errno.EPERM, os.strerror(errno.EPERM), name, None, str(parent))


OPENERS = [(by_openat2,), (_unknown_call, by_mount_id), (_forbidden_call, by_mount_id)]


@pytest.mark.parametrize("openers", OPENERS, ids=["openat2", "no such call", "forbidden"])
@pytest.mark.parametrize("name", ["2026", f"{ASIDE_PREFIX}2026"])
@pytest.mark.parametrize("inner", ["mounted", "a/b/mounted"])
def test_a_bind_mount_inside_an_instance_is_left_alone(
    tmp_path: Path, openers: tuple[OpenInside, ...], name: str, inner: str
) -> None:
    precious = tree(tmp_path / "precious", "one", "deep/two")
    base = tree(tmp_path / "base", f"{name}/part")
    (base / name / inner).mkdir(parents=True)
    system = LocalFileSystem(open_inside=first_opener(openers))
    with bind_mounted(precious, base / name / inner, tmp_path):
        with pytest.raises(MountRefused, match="mounted: another file system is mounted here"):
            system.delete(place(base / name), below=place(base))
        assert files_below(precious) == ["deep/two", "one"]
    system.delete(place(base / f"{ASIDE_PREFIX}2026"), below=place(base))
    assert list(base.iterdir()) == []
    assert files_below(precious) == ["deep/two", "one"]


@pytest.mark.parametrize("name", ["2026", f"{ASIDE_PREFIX}2026"])
def test_an_instance_that_is_itself_a_bind_mount_is_left_alone(tmp_path: Path, name: str) -> None:
    precious = tree(tmp_path / "precious", "one", "deep/two")
    base = tmp_path / "base"
    (base / name).mkdir(parents=True)
    with bind_mounted(precious, base / name, tmp_path):
        with pytest.raises(MountRefused):
            LocalFileSystem().delete(place(base / name), below=place(base))
        assert files_below(base) == [f"{name}/deep/two", f"{name}/one"]


def test_a_disk_that_is_mounted_above_the_instances_is_the_operators_own(tmp_path: Path) -> None:
    disk = tree(tmp_path / "disk", "01/part", "02/part")
    base = tmp_path / "base"
    (base / "2026").mkdir(parents=True)
    with bind_mounted(disk, base / "2026", tmp_path):
        LocalFileSystem().delete(place(base / "2026" / "01"), below=place(base))
    assert files_below(disk) == ["02/part"]


def test_a_machine_that_cannot_tell_what_is_mounted_removes_no_directory(tmp_path: Path) -> None:
    base = tree(tmp_path / "base", "2026/part", "2027")
    system = LocalFileSystem(open_inside=first_opener([_unknown_call]))
    with pytest.raises(StorageFailure, match="does not tell what is mounted") as caught:
        system.delete(place(base / "2026"), below=place(base))
    assert not caught.value.retriable
    assert files_below(base) == ["2026/part", "2027"]
    system.delete(place(base / "2027"), below=place(base))
    assert files_below(base) == ["2026/part"]


@pytest.mark.parametrize("opener", [by_openat2, by_mount_id])
def test_both_ways_open_a_directory_and_nothing_else(tmp_path: Path, opener: OpenInside) -> None:
    tree(tmp_path, "directory/x", "file")
    (tmp_path / "link").symlink_to("directory")
    parent = os.open(tmp_path, os.O_RDONLY)
    try:
        inner = opener(parent, "directory")
        with os.scandir(inner) as entries:
            assert [entry.name for entry in entries] == ["x"]
        assert not os.get_inheritable(inner)
        os.close(inner)
        for name in ("link", "file", "absent"):
            with pytest.raises(OSError, match=name):
                opener(parent, name)
    finally:
        os.close(parent)


def test_a_link_inside_an_instance_is_no_way_out_either(tmp_path: Path) -> None:
    precious = tree(tmp_path / "precious", "one")
    base = tree(tmp_path / "base", "2026/part")
    (base / "2026" / "link").symlink_to(precious)
    (base / "2027").symlink_to(precious)
    LocalFileSystem().delete(place(base / "2026"), below=place(base))
    with pytest.raises(StorageError):
        LocalFileSystem().delete(place(base / "2027"), below=place(base))
    assert files_below(precious) == ["one"]
