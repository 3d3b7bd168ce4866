"""Tests of what is the local disk's own: symbolic links, descriptors, permissions, killed removals."""

from __future__ import annotations

import os
import pickle
import shutil
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import pytest

from toolkit.el import CanonicalPath
from toolkit.errors import NotImplementedYet
from toolkit.runs.errors import Stopped
from toolkit.storage import (
    ASIDE_PREFIX,
    Bases,
    FileKind,
    LocalFileSystem,
    MountRefused,
    NotFound,
    OutsideBase,
    PermissionDenied,
    ReadOnlyStorage,
    StorageFailure,
    StorageSpec,
    SymlinkRefused,
    WrongKind,
    open_file_system,
)
from toolkit.storage.base import moment

_OTHER_USER = 65534


def _path(place: Path) -> CanonicalPath:
    return CanonicalPath("file", "", str(place))


@contextmanager
def _as_other_user() -> Iterator[None]:
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(_OTHER_USER)
    try:
        yield
    finally:
        os.seteuid(0)


def _let_everybody_in(place: Path) -> None:
    """The directories that pytest makes are its user's own."""
    for each in (place, *place.parents):
        if each == Path(tempfile.gettempdir()):
            return
        each.chmod(0o755)


def test_a_link_inside_a_removed_tree_goes_and_its_target_stays(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    (outside / "precious").mkdir(parents=True)
    instance = tmp_path / "base" / "2026"
    instance.mkdir(parents=True)
    (instance / "link").symlink_to(outside)
    (instance / "broken").symlink_to(tmp_path / "nowhere")
    LocalFileSystem().delete(_path(instance), below=_path(tmp_path / "base"))
    assert not instance.exists()
    assert (outside / "precious").is_dir()


@pytest.mark.parametrize("name", ["link", "link/inner"])
def test_no_link_below_the_base_is_followed(tmp_path: Path, name: str) -> None:
    (tmp_path / "outside" / "inner").mkdir(parents=True)
    base = tmp_path / "base"
    base.mkdir()
    (base / "link").symlink_to(tmp_path / "outside")
    for effect in (LocalFileSystem().delete, LocalFileSystem().remove_if_empty):
        with pytest.raises(SymlinkRefused):
            effect(_path(base / name), below=_path(base))
    assert (tmp_path / "outside" / "inner").is_dir()
    assert (base / "link").is_symlink()


def test_a_link_above_the_base_is_the_operators_own_and_is_followed(tmp_path: Path) -> None:
    (tmp_path / "disk" / "base" / "2026").mkdir(parents=True)
    (tmp_path / "data").symlink_to(tmp_path / "disk")
    LocalFileSystem().delete(_path(tmp_path / "data" / "base" / "2026"), below=_path(tmp_path / "data" / "base"))
    assert list((tmp_path / "disk" / "base").iterdir()) == []


def test_a_path_that_climbs_is_outside_the_base(tmp_path: Path) -> None:
    """`CanonicalPath.parse` refuses such a path; one made by hand must not get through either."""
    (tmp_path / "base").mkdir()
    (tmp_path / "precious").mkdir()
    climbing = CanonicalPath("file", "", f"{tmp_path}/base/../precious")
    for effect in (LocalFileSystem().delete, LocalFileSystem().remove_if_empty):
        with pytest.raises(OutsideBase):
            effect(climbing, below=_path(tmp_path / "base"))
    assert (tmp_path / "precious").is_dir()


def test_listing_and_status_tell_links_from_what_they_point_to(tmp_path: Path) -> None:
    (tmp_path / "a_dir").mkdir()
    (tmp_path / "b_link").symlink_to(tmp_path / "a_dir")
    os.mkfifo(tmp_path / "c_pipe")
    system = LocalFileSystem()
    assert [entry.kind for entry in system.list(_path(tmp_path))] == [
        FileKind.DIRECTORY,
        FileKind.SYMLINK,
        FileKind.OTHER,
    ]
    assert system.status(_path(tmp_path / "b_link")).kind is FileKind.SYMLINK


def test_what_is_mounted_inside_an_instance_is_left_alone(tmp_path: Path) -> None:
    base = tmp_path / "base"
    (base / "2026" / "mounted").mkdir(parents=True)
    with _mounted(base / "2026" / "mounted", tmp_path):
        (base / "2026" / "mounted" / "precious").write_text("x")
        with pytest.raises(MountRefused, match="mounted: another file system is mounted here"):
            LocalFileSystem().delete(_path(base / "2026"), below=_path(base))
        assert [path.name for path in base.glob("*/mounted/*")] == ["precious"]
    LocalFileSystem().delete(_path(base / f"{ASIDE_PREFIX}2026"), below=_path(base))
    assert list(base.iterdir()) == []


@contextmanager
def _mounted(place: Path, root: Path) -> Iterator[None]:
    """A file system in memory at the place, and wherever below the root it is moved to."""
    if subprocess.run(["mount", "-t", "tmpfs", "none", place], capture_output=True, check=False).returncode:
        pytest.skip("mounting is not allowed here")
    try:
        yield
    finally:
        mounts = [line.split()[1] for line in Path("/proc/self/mounts").read_text().splitlines()]
        subprocess.run(["umount", *(each for each in mounts if each.startswith(f"{root}/"))], check=True)


def _make_levels(top: Path, levels: int, name: str) -> None:
    top.mkdir(parents=True)
    directory = os.open(top, os.O_RDONLY)
    for _ in range(levels):
        os.mkdir(name, dir_fd=directory)
        inner = os.open(name, os.O_RDONLY, dir_fd=directory)
        os.close(directory)
        directory = inner
    os.close(directory)


def test_a_tree_deeper_than_the_longest_path_is_removed(tmp_path: Path) -> None:
    _make_levels(tmp_path / "base" / "2026", 20, "a" * 250)
    opened = len(list(Path("/dev/fd").iterdir()))
    LocalFileSystem().delete(_path(tmp_path / "base" / "2026"), below=_path(tmp_path / "base"))
    assert list((tmp_path / "base").iterdir()) == []
    assert len(list(Path("/dev/fd").iterdir())) == opened


def test_a_tree_of_more_levels_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("toolkit.storage.base.MOST_LEVELS", 20)
    base, instance = _path(tmp_path / "base"), _path(tmp_path / "base" / "2026")
    _make_levels(tmp_path / "base" / "2026", 21, "deeper")
    system = LocalFileSystem()
    with pytest.raises(StorageFailure, match="more than 20 levels deep in its tree"):
        list(system.list_tree(instance))
    with pytest.raises(StorageFailure, match="more than 20 levels deep in its tree"):
        system.delete(instance, below=base)
    assert (tmp_path / "base" / f"{ASIDE_PREFIX}2026").is_dir()


@pytest.mark.parametrize("is_whole", [True, False])
def test_what_somebody_else_removes_during_a_removal_is_no_error(tmp_path: Path, *, is_whole: bool) -> None:
    """Two runs may be in one tree: that of a run that was killed ends beside its rerun."""
    base, instance = tmp_path / "base", tmp_path / "base" / "2026"
    for name in ("a/b/c", "d/e"):
        (instance / name).mkdir(parents=True)
        (instance / name / "file").touch()
    aside, others = base / f"{ASIDE_PREFIX}2026", ["first"]

    def beside() -> None:
        found = next(aside.rglob("file"), None)
        if found is not None and others:
            others.clear()
            shutil.rmtree(aside if is_whole else found.parent.parent)

    LocalFileSystem(beside).delete(_path(instance), below=_path(base))
    assert list(base.iterdir()) == []
    assert not others


def test_a_tree_that_cannot_be_removed_wholly_is_hidden_named_and_finished_later(tmp_path: Path) -> None:
    locked = tmp_path / "base" / "2026" / "locked"
    locked.mkdir(parents=True)
    (locked / "file").touch()
    _let_everybody_in(tmp_path)
    if os.geteuid() == 0:
        for place in (tmp_path / "base", tmp_path / "base" / "2026"):
            os.chown(place, _OTHER_USER, _OTHER_USER)
    locked.chmod(0o555)
    with _as_other_user(), pytest.raises(PermissionDenied, match=f"{ASIDE_PREFIX}2026/locked/file"):
        LocalFileSystem().delete(_path(tmp_path / "base" / "2026"), below=_path(tmp_path / "base"))
    aside = tmp_path / "base" / f"{ASIDE_PREFIX}2026"
    assert [entry.name for entry in (tmp_path / "base").iterdir()] == [aside.name]
    (aside / "locked").chmod(0o755)
    LocalFileSystem().delete(_path(aside), below=_path(tmp_path / "base"))
    assert list((tmp_path / "base").iterdir()) == []


def test_a_removal_stops_between_two_files_and_a_second_one_finishes(tmp_path: Path) -> None:
    instance = tmp_path / "base" / "2026"
    instance.mkdir(parents=True)
    for number in range(20):
        (instance / str(number)).touch()
    effects: list[int] = []

    def stop_after_ten() -> None:
        if len(effects) == 10:
            raise Stopped(reason="test")
        effects.append(1)

    with pytest.raises(Stopped):
        LocalFileSystem(stop_after_ten).delete(_path(instance), below=_path(tmp_path / "base"))
    aside = tmp_path / "base" / f"{ASIDE_PREFIX}2026"
    assert len(list(aside.iterdir())) == 11  # ten effects: one rename and nine files
    LocalFileSystem().delete(_path(aside), below=_path(tmp_path / "base"))
    assert list((tmp_path / "base").iterdir()) == []


@pytest.mark.parametrize("gone", ["*/f3", "x*", "."])
@pytest.mark.parametrize("name", ["2026", f"{ASIDE_PREFIX}2026"])
def test_what_somebody_else_takes_away_meanwhile_does_not_stop_a_removal(tmp_path: Path, gone: str, name: str) -> None:
    base = tmp_path / "base"
    for directory in range(4):
        (base / name / f"x{directory}").mkdir(parents=True)
        for number in range(4):
            (base / name / f"x{directory}" / f"f{number}").touch()
    aside = base / f"{ASIDE_PREFIX}2026"

    def take_away() -> None:
        for place in [aside] if gone == "." else list(aside.glob(gone)):
            if place.is_dir():
                shutil.rmtree(place)
            else:
                place.unlink(missing_ok=True)

    LocalFileSystem(take_away).delete(_path(base / name), below=_path(base))
    assert list(base.iterdir()) == []


def test_an_instance_and_the_aside_of_its_name_are_not_removed_at_once(tmp_path: Path) -> None:
    base = tmp_path / "base"
    for name in ("2026", f"{ASIDE_PREFIX}2026"):
        (base / name / "x").mkdir(parents=True)
    is_inside, may_go_on = threading.Event(), threading.Event()
    begun: list[str] = []

    def wait_in_the_first() -> None:
        begun.append(threading.current_thread().name)
        is_inside.set()
        may_go_on.wait(60)

    system = LocalFileSystem(wait_in_the_first)
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(system.delete, _path(base / f"{ASIDE_PREFIX}2026"), below=_path(base))
        assert is_inside.wait(60)
        second = pool.submit(system.delete, _path(base / "2026"), below=_path(base))
        time.sleep(0.1)
        threads = set(begun)
        may_go_on.set()
        first.result(60)
        second.result(60)
    assert len(threads) == 1
    assert list(base.iterdir()) == []


def test_a_write_below_a_file_is_an_error_of_the_storage(tmp_path: Path) -> None:
    with pytest.raises(NotFound):
        LocalFileSystem().write(_path(tmp_path / "none" / "file"), [b"x"])
    assert list(tmp_path.iterdir()) == []


def test_storage_opened_for_reading_changes_nothing(tmp_path: Path) -> None:
    (tmp_path / "base" / "2026").mkdir(parents=True)
    path, base = _path(tmp_path / "base" / "2026"), _path(tmp_path / "base")
    system = open_file_system(StorageSpec(scheme="file"), read_only=True)
    mutations: list[Callable[[], object]] = [
        lambda: system.delete(path, below=base),
        lambda: system.remove_if_empty(path, below=base),
        lambda: system.write(path.child("file"), [b""]),
        lambda: system.mkdirs(path.child("dir")),
        lambda: system.rename(path, base.child("other")),
    ]
    for mutation in mutations:
        with pytest.raises(ReadOnlyStorage):
            mutation()
    assert [entry.name for entry in system.list(base)] == ["2026"]
    assert system.content_summary(base).directories == 2


def test_a_storage_without_adapter_is_refused_by_name() -> None:
    with pytest.raises(NotImplementedYet, match="storage ofs://om"):
        open_file_system(StorageSpec(scheme="ofs", authority="om"))


def test_a_spec_travels_to_executors() -> None:
    spec = StorageSpec(scheme="file", hadoop_conf={"a": "b"})
    assert pickle.loads(pickle.dumps(spec)) == spec  # noqa: S301 - our own bytes


def test_below_a_base_no_link_is_read_through_and_no_pipe_is_waited_for(tmp_path: Path) -> None:
    outside, base = tmp_path / "outside", tmp_path / "base"
    (outside / "dir").mkdir(parents=True)
    (outside / "dir" / "secret").write_bytes(b"secret")
    base.mkdir()
    (base / "link").symlink_to(outside / "dir" / "secret")
    (base / "dir").symlink_to(outside / "dir")
    os.mkfifo(base / "pipe")
    system = LocalFileSystem(bases=Bases(known=frozenset({str(base)})))
    for name in ("link", "dir/secret"):
        with pytest.raises(SymlinkRefused):
            system.read(_path(base / name))
    with pytest.raises(WrongKind):
        system.read(_path(base / "pipe"))


def test_a_tree_tells_links_and_goes_into_none(tmp_path: Path) -> None:
    (tmp_path / "base" / "dir").mkdir(parents=True)
    (tmp_path / "base" / "dir" / "up").symlink_to(tmp_path / "base")
    (tmp_path / "base" / "dir" / "broken").symlink_to("nowhere")
    os.mkfifo(tmp_path / "base" / "pipe")
    assert [entry[:2] for entry in LocalFileSystem().list_tree(_path(tmp_path / "base"))] == [
        ("dir", FileKind.DIRECTORY),
        ("dir/broken", FileKind.SYMLINK),
        ("dir/up", FileKind.SYMLINK),
        ("pipe", FileKind.OTHER),
    ]


@pytest.mark.parametrize("seconds", [2**60, -(2**60)])
def test_a_time_that_no_calendar_has_is_the_last_or_the_first(tmp_path: Path, seconds: int) -> None:
    """Whoever owns a file sets its time, and must not stop a listing by it."""
    file = tmp_path / "file"
    file.touch()
    try:
        os.utime(file, (seconds, seconds))
    except OverflowError:
        pytest.skip("this machine keeps no such time")
    (entry,) = LocalFileSystem().list(_path(tmp_path))
    assert entry.modified == LocalFileSystem().status(_path(file)).modified
    assert moment(float(seconds)) in {datetime.max.replace(tzinfo=UTC), datetime.min.replace(tzinfo=UTC)}


def test_an_upload_that_was_given_up_is_not_written_to(tmp_path: Path) -> None:
    system = LocalFileSystem()
    upload = system.start_upload(_path(tmp_path / "file"), 3)
    assert [each.name for each in tmp_path.iterdir()] == [f".feedctl-writing-{upload.token}"]
    system.abort_upload(upload)
    with pytest.raises(NotFound):
        system.put_range(upload, 0, [b"123"])
    assert list(tmp_path.iterdir()) == []
