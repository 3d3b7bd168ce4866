"""Answers that look like those of WebHDFS and are none."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from toolkit.el import CanonicalPath
from toolkit.storage import Checksum, Entry, FileKind, StorageFailure
from toolkit.storage.streams import in_pieces
from toolkit.storage.webhdfs.values import acl_of, checksum_of, entries_of, xattrs_of

_PATH = CanonicalPath("webhdfs", "nn:9870", "/a")
_WRONG: list[tuple[Callable[[CanonicalPath, Any], object], object]] = [
    (checksum_of, None),
    (checksum_of, {"FileChecksum": {"algorithm": "MD5", "bytes": "xyz", "length": 1}}),
    (checksum_of, {"FileChecksum": {"algorithm": "MD5", "bytes": "00"}}),
    (acl_of, {"AclStatus": {"entries": "user::rwx", "permission": "750"}}),
    (acl_of, {"AclStatus": {"entries": [], "permission": "789"}}),
    (xattrs_of, {"XAttrs": [{"value": "0sAA=="}]}),
    (xattrs_of, {"XAttrs": [{"name": "user.a", "value": "0sA"}]}),
    (xattrs_of, {"XAttrs": [{"name": "user.a", "value": 7}]}),
    (entries_of, [b'{"FileStatuses":{"FileStatus":[{"pathSuffix":"a","type":"FILE","modificationTime":1}]}}']),
    (entries_of, [b'{"FileStatuses":{"FileStatus":[{"pathSuffix":"a","type":"DIRECTORY"}']),
    (entries_of, [b'{"FileStatuses":{"FileStatus":[{"pathSuffix":"a","type":"DIRECTORY"},]}}']),
    (entries_of, [b'{"FileStatuses":{"FileStatus":[{"pathSuffix":"a","type":"DIRECTORY"}]']),
    (entries_of, [b'{"FileStatuses":{"FileStatus":[[]]}}']),
    (entries_of, [b"\xff"]),
    (entries_of, []),
]


@pytest.mark.parametrize(("read", "answer"), _WRONG)
def test_what_is_no_answer_of_webhdfs_is_a_storage_error(
    read: Callable[[CanonicalPath, Any], object], answer: object
) -> None:
    with pytest.raises(StorageFailure, match="not that of WebHDFS"):
        read(_PATH, answer)


def test_what_a_checksum_is_padded_with_is_left_out() -> None:
    answer = {"FileChecksum": {"algorithm": "MD5-of-0MD5-of-512CRC32C", "bytes": "0102030000", "length": 3}}
    assert checksum_of(_PATH, answer) == Checksum("MD5-of-0MD5-of-512CRC32C", b"\x01\x02\x03")


def test_a_time_beyond_all_calendars_stops_no_listing() -> None:
    found = {"pathSuffix": "a", "type": "FILE", "length": 3, "modificationTime": 2**62}
    (entry,) = entries_of(_PATH, _listing(found))
    assert entry.modified is not None
    assert (entry.name, entry.kind, entry.size, entry.modified.year) == ("a", FileKind.FILE, 3, 9999)
    directory = {"pathSuffix": "d", "type": "DIRECTORY", "length": 3, "modificationTime": 1}
    assert entries_of(_PATH, _listing(directory)) == [Entry("d", FileKind.DIRECTORY)]


@pytest.mark.parametrize("size", [1, 7, 64, 10_000])
def test_a_listing_is_parsed_in_whatever_pieces_it_comes(size: int) -> None:
    statuses = [{"pathSuffix": f'é{number}}},]"', "type": "DIRECTORY"} for number in range(200)]
    body = json.dumps({"FileStatuses": {"FileStatus": statuses}}, ensure_ascii=False, indent=1).encode()
    found = entries_of(_PATH, in_pieces(body, size))
    assert [each.name for each in found] == [each["pathSuffix"] for each in statuses]
    assert entries_of(_PATH, in_pieces(b'{"FileStatuses":{"FileStatus":[\n\n]}}\n', size)) == []


def _listing(*statuses: object) -> list[bytes]:
    return [json.dumps({"FileStatuses": {"FileStatus": statuses}}).encode()]
