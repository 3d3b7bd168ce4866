"""What WebHDFS's client makes of answers that a real NameNode does not give on demand."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

import pytest

from tests.integration.http_answers import Answer, WebServer, as_json, remote, serving
from toolkit.el import CanonicalPath
from toolkit.storage import (
    FileSystem,
    NotDone,
    NotFound,
    PermissionDenied,
    StorageError,
    StorageFailure,
    StorageSpec,
    Unreachable,
)
from toolkit.storage.local.file_system import no_check
from toolkit.storage.webhdfs.endpoints import session_of
from toolkit.storage.webhdfs.file_system import WebHdfsFileSystem, opened
from toolkit.storage.webhdfs.requests import NameNodes

_STATUS = {
    "type": "FILE",
    "length": 5,
    "modificationTime": 1500,
    "owner": "alice",
    "group": "staff",
    "permission": "1755",
}
_STANDBY = remote("org.apache.hadoop.ipc.StandbyException", "Operation category READ is not supported in state standby")
_BASE = CanonicalPath("webhdfs", "ns1", "/base")
_PATH = _BASE.child("x")


def _service(*nodes: WebServer | str) -> FileSystem:
    """A name service of these NameNodes."""
    conf = {"dfs.ha.namenodes.ns1": ",".join(f"nn{number}" for number in range(len(nodes)))}
    for number, node in enumerate(nodes):
        authority = node if isinstance(node, str) else node.authority
        conf[f"dfs.namenode.http-address.ns1.nn{number}"] = authority
    return opened(StorageSpec(scheme="webhdfs", authority="ns1", hadoop_conf=conf, user="alice"), no_check)


def _dead() -> str:
    """A port where nothing listens."""
    with serving(lambda _: Answer()) as web:
        return web.authority


def test_a_name_node_on_standby_is_passed_over_and_not_asked_again() -> None:
    with serving(lambda _: _STANDBY) as standby, serving(lambda _: as_json({"FileStatus": _STATUS})) as active:
        system = _service(standby, active)
        for _ in range(3):
            assert system.status(_PATH).permission == 0o1755
        assert (len(standby.seen), len(active.seen)) == (1, 3)


def test_a_change_goes_to_the_active_one_too() -> None:
    with serving(lambda _: _STANDBY) as standby, serving(lambda _: as_json({"boolean": True})) as active:
        _service(standby, _dead(), active).delete(_PATH, below=_BASE)
        assert active.seen == ["DELETE /webhdfs/v1/base/x?user.name=alice&op=DELETE&recursive=true"]


def test_when_none_is_active_the_store_is_unreachable() -> None:
    with serving(lambda _: _STANDBY) as one, serving(lambda _: _STANDBY) as two:
        with pytest.raises(Unreachable, match="standby"):
            _service(one, two).status(_PATH)
        assert (len(one.seen), len(two.seen)) == (1, 1)


def test_a_refusal_is_not_taken_to_another_name_node() -> None:
    denied = remote("org.apache.hadoop.security.AccessControlException", "Permission denied: user=alice")
    with serving(lambda _: denied) as one, serving(lambda _: as_json({"boolean": True})) as two:
        with pytest.raises(PermissionDenied, match="user=alice"):
            _service(one, two).delete(_PATH, below=_BASE)
        assert two.seen == []


def test_a_change_that_is_not_answered_in_time_is_not_sent_twice() -> None:
    """It may have taken effect; the next call begins at the other NameNode."""
    release = threading.Event()

    def frozen(_: str) -> Answer:
        release.wait(60)
        return Answer()

    with serving(frozen) as one, serving(lambda _: as_json({"boolean": True})) as two:
        urls = [f"http://{one.authority}", f"http://{two.authority}"]
        session = session_of(StorageSpec(scheme="webhdfs", authority="ns1", user="alice"), urls, {}, {})
        system = WebHdfsFileSystem(NameNodes(urls, session, seconds=0.3), no_check)
        begun = time.monotonic()
        with pytest.raises(Unreachable):
            system.delete(_PATH, below=_BASE)
        assert time.monotonic() - begun < 30
        assert two.seen == []
        system.delete(_PATH, below=_BASE)
        assert len(two.seen) == 1
        release.set()


def test_a_port_where_nothing_listens_is_unreachable_at_once() -> None:
    begun = time.monotonic()
    with pytest.raises(Unreachable, match="refused"):
        _service(_dead()).status(_PATH)
    assert time.monotonic() - begun < 20


def test_a_body_that_is_cut_off_is_not_taken_for_the_whole_file() -> None:
    with serving(lambda _: Answer(body=b"half", promised=8)) as web:
        stream = _service(web).read(_PATH)
        with stream, pytest.raises(Unreachable):
            stream.read()


def test_a_listing_that_is_cut_off_is_not_taken_for_the_whole_directory() -> None:
    begun = b'{"FileStatuses":{"FileStatus":[\n{"pathSuffix":"a","type":"FILE"},\n'
    with serving(lambda _: Answer(body=begun, promised=999)) as web, pytest.raises(Unreachable):
        list(_service(web).list(_BASE))
    with serving(lambda _: Answer(body=begun)) as web, pytest.raises(StorageError):
        list(_service(web).list(_BASE))


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (Answer(status=404, body=b"<html>no such page</html>"), StorageFailure),
        (Answer(status=200, body=b"<html>hello</html>"), StorageFailure),
        (as_json({"hello": 1}), StorageFailure),
        (as_json(None), StorageFailure),
        (as_json({"RemoteException": "odd"}, 500), StorageFailure),
        (Answer(status=401), PermissionDenied),
        (Answer(status=503, body=b"busy"), NotDone),
        (remote("java.io.FileNotFoundException", status=404), NotFound),
    ],
)
def test_only_webhdfs_itself_can_say_that_nothing_is_there(answer: Answer, kind: type[StorageError]) -> None:
    """A web server that is no WebHDFS knows no page of that name either, which says nothing about the data."""
    with serving(lambda _: answer) as web, pytest.raises(StorageError) as raised:
        _service(web).status(_PATH)
    assert type(raised.value) is kind


def test_an_address_that_the_name_node_composed_is_not_followed_to_another_file() -> None:
    """Java's address of a letter with its accent behind it is that of the one letter, which is another name."""
    path = _BASE.child("e\u0301")
    with serving(lambda _: Answer(body=b"data")) as data_node:
        location = f"http://{data_node.authority}/webhdfs/v1/base/%C3%A9?op=OPEN&delegation=abc"
        with serving(lambda _: Answer(status=307, location=location)) as web, _service(web).read(path) as stream:
            assert stream.read() == b"data"
        assert data_node.seen == ["GET /webhdfs/v1/base/e%CC%81?op=OPEN&delegation=abc"]


