"""Copies of files: the same bytes with their digest, or nothing at all."""

from __future__ import annotations

import filecmp
import io
import os
import pickle
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import BinaryIO, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from xxhash import xxh3_128

from tests.local_executors import LocalExecutorPool
from toolkit.el import CanonicalPath
from toolkit.errors import StopRequested
from toolkit.storage import FileKind, MultipartUpload, StorageSpec, Unreachable, UploadedPart
from toolkit.storage.local.file_system import LocalFileSystem
from toolkit.threads import WorkerPool
from toolkit.transfer.copier import TRIES, Copier
from toolkit.transfer.digests import PIECE_BYTES, digest_of
from toolkit.transfer.plan import Copied, FileCopy
from toolkit.transfer.port import Work
from toolkit.transfer.room import Room
from toolkit.transfer.spread_copy import TASK_BYTES, TASK_FILES, CopyTask, SpreadCopy, divided
from toolkit.transfer.timed_tasks import TOO_LATE, TaskTime
from toolkit.transfer.uploads import LARGE_BYTES

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
    """Return the copier of local files."""
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
    """Return what is below a directory."""
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


@pytest.fixture
def large(tmp_path: Path) -> FileCopy:
    """A file that is copied in three ranges, each of which has other bytes."""
    path = tmp_path / "from/large"
    path.parent.mkdir()
    with path.open("wb") as stream:
        for offset in (0, PIECE_BYTES - 1, PIECE_BYTES, LARGE_BYTES, LARGE_BYTES + 4):
            stream.seek(offset)
            stream.write(b"%d" % (offset % 9))
    return FileCopy(at(path), at(tmp_path / "to/deep/large"), LARGE_BYTES + 5)


def test_a_large_file_is_copied_in_ranges_and_has_the_digest_of_its_bytes(
    tmp_path: Path, pool: WorkerPool, large: FileCopy
) -> None:
    store, outcomes, passed = CountingStore(), list[Copied](), list[tuple[int, int]]()
    files = [*filled(tmp_path, ["a"]), large]
    made = copier(source=store, target=store, passed=lambda *more: passed.append(more))
    made.copy_all(files, pool, outcomes.append)
    assert sorted(store.ranges) == [0, PIECE_BYTES, LARGE_BYTES]
    assert filecmp.cmp(tmp_path / "from/large", tmp_path / "to/deep/large", shallow=False)
    assert {each.target.name: each.digest for each in outcomes} == {
        "a": xxh3_128(b"aaa").hexdigest(),
        "large": digest_of(store, large.source, no_check),
    }
    assert [sum(column) for column in zip(*passed, strict=True)] == [2, large.size + 3]


@pytest.mark.parametrize("by", [-5, -1, 1], ids=["a range less", "a byte less", "a byte more"])
def test_a_large_file_that_has_changed_fails_as_a_whole_and_nothing_of_it_stays(
    tmp_path: Path, pool: WorkerPool, large: FileCopy, by: int
) -> None:
    os.truncate(large.source.path, large.size + by)
    outcomes: list[Copied] = []
    copier().copy_all([large], pool, outcomes.append)
    assert [(each.target, each.code) for each in outcomes] == [(large.target, "source_changed")]
    assert list((tmp_path / "to/deep").iterdir()) == []


def test_a_stop_between_two_ranges_leaves_nothing_of_the_file(
    tmp_path: Path, pool: WorkerPool, large: FileCopy
) -> None:
    store = CountingStore()

    def check() -> None:
        if store.ranges:
            message = "told to stop"
            raise StopRequested(message)

    with pytest.raises(StopRequested):
        copier(target=store, check=check).copy_all([large], pool, lambda _: None)
    assert list((tmp_path / "to/deep").iterdir()) == []


class CountingStore(LocalFileSystem):
    """Knows which ranges were written."""

    def __init__(self) -> None:
        super().__init__()
        self.ranges: list[int] = []

    def put_range(self, upload: MultipartUpload, offset: int, chunks: Iterable[bytes]) -> tuple[UploadedPart, ...]:
        parts = super().put_range(upload, offset, chunks)
        self.ranges.append(offset)
        return parts


class BreaksOff(LocalFileSystem):
    """Its first reads of a file end in the middle."""

    def __init__(self, times: int) -> None:
        super().__init__()
        self.left = times

    def read(self, path: CanonicalPath, *, offset: int = 0, length: int | None = None) -> BinaryIO:
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


