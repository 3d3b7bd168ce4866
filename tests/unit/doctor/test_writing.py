from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path, PurePath

import pytest

from toolkit.doctor.access import obstacle_to_making, obstacle_to_sqlite
from toolkit.ledger.sqlite_place import Mount


def _all_but(*refused: Path) -> Callable[[Path, int], bool]:
    """The operating system of somebody who may write everywhere but there."""
    return lambda path, bits: bool(bits & os.W_OK) and path not in refused


def test_the_nearest_folder_that_is_there_decides(tmp_path: Path) -> None:
    file = tmp_path / "a" / "b" / "file"
    assert obstacle_to_making(file) == ""
    assert str(tmp_path) in obstacle_to_making(file, _all_but(tmp_path))
    assert obstacle_to_making(file, _all_but(tmp_path.parent)) == ""
    assert not (tmp_path / "a").exists()


def test_a_file_in_the_way_is_no_folder(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("x")
    assert obstacle_to_making(tmp_path / "a" / "b" / "file") == f"{tmp_path / 'a'} is no folder"


def test_a_file_is_made_where_its_link_leads(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "there" / "file")
    assert "there" in obstacle_to_making(tmp_path / "link", _all_but(tmp_path / "there"))


@pytest.mark.parametrize(("kind", "can"), [("proc", False), ("cgroup2", False), ("ext4", True)])
def test_nothing_can_be_made_where_the_kernel_shows_its_state(tmp_path: Path, kind: str, *, can: bool) -> None:
    mounts = [Mount(point=PurePath("/"), kind="ext4"), Mount(point=tmp_path, kind=kind)]
    assert (obstacle_to_making(tmp_path / "x" / "file", mounts=mounts) == "") is can


def test_root_is_not_promised_a_file_in_proc() -> None:
    assert obstacle_to_making(Path("/proc/x/ledger.db")) != ""


def test_a_database_that_is_there_and_what_is_beside_it_must_be_writable(tmp_path: Path) -> None:
    file, shared = tmp_path / "ledger.db", tmp_path / "ledger.db-shm"
    assert obstacle_to_sqlite(file, _all_but()) == ""
    assert obstacle_to_sqlite(file, _all_but(tmp_path)) != ""
    file.write_text("")
    shared.write_text("")
    assert obstacle_to_sqlite(file, _all_but()) == ""
    for refused in (file, shared, tmp_path):
        assert str(refused) in obstacle_to_sqlite(file, _all_but(refused))
    assert obstacle_to_sqlite(file, _all_but(shared)).startswith(f"{shared} belongs to {shared.owner()}")
