"""The mount that holds a path is found, and shared disks are told from local ones."""

from __future__ import annotations

from pathlib import Path, PurePath

import pytest

from toolkit.ledger.sqlite_place import Mount, mount_of, own_mounts, read_mounts, shared_disk

INFO = r"""
22 27 0:21 / /proc rw,relatime shared:5 - proc proc rw
27 1 254:0 / / rw,relatime - ext4 /dev/vda rw,discard
41 27 0:35 / /home rw,nosuid shared:20 master:3 - nfs4 filer:/home rw,vers=4.2
42 41 8:17 / /home/local\040disk rw - xfs /dev/sdb1 rw
43 27 0:36 /team /mnt/team rw,relatime - cifs //filer/team rw
44 27 0:50 / /data rw - autofs systemd-1 rw,fd=30
45 27 8:33 / /data rw - btrfs /dev/sdc1 rw
a line of a later kernel
46 27 0:60
"""

MOUNTS = tuple(read_mounts(INFO))


def test_the_mounts_are_read_with_their_types_and_escapes() -> None:
    assert [(str(each.point), each.kind) for each in MOUNTS] == [
        ("/proc", "proc"),
        ("/", "ext4"),
        ("/home", "nfs4"),
        ("/home/local disk", "xfs"),
        ("/mnt/team", "cifs"),
        ("/data", "autofs"),
        ("/data", "btrfs"),
    ]


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/var/lib/ledger.db", "ext4"),
        ("/homework/ledger.db", "ext4"),
        ("/home/ann/ledger.db", "nfs4"),
        ("/home", "nfs4"),
        ("/home/local disk/ledger.db", "xfs"),
        ("/data/ledger.db", "btrfs"),
    ],
)
def test_the_deepest_and_newest_mount_holds_a_path(path: str, kind: str) -> None:
    found = mount_of(PurePath(path), MOUNTS)
    assert found is not None
    assert found.kind == kind


def test_without_mounts_nobody_can_tell() -> None:
    assert mount_of(PurePath("/data"), ()) is None


@pytest.mark.parametrize(
    "kind",
    [
        *("nfs", "nfs4", "cifs", "smb3", "smbfs", "ceph", "lustre", "glusterfs", "gpfs", "beegfs", "9p", "afs"),
        *("fuse.sshfs", "fuse.s3fs", "fuse.glusterfs", "fuse"),
    ],
)
def test_disks_of_other_machines_are_shared(kind: str) -> None:
    assert Mount(point=PurePath("/"), kind=kind).is_shared


@pytest.mark.parametrize("kind", ["ext4", "xfs", "btrfs", "zfs", "tmpfs", "overlay", "fuseblk", "fuse.fuse-overlayfs"])
def test_disks_of_this_machine_are_not(kind: str) -> None:
    assert not Mount(point=PurePath("/"), kind=kind).is_shared


def test_a_file_that_is_not_there_yet_is_looked_up_by_where_it_will_be(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "share", target_is_directory=True)
    mounts = [Mount(point=PurePath("/"), kind="ext4"), Mount(point=tmp_path / "share", kind="nfs4")]
    assert shared_disk(tmp_path / "link" / "folder" / "ledger.db", mounts) == "nfs4"
    assert shared_disk(tmp_path / "folder" / "ledger.db", mounts) is None


@pytest.mark.skipif(not Path("/proc/self/mountinfo").exists(), reason="this system has no mountinfo")
def test_this_process_sees_a_root() -> None:
    assert PurePath("/") in [each.point for each in own_mounts()]
