"""Servers whose bytes drip: what does not move is given up soon, and a file on a slow line is not (ADR 0024)."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import pytest

from tests.testbed.fault_proxy import FaultProxy, fault_proxy
from tests.testbed.faults import Effect, Fault
from tests.testbed.fixtures import FaultyS3
from tests.testbed.hdfs import HdfsCluster
from toolkit.el import CanonicalPath
from toolkit.storage import FileSystem, NotFound, StorageSpec, Unreachable
from toolkit.storage.calls import BoundedCalls
from toolkit.storage.local.file_system import no_check
from toolkit.storage.s3 import file_system as s3
from toolkit.storage.s3.bucket import Bucket
from toolkit.storage.s3.client import ClientMaker, S3Settings
from toolkit.storage.s3.file_system import S3FileSystem
from toolkit.storage.webhdfs import file_system as webhdfs
from toolkit.storage.webhdfs.endpoints import session_of
from toolkit.storage.webhdfs.file_system import WebHdfsFileSystem
from toolkit.storage.webhdfs.requests import NameNodes

_CALL_SECONDS, _SOON = 2.0, 60
_MIB = 1024 * 1024
_LARGE = bytes(range(256)) * (4 * _MIB // 256)


@dataclass(frozen=True, kw_only=True)
class Dripping:
    """A real store behind a proxy for the bytes of its files.

    Attributes:
        system: the way through the proxy; a call may take two seconds.
        patient: the same with more time, for what a test prepares.
        base: an empty place.
        bodies: where the faults are planned.
    """

    system: FileSystem
    patient: FileSystem
    base: CanonicalPath
    bodies: FaultProxy

    def put(self) -> CanonicalPath:
        """A large file."""
        path = self.base.child("file")
        self.patient.write(path, [_LARGE])
        return path


def _s3(request: pytest.FixtureRequest) -> Iterator[Dripping]:
    faulty: FaultyS3 = request.getfixturevalue("s3_faults")
    bucket: str = request.getfixturevalue("s3_bucket")
    spec = StorageSpec(scheme="s3", authority=bucket, hadoop_conf=faulty.store.settings)
    settings = S3Settings.of(spec)
    maker = ClientMaker(settings, no_check, seconds=_CALL_SECONDS)
    system = S3FileSystem(Bucket(bucket, maker, BoundedCalls(_CALL_SECONDS)))
    base = CanonicalPath("s3", bucket, "/dripping")
    yield Dripping(system=system, patient=s3.opened(spec, no_check), base=base, bodies=faulty.proxy)


def _webhdfs(request: pytest.FixtureRequest) -> Iterator[Dripping]:
    cluster: HdfsCluster = request.getfixturevalue("hdfs")
    base = CanonicalPath.parse(request.getfixturevalue("hdfs_dir"))
    with fault_proxy(cluster.data_http) as data_node, fault_proxy(cluster.http, data_node.port) as name_node:
        authority = f"127.0.0.1:{name_node.port}"
        spec = StorageSpec(scheme="webhdfs", authority=authority, user=cluster.superuser)
        urls = [f"http://{authority}"]
        system = WebHdfsFileSystem(NameNodes(urls, session_of(spec, urls, {}, {}), seconds=_CALL_SECONDS), no_check)
        base = CanonicalPath("webhdfs", authority, base.path)
        yield Dripping(system=system, patient=webhdfs.opened(spec, no_check), base=base, bodies=data_node)


@pytest.fixture(params=[pytest.param(_s3, id="s3"), pytest.param(_webhdfs, id="webhdfs")])
def store(request: pytest.FixtureRequest) -> Iterator[Dripping]:
    opened: Callable[[pytest.FixtureRequest], Iterator[Dripping]] = request.param
    yield from opened(request)


@contextmanager
def _given_up() -> Iterator[None]:
    """The block ends soon, with the error of a store that does not answer."""
    began = time.monotonic()
    with pytest.raises(Unreachable):
        yield
    assert time.monotonic() - began < _SOON


def test_a_body_that_drips_is_given_up(store: Dripping) -> None:
    path = store.put()
    store.bodies.add(Fault(effect=Effect.DRIP, method="GET", path="/file$", seconds=0.3))
    with store.system.read(path) as stream:
        with _given_up():
            stream.read()
        began = time.monotonic()
        with pytest.raises(Unreachable, match="open it again"):
            stream.read(1)
    assert time.monotonic() - began < _CALL_SECONDS


@pytest.mark.extended
def test_a_read_that_was_given_up_leaves_no_thread_behind(store: Dripping) -> None:
    path = store.put()
    store.bodies.add(Fault(effect=Effect.DRIP, method="GET", path="/file$", seconds=0.3))
    stream = store.system.read(path)
    before = _bounded_threads()
    with pytest.raises(Unreachable):
        stream.read()
    stream.close()
    end = time.monotonic() + 60
    while _bounded_threads() - before and time.monotonic() < end:
        time.sleep(0.05)
    assert len(_bounded_threads() - before) <= 1  # one that waits for the next call


@pytest.mark.extended
def test_a_large_file_on_a_slow_line_is_read(store: Dripping) -> None:
    path = store.put()
    store.bodies.add(Fault(effect=Effect.DRIP, method="GET", path="/file$", seconds=0.05, piece=64 * 1024))
    began = time.monotonic()
    with store.system.read(path) as stream:
        assert stream.read() == _LARGE
    assert time.monotonic() - began > 1.25 * _CALL_SECONDS


@pytest.mark.extended
def test_an_upload_whose_answer_drips_is_given_up(store: Dripping) -> None:
    store.bodies.add(Fault(effect=Effect.DRIP_WHOLE, method="PUT", seconds=0.5))
    with _given_up():
        store.system.write(store.base.child("file"), [_LARGE])
    store.bodies.clear()
    store.system.write(store.base.child("other"), [b"next"])


@pytest.mark.extended
def test_an_upload_that_is_not_taken_is_given_up(store: Dripping) -> None:
    store.bodies.add(Fault(effect=Effect.SIP, method="PUT", seconds=0.3))
    with _given_up():
        store.system.write(store.base.child("file"), [_LARGE] * 4)


@pytest.mark.extended
def test_a_large_file_goes_up_a_slow_line(store: Dripping) -> None:
    store.bodies.add(Fault(effect=Effect.SIP, method="PUT", seconds=0.02, piece=64 * 1024))
    began = time.monotonic()
    store.system.write(store.base.child("file"), [_LARGE, _LARGE])
    assert time.monotonic() - began > 1.25 * _CALL_SECONDS
    store.bodies.clear()
    assert store.system.status(store.base.child("file")).size == 2 * len(_LARGE)


@pytest.mark.extended
def test_a_source_that_takes_its_time_is_waited_for(store: Dripping) -> None:
    def chunks() -> Iterator[bytes]:
        yield b"first"
        time.sleep(1.5 * _CALL_SECONDS)
        yield b"second"

    store.system.write(store.base.child("file"), chunks())
    with store.system.read(store.base.child("file")) as stream:
        assert stream.read() == b"firstsecond"


def test_a_source_that_fails_raises_its_own_error_and_leaves_nothing(store: Dripping) -> None:
    def chunks() -> Iterator[bytes]:
        yield _LARGE
        raise LookupError

    with pytest.raises(LookupError):
        store.system.write(store.base.child("file"), chunks())
    with pytest.raises(NotFound):
        store.system.status(store.base.child("file"))


def _bounded_threads() -> set[int | None]:
    return {thread.ident for thread in threading.enumerate() if thread.name == "feedctl-bounded"}
