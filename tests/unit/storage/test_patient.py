from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime

import pytest

from tests.unit.storage.silent_store import BASE, Clock, SilentStore
from toolkit.el import CanonicalPath
from toolkit.storage import (
    BlockLayout,
    Deleted,
    Entry,
    FileKind,
    FileSystem,
    Look,
    MultipartUpload,
    NotDone,
    NotFound,
    Unreachable,
)
from toolkit.storage.local.file_system import no_check
from toolkit.storage.patient import PatientFileSystem, Silence

_FILE, _DIRECTORY = FileKind.FILE, FileKind.DIRECTORY
_PATH = BASE.child("a")
_UPLOAD = MultipartUpload(path=_PATH, size=1, part_bytes=1, token="")
_REPEATED: dict[str, Callable[[FileSystem], object]] = {
    "status": lambda system: system.status(_PATH),
    "list": lambda system: list(system.list(BASE)),
    "read": lambda system: system.read(_PATH).close(),
    "checksum": lambda system: system.checksum(_PATH),
    "acl": lambda system: system.acl(_PATH),
    "set_acl": lambda system: system.set_acl(_PATH, ()),
    "xattrs": lambda system: system.xattrs(_PATH),
    "may_use_raw": lambda system: system.may_use_raw(_PATH),
    "set_xattr": lambda system: system.set_xattr(_PATH, "user.a", b""),
    "start_upload": lambda system: system.start_upload(_PATH, 1),
    "put_range": lambda system: system.put_range(_UPLOAD, 0, [b"x"]),
    "abort_upload": lambda system: system.abort_upload(_UPLOAD),
    "abort_uploads": lambda system: system.abort_uploads(BASE),
    "write": lambda system: system.write(_PATH, [b"x"]),
    "mkdirs": lambda system: system.mkdirs(_PATH),
    "set_permission": lambda system: system.set_permission(_PATH, 0o600),
    "set_owner": lambda system: system.set_owner(_PATH, owner="a"),
    "set_modified": lambda system: system.set_modified(_PATH, datetime(2020, 1, 1, tzinfo=UTC)),
    "remove_if_empty": lambda system: system.remove_if_empty(_PATH, below=BASE),
    "content_summary": lambda system: system.content_summary(_PATH),
}
_ONCE: dict[str, Callable[[FileSystem], object]] = {
    "delete": lambda system: system.delete(_PATH, below=BASE),
    "rename": lambda system: system.rename(_PATH, BASE.child("b")),
    "write": lambda system: system.write(_PATH, iter([b"x"])),
    "write_in_blocks": lambda system: system.write_in_blocks(_PATH, iter([b"x"]), BlockLayout()),
    "put_range": lambda system: system.put_range(_UPLOAD, 0, iter([b"x"])),
    "complete_upload": lambda system: system.complete_upload(_UPLOAD, []),
}


def _patient(store: SilentStore, check: Callable[[], None] = no_check, patience: float = 120.0) -> PatientFileSystem:
    return PatientFileSystem(inner=store, check=check, patience=patience, now=store.clock.now, sleep=store.clock.sleep)


def _store(*names: str) -> SilentStore:
    return SilentStore(clock=Clock(), names=dict.fromkeys(names, _FILE))


def test_no_method_of_the_port_is_forgotten() -> None:
    port = {name for part in FileSystem.__mro__ for name in vars(part) if not name.startswith("_")}
    assert port == {"capabilities", "delete_all", "list_tree", "close"} | set(_REPEATED) | set(_ONCE)


@pytest.mark.parametrize("call", _REPEATED)
def test_a_call_is_repeated_until_the_store_answers(call: str) -> None:
    store = _store("a")
    store.silent = 3
    _REPEATED[call](_patient(store))
    assert store.calls == [call] * 4
    assert sum(store.clock.slept) > 1


@pytest.mark.parametrize("call", _ONCE)
def test_what_cannot_be_told_from_a_second_writer_is_not_repeated(call: str) -> None:
    store = _store("a")
    store.silent = 1
    with pytest.raises(Unreachable):
        _ONCE[call](_patient(store))
    assert (store.calls, store.clock.slept) == ([call], [])


def test_a_write_that_must_not_replace_is_not_repeated() -> None:
    store = _store("a")
    store.silent = 1
    with pytest.raises(Unreachable):
        _patient(store).write(_PATH, [b"x"], overwrite=False)
    assert store.calls == ["write"]


