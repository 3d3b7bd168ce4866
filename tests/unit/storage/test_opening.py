"""Tests of what is asked before changes, and what while a silent store is waited for."""

from __future__ import annotations

from toolkit.storage import FileSystem, StorageSpec, close_clients, open_file_system
from toolkit.storage.patient import PatientFileSystem
from toolkit.storage.webhdfs.file_system import WebHdfsFileSystem

_BUCKET = StorageSpec(scheme="s3", authority="bucket")


def test_waiting_for_a_silent_store_is_no_change() -> None:
    calls = list[str]()
    system = open_file_system(
        _BUCKET, before_effect=lambda: calls.append("change"), while_waiting=lambda: calls.append("wait")
    )
    assert isinstance(system, PatientFileSystem)
    system.pause(0.001)
    assert calls == ["wait"]


def test_who_says_nothing_of_waiting_is_asked_as_before_a_change() -> None:
    calls = list[str]()
    system = open_file_system(_BUCKET, before_effect=lambda: calls.append("change"))
    assert isinstance(system, PatientFileSystem)
    system.pause(0.001)
    assert calls == ["change"]


def test_clients_that_were_closed_are_not_handed_out_again() -> None:
    def client() -> FileSystem:
        system = open_file_system(StorageSpec(scheme="webhdfs", authority="closed-host:1"))
        assert isinstance(system, PatientFileSystem)
        assert isinstance(system.inner, WebHdfsFileSystem)
        return system.inner

    before = client()
    close_clients()
    assert vars(client())["_name_nodes"] is not vars(before)["_name_nodes"]
