from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.contract.s3.conftest import FaultyPlace
from tests.contract.s3.places import Place
from tests.testbed.faults import Effect, Fault
from toolkit.storage import AlreadyExists, Unreachable, WrongKind
from toolkit.storage.s3.writing import PART_BYTES, part_bytes


def test_a_large_file_goes_up_in_parts(faulty: FaultyPlace) -> None:
    system, content = faulty.opened(), bytes(range(256)) * (PART_BYTES // 128) + b"end"
    system.write(faulty.at("d/large"), [content[:1000], content[1000:]])
    with system.read(faulty.at("d/large")) as stream:
        assert stream.read() == content
    assert len(faulty.proxy.seen(method="PUT", query="partNumber=")) == 3
    assert faulty.uploads() == 0


def test_an_upload_whose_source_fails_leaves_no_part(place: Place) -> None:
    def chunks() -> Iterator[bytes]:
        for _ in range(3):
            yield bytes(PART_BYTES)
        raise InterruptedError

    with pytest.raises(InterruptedError):
        place.opened().write(place.at("d/large"), chunks())
    assert (place.keys(), place.uploads()) == ([], 0)


def test_a_large_file_does_not_replace_another_either(place: Place) -> None:
    place.put(["d/large"])
    with pytest.raises(AlreadyExists):
        place.opened().write(place.at("d/large"), [bytes(PART_BYTES)] * 2, overwrite=False)
    with place.opened().read(place.at("d/large")) as stream:
        assert stream.read() == b"1"
    assert place.uploads() == 0


@pytest.mark.parametrize("size", [1, 2 * PART_BYTES])
def test_a_write_whose_answer_was_lost_is_still_ours(faulty: FaultyPlace, size: int) -> None:
    """Botocore repeats the request, and the store then says that something is there: what the first one wrote."""
    faulty.proxy.add(
        Fault(effect=Effect.CUT_AFTER, method="PUT" if size == 1 else "POST", query="^$|uploadId", times=1)
    )
    faulty.opened().write(faulty.at("d/file"), [bytes(size)], overwrite=False)
    assert faulty.keys() == ["d/file"]
    with pytest.raises(AlreadyExists):
        faulty.opened().write(faulty.at("d/file"), [b"2"], overwrite=False)


def test_an_upload_whose_answer_was_lost_is_still_ours(faulty: FaultyPlace) -> None:
    system = faulty.opened()
    upload = system.start_upload(faulty.at("d/file"), 3)
    parts = system.put_range(upload, 0, [b"123"])
    faulty.proxy.add(Fault(effect=Effect.CUT_AFTER, method="POST", query="uploadId", times=1))
    system.complete_upload(upload, parts, overwrite=False)
    assert (faulty.keys(), faulty.uploads()) == (["d/file"], 0)


def test_an_upload_that_was_not_completed_is_no_key_and_goes_when_it_is_given_up(place: Place) -> None:
    system = place.opened()
    upload = system.start_upload(place.at("d/file"), 2 * PART_BYTES)
    system.put_range(upload, PART_BYTES, [bytes(PART_BYTES)])
    assert (place.keys(), place.uploads()) == ([], 1)
    system.abort_upload(upload)
    assert (place.keys(), place.uploads()) == ([], 0)


@pytest.mark.parametrize(
    ("size", "expected"),
    [
        (1, PART_BYTES),
        (10_000 * PART_BYTES, PART_BYTES),
        (10_000 * PART_BYTES + 1, 2 * PART_BYTES),
        (50_000 * PART_BYTES, 5 * PART_BYTES),
    ],
)
def test_parts_are_as_large_as_ten_thousand_of_them_need(size: int, expected: int) -> None:
    assert part_bytes(size) == expected


def test_nothing_is_written_where_a_directory_is(place: Place) -> None:
    place.put(["d/a/x", "d/file"])
    with pytest.raises(WrongKind):
        place.opened().write(place.at("d/a"), [b"1"])
    with pytest.raises(AlreadyExists):
        place.opened().write(place.at("d/a"), [b"1"], overwrite=False)
    with pytest.raises(AlreadyExists):
        place.opened().mkdirs(place.at("d/file"))
    assert place.keys() == ["d/a/x", "d/file"]


def test_an_object_below_an_object_is_allowed(place: Place) -> None:
    place.put(["d/a"])
    place.opened().write(place.at("d/a/b"), [b"1"])
    assert place.keys() == ["d/a", "d/a/b"]


def test_a_stream_that_breaks_off_is_told(faulty: FaultyPlace) -> None:
    system = faulty.opened()
    system.write(faulty.at("d/file"), [bytes(2_000_000)])
    faulty.proxy.add(Fault(effect=Effect.CUT_INSIDE, method="GET", path="d/file"))
    with system.read(faulty.at("d/file")) as stream, pytest.raises(Unreachable):
        stream.read()