def test_other_errors_pass_at_once() -> None:
    store = _store()
    with pytest.raises(NotFound):
        _patient(store).status(_PATH)
    with pytest.raises(NotFound):
        _patient(store).delete(_PATH, below=BASE)
    assert store.clock.slept == []


@pytest.mark.parametrize("call", [*_REPEATED, *_ONCE])
def test_a_store_that_stays_silent_is_given_up_and_then_never_asked_again(call: str) -> None:
    store = _store("a")
    system = _patient(store)
    store.silent = 10**6
    began = store.clock.seconds
    with pytest.raises(Unreachable):
        system.status(_PATH)
    assert 120 <= store.clock.seconds - began < 160
    store.calls.clear()
    ended = store.clock.seconds
    with pytest.raises(Unreachable, match="no answer for 120 s, so it is not asked again in this run: no answer"):
        (_REPEATED | _ONCE)[call](system)
    assert (store.calls, store.clock.seconds) == ([], ended)


def test_a_late_answer_does_not_undo_that_the_store_was_given_up() -> None:
    """Another thread's call may be answered just then; ten thousand items must not wait for each of them again."""
    store = _store("a")
    system = _patient(store)
    late = system.list(BASE)
    store.names["b"] = _FILE
    assert next(late).name == "a"
    store.silent = 10**6
    with pytest.raises(Unreachable):
        system.status(_PATH)
    store.silent = 0
    assert next(late).name == "b"
    ended = store.clock.seconds
    for call in _REPEATED.values():
        with pytest.raises(Unreachable):
            call(system)
    assert store.clock.seconds == ended


def test_an_answer_begins_the_patience_anew() -> None:
    store = _store("a")
    system = _patient(store)
    for _ in range(10):
        store.silent = 3
        system.status(_PATH)
    assert len(store.calls) == 40


def test_an_answer_about_one_of_many_removals_begins_the_patience_anew() -> None:
    store, silence = _store("a", "b"), Silence()
    store.mute = frozenset({_PATH})
    system = PatientFileSystem(
        inner=store, check=no_check, now=store.clock.now, sleep=store.clock.sleep, silence=silence
    )
    silence.since = store.clock.seconds
    assert [type(each.error) for each in system.delete_all([_PATH], below=BASE)] == [Unreachable]
    assert silence.since is not None
    list(system.delete_all([BASE.child("b")], below=BASE))
    assert silence.since is None


def test_one_path_without_an_answer_does_not_give_up_the_store() -> None:
    store = _store("a", "b")
    store.mute = frozenset({_PATH})
    system = _patient(store)

    def others_are_answered(seconds: float) -> None:
        store.clock.sleep(seconds)
        system.status(BASE.child("b"))

    system.sleep = others_are_answered
    began = store.clock.seconds
    with pytest.raises(Unreachable):
        system.content_summary(_PATH)
    assert 120 <= store.clock.seconds - began < 200
    assert system.status(BASE.child("b")).path == BASE.child("b")


def test_the_waits_get_longer_and_are_short_pieces() -> None:
    store = _store("a")
    store.silent, store.takes = 5, 0
    _patient(store).status(_PATH)
    assert max(store.clock.slept) <= 0.5
    assert 0.7 * (0.5 + 1 + 2 + 4 + 5) < sum(store.clock.slept) <= 0.5 + 1 + 2 + 4 + 5


def test_a_run_that_is_told_to_stop_waits_no_longer() -> None:
    class Stopped(Exception):  # noqa: N818 - named for what happened
        pass

    store, left = _store("a"), [None] * 3

    def check() -> None:
        if not left:
            raise Stopped
        left.pop()

    store.silent = 10**6
    for call in _REPEATED.values():
        left[:] = [None] * 3
        with pytest.raises(Stopped):
            call(_patient(store, check))
    assert set(store.clock.slept) <= {0.5} | {each for each in store.clock.slept if each < 0.5}


def test_a_delete_of_what_was_never_there_says_so() -> None:
    with pytest.raises(NotFound):
        _patient(_store()).delete(_PATH, below=BASE)


def test_a_listing_that_breaks_off_goes_on_behind_its_last_name() -> None:
    store = _store(*(f"{number:02}" for number in range(10)))
    store.breaks_after = 3
    found = [entry.name for entry in _patient(store).list(BASE, start_from="02")]
    assert found == [f"{number:02}" for number in range(2, 10)]


