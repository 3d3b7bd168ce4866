"""No server that feedctl asks makes a run hold its answer without bound, or end in a traceback.

Against: whoever answers in the place of a NameNode, a DataNode or an object store, or has taken one over. Defended: an
answer costs memory up to a limit, whatever its status, and what is longer, deeper or something else is a storage error
that names the path. Not defended: a directory listing with millions of entries that are all valid costs their memory.
"""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

import pytest

from tests.integration.http_answers import Answer, serving
from toolkit.el import CanonicalPath
from toolkit.storage import FileSystem, StorageError, StorageFailure, StorageSpec
from toolkit.storage.local.file_system import no_check
from toolkit.storage.s3.bucket import Bucket
from toolkit.storage.s3.client import ClientMaker, S3Settings
from toolkit.storage.webhdfs import listing
from toolkit.storage.webhdfs.file_system import opened

MOST_MEMORY = 64 << 20
_BASE = CanonicalPath("webhdfs", "ns1", "/base")
_PATH = _BASE.child("x")


def _web_hdfs(authority: str) -> FileSystem:
    conf = {"dfs.ha.namenodes.ns1": "nn0", "dfs.namenode.http-address.ns1.nn0": authority}
    return opened(StorageSpec(scheme="webhdfs", authority="ns1", hadoop_conf=conf, user="alice"), no_check)


@contextmanager
def _bounded_memory() -> Iterator[None]:
    tracemalloc.start()
    try:
        yield
        assert tracemalloc.get_traced_memory()[1] < MOST_MEMORY
    finally:
        tracemalloc.stop()


CALLS: dict[str, Callable[[FileSystem], object]] = {
    "status": lambda system: system.status(_PATH),
    "list": lambda system: list(system.list(_PATH)),
    "checksum": lambda system: system.checksum(_PATH),
    "mkdirs": lambda system: system.mkdirs(_PATH),
    "write": lambda system: system.write(_PATH, [b"x"]),
}

