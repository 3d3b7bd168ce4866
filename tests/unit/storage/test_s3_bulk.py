from __future__ import annotations

import itertools
import threading
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.examples import share_of
from tests.unit.storage.fake_keys import FakeKeys
from toolkit.el import CanonicalPath
from toolkit.storage import (
    Deleted,
    NotBegun,
    NotDone,
    NotFound,
    OutsideBase,
    PermissionDenied,
    StorageFailure,
    Unreachable,
)
from toolkit.storage.s3.bulk import MOST_HELD, BulkRemoval

ROOT = CanonicalPath("s3", "bucket", "/")
BASE = CanonicalPath("s3", "bucket", "/d")
# The characters around the slash, those that follow it, and some of other lengths in UTF-8.
NAMES = st.text(alphabet="a-.0~ü\U0010ffff\x01", min_size=1, max_size=3).filter(lambda name: name not in {".", ".."})
# What stands in, beside and just before or behind a path.
ENDINGS = (
    "",
    "/",
    "/_SUCCESS",
    "/a",
    "/a/b",
    "//a",
    "/./a",
    "/../a",
    "/~",
    "-",
    "-/a",
    ".",
    "0",
    "0/a",
    "\0",
    "a",
    "ü/a",
)


def at(name: str) -> CanonicalPath:
    return CanonicalPath("s3", "bucket", f"/d/{name}")


def removed(
    fake: FakeKeys,
    paths: Iterable[CanonicalPath],
    *,
    first: str = "",
    below: CanonicalPath = BASE,
    parallel: int = 4,
    most_held: int = MOST_HELD,
) -> list[Deleted]:
    with ThreadPoolExecutor(4) as pool:
        removal = BulkRemoval(fake, below=below, first=first, pool=pool, parallel=parallel, most_held=most_held)
        return list(removal.run(paths))


def outcomes(answers: Iterable[Deleted]) -> dict[CanonicalPath, type | None]:
    return {answer.path: None if answer.error is None else type(answer.error) for answer in answers}


def belongs(key: str, path: CanonicalPath) -> bool:
    return f"/{key}" == path.path or f"/{key}".startswith(path.path + "/")


@st.composite
def places(draw: st.DrawFn) -> list[CanonicalPath]:
    """Paths of which none is inside another."""
    found: list[CanonicalPath] = []
    for names in draw(st.lists(st.lists(NAMES, min_size=1, max_size=3), min_size=1, max_size=8)):
        path = at("/".join(names))
        if not any(path == other or path.is_within(other) or other.is_within(path) for other in found):
            found.append(path)
    return found


@st.composite
def keys_around(draw: st.DrawFn, paths: list[CanonicalPath]) -> set[str]:
    """Keys in the paths, and close to them."""
    stems = st.one_of(st.sampled_from([path.path[1:] for path in paths]), NAMES.map("d/".__add__))
    return draw(st.sets(st.builds(str.__add__, stems, st.sampled_from(ENDINGS)), max_size=30))


@pytest.mark.extended
@settings(max_examples=share_of(400))
@given(
    data=st.data(),
    paths=places(),
    page_size=st.sampled_from([1, 2, 3, 7, 1000]),
    first=st.sampled_from(["", "_SUCCESS", "a"]),
    most_held=st.sampled_from([1, MOST_HELD]),
)
def test_exactly_the_keys_of_the_given_paths_go(
    data: st.DataObject, paths: list[CanonicalPath], page_size: int, first: str, most_held: int
) -> None:
    stored = data.draw(keys_around(paths))
    fake = FakeKeys.of(stored, page_size)
    fake.denied = data.draw(st.sets(st.sampled_from(sorted(stored)), max_size=2)) if stored else set()
    answers = removed(fake, paths, first=first, most_held=most_held)
    target = {path: {key for key in stored if belongs(key, path)} for path in paths}
    assert sorted(answer.path for answer in answers) == sorted(paths)
    for path, error in outcomes(answers).items():
        if error is None:
            assert target[path]
            assert not target[path] & fake.keys
        elif error is NotFound:
            assert not target[path]
        else:
            assert (error, bool(target[path] & fake.denied)) == (PermissionDenied, True)
    everything = set().union(*target.values())
    flags = {f"{path.path[1:]}/{first}" for path in paths}
    calls = set(itertools.chain.from_iterable(fake.removals))
    assert calls <= everything | flags
    assert stored - everything <= fake.keys
    if first:
        _assert_flags_went_first(fake, paths, first)


def _assert_flags_went_first(fake: FakeKeys, paths: list[CanonicalPath], first: str) -> None:
    for path in paths:
        flag = f"{path.path[1:]}/{first}"
        requests = [{key for key in keys if belongs(key, path)} for keys in fake.removals]
        requests = [keys for keys in requests if keys]
        if any(flag in keys for keys in requests):
            assert requests[0] == {flag}
        if flag in fake.denied and flag in fake.keys:
            assert requests in ([], [{flag}])


