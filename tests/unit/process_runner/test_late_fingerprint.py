"""The fingerprint of an instance on a disk."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from toolkit.el import CanonicalPath
from toolkit.process_runner.late_fingerprint import fingerprint
from toolkit.storage import Entry, NotFound
from toolkit.storage.local.file_system import LocalFileSystem


def written(root: Path, *names: str) -> CanonicalPath:
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(name)
    return CanonicalPath.parse(f"file://{root}")


def names(root: CanonicalPath, partition: str = "") -> list[str]:
    return [each.name for each in fingerprint(LocalFileSystem(), root, partition).listing or ()]


def test_all_files_that_an_engine_would_read_count(tmp_path: Path) -> None:
    root = written(tmp_path, "part-0", "us/web/part-1", "_day=1/part-2")
    assert names(root) == ["_day=1/part-2", "part-0", "us/web/part-1"]
    found = fingerprint(LocalFileSystem(), root)
    assert (found.files, found.size) == (3, len("part-0") + len("us/web/part-1") + len("_day=1/part-2"))


def test_what_readers_pass_over_is_no_late_data(tmp_path: Path) -> None:
    root = written(tmp_path, "part-0")
    before = fingerprint(LocalFileSystem(), root)
    hidden = ("_SUCCESS", ".part-0.crc", "_temporary/0/part-1", "part-1._COPYING_", ".feedctl-copy-1/part-1")
    written(tmp_path, *hidden)
    assert fingerprint(LocalFileSystem(), root) == before
    written(tmp_path, "part-1")
    assert fingerprint(LocalFileSystem(), root) != before


def test_only_the_partition_that_the_input_reads_counts(tmp_path: Path) -> None:
    root = written(tmp_path, "web/US/part-0", "app/US/deep/part-1", "web/UK/part-2", "part-3", "app/part-4")
    assert names(root, "*/US") == ["app/US/deep/part-1", "web/US/part-0"]


def test_an_instance_may_be_a_single_file(tmp_path: Path) -> None:
    written(tmp_path, "clicks.csv")
    assert names(CanonicalPath.parse(f"file://{tmp_path}/clicks.csv")) == ["clicks.csv"]


def test_an_instance_that_is_not_there_has_no_files(tmp_path: Path) -> None:
    assert fingerprint(LocalFileSystem(), CanonicalPath.parse(f"file://{tmp_path}/none")).files == 0


class Vanishing(LocalFileSystem):
    """A disk from which a directory goes while its tree is listed."""

    def list_tree(self, path: CanonicalPath) -> Iterator[Entry]:
        yield next(super().list_tree(path))
        raise NotFound(path=path.child("gone"))


def test_half_a_listing_does_not_pass_for_a_whole_one(tmp_path: Path) -> None:
    root = written(tmp_path, "a/part-0", "gone/part-1")
    with pytest.raises(NotFound, match="gone"):
        fingerprint(Vanishing(), root)