ENDLESS = {
    "a text": Answer(body=b'{"FileStatuses":{"FileStatus":["', endless=b"x" * 65536),
    "lists": Answer(body=b'{"FileStatuses":{"FileStatus":[', endless=b"[" * 65536),
    "blanks": Answer(endless=b" " * 65536),
    "a refusal": Answer(status=403, body=b'{"RemoteException":"', endless=b"x" * 65536),
    "a standby": Answer(status=503, endless=b"x" * 65536),
    "a redirection": Answer(status=307, location="http://127.0.0.1:1/webhdfs/v1/base/x", endless=b"x" * 65536),
    "a redirection that is no gzip": Answer(
        status=307, location="http://127.0.0.1:1/x", headers=(("content-encoding", "gzip"),), endless=b"x" * 65536
    ),
    "a redirection to nowhere": Answer(status=307, endless=b"x" * 65536),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
@pytest.mark.parametrize("answer", ENDLESS.values(), ids=ENDLESS)
def test_an_answer_of_web_hdfs_without_end_is_not_held(answer: Answer, call: Callable[[FileSystem], object]) -> None:
    with serving(lambda _: answer) as web:
        with _bounded_memory(), pytest.raises(StorageError, match="/base/x"):
            call(_web_hdfs(web.authority))
        assert web.sent < MOST_MEMORY


DEEP = b"[" * 100_000 + b"]" * 100_000
NESTED = {
    "all": DEEP,
    "a status": b'{"FileStatus":' + DEEP + b"}",
    "an entry": b'{"FileStatuses":{"FileStatus":[' + DEEP + b"]}}",
    "an object in an entry": b'{"FileStatuses":{"FileStatus":[{"pathSuffix":' + DEEP + b"}]}}",
    "not so deep": b"[" * 900 + b"]" * 900,
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
@pytest.mark.parametrize("status", [200, 403])
@pytest.mark.parametrize(
    "body",
    [
        DEEP,
        b'{"FileStatus":' + DEEP + b"}",
        b'{"FileStatuses":{"FileStatus":[' + DEEP + b"]}}",
        b"[" * 900 + b"]" * 900,
    ],
    ids=["all", "a status", "an entry", "nearly"],
)
def test_an_answer_of_web_hdfs_that_is_nested_deep_is_a_storage_error(
    body: bytes, status: int, call: Callable[[FileSystem], object]
) -> None:
    with serving(lambda _: Answer(status=status, body=body)) as web, pytest.raises(StorageError) as raised:
        call(_web_hdfs(web.authority))
    assert len(str(raised.value)) < 1000


def test_very_many_small_values_in_an_answer_of_web_hdfs_are_refused() -> None:
    body = b'{"FileStatus":[' + b"[]," * 600_000 + b"[]]}"
    with serving(lambda _: Answer(body=body)) as web, pytest.raises(StorageFailure, match="more than 1,000,000 values"):
        _web_hdfs(web.authority).status(_PATH)


def test_a_listing_of_more_entries_than_a_name_node_can_have_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listing, "_MOST_ENTRIES", 1000)
    entry = b'{"pathSuffix":"a","type":"DIRECTORY"},'
    answer = Answer(body=b'{"FileStatuses":{"FileStatus":[', endless=entry * 1000)
    with serving(lambda _: answer) as web, pytest.raises(StorageFailure, match="more than 1000 entries"):
        list(_web_hdfs(web.authority).list(_PATH))


S3_CALLS: dict[str, Callable[[Bucket], object]] = {
    "page": lambda bucket: bucket.page("x/"),
    "read": lambda bucket: bucket.opened("x"),
    "uploads": lambda bucket: list(bucket.uploads("x")),
    "remove": lambda bucket: bucket.remove(["x"]),
}
S3_ENDLESS = {
    "a name": Answer(body=b"<ListBucketResult><Name>", endless=b"x" * 65536),
    "elements": Answer(body=b"<ListBucketResult>", endless=b"<a>" * 20000),
    "blanks": Answer(endless=b" " * 65536),
    "a refusal": Answer(status=403, body=b"<Error><Code>AccessDenied</Code><Message>", endless=b"x" * 65536),
}


@pytest.fixture
def _credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "x")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "y")


def _bucket(authority: str) -> Bucket:
    settings = S3Settings(bucket="b", endpoint=f"http://{authority}", path_style=True)
    return Bucket("b", ClientMaker(settings, no_check, seconds=10))


@pytest.mark.usefixtures("_credentials")
@pytest.mark.parametrize("call", S3_CALLS.values(), ids=S3_CALLS)
@pytest.mark.parametrize("answer", S3_ENDLESS.values(), ids=S3_ENDLESS)
def test_an_answer_of_s3_without_end_is_not_held(answer: Answer, call: Callable[[Bucket], object]) -> None:
    if call is S3_CALLS["read"] and answer.status == 200:
        pytest.skip("the data of an object, which is read in pieces")
    with serving(lambda _: answer) as web:
        with _bounded_memory(), pytest.raises(StorageError):
            call(_bucket(web.authority))
        assert web.sent < MOST_MEMORY


@pytest.mark.usefixtures("_credentials")
@pytest.mark.parametrize("call", S3_CALLS.values(), ids=S3_CALLS)
@pytest.mark.parametrize("status", [200, 403])
@pytest.mark.parametrize("around", ["Error", "ListBucketResult", "Message"])
def test_an_answer_of_s3_that_is_nested_deep_is_a_storage_error(
    around: str, status: int, call: Callable[[Bucket], object]
) -> None:
    deep = b"<Message>" * 20_000 + b"</Message>" * 20_000
    answer = Answer(status=status, body=f"<{around}>".encode() + deep + f"</{around}>".encode())
    if call is S3_CALLS["read"] and status == 200:
        pytest.skip("the data of an object, which is read in pieces")
    with serving(lambda _: answer) as web, suppress(StorageError):
        call(_bucket(web.authority))  # an element that nobody knows is passed over
