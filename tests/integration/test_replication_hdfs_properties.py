"""Tests of the properties of a feed that only copies between HDFS keep, on a real one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from uuid import uuid4

import hdfs_native
import pytest

from tests.integration.hdfs_admin import dfs
from tests.integration.replications import KEYS, End, Replication, hour
from tests.integration.test_replication_attributes import INSTANCE, asking
from tests.integration.test_replication_stores import local, on_hdfs
from tests.testbed.hdfs import HdfsCluster
from toolkit.storage import BlockLayout, raw_path

pytestmark = [pytest.mark.slow]
PART = f"{INSTANCE}/part-0"
LAYOUT = BlockLayout(2 << 20, 2)


def on_webhdfs(cluster: HdfsCluster) -> End:
    """A new directory on an HDFS that is read and written over HTTP."""
    path = f"/copies/{uuid4().hex}"
    hdfs_native.Client(cluster.uri).mkdirs(path, create_parent=True)
    return End(uri=f"{cluster.webhdfs}{path}")


def lay_out(copying: Replication) -> None:
    """Give a file of the source a layout that is not the default."""
    source = copying.sources["primary"]
    source.system.write_in_blocks(source.at(PART), [hour(0)[PART]], LAYOUT)


@pytest.mark.parametrize(
    ("end", "properties"),
    [
        pytest.param(on_hdfs, (), id="hdfs"),
        pytest.param(
            on_webhdfs, ("preserveChecksumType", "tdeEncryptionEnabled"), id="webhdfs", marks=pytest.mark.extended
        ),
    ],
)
def test_a_copy_gets_the_layout_of_its_source_and_below_the_raw_directory_its_raw_attributes(
    hdfs: HdfsCluster, tmp_path: Path, end: Callable[[HdfsCluster], End], properties: tuple[str, ...]
) -> None:
    requested = ("preserveBlockSize", "preserveReplicationNumber", *properties)
    copying = asking(tmp_path, end(hdfs), end(hdfs), *requested)
    source, target = copying.sources["primary"], copying.target
    lay_out(copying)
    if properties:
        source.system.set_xattr(raw_path(source.at(PART)), "raw.test", b"\x00key")
    assert copying.run(time=KEYS[0])[0] == 0
    assert target.files(hidden=True) == hour(0)
    assert target.system.status(target.at(PART)).layout == LAYOUT
    other = f"{INSTANCE}/deep/part-1"
    assert target.system.status(target.at(other)).layout == source.system.status(source.at(other)).layout
    if properties:
        assert target.system.xattrs(raw_path(target.at(PART))) == {"raw.test": b"\x00key"}
        assert copying.feedctl("verify", "clicks", "--cluster", "backup")[0] == 0
        source.fill({other: b"changed"})
        assert copying.run("--start", KEYS[0], "--rehash")[0] == 0
        assert target.files() == hour(0) | {other: b"changed"}
        assert target.system.xattrs(raw_path(target.at(PART))) == {"raw.test": b"\x00key"}


@pytest.mark.extended
def test_what_a_store_or_its_protocol_cannot_do_is_refused_in_the_plan(hdfs: HdfsCluster, tmp_path: Path) -> None:
    layout, checksum, raw = "preserveBlockSize", "preserveChecksumType", "tdeEncryptionEnabled"
    native = " by its own protocol; WebHDFS"
    cases = [
        (local(tmp_path / "from"), on_hdfs(hdfs), layout, "not_preserved", "the store of the source has none;"),
        (on_hdfs(hdfs), local(tmp_path / "to"), layout, "not_preserved", "the store of the target has none;"),
        (on_hdfs(hdfs), on_webhdfs(hdfs), checksum, "not_preserved", f"the store of the source has none{native}"),
        (on_webhdfs(hdfs), on_hdfs(hdfs), checksum, "not_preserved", f"the store of the target has none{native}"),
        (on_webhdfs(hdfs), on_hdfs(hdfs), raw, "not_copied_raw", "give the target cluster a webhdfs: address"),
    ]
    for number, (source, target, name, code, message) in enumerate(cases):
        directory = tmp_path / str(number)
        directory.mkdir()
        copying = (
            asking(directory, source, target, name, "preserveOrWarn")
            if name == raw
            else asking(directory, source, target, name)
        )
        for more in (["--dry-run"], []):
            exit_code, result = copying.run(*more, time=KEYS[0])
            failed = result["instances"][0]["failure"]
            assert (exit_code, failed["code"], target.files(hidden=True)) == (1, code, {}), name
            assert message in failed["message"]


@pytest.mark.extended
def test_only_the_superuser_copies_below_the_raw_directory(
    hdfs: HdfsCluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copying = asking(tmp_path, on_webhdfs(hdfs), on_webhdfs(hdfs), "tdeEncryptionEnabled")
    monkeypatch.setenv("HADOOP_USER_NAME", "eve")
    code, result = copying.run(time=KEYS[0])
    assert (code, result["instances"][0]["failure"]["code"]) == (1, "not_copied_raw")
    assert "only the superuser of HDFS at the source" in result["instances"][0]["failure"]["message"]


@pytest.mark.extended
def test_a_checksum_of_another_type_is_no_copy(hdfs: HdfsCluster, tmp_path: Path) -> None:
    copying = asking(tmp_path, on_webhdfs(hdfs), on_webhdfs(hdfs), "preserveChecksumType")
    source, file = copying.sources["primary"], tmp_path / "part"
    file.write_bytes(hour(0)[PART])
    dfs(hdfs, "-Ddfs.checksum.type=CRC32", "-put", "-f", str(file), f"{hdfs.uri}{source.at(PART).path}")
    code, result = copying.run(time=KEYS[0])
    assert (code, result["items"][0]["code"], copying.target.files(hidden=True)) == (1, "not_preserved", {})
    assert "its checksum is CRC32C, and that of the source CRC32" in result["items"][0]["message"].replace(
        "of type ", ""
    )


@pytest.mark.extended
@pytest.mark.parametrize("is_published", [False, True])
def test_files_that_cannot_be_read_are_named_and_the_others_are_copied(
    hdfs: HdfsCluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, is_published: bool
) -> None:
    more = ("publishIncomplete",) if is_published else ()
    copying = asking(tmp_path, on_hdfs(hdfs), on_hdfs(hdfs), "ignoreErrors", *more)
    source, target = copying.sources["primary"], copying.target
    source.system.set_permission(source.at(PART), 0o600)
    target.system.set_permission(target.root, 0o777)
    lose_block(hdfs, source, f"{INSTANCE}/lost")
    monkeypatch.setenv("HADOOP_USER_NAME", "eve")
    code, result = copying.run(time=KEYS[0])
    rest = {name: content for name, content in hour(0).items() if name != PART}
    message = result["instances"][0]["notes"][0] if is_published else result["items"][0]["message"]
    assert "2 files failed" in message
    assert "all: lost, part-0" in message
    if is_published:
        assert (code, target.files(hidden=True)) == (0, rest)
    else:
        del rest[f"{INSTANCE}/_SUCCESS"]
        assert (code, result["items"][0]["code"], target.files(hidden=True)) == (1, "files_failed", rest)


def lose_block(hdfs: HdfsCluster, end: End, name: str) -> None:
    """Write a file, and remove its only block from the disk of the DataNode."""
    mark = uuid4().hex.encode()
    end.fill({name: mark})
    (block,) = (each for each in hdfs.directory.glob("data/current/BP-*/**/blk_*") if each.read_bytes() == mark)
    block.unlink()
