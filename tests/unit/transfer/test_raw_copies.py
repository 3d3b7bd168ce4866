"""Copies of encrypted bytes as they are: never to a place where readers would take them for data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import pytest

from tests.unit.mirror.memory_hdfs import MemoryHdfs, Node
from toolkit.el import CanonicalPath
from toolkit.storage import FileStatus, raw_path
from toolkit.transfer.copier import Copier
from toolkit.transfer.plan import CreateOptions, FileCopy
from toolkit.transfer.raw_copies import refuse_raw

_INFO = "raw.hdfs.crypto.file.encryption.info"
_SOURCE, _TARGET = CanonicalPath("webhdfs", "one", "/src"), CanonicalPath("webhdfs", "two", "/dst")


@dataclass
class _Zones(MemoryHdfs):
    """An HDFS with encryption zones, whose files are seen below the raw directory too."""

    zones: tuple[str, ...] = ()
    attributes: dict[str, dict[str, bytes]] = field(default_factory=dict)
    capabilities = replace(MemoryHdfs.capabilities, raw=True)

    def _plain(self, path: CanonicalPath) -> CanonicalPath:
        return CanonicalPath(path.scheme, path.authority, path.path.removeprefix("/.reserved/raw"))

    def find(self, path: CanonicalPath) -> Node:
        return super().find(self._plain(path))

    def status(self, path: CanonicalPath) -> FileStatus:
        is_inside = any(f"{self._plain(path).path}/".startswith(f"{zone}/") for zone in self.zones)
        return replace(super().status(path), is_encrypted=is_inside)

    def may_use_raw(self, path: CanonicalPath) -> bool:
        del path
        return True

    def xattrs(self, path: CanonicalPath) -> Mapping[str, bytes]:
        return self.attributes.get(path.path, {})

    def set_xattr(self, path: CanonicalPath, name: str, value: bytes) -> None:
        self.attributes.setdefault(path.path, {})[name] = value


@pytest.mark.parametrize(
    ("zone_at_target", "code"), [("/dst/secret", ""), ("", "not_copied_raw")], ids=["zone", "no zone"]
)
def test_ciphertext_of_a_zone_in_the_source_is_not_copied_out_of_a_zone(zone_at_target: str, code: str) -> None:
    one, two = _Zones(zones=("/src/secret",)), _Zones(zones=(zone_at_target,) if zone_at_target else ())
    origin, place = raw_path(_SOURCE).child("secret").child("f"), raw_path(_TARGET).child("secret").child("f")
    one.mkdirs(_SOURCE.child("secret"))
    one.write(_SOURCE.child("secret").child("f"), [b"ciphertext"])
    one.set_xattr(origin, _INFO, b"key")
    two.mkdirs(_TARGET.child("secret"))
    refuse_raw(lambda path: one if path.authority == "one" else two, _SOURCE, _TARGET)  # neither is in a zone itself
    copier = Copier(source=one, target=two, check=lambda: None, create=CreateOptions(raw=True))
    copied = copier.copy(FileCopy(origin, place, 10))
    assert (copied.code, copied.is_of_source) == (code, False)
    assert [entry.name for entry in two.list(_TARGET.child("secret"))] == ([] if code else ["f"])


def test_plain_bytes_are_not_put_into_a_zone_as_they_are() -> None:
    one, two = _Zones(), _Zones(zones=("/dst/secret",))
    one.mkdirs(_SOURCE.child("secret"))
    one.write(_SOURCE.child("secret").child("f"), [b"text"])
    two.mkdirs(_TARGET.child("secret"))
    copier = Copier(source=one, target=two, check=lambda: None, create=CreateOptions(raw=True))
    ends = [raw_path(root).child("secret").child("f") for root in (_SOURCE, _TARGET)]
    assert copier.copy(FileCopy(ends[0], ends[1], 4)).code == "not_copied_raw"
