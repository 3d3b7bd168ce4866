"""Writes to Google Cloud Storage and Azure that are large, cut off, or slowed down."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.testbed.cloud_places import CloudPlace as Place
from tests.testbed.clouds import Cloud
from tests.testbed.faults import Effect, Fault
from toolkit.storage import AlreadyExists, NotBegun, NotDone, NotFound, Unreachable
from toolkit.storage.cloud.file_system import PART_BYTES

pytestmark = [pytest.mark.extended, pytest.mark.timeout(900)]

LARGE = bytes(range(256)) * (PART_BYTES // 128) + b"end"


@pytest.fixture
def direct(place: Place, monkeypatch: pytest.MonkeyPatch) -> Place:
    """Without the proxy: Google's server says itself where the parts of a large file go."""
    cloud: Cloud = place.cloud
    for name, value in cloud.environment.items():
        monkeypatch.setenv(name, value)
    return place


def test_a_large_file_goes_up_in_parts(direct: Place) -> None:
    system = direct.opened()
    system.write(direct.at("d/large"), [LARGE[:1000], LARGE[1000:]], overwrite=False)
    with system.read(direct.at("d/large")) as stream:
        assert stream.read() == LARGE
    with pytest.raises(AlreadyExists):
        system.write(direct.at("d/large"), [LARGE], overwrite=False)
    system.write(direct.at("d/large"), [LARGE[:PART_BYTES], LARGE[:PART_BYTES]])
    assert system.status(direct.at("d/large")).size == 2 * PART_BYTES


def test_a_large_file_whose_source_fails_leaves_nothing(direct: Place) -> None:
    def chunks() -> Iterator[bytes]:
        for _ in range(3):
            yield bytes(PART_BYTES)
        raise InterruptedError

    system = direct.opened()
    with pytest.raises(InterruptedError):
        system.write(direct.at("d/large"), chunks())
    with pytest.raises(NotFound):
        system.status(direct.at("d/large"))
    assert direct.keys() == []


def test_a_write_whose_answer_was_lost_is_still_ours(place: Place) -> None:
    """The request is repeated, and the store then says that something is there: what the first one wrote."""
    for method in ("PUT", "POST"):
        place.proxy.add(Fault(effect=Effect.CUT_AFTER, method=method, times=1))
    system = place.opened()
    system.write(place.at("d/file"), [b"1"], overwrite=False)
    assert place.keys() == ["d/file"]
    with pytest.raises(AlreadyExists):
        system.write(place.at("d/file"), [b"2"], overwrite=False)


def test_a_removal_that_is_not_answered_is_sent_once_and_asks_first(place: Place) -> None:
    place.put("d/a/x")
    place.proxy.add(Fault(effect=Effect.CUT_AFTER, method="DELETE", path="x$", times=1))
    calls: list[None] = []
    system = place.opened(lambda: calls.append(None))
    with pytest.raises(Unreachable):
        system.delete(place.at("d/a"), below=place.at("d"))
    assert len(calls) == len(place.proxy.seen(method="DELETE")) == 1


def test_a_store_that_stays_busy_is_unreachable(place: Place) -> None:
    place.put("d/a/x")
    place.proxy.add(Fault(effect=Effect.SLOW_DOWN))
    with pytest.raises(Unreachable, match="503"):
        place.opened().delete(place.at("d/a"), below=place.at("d"))
    assert place.keys() == ["d/a/x"]


def test_a_store_that_is_not_there_is_unreachable(place: Place) -> None:
    place.proxy.refuse()
    with pytest.raises(Unreachable):
        place.opened().status(place.at("d"))


def test_the_flag_goes_first_and_when_it_stays_all_stays(place: Place) -> None:
    place.put("d/a/_SUCCESS", "d/a/1", "d/a/2")
    place.proxy.add(Fault(effect=Effect.CUT_BEFORE, method="DELETE", path="_SUCCESS"))
    (found,) = place.opened().delete_all([place.at("d/a")], below=place.at("d"), first="_SUCCESS")
    assert isinstance(found.error, Unreachable)
    assert place.keys() == ["d/a/1", "d/a/2", "d/a/_SUCCESS"]
    place.proxy.clear()
    (found,) = place.opened().delete_all([place.at("d/a")], below=place.at("d"), first="_SUCCESS")
    assert found.error is None
    deletions = [each.path for each in place.proxy.seen(method="DELETE")]
    assert deletions[0].endswith("_SUCCESS")
    assert place.keys() == []


def test_a_stop_in_the_middle_names_what_was_not_begun(place: Place) -> None:
    paths = [f"d/{number:02}" for number in range(40)]
    place.put(*(f"{path}/x" for path in paths))

    class Stopped(Exception):  # noqa: N818 - named for what happened
        pass

    def stop_after_some() -> None:
        if len(place.proxy.seen(method="DELETE")) >= 10:
            raise Stopped

    removal = place.opened(stop_after_some).delete_all(map(place.at, paths), below=place.at("d"))
    reported: dict[str, object] = {}
    with pytest.raises(Stopped):
        reported.update((deleted.path.path[1:], deleted.error) for deleted in removal)
    gone = {path for path, error in reported.items() if error is None}
    untouched = {path for path, error in reported.items() if isinstance(error, NotBegun)}
    assert gone
    assert len(untouched) >= 10
    stayed = {key.removesuffix("/x") for key in iter(place.keys())}
    assert not gone & stayed
    assert untouched <= stayed


def test_a_store_that_is_silent_is_not_asked_about_the_rest(place: Place) -> None:
    paths = [f"d/{number:02}" for number in range(20)]
    place.put(*(f"{path}/x" for path in paths))
    place.proxy.clear()
    place.proxy.refuse()
    reported = list(place.opened().delete_all(map(place.at, paths), below=place.at("d")))
    assert sorted(each.path for each in reported) == [place.at(path) for path in paths]
    assert {type(each.error) for each in reported} == {Unreachable, NotDone}
