"""Removals of many keys on a store that is slow, cuts connections and says no."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, cast
from xml.etree import ElementTree as ET

import pytest
from botocore.awsrequest import AWSPreparedRequest, AWSResponse
from botocore.compat import HTTPHeaders

from tests.contract.s3.conftest import FaultyPlace
from tests.contract.s3.places import Place, outcomes
from tests.testbed.faults import Effect, Fault
from toolkit.storage import Deleted, NotBegun, NotDone, PermissionDenied, Unreachable, open_file_system
from toolkit.storage.local.file_system import no_check
from toolkit.storage.s3.bucket import Bucket
from toolkit.storage.s3.client import ClientMaker, S3Settings
from toolkit.storage.s3.file_system import S3FileSystem

if TYPE_CHECKING:
    from types_boto3_s3 import S3Client

_XML = "{http://s3.amazonaws.com/doc/2006-03-01/}"


class Wire:
    """Notes the keys of each bulk removal as it is sent, and answers some keys with an error of its own."""

    def __init__(self, client: S3Client, problems: dict[str, str], named: str) -> None:
        self.requests: list[list[str]] = []
        self._problems, self._named = problems, named
        self._lock = threading.Lock()
        client.meta.events.register("before-send.s3.DeleteObjects", cast("Callable[..., None]", self._sent))

    def _sent(self, request: AWSPreparedRequest, **_: object) -> AWSResponse | None:
        body = ET.fromstring(cast("bytes", request.body))  # noqa: S314 - written by ourselves
        keys = [each.text or "" for each in body.iter(f"{_XML}Key")]
        with self._lock:
            self.requests.append(keys)
        found = {key: self._problems.pop(key) for key in keys if key in self._problems}
        return self._answer(request, found, set(keys).difference(found)) if found else None

    def _answer(self, request: AWSPreparedRequest, problems: dict[str, str], gone: set[str]) -> AWSResponse:
        deleted = "".join(f"<Deleted><Key>{key}</Key></Deleted>" for key in gone)
        errors = "".join(
            f"<Error><Key>{self._named or key}</Key><Code>{code}</Code></Error>" for key, code in problems.items()
        )
        content = f"<DeleteResult>{deleted}{errors}</DeleteResult>".encode()
        return _Answer(request.url, 200, HTTPHeaders(), content)


class _Answer(AWSResponse):
    """An answer whose body is there already."""

    def __init__(self, url: str, status: int, headers: HTTPHeaders, content: bytes) -> None:
        super().__init__(url, status, headers, raw=None)
        self._content = content


def wired(place: Place, problems: dict[str, str], named: str = "") -> tuple[S3FileSystem, Wire]:
    """The adapter, and what watches its requests; its errors are about the key `named`, else about the one asked."""
    maker = ClientMaker(S3Settings.of(place.spec), no_check)
    return S3FileSystem(Bucket(place.bucket, maker)), Wire(maker(), problems, named)


@contextmanager
def counted(place: FaultyPlace) -> Iterator[dict[str, int]]:
    """How many listings and bulk removals the block asked for."""
    found: dict[str, int] = {}
    place.proxy.clear()
    yield found
    found["lists"] = len(place.proxy.seen(method="GET", query="list-type=2"))
    found["removals"] = len(place.proxy.seen(method="POST", query="delete"))


@pytest.mark.slow
@pytest.mark.soak
def test_25000_keys_of_one_instance_go_in_full_requests(faulty: FaultyPlace) -> None:
    faulty.fill([f"d/1/part-{number:05}" for number in range(24_999)] + ["d/1/_SUCCESS", "d/10"])
    with counted(faulty) as requests:
        found = outcomes(faulty.opened().delete_all([faulty.at("d/1")], below=faulty.at("d"), first="_SUCCESS"))
    assert (found, faulty.keys()) == ({"d/1": None}, ["d/10"])
    assert requests["removals"] <= 26
    assert requests["lists"] <= 26


def test_a_thousand_small_instances_cost_a_handful_of_requests(faulty: FaultyPlace) -> None:
    names = [f"d/{number:04}" for number in range(1200)]
    faulty.fill([f"{name}/data" for name in names] + ["d/0000-beside/data", "e"])
    with counted(faulty) as requests:
        found = outcomes(faulty.opened().delete_all([faulty.at(name) for name in names], below=faulty.at("d")))
    assert set(found.values()) == {None}
    assert faulty.keys() == ["d/0000-beside/data", "e"]
    assert requests["removals"] == 2
    assert requests["lists"] <= 4


def test_a_listing_begins_at_the_name_that_is_asked_for(faulty: FaultyPlace) -> None:
    faulty.fill([f"d/2026-03-{day:02}/x" for day in range(1, 32)])
    with counted(faulty) as requests:
        names = [entry.name for entry in faulty.opened().list(faulty.at("d"), start_from="2026-03-29")]
    assert names == ["2026-03-29", "2026-03-30", "2026-03-31"]
    assert requests["lists"] == 1
    assert "start-after=d%2F2026-03-28" in faulty.proxy.seen(method="GET")[0].query


def test_the_flag_is_gone_before_anything_else_is_asked_for(place: Place) -> None:
    names = ("d/1", "d/2")
    place.fill([f"{name}/{file}" for name in names for file in ("2026.csv", "_SUCCESS", "part-0", "sub/_SUCCESS")])
    system, wire = wired(place, {})
    outcomes(system.delete_all(map(place.at, names), below=place.at("d"), first="_SUCCESS"))
    assert wire.requests[0] == ["d/1/_SUCCESS", "d/2/_SUCCESS"]
    assert (sorted(map(len, wire.requests)), place.keys()) == ([2, 6], [])


def test_a_key_that_is_denied_fails_its_path_alone(place: Place) -> None:
    place.fill(["d/1/a", "d/2/_SUCCESS", "d/2/a", "d/3/a"])
    system, _ = wired(place, {"d/2/_SUCCESS": "AccessDenied"})
    answers = list(system.delete_all(map(place.at, ("d/1", "d/2", "d/3")), below=place.at("d"), first="_SUCCESS"))
    assert outcomes(answers) == {"d/1": None, "d/2": PermissionDenied, "d/3": None}
    assert "d/2/_SUCCESS" in next(str(answer.error) for answer in answers if answer.error)
    assert {"d/2/_SUCCESS", "d/2/a"} <= set(place.keys())


def test_a_key_that_the_store_was_too_busy_for_is_asked_for_again(place: Place) -> None:
    place.fill(["d/1/a", "d/1/b"])
    system, wire = wired(place, {"d/1/b": "SlowDown"})
    system.delete(place.at("d/1"), below=place.at("d"))
    assert wire.requests == [["d/1/a", "d/1/b"], ["d/1/b"]]


@pytest.mark.parametrize("code", ["InternalError", "RequestTimeout"])
def test_a_key_that_may_have_been_removed_is_not_asked_for_again(place: Place, code: str) -> None:
    """Somebody may have written the object anew meanwhile."""
    place.fill(["d/1/a", "d/1/b"])
    system, wire = wired(place, {"d/1/b": code})
    with pytest.raises(Unreachable, match="d/1/b") as failed:
        system.delete(place.at("d/1"), below=place.at("d"))
    assert not isinstance(failed.value, NotDone)
    assert wire.requests == [["d/1/a", "d/1/b"]]


def test_an_error_about_a_key_that_was_not_asked_for_leaves_all_of_them_open(place: Place) -> None:
    place.fill(["d/1/a"])
    system, _ = wired(place, {"d/1/a": "AccessDenied"}, named="other")
    with pytest.raises(PermissionDenied, match="d/1/a"):
        system.delete(place.at("d/1"), below=place.at("d"))


@pytest.mark.extended
@pytest.mark.slow
def test_a_third_of_all_requests_refused_is_waited_out(faulty: FaultyPlace) -> None:
    names = [f"d/{number:02}" for number in range(20)]
    faulty.fill([f"{name}/{part:03}" for name in names for part in range(200)] + ["d/stays/x"])
    faulty.proxy.add(Fault(effect=Effect.SLOW_DOWN, share=1 / 3))
    system = open_file_system(faulty.spec)
    assert [entry.name for entry in system.list(faulty.at("d"))] == [name[2:] for name in names] + ["stays"]
    found = outcomes(system.delete_all(map(faulty.at, names), below=faulty.at("d"), first="000"))
    assert found == dict.fromkeys(names)
    assert faulty.keys() == ["d/stays/x"]


@pytest.mark.parametrize(
    ("key", "method", "effect"),
    [
        ("data", "POST", Effect.CUT_BEFORE),
        ("data", "POST", Effect.CUT_AFTER),
        ("data", "POST", Effect.CUT_INSIDE),
        ("data\x01", "DELETE", Effect.CUT_BEFORE),
        ("data\x01", "DELETE", Effect.CUT_AFTER),
    ],
)
def test_a_removal_that_is_not_answered_is_sent_once_and_asks_first(
    faulty: FaultyPlace, key: str, method: str, effect: Effect
) -> None:
    """Somebody may have written the object anew meanwhile. XML has no control characters: such a key goes alone."""
    faulty.put([f"d/1/{key}", "d/stays"])
    faulty.proxy.add(Fault(effect=effect, method=method, times=1))
    calls: list[int] = []
    with pytest.raises(Unreachable) as failed:
        faulty.opened(lambda: calls.append(1)).delete(faulty.at("d/1"), below=faulty.at("d"))
    assert not isinstance(failed.value, NotDone)
    assert len(calls) == len(faulty.proxy.seen(method=method)) == 1


@pytest.mark.extended
def test_a_removal_that_is_cut_off_ends_the_others_and_the_next_one_finishes(faulty: FaultyPlace) -> None:
    names = [f"d/{number:04}" for number in range(1500)]
    faulty.fill([f"{name}/data" for name in names] + ["d/stays"])
    faulty.proxy.add(Fault(effect=Effect.CUT_AFTER, method="POST", query="delete", times=1))
    found = outcomes(faulty.opened().delete_all(map(faulty.at, names), below=faulty.at("d")))
    assert Unreachable in found.values()
    assert set(found.values()) <= {None, Unreachable, NotDone}
    left = sorted({key.rpartition("/")[0] for key in iter(faulty.keys())} - {"d"})
    assert {name for name in left if found[name] is None} == set()
    again = outcomes(faulty.opened().delete_all(map(faulty.at, left), below=faulty.at("d")))
    assert again == dict.fromkeys(left)
    assert faulty.keys() == ["d/stays"]


def test_a_store_that_refuses_connections_is_unreachable(faulty: FaultyPlace) -> None:
    faulty.proxy.refuse()
    system = faulty.opened()
    with pytest.raises(Unreachable):
        system.status(faulty.at("d"))
    answers = outcomes(system.delete_all([faulty.at("d/1"), faulty.at("d/2")], below=faulty.at("d")))
    assert answers == {"d/1": NotDone, "d/2": NotDone}  # no removal was sent


def test_each_attempt_asks_whether_it_may(faulty: FaultyPlace) -> None:
    faulty.fill(["d/1/a"])
    faulty.proxy.add(Fault(effect=Effect.SLOW_DOWN, method="POST", times=2))
    calls: list[int] = []
    faulty.opened(lambda: calls.append(1)).delete(faulty.at("d/1"), below=faulty.at("d"))
    assert (len(calls), faulty.keys()) == (3, [])


def test_no_credentials_are_told_with_where_they_are_looked_for(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name)
    with pytest.raises(PermissionDenied, match=r"AWS_ACCESS_KEY_ID.*AWS_PROFILE"):
        place.opened().status(place.at("d"))


def test_a_missing_profile_is_told(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_PROFILE", "nobody")
    with pytest.raises(PermissionDenied, match="nobody"):
        place.opened().status(place.at("d"))


@pytest.mark.extended
def test_a_removal_that_is_called_off_sends_no_further_request(place: Place) -> None:
    class CalledOff(Exception):  # noqa: N818 - named for what happened
        pass

    let_through = itertools.count()

    def check() -> None:
        if next(let_through) >= 3:
            raise CalledOff

    paths = [place.at(f"d/{number:02}") for number in range(30)]
    whole = {path: {f"{path.path[1:]}/{number:03}" for number in range(300)} for path in paths}
    place.fill(key for keys in whole.values() for key in keys)
    reported: list[Deleted] = []
    with pytest.raises(CalledOff):
        reported.extend(open_file_system(place.spec, before_effect=check).delete_all(paths, below=place.at("d")))
    left = set(place.keys())
    assert len(left) == 6000
    touched = {path for path, keys in whole.items() if not keys <= left}
    assert touched < set(paths)
    assert {each.path for each in reported if isinstance(each.error, NotBegun)} == set(paths) - touched