def test_a_tree_that_breaks_off_goes_on_in_the_directory_where_it_did() -> None:
    class Nested(SilentStore):
        def list(self, path: CanonicalPath, *, start_from: str = "") -> Iterator[Entry]:
            names = {"/base": ("a/", "b", "c/", "d"), "/base/a": ("x", "y"), "/base/c": ("z",)}[path.path]
            self.names = {name: _DIRECTORY if name.endswith("/") else _FILE for name in names}
            yield from list(super().list(path, start_from=start_from))

    store = Nested(clock=Clock(), silent=1)
    found = []
    for entry in _patient(store).list_tree(BASE):
        found.append(entry.name)
        store.silent = 2
    assert found == ["a", "a/x", "a/y", "b", "c", "c/z", "d"]
    assert len(store.calls) == 2 + 3 + 3


@pytest.mark.parametrize("breaks_after", [1, 2, 3])
def test_a_tree_of_keys_that_breaks_off_is_listed_anew_and_nothing_is_told_twice(breaks_after: int) -> None:
    store = SilentStore(clock=Clock(), flat=True, breaks_after=breaks_after, breaks_once=True)
    store.names = {"a": _FILE, "a-b": _FILE, "a/": _DIRECTORY, "a/b": _FILE}
    found = [(entry.name, entry.kind) for entry in _patient(store).list_tree(BASE)]
    assert found == [("a", _FILE), ("a-b", _FILE), ("a", _DIRECTORY), ("a/b", _FILE)]
    assert store.calls == ["list"] * 2


def test_closing_reaches_the_client() -> None:
    store = _store()
    _patient(store).close()
    assert store.calls == ["close"]


def test_a_listing_goes_on_though_its_last_name_is_gone() -> None:
    store = _store("a", "b", "c", "d")
    store.breaks_after = 2
    listing = _patient(store).list(BASE)
    assert [next(listing).name, next(listing).name] == ["a", "b"]
    del store.names["b"]
    assert [entry.name for entry in listing] == ["c", "d"]


def test_a_listing_of_keys_goes_on_where_a_name_is_both_an_object_and_a_prefix() -> None:
    store = SilentStore(clock=Clock(), flat=True)
    store.names = {"a": _FILE, "a-b": _FILE, "a/": _DIRECTORY, "b": _FILE}
    everything = [Entry("a", _FILE), Entry("a-b", _FILE), Entry("a", _DIRECTORY), Entry("b", _FILE)]
    for breaks_after in (1, 2, 3):
        store.breaks_after, store.breaks_once = breaks_after, True
        assert list(_patient(store).list(BASE)) == everything
        assert store.calls == ["list"] * 2
        store.calls.clear()


def test_nothing_is_left_out_of_a_listing_that_did_not_break_off() -> None:
    class Unsorted(SilentStore):
        def list(self, path: object, *, start_from: str = "") -> Iterator[Entry]:
            del path, start_from
            yield from (Entry("b", _FILE), Entry("a", _FILE))

    assert len(list(_patient(Unsorted(clock=Clock())).list(BASE))) == 2


def test_a_listing_that_gets_on_slowly_is_not_given_up() -> None:
    store = _store(*(f"{number:02}" for number in range(20)))
    store.breaks_after = 2  # of which one is the last name of before
    assert len(list(_patient(store, patience=60.0).list(BASE))) == 20


def test_a_listing_that_gets_nowhere_is_given_up() -> None:
    store = _store("a", "b", "c")
    store.breaks_after = 1
    listing = _patient(store).list(BASE)
    assert next(listing).name == "a"
    with pytest.raises(Unreachable):
        list(listing)


def test_of_a_bulk_removal_what_was_not_answered_is_not_repeated() -> None:
    """Somebody may make it anew meanwhile: it is told as it is, and the next run looks."""
    store = _store("a", "b", "c")
    store.silent = 1
    paths = [BASE.child(name) for name in ("a", "b", "none", "c")]
    found = {deleted.path.name: deleted.error for deleted in _patient(store).delete_all(paths, below=BASE)}
    assert {name: type(error) for name, error in found.items()} == {
        "a": Unreachable,
        "b": type(None),
        "none": NotFound,
        "c": type(None),
    }
    assert (list(store.names), store.calls, store.clock.slept) == (["a"], ["delete"] * 4, [])


