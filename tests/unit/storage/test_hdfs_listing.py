from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolkit.el import CanonicalPath
from toolkit.storage import Entry, FileKind, StorageFailure
from toolkit.storage.hdfs.client import by_code_point

_PATH = CanonicalPath("hdfs", "ns1", "/a")
_NAMES = st.sets(st.text(alphabet="ab~\x7fé\u0800\uffe5\U0001f98a", min_size=1, max_size=4), max_size=40)


def _as_hdfs_sorts(names: set[str]) -> list[str]:
    """By the bytes of UTF-8 as Java has them: from -128 to 127."""
    return sorted(names, key=lambda name: [byte - 256 if byte > 127 else byte for byte in name.encode()])


def _entries(names: list[str]) -> Iterator[Entry]:
    return (Entry(name, FileKind.FILE) for name in names)


@given(_NAMES)
def test_the_order_of_signed_bytes_becomes_that_of_code_points(names: set[str]) -> None:
    found = [entry.name for entry in by_code_point(_entries(_as_hdfs_sorts(names)), _PATH)]
    assert found == sorted(names)


def test_plain_names_come_as_they_stream_in() -> None:
    taken: list[str] = []

    def stream() -> Iterator[Entry]:
        for name in ("é", "a", "b", "c"):
            taken.append(name)
            yield Entry(name, FileKind.FILE)

    found = by_code_point(stream(), _PATH)
    assert next(found).name == "a"
    assert taken == ["é", "a"]
    assert [entry.name for entry in found] == ["b", "c", "é"]


def test_a_store_that_lists_in_another_order_is_not_believed() -> None:
    """A flat listing stops at the first name that is too young: in a wrong order, it would miss what should go."""
    found = by_code_point(_entries(["b", "a"]), _PATH)
    with pytest.raises(StorageFailure, match="listed 'a' after 'b'"):
        list(found)
