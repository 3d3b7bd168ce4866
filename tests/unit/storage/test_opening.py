"""What is asked before changes, and what while a silent store is waited for."""

from __future__ import annotations

from toolkit.storage import StorageSpec, open_file_system
from toolkit.storage.patient import PatientFileSystem

_BUCKET = StorageSpec(scheme="s3", authority="bucket")


def test_waiting_for_a_silent_store_is_no_change() -> None:
    asked = list[str]()
    system = open_file_system(
        _BUCKET, before_effect=lambda: asked.append("change"), while_waiting=lambda: asked.append("wait")
    )
    assert isinstance(system, PatientFileSystem)
    system.pause(0.001)
    assert asked == ["wait"]


def test_who_says_nothing_of_waiting_is_asked_as_before_a_change() -> None:
    asked = list[str]()
    system = open_file_system(_BUCKET, before_effect=lambda: asked.append("change"))
    assert isinstance(system, PatientFileSystem)
    system.pause(0.001)
    assert asked == ["change"]