def test_a_message_never_holds_the_address_with_its_token() -> None:
    port = _dead()
    location = f"http://{port}/webhdfs/v1/base/x?op=OPEN&delegation=SECRET"
    with serving(lambda _: Answer(status=307, location=location)) as web, pytest.raises(Unreachable) as raised:
        _service(web).read(_PATH)
    assert "SECRET" not in str(raised.value)


def test_nothing_is_sent_when_the_effect_is_forbidden() -> None:
    def forbid() -> None:
        raise InterruptedError

    with serving(lambda _: as_json({"boolean": True, "FileStatus": {**_STATUS, "type": "DIRECTORY"}})) as web:
        spec = StorageSpec(scheme="webhdfs", authority=web.authority, user="alice")
        system = opened(spec, forbid)
        for change in (
            lambda: system.delete(_PATH, below=_BASE),
            lambda: system.remove_if_empty(_PATH, below=_BASE),
            lambda: system.mkdirs(_PATH),
            lambda: system.set_permission(_PATH, 0o755),
            lambda: system.set_owner(_PATH, owner="bob"),
        ):
            with pytest.raises(InterruptedError):
                change()
        assert [request for request in web.seen if not request.startswith("GET ")] == []


def _changes(system: FileSystem) -> list[Callable[[], object]]:
    return [
        lambda: system.delete(_PATH, below=_BASE),
        lambda: system.mkdirs(_PATH),
        lambda: system.rename(_PATH, _BASE.child("y")),
        lambda: system.set_permission(_PATH, 0o755),
        lambda: system.write(_PATH, [b"data"]),
        lambda: system.read(_PATH).read(),
        lambda: system.status(_PATH),
    ]


@pytest.mark.parametrize("status", [302, 303, 307])
def test_a_proxy_that_wants_a_sign_in_never_means_success(status: int) -> None:
    with serving(lambda _: Answer(status=status, location="/login?token=SECRET")) as web:
        for change in _changes(_service(web)):
            with pytest.raises(StorageFailure) as raised:
                change()
            assert "SECRET" not in str(raised.value)


def test_of_a_removal_and_a_new_directory_silence_confirms_nothing() -> None:
    with serving(lambda _: Answer()) as web:
        system = _service(web)
        with pytest.raises(StorageFailure, match="not that of WebHDFS"):
            system.delete(_PATH, below=_BASE)
        with pytest.raises(StorageFailure, match="not that of WebHDFS"):
            system.mkdirs(_PATH)
    with serving(lambda _: as_json({"boolean": "true"})) as web, pytest.raises(StorageFailure):
        _service(web).delete(_PATH, below=_BASE)


def test_an_answer_to_a_renaming_may_be_empty_but_not_a_no() -> None:
    def renamed(answer: Answer) -> Callable[[str], Answer]:
        found = as_json({"FileStatus": _STATUS})
        missing = remote("java.io.FileNotFoundException", status=404)
        return lambda requested: answer if "op=RENAME" in requested else missing if "/y" in requested else found

    with serving(renamed(Answer())) as web:
        _service(web).rename(_PATH, _BASE.child("y"))
    for answer in (as_json({"boolean": False}), as_json({}), Answer(status=302)):
        with serving(renamed(answer)) as web, pytest.raises(StorageError):
            _service(web).rename(_PATH, _BASE.child("y"))


def test_an_answer_that_never_ends_is_given_up_as_a_whole() -> None:
    with serving(lambda _: Answer(body=b" " * 1000, drip=0.1)) as web:
        urls = [f"http://{web.authority}"]
        session = session_of(StorageSpec(scheme="webhdfs", authority="ns1", user="alice"), urls, {}, {})
        system = WebHdfsFileSystem(NameNodes(urls, session, whole=0.3), no_check)
        begun = time.monotonic()
        with pytest.raises(Unreachable, match="may still happen"):
            system.delete(_PATH, below=_BASE)
        assert time.monotonic() - begun < 50  # the whole answer takes 100 s
