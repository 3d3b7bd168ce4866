"""Copies of files: the same bytes with their digest, or nothing at all."""

from __future__ import annotations

import io
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from xxhash import xxh3_128

from toolkit.el import CanonicalPath
from toolkit.errors import StopRequested
from toolkit.storage import FileKind, StorageSpec, Unreachable
from toolkit.storage.local.file_system import LocalFileSystem
from toolkit.threads import WorkerPool
from toolkit.transfer.copying import TRIES, Copied, Copier, FileCopy
from toolkit.transfer.port import LocalExecutorPool
from toolkit.transfer.spread_copy import TASK_BYTES, TASK_FILES, SpreadCopy, divided
from toolkit.transfer.timed_tasks import TOO_LATE

PATH = CanonicalPath("file", "", "/d/f")


@pytest.fixture
def pool() -> Iterator[WorkerPool]:
    """Four threads."""
    pool = WorkerPool(4, "test")
    yield pool
    pool.shutdown()


def at(path: Path) -> CanonicalPath:
    """A path on this disk."""
    return CanonicalPath.parse(f"file://{path}")


def no_check() -> None:
    """Nothing stands against it."""


def copier(**changes: object) -> Copier:
    """Of local files."""
    system = LocalFileSystem()
    return Copier(**{"source": system, "target": system, "check": no_check, "sleep": lambda _: None} | changes)  # type: ignore[arg-type]


def filled(root: Path, names: list[str]) -> list[FileCopy]:
    """Files with their names in them, and their copies to be."""
    for name in names:
        path = root / "from" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name * 3)
    return [FileCopy(at(root / "from" / name), at(root / "to" / name), len(name) * 3) for name in names]


def read(root: Path) -> dict[str, str]:
    """What is below a directory."""
    return {str(path.relative_to(root)): path.read_text() for path in root.rglob("*") if path.is_file()}


def test_files_arrive_with_their_digests_and_empty_directories_too(tmp_path: Path, pool: WorkerPool) -> None:
    files = filled(tmp_path, ["a", "deep/er/b", "deep/c"])
    (tmp_path / "from/zero").touch()
    files.append(FileCopy(at(tmp_path / "from/zero"), at(tmp_path / "to/zero"), 0))
    empty = FileCopy(at(tmp_path / "from/no"), at(tmp_path / "to/no/thing"), 0, FileKind.DIRECTORY)
    outcomes: list[Copied] = []
    copier().copy_all([*files, empty], pool, outcomes.append)
    assert read(tmp_path / "to") == read(tmp_path / "from")
    assert (tmp_path / "to/no/thing").is_dir()
    digests = {outcome.target.name: outcome.digest for outcome in outcomes if not outcome.code}
    assert digests == {
        "a": xxh3_128(b"aaa").hexdigest(),
        "b": xxh3_128(b"deep/er/b" * 3).hexdigest(),
        "c": xxh3_128(b"deep/c" * 3).hexdigest(),
        "zero": xxh3_128(b"").hexdigest(),
        "thing": "",
    }


@pytest.mark.parametrize("size", [2, 4], ids=["has grown", "has shrunk"])
def test_a_file_whose_size_is_not_as_planned_is_not_written(tmp_path: Path, pool: WorkerPool, size: int) -> None:
    (good, bad) = filled(tmp_path, ["g", "b"])
    outcomes: list[Copied] = []
    copier().copy_all([good, bad._replace(size=size)], pool, outcomes.append)
    assert {each.target.name: each.code for each in outcomes} == {"g": "", "b": "source_changed"}
    assert read(tmp_path / "to") == {"g": "ggg"}


def test_what_fails_is_named_and_the_others_go(tmp_path: Path, pool: WorkerPool) -> None:
    files = filled(tmp_path, ["a", "gone", "under/b"])
    (tmp_path / "from/gone").unlink()
    (tmp_path / "to").mkdir()
    (tmp_path / "to/under").write_text("a file in the way")
    outcomes: list[Copied] = []
    copier().copy_all(files, pool, outcomes.append)
    codes = {each.target.name: each.code for each in outcomes}
    assert codes["a"] == ""
    assert codes["gone"] == "not_found"
    assert codes["b"] in {"wrong_kind", "not_found", "already_exists"}
    assert read(tmp_path / "to") == {"a": "aaa", "under": "a file in the way"}


def test_a_directory_that_could_not_be_made_fails_with_those_above_it(tmp_path: Path, pool: WorkerPool) -> None:
    (tmp_path / "to").mkdir()
    (tmp_path / "to/x").write_text("a file in the way")
    names = ["x", "x/y", "z"]
    files = [FileCopy(at(tmp_path), at(tmp_path / "to" / name), 0, FileKind.DIRECTORY) for name in names]
    outcomes: list[Copied] = []
    copier().copy_all(files, pool, outcomes.append)
    assert {each.target.name: bool(each.code) for each in outcomes} == {"x": True, "y": True, "z": False}