def test_many_keys_of_one_path_stream_in_full_requests() -> None:
    fake = FakeKeys.of({f"d/1/part-{number:05}" for number in range(24_999)} | {"d/1/_SUCCESS", "d/10"})
    assert outcomes(removed(fake, [at("1")], first="_SUCCESS")) == {at("1"): None}
    assert fake.keys == {"d/10"}
    assert fake.removals[0] == ["d/1/_SUCCESS"]
    assert sorted(len(keys) for keys in fake.removals)[1:] == [999, *[1000] * 24]
    assert len(fake.pages) <= 26
    assert fake.most_listed <= 10_000


def test_instances_side_by_side_share_pages_and_requests() -> None:
    paths = [at(f"{number:05}") for number in range(10_000)]
    fake = FakeKeys.of(f"{path.path[1:]}/data" for path in paths)
    assert set(outcomes(removed(fake, iter(paths))).values()) == {None}
    assert (fake.keys, [len(keys) for keys in fake.removals]) == (set(), [1000] * 10)
    assert len(fake.pages) <= 20


def test_strangers_between_instances_are_jumped_over() -> None:
    paths = [at(f"{number:05}") for number in range(0, 500, 50)]
    keys = {f"d/{number:05}/{file}" for number in range(500) for file in range(30)}
    fake = FakeKeys.of(keys)
    assert set(outcomes(removed(fake, paths)).values()) == {None}
    assert len(fake.keys) == len(keys) - 300
    assert len(fake.pages) <= 2 * len(paths)


def test_a_start_that_cannot_be_named_exactly_still_gets_ahead() -> None:
    fake = FakeKeys.of({f"d/\x01{name}" for name in "abcd"} | {"d/z"}, page_size=1)
    assert set(outcomes(removed(fake, [at("\x01d"), at("z")])).values()) == {None}
    assert fake.keys == {"d/\x01a", "d/\x01b", "d/\x01c"}


def test_flags_of_many_instances_go_in_one_request() -> None:
    paths = [at(f"{number:02}") for number in range(50)]
    fake = FakeKeys.of(f"{path.path[1:]}/{name}" for path in paths for name in ("_SUCCESS", "a", "b"))
    removed(fake, paths, first="_SUCCESS")
    assert [len(keys) for keys in fake.removals] == [50, 100]


def test_a_path_without_the_flag_costs_no_request_for_it() -> None:
    fake = FakeKeys.of({"d/1/a", "d/1/b"})
    removed(fake, [at("1")], first="_SUCCESS")
    assert fake.removals == [["d/1/a", "d/1/b"]]


def test_a_denied_key_fails_its_path_and_no_other() -> None:
    fake = FakeKeys.of({"d/1/_SUCCESS", "d/1/a", "d/2/a", "d/2/b", "d/3/a"})
    fake.denied = {"d/1/_SUCCESS", "d/2/b"}
    answers = removed(fake, [at("1"), at("2"), at("3")], first="_SUCCESS")
    assert outcomes(answers) == {at("1"): PermissionDenied, at("2"): PermissionDenied, at("3"): None}
    assert {"d/1/_SUCCESS", "d/1/a", "d/2/b"} <= fake.keys
    assert "d/2/b" in next(str(answer.error) for answer in answers if answer.path == at("2"))


def test_a_path_that_failed_is_left_alone() -> None:
    fake = FakeKeys.of(f"d/1/{number:05}" for number in range(30_000))
    fake.denied = {"d/1/00010"}
    assert outcomes(removed(fake, [at("1")], parallel=1)) == {at("1"): PermissionDenied}
    assert len(fake.keys) >= 20_000


def test_a_refused_listing_fails_only_those_that_may_not_be_listed() -> None:
    class Fenced(FakeKeys):
        def page(self, prefix: str, **calls: object) -> object:  # type: ignore[override]
            if "d/3".startswith(prefix) or prefix.startswith("d/3"):
                raise PermissionDenied(path=ROOT)
            return super().page(prefix, **calls)  # type: ignore[arg-type]

    fake = Fenced(keys={f"d/{number}/a" for number in range(6)})
    found = outcomes(removed(fake, [at(str(number)) for number in range(6)]))
    assert found == {at(str(number)): PermissionDenied if number == 3 else None for number in range(6)}
    assert fake.keys == {"d/3/a"}


def test_a_store_that_falls_silent_is_not_asked_about_the_rest() -> None:
    def silent(request: str) -> None:
        if request == "remove":
            raise Unreachable(path=ROOT, detail="gone")

    fake = FakeKeys.of(f"d/{number:05}/a" for number in range(30_000))
    fake.before = silent
    paths = [at(f"{number:05}") for number in range(30_000)]
    answers = removed(fake, iter(paths))
    assert sorted(answer.path for answer in answers) == paths
    assert {type(answer.error) for answer in answers} == {Unreachable, NotDone}
    assert all(str(answer.error).startswith(f"{answer.path}: ") for answer in answers)
    assert len(fake.pages) < 20


