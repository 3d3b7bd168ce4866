"""Answers that look like those of WebHDFS and are none."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from toolkit.el import CanonicalPath
from toolkit.storage import Checksum, Entry, FileKind, StorageFailure
from toolkit.storage.webhdfs.values import acl_of, checksum_of, entries_of, xattrs_of

_PATH = CanonicalPath("webhdfs", "nn:9870", "/a")
_WRONG: list[tuple[Callable[[CanonicalPath, object], object], object]] = [
    (checksum_of, None),
    (checksum_of, {"FileChecksum": {"algorithm": "MD5", "bytes": "xyz", "length": 1}}),
    (checksum_of, {"FileChecksum": {"algorithm": "MD5", "bytes": "00"}}),
    (acl_of, {"AclStatus": {"entries": "user::rwx", "permission": "750"}}),
    (acl_of, {"AclStatus": {"entries": [], "permission": "789"}}),
    (xattrs_of, {"XAttrs": [{"value": "0sAA=="}]}),
    (xattrs_of, {"XAttrs": [{"name": "user.a", "value": "0sA"}]}),
    (xattrs_of, {"XAttrs": [{"name": "user.a", "value": 7}]}),
    (entries_of, {"FileStatuses": {"FileStatus": [{"pathSuffix": "a", "type": "FILE", "modificationTime": 1}]}}),
]


@pytest.mark.parametrize(("read", "answer"), _WRONG)
def test_what_is_no_answer_of_webhdfs_is_a_storage_error(
    read: Callable[[CanonicalPath, object], object], answer: object
) -> None:
    with pytest.raises(StorageFailure, match="not that of WebHDFS"):
        read(_PATH, answer)


def test_what_a_checksum_is_padded_with_is_left_out() -> None:
    answer = {"FileChecksum": {"algorithm": "MD5-of-0MD5-of-512CRC32C", "bytes": "0102030000", "length": 3}}
    assert checksum_of(_PATH, answer) == Checksum("MD5-of-0MD5-of-512CRC32C", b"\x01\x02\x03")


def test_a_time_beyond_all_calendars_stops_no_listing() -> None:
    found = {"pathSuffix": "a", "type": "FILE", "length": 3, "modificationTime": 2**62}
    (entry,) = entries_of(_PATH, {"FileStatuses": {"FileStatus": [found]}})
    assert entry.modified is not None
    assert (entry.name, entry.kind, entry.size, entry.modified.year) == ("a", FileKind.FILE, 3, 9999)
    directory = {"pathSuffix": "d", "type": "DIRECTORY", "length": 3, "modificationTime": 1}
    assert entries_of(_PATH, {"FileStatuses": {"FileStatus": [directory]}}) == [Entry("d", FileKind.DIRECTORY)]