class BreaksOff(LocalFileSystem):
    """Its first reads of a file end in the middle."""

    def __init__(self, times: int) -> None:
        super().__init__()
        self.left = times

    def read(self, path: CanonicalPath, *, offset: int = 0, length: int | None = None) -> BinaryIO:
        """See `FileSystem.read`."""
        if self.left:
            self.left -= 1
            return cast("BinaryIO", _Torn(path))
        return super().read(path, offset=offset, length=length)


class _Torn(io.RawIOBase):
    def __init__(self, path: CanonicalPath) -> None:
        self.path, self.given = path, False

    def read(self, size: int = -1, /) -> bytes:
        del size
        if self.given:
            raise Unreachable(path=self.path)
        self.given = True
        return b"a"


@pytest.mark.parametrize(("times", "code"), [(TRIES - 1, ""), (TRIES, "unreachable")])
def test_a_read_that_breaks_off_is_tried_again_from_the_beginning(
    tmp_path: Path, pool: WorkerPool, times: int, code: str
) -> None:
    files = filled(tmp_path, ["a"])
    outcomes: list[Copied] = []
    copier(source=BreaksOff(times)).copy_all(files, pool, outcomes.append)
    assert [each.code for each in outcomes] == [code]
    assert read(tmp_path / "to") == ({} if code else {"a": "aaa"})


def test_a_stop_in_the_middle_leaves_nothing_of_what_was_not_told(tmp_path: Path, pool: WorkerPool) -> None:
    files = filled(tmp_path, [f"f{number:03}" for number in range(200)])
    told, lock = list[Copied](), threading.Lock()

    def check() -> None:
        with lock:
            if len(told) >= 20:
                message = "told to stop"
                raise StopRequested(message)

    with pytest.raises(StopRequested):
        copier(check=check).copy_all(files, pool, told.append)
    assert set(read(tmp_path / "to")) == {each.target.name for each in told}
    assert 20 <= len(told) < 200


def test_bytes_pass_no_faster_than_the_bandwidth(tmp_path: Path, pool: WorkerPool) -> None:
    files = filled(tmp_path, ["aaaa", "bbbb", "cccc"])
    waited: list[float] = []

    @contextmanager
    def still() -> Iterator[Copier]:
        made = copier(bandwidth=12.0)
        assert made._limiter is not None  # noqa: SLF001 - its clock
        made._limiter.now, made._limiter.sleep = (lambda: 0.0), waited.append  # noqa: SLF001
        yield made

    with still() as slow:
        slow.copy_all(files, pool, lambda _: None)
    assert sum(waited) == pytest.approx(1 + 2, abs=0.2)  # the second waits for the first, the third for both


@given(sizes=st.lists(st.integers(0, 3 * TASK_BYTES), max_size=60), machines=st.integers(1, 8))
@settings(deadline=None)
def test_parts_hold_each_file_once_in_order_and_not_too_much(sizes: list[int], machines: int) -> None:
    files = [FileCopy(PATH, PATH.parent.child(f"f{number}"), size) for number, size in enumerate(sizes)]
    parts = list(divided(files, machines))
    assert [file for part in parts for file in part] == files
    assert all(len(part) == 1 or sum(file.size for file in part) <= TASK_BYTES for part in parts)
    assert all(0 < len(part) <= TASK_FILES for part in parts)


def test_many_small_files_keep_all_machines_busy() -> None:
    files = [FileCopy(PATH, PATH.parent.child(f"f{number}"), 10) for number in range(5000)]
    assert [len(part) for part in divided(files, 2)] == [625] * 8


def spread(tmp_path: Path, **changes: object) -> SpreadCopy:
    """To local files, by a pool of one machine that is this one."""
    del tmp_path
    local = StorageSpec(scheme="file")
    given = {"pool": LocalExecutorPool(), "source": local, "target": local, "seconds_left": lambda: 60.0}
    return SpreadCopy(**given | {"check": no_check} | changes)  # type: ignore[arg-type]


def test_machines_copy_what_they_are_sent(tmp_path: Path) -> None:
    files = filled(tmp_path, [f"d{number % 3}/f{number}" for number in range(30)])
    outcomes = list(spread(tmp_path).copy(files))
    assert {each.code for each in outcomes} == {""}
    assert read(tmp_path / "to") == read(tmp_path / "from")


def test_files_for_which_the_lease_had_no_time_left_are_told_as_late_and_not_written(tmp_path: Path) -> None:
    files = filled(tmp_path, ["a", "b"])
    outcomes = list(spread(tmp_path, seconds_left=lambda: 0.0).copy(files))
    assert {each.code for each in outcomes} == {TOO_LATE}
    assert not (tmp_path / "to").exists()