def test_what_has_passed_is_told_and_taken_back_when_a_file_begins_anew(tmp_path: Path, pool: WorkerPool) -> None:
    passed: list[tuple[int, int]] = []
    files = filled(tmp_path, ["a", "b"])
    (tmp_path / "from/b").unlink()
    copier(source=BreaksOff(1), passed=lambda *more: passed.append(more)).copy_all(files, pool, lambda _: None)
    assert (0, -1) in passed
    assert [sum(column) for column in zip(*passed, strict=True)] == [1, 3]


def test_a_stop_in_the_middle_leaves_nothing_of_what_was_not_told(tmp_path: Path, pool: WorkerPool) -> None:
    files = filled(tmp_path, [f"f{number:03}" for number in range(200)])
    reported, lock = list[Copied](), threading.Lock()

    def check() -> None:
        with lock:
            if len(reported) >= 20:
                message = "told to stop"
                raise StopRequested(message)

    with pytest.raises(StopRequested):
        copier(check=check).copy_all(files, pool, reported.append)
    assert set(read(tmp_path / "to")) == {each.target.name for each in reported}
    assert 20 <= len(reported) < 200


def test_a_file_waits_for_room_while_smaller_ones_go_and_a_stop_ends_the_wait(tmp_path: Path, pool: WorkerPool) -> None:
    large, small = filled(tmp_path, ["large", "s"])
    (tmp_path / "to").mkdir()
    room, is_stopped = Room(most=40), threading.Event()

    def check() -> None:
        if is_stopped.is_set():
            message = "told to stop"
            raise StopRequested(message)

    made, stopped = copier(room=room), copier(room=room, check=check)
    with room.of(20, no_check):
        waiting = [pool.submit(each.copy, large) for each in (made, stopped)]  # 15 bytes, twice
        assert made.copy(small).code == ""
        is_stopped.set()
        with pytest.raises(StopRequested):
            waiting[1].result(60)
        assert not waiting[0].done()
    assert waiting[0].result(60).code == ""
    assert read(tmp_path / "to") == {"large": "large" * 3, "s": "sss"}


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
    given = {"pool": LocalExecutorPool(), "source": local, "target": local, "joining": LocalFileSystem()}
    given["seconds_left"] = lambda: 60.0
    return SpreadCopy(**given | {"check": no_check} | changes)  # type: ignore[arg-type]


def test_machines_copy_what_they_are_sent(tmp_path: Path) -> None:
    files = filled(tmp_path, [f"d{number % 3}/f{number}" for number in range(30)])
    outcomes = list(spread(tmp_path).copy(files))
    assert {each.code for each in outcomes} == {""}
    assert read(tmp_path / "to") == read(tmp_path / "from")


def test_machines_copy_the_ranges_of_a_large_file_which_this_process_joins(tmp_path: Path, large: FileCopy) -> None:
    outcomes = list(spread(tmp_path).copy([*filled(tmp_path, ["a"]), large]))
    assert {each.target.name: each.code for each in outcomes} == {"a": "", "large": ""}
    assert outcomes[-1].digest == digest_of(LocalFileSystem(), large.source, no_check)
    assert filecmp.cmp(tmp_path / "from/large", tmp_path / "to/deep/large", shallow=False)


@dataclass
class LateOnce:
    """Another machine, which has time for one task, and for all when it is asked again."""

    parallel: int = 1
    is_again: bool = False

    def run(self, work: Work[CopyTask, Copied], tasks: Sequence[CopyTask], *, check: object) -> Iterator[Copied]:
        del check
        for number, task in enumerate(tasks):
            is_late = number and not self.is_again
            sent: CopyTask = pickle.loads(pickle.dumps(replace(task, time=TaskTime.now(0.0)) if is_late else task))  # noqa: S301 - our own bytes
            yield from pickle.loads(pickle.dumps(list(work(sent, 0))))  # noqa: S301 - our own bytes
        self.is_again = True


def test_a_range_for_which_there_was_no_time_is_copied_in_the_next_round(tmp_path: Path, large: FileCopy) -> None:
    outcomes = list(spread(tmp_path, pool=LateOnce()).copy([large]))
    assert [each.code for each in outcomes] == [TOO_LATE] * 2 + [""]
    assert filecmp.cmp(tmp_path / "from/large", tmp_path / "to/deep/large", shallow=False)


def test_files_for_which_the_lease_had_no_time_left_are_told_as_late_and_not_written(tmp_path: Path) -> None:
    files = filled(tmp_path, ["a", "b"])
    outcomes = list(spread(tmp_path, seconds_left=lambda: 0.0).copy(files))
    assert {each.code for each in outcomes} == {TOO_LATE}
    assert not (tmp_path / "to").exists()
