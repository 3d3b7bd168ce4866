from __future__ import annotations

import os
from pathlib import Path

import pytest

from toolkit.doctor.access import Actor
from toolkit.doctor.findings import CheckResult, CheckStatus
from toolkit.doctor.stores import answer_findings, base_findings, location_findings
from toolkit.el import CanonicalPath
from toolkit.storage import (
    Capabilities,
    FileStatus,
    FileSystem,
    LocalFileSystem,
    NotFound,
    ReadOnlyFileSystem,
    WrongKind,
)

_ETL = Actor(name=str(os.geteuid()), groups=frozenset())
_KEYS = Capabilities(
    atomic_rename=False,
    atomic_delete=False,
    directories=False,
    permissions=False,
    times=False,
    conditional_put=True,
    parallel=16,
)


class _Bucket(LocalFileSystem):
    """Keys without directories, below a directory; the root is there when the bucket is."""

    capabilities = _KEYS

    def __init__(self, *, exists: bool) -> None:
        super().__init__()
        self._exists = exists

    def status(self, path: CanonicalPath) -> FileStatus:
        if not self._exists or path.path != "/":
            raise NotFound(path=path)
        return super().status(CanonicalPath("file", "", "/"))


def _local(_: CanonicalPath) -> FileSystem:
    return ReadOnlyFileSystem(LocalFileSystem())


def _path(directory: Path) -> CanonicalPath:
    return CanonicalPath.parse(str(directory), "file:///")


def _base(directory: Path, actor: Actor, *, is_evicted: bool) -> CheckResult:
    (found,) = base_findings(_path(directory), _local, actor, is_evicted=is_evicted)
    return found


def test_a_store_that_answers_is_told_with_its_time(tmp_path: Path) -> None:
    (found,) = answer_findings(_path(tmp_path), _local)
    assert found.status is CheckStatus.OK
    assert found.found.endswith(" ms)")


def test_an_end_point_whose_directory_is_not_there_is_a_warning(tmp_path: Path) -> None:
    (found,) = answer_findings(_path(tmp_path / "none"), _local)
    assert found.status is CheckStatus.WARNING


def test_a_location_must_be_a_directory(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    (file,) = location_findings(_path(tmp_path / "file"), _local, _ETL)
    (missing,) = location_findings(_path(tmp_path / "none"), _local, _ETL)
    assert (file.status, missing.status) == (CheckStatus.FAILED, CheckStatus.WARNING)
    assert file.found.endswith("is a file")


@pytest.mark.parametrize(
    ("mode", "status", "output"),
    [(0o777, CheckStatus.OK, "may write"), (0o755, CheckStatus.WARNING, "may not write")],
)
def test_whether_a_location_may_be_written_to_is_read_from_its_bits_and_said_so(
    tmp_path: Path, mode: int, status: CheckStatus, output: str
) -> None:
    place = tmp_path / "staging"
    place.mkdir()
    place.chmod(mode)
    before = place.stat()
    (found,) = location_findings(_path(place), _local, Actor(name="stranger", groups=frozenset()))
    assert found.status is status
    assert output in found.found
    assert "nothing was written to try" in found.found
    assert place.stat() == before


def test_a_feeds_base_is_listed_and_one_that_is_not_there_yet_is_a_warning(tmp_path: Path) -> None:
    empty = _base(tmp_path, _ETL, is_evicted=False)
    (tmp_path / "2026").mkdir()
    filled, missing = _base(tmp_path, _ETL, is_evicted=False), _base(tmp_path / "none", _ETL, is_evicted=False)
    assert [each.status for each in (empty, filled, missing)] == [CheckStatus.OK, CheckStatus.OK, CheckStatus.WARNING]
    assert empty.found.endswith("is empty")
    assert filled.found.endswith("has entries")


def test_a_base_that_retention_may_not_remove_in_is_a_warning(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    stranger = Actor(name="stranger", groups=frozenset())
    assert _base(tmp_path, stranger, is_evicted=True).status is CheckStatus.WARNING
    assert _base(tmp_path, stranger, is_evicted=False).status is CheckStatus.OK


def test_a_base_that_is_a_file_is_the_stores_own_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(WrongKind):
        _base(tmp_path / "file", _ETL, is_evicted=False)


def test_a_bucket_that_does_not_exist_is_told_from_one_without_such_keys() -> None:
    for path in ("/", "/data"):
        place = CanonicalPath("s3", "bucket", path)
        (missing,) = answer_findings(place, lambda _: _Bucket(exists=False))
        (there,) = answer_findings(place, lambda _: _Bucket(exists=True))
        assert (missing.status, there.status) == (CheckStatus.FAILED, CheckStatus.OK)
        assert "there is no such bucket" in missing.found


def test_a_location_on_an_object_store_is_not_tried() -> None:
    (found,) = location_findings(CanonicalPath("s3", "bucket", "/tmp"), lambda _: _Bucket(exists=True), _ETL)
    assert found.status is CheckStatus.SKIPPED