def test_any_other_failure_of_a_request_is_told_for_each_path_in_it() -> None:
    def broken(request: str) -> None:
        if request == "remove":
            raise StorageFailure(path=ROOT, detail="odd")

    fake = FakeKeys.of({"d/1/a", "d/2/a"})
    fake.before = broken
    assert outcomes(removed(fake, [at("1"), at("2")])) == {at("1"): StorageFailure, at("2"): StorageFailure}


def test_whoever_is_stopped_starts_nothing_new_and_tells_what_was_done() -> None:
    class Stopped(Exception):  # noqa: N818 - named for what happened
        pass

    requests = itertools.count()

    def stop(request: str) -> None:
        if request == "remove" and next(requests) >= 2:
            raise Stopped

    paths = [at(f"{number:05}") for number in range(30_000)]
    fake = FakeKeys.of(f"{path.path[1:]}/a" for path in paths)
    fake.before = stop
    reported: list[Deleted] = []
    with pytest.raises(Stopped), ThreadPoolExecutor(4) as pool:
        reported.extend(BulkRemoval(fake, below=BASE, first="", pool=pool, parallel=4).run(paths))
    assert len(fake.removals) == 2
    assert set(outcomes(reported).values()) <= {None, NotBegun}
    gone = {f"{answer.path.path[1:]}/a" for answer in reported if answer.error is None}
    assert gone == set(itertools.chain.from_iterable(fake.removals))


def test_whoever_is_stopped_learns_which_paths_nothing_was_asked_about() -> None:
    """Also when all requests were started at once, and some wait for their turn."""

    class Stopped(Exception):  # noqa: N818 - named for what happened
        pass

    requests, let_through = itertools.count(), threading.local()

    def stop(request: str) -> None:
        if request == "remove" and next(requests) >= 2:
            raise Stopped
        let_through.number = sent() + 1

    def sent() -> int:
        number: int = getattr(let_through, "number", 0)
        return number

    paths = [at(f"{number:02}") for number in range(20)]
    fake = FakeKeys.of(f"{path.path[1:]}/{number:03}" for path in paths for number in range(300))
    fake.before = stop
    reported: list[Deleted] = []
    with pytest.raises(Stopped), ThreadPoolExecutor(4) as pool:
        reported.extend(BulkRemoval(fake, below=BASE, first="", pool=pool, parallel=8, sent=sent).run(paths))
    calls = {f"/{key}".rpartition("/")[0] for key in itertools.chain.from_iterable(fake.removals)}
    untouched = {path.path for path, error in outcomes(reported).items() if error is NotBegun}
    assert untouched == {path.path for path in paths} - calls
    assert 0 < len(calls) < len(paths)


def test_a_request_without_an_answer_may_have_changed_something() -> None:
    class Stopped(Exception):  # noqa: N818 - named for what happened
        pass

    calls = itertools.count()

    def stop(request: str) -> None:
        if request == "remove":
            next(calls)
            raise Stopped

    fake = FakeKeys.of({"d/1/a"})
    fake.before = stop
    reported: list[Deleted] = []
    pool = ThreadPoolExecutor(1)
    removal = BulkRemoval(fake, below=BASE, first="", pool=pool, parallel=1, sent=lambda: next(calls))
    with pytest.raises(Stopped):
        reported.extend(removal.run([at("1")]))
    pool.shutdown()
    assert reported == []


def test_whoever_looks_away_leaves_no_request_running() -> None:
    fake = FakeKeys.of(f"d/{number:05}/a" for number in range(30_000))
    with ThreadPoolExecutor(4) as pool:
        removal = BulkRemoval(fake, below=BASE, first="", pool=pool, parallel=4)
        answers = removal.run(at(f"{number:05}") for number in range(30_000))
        next(answers)
        del answers
        calls = len(fake.removals)
        pool.submit(lambda: None).result()
        assert len(fake.removals) == calls < 30


def test_what_is_outside_is_refused_and_the_rest_goes() -> None:
    fake = FakeKeys.of({"d/1/a", "e/1/a", "d"})
    outside = [BASE, ROOT, CanonicalPath("s3", "bucket", "/e/1"), CanonicalPath("s3", "other", "/d/1")]
    found = outcomes(removed(fake, [*outside, at("1")]))
    assert found == {at("1"): None, **dict.fromkeys(outside, OutsideBase)}
    assert fake.keys == {"e/1/a", "d"}


def test_another_bucket_is_never_touched_even_when_the_base_is_in_it() -> None:
    fake = FakeKeys.of({"d/1/a"})
    other = CanonicalPath("s3", "other", "/d/1")
    assert outcomes(removed(fake, [other], below=other.parent)) == {other: StorageFailure}
    assert (fake.keys, fake.pages) == ({"d/1/a"}, [])


def test_the_same_path_twice_is_answered_twice() -> None:
    fake = FakeKeys.of({"d/1/a"})
    answers = removed(fake, [at("1"), at("1")])
    assert sorted(str(answer.error is None) for answer in answers) == ["False", "True"]
    assert fake.keys == set()