def test_a_removal_that_the_store_refused_for_now_is_repeated() -> None:
    """It did nothing: a NameNode in safe mode, or an object store that asks to slow down."""
    store = _store("a")
    store.busy = 3
    _patient(store).delete(_PATH, below=BASE)
    assert (store.calls, store.names) == (["delete"] * 4, {})


def test_a_removal_whose_end_was_refused_for_now_is_done_when_nothing_is_left() -> None:
    class Ended(SilentStore):
        def delete(self, path: CanonicalPath, *, below: CanonicalPath, look: Look | None = None) -> None:
            self.names.pop(path.name, None) if self.busy else None
            super().delete(path, below=below, look=look)

    store = Ended(clock=Clock(), names={"a": _FILE}, busy=1)
    _patient(store).delete(_PATH, below=BASE)
    assert store.names == {}


def test_of_a_bulk_removal_what_the_store_refused_for_now_is_repeated() -> None:
    store = _store("a", "b", "c")
    store.busy = 2
    paths = [BASE.child(name) for name in ("a", "b", "c")]
    found = list(_patient(store).delete_all(paths, below=BASE))
    assert {(each.path.name, each.error) for each in found} == {("a", None), ("b", None), ("c", None)}
    assert (store.calls, sum(store.clock.slept) > 0) == (["delete"] * 5, True)


def test_a_store_that_stays_busy_is_given_up_and_each_path_is_named() -> None:
    store = _store("a", "b")
    store.busy = 10**6
    paths = [_PATH, BASE.child("b")]
    found = list(_patient(store).delete_all(paths, below=BASE))
    assert [(each.path, type(each.error)) for each in found] == [(path, NotDone) for path in paths]
    assert sum(store.clock.slept) >= 120


def test_a_bulk_removal_that_is_given_up_names_each_path() -> None:
    store = _store("a", "b")
    store.silent = 10**6
    system, paths = _patient(store), [_PATH, BASE.child("b")]
    for _ in range(2):
        found = list(system.delete_all(iter(paths), below=BASE))
        assert [deleted.path for deleted in found] == paths
        assert {type(deleted.error) for deleted in found} == {Unreachable}
    assert len(store.names) == 2


def test_a_bulk_removal_that_breaks_off_names_each_path_once() -> None:
    class Breaking(SilentStore):
        def delete_all(
            self, paths: Iterable[CanonicalPath], *, below: CanonicalPath, first: str = ""
        ) -> Iterator[Deleted]:
            del below, first
            for path in paths:
                if path.name == "b":
                    raise Unreachable(path=path, detail="cut")
                yield Deleted(path, None)

    store = Breaking(clock=Clock())
    found = list(_patient(store).delete_all([BASE.child(name) for name in "abc"], below=BASE))
    assert [(deleted.path.name, type(deleted.error)) for deleted in found] == [
        ("a", type(None)),
        ("b", Unreachable),
        ("c", Unreachable),
    ]


def test_many_threads_wait_together_and_give_up_together() -> None:
    """Threads that find an answer must not pull the clock from under those that wait."""
    store = _store("a", "b")
    store.mute, store.takes = frozenset({_PATH}), 0.001
    system = _patient(store, patience=5.0)
    failures: list[BaseException] = []

    def ask(name: str) -> None:
        try:
            for _ in range(300):
                system.status(BASE.child(name))
        except Unreachable:
            return
        except BaseException as error:
            failures.append(error)
            raise

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        threads = [threading.Thread(target=ask, args=(name,)) for name in "ababababab"]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
    finally:
        sys.setswitchinterval(interval)
    assert failures == []
    assert not any(thread.is_alive() for thread in threads)


def test_a_store_that_one_view_has_given_up_is_not_waited_for_in_another() -> None:
    store, silence = _store("a"), Silence()
    store.silent = 10**9
    views = [
        PatientFileSystem(inner=store, check=no_check, now=store.clock.now, sleep=store.clock.sleep, silence=silence)
        for _ in range(2)
    ]
    with pytest.raises(Unreachable):
        views[0].status(_PATH)
    calls, seconds = len(store.calls), store.clock.seconds
    with pytest.raises(Unreachable):
        views[1].status(_PATH)
    assert (len(store.calls), store.clock.seconds) == (calls, seconds)
