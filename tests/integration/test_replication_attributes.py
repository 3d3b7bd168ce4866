"""Tests of what a copy keeps beside bytes, and what becomes of one that cannot."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from tests.integration.replications import KEYS, End, Replication, hour
from tests.integration.test_replication_stores import local, on_hdfs, on_s3
from tests.testbed.hdfs import HdfsCluster
from tests.testbed.s3 import S3Store
from toolkit.storage import StorageError

INSTANCE = "clicks/2026-03-01-00"
ACL = ("user::rw-", "user:eve:r--", "group::r--", "mask::r--", "other::---")
_OF_DIRECTORY = ("user::rwx", "user:eve:r-x", "group::r-x", "mask::r-x", "other::---")
DIRECTORY_ACL = (*_OF_DIRECTORY, *(f"default:{entry}" for entry in _OF_DIRECTORY))


def asking(directory: Path, source: End, target: End, *properties: str) -> Replication:
    """Copies with properties that are true."""
    requested = ", ".join(f"{name}: true" for name in properties)
    more = f"availability_flag: _SUCCESS\nproperties: {{{requested}}}"
    source.fill(hour(0))
    return Replication(directory=directory, sources={"primary": source}, target=target, more=more)


def test_directories_are_kept_as_files_are_and_the_instance_itself_too(tmp_path: Path) -> None:
    copying = asking(tmp_path, local(tmp_path / "from"), local(tmp_path / "to"), "preservePermission")
    modes = {INSTANCE: 0o750, f"{INSTANCE}/deep": 0o500, f"{INSTANCE}/deep/part-1": 0o604}
    for name, mode in modes.items():
        (tmp_path / "from" / name).chmod(mode)
    assert copying.run(time=KEYS[0])[0] == 0
    assert {name: (tmp_path / "to" / name).stat().st_mode & 0o777 for name in modes} == modes


def test_extended_attributes_are_kept(tmp_path: Path) -> None:
    copying = asking(tmp_path, local(tmp_path / "from"), local(tmp_path / "to"), "preserveXattr")
    source = copying.sources["primary"]
    try:
        source.system.set_xattr(source.at(f"{INSTANCE}/part-0"), "user.origin", b"\x00colo 7")
    except StorageError:
        pytest.skip("this disk has no extended attributes")
    assert copying.run(time=KEYS[0])[0] == 0
    assert os.getxattr(tmp_path / "to" / INSTANCE / "part-0", "user.origin") == b"\x00colo 7"


def test_what_a_store_has_not_fails_before_the_first_file_or_is_a_note_as_the_feed_says(tmp_path: Path) -> None:
    copying = asking(tmp_path, local(tmp_path / "from"), local(tmp_path / "to"), "preserveAcl")
    code, result = copying.run(time=KEYS[0])
    assert (code, result["instances"][0]["failure"]["code"], copying.target.files(hidden=True)) == (
        1,
        "not_preserved",
        {},
    )
    assert "preserveAcl: the store of the source has none" in result["instances"][0]["failure"]["message"]
    warning = replace(
        copying, more="availability_flag: _SUCCESS\nproperties: {preserveAcl: true, preserveOrWarn: true}"
    )
    code, result = warning.run(time=KEYS[0])
    assert (code, copying.target.files()) == (0, hour(0))
    assert "preserveAcl" in result["instances"][0]["notes"][0]


@pytest.mark.slow
def test_an_object_store_that_has_no_permissions_says_so(s3: S3Store, s3_bucket: str, tmp_path: Path) -> None:
    copying = asking(tmp_path, local(tmp_path / "from"), on_s3(s3, s3_bucket), "preservePermission", "preserveTimes")
    code, result = copying.run(time=KEYS[0])
    assert (code, result["instances"][0]["failure"]["code"], copying.target.files(hidden=True)) == (
        1,
        "not_preserved",
        {},
    )
    assert "preservePermission, preserveTimes: the store of the target" in result["instances"][0]["failure"]["message"]


@pytest.mark.slow
@pytest.mark.extended
def test_access_control_lists_are_kept_from_one_hdfs_to_another(
    hdfs: HdfsCluster, other_hdfs: HdfsCluster, tmp_path: Path
) -> None:
    copying = asking(tmp_path, on_hdfs(hdfs), on_hdfs(other_hdfs), "preserveAcl", "preservePermission")
    source, target = copying.sources["primary"], copying.target
    acls = {f"{INSTANCE}/part-0": ACL, f"{INSTANCE}/deep": DIRECTORY_ACL, f"{INSTANCE}/_SUCCESS": ()}
    for name, entries in acls.items():
        source.system.set_acl(source.at(name), entries)
    assert copying.run(time=KEYS[0])[0] == 0
    assert {name: set(target.system.acl(target.at(name))) for name in acls} == {
        name: set(entries) for name, entries in acls.items()
    }
    assert target.files(hidden=True) == hour(0)
