"""An archive of a config repo costs no more than it may, and is read or refused with a word.

Against: whoever makes the archive that a run is given (`--config-repo`, what `--archives` ships), or damages it on the
way. Defended: memory stays bounded whatever the archive says of itself, and nothing in it ends in a stack trace.
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import struct
import tarfile
import tracemalloc
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.unit.config_source.checkouts import REPO
from tests.unit.config_source.test_archive import make_tar, make_zip
from toolkit.config_source import BadArchive
from toolkit.config_source.archive import from_archive
from toolkit.entities.loader import load
from toolkit.entities.problems import ConfigError

_MOST_MEMORY = 64 << 20


def header(name: str, size: int, kind: bytes) -> bytes:
    """The header of a tar member as no well-behaved program writes it."""
    block = bytearray(tarfile.TarInfo(name).tobuf(tarfile.USTAR_FORMAT))
    block[124:136] = ((0x80 << 88 if size >= 0 else 1 << 96) + size).to_bytes(12, "big")
    block[156:157] = kind
    block[148:156] = b" " * 8
    block[148:156] = f"{sum(block):06o}\0 ".encode()
    return bytes(block)


def test_folders_without_end_in_an_archive_are_read(tmp_path: Path) -> None:
    deep = f"feeds/{'d/' * 1500}x.yaml"
    for path in (make_zip(tmp_path / "a.zip", {**REPO, deep: "x"}), make_tar(tmp_path / "a.tar", {**REPO, deep: "x"})):
        with pytest.raises(ConfigError):
            load(from_archive(path))


@pytest.mark.parametrize("seconds", [-(1 << 60), 1 << 60])
def test_a_time_out_of_range_is_said(tmp_path: Path, seconds: int) -> None:
    with tarfile.open(tmp_path / "a.tar", "w", format=tarfile.GNU_FORMAT) as archive:
        info = tarfile.TarInfo("repo.yaml")
        info.mtime = seconds
        archive.addfile(info)
    with pytest.raises(BadArchive, match=r"has the member 'repo\.yaml' with a time that cannot be"):
        from_archive(tmp_path / "a.tar")


@pytest.mark.parametrize("mtime", ["nan", "inf", "-inf", "1e400", "99999999999999999999", "-99999999999999"])
def test_a_time_out_of_range_in_an_extended_header_is_said(tmp_path: Path, mtime: str) -> None:
    with tarfile.open(tmp_path / "a.tar", "w", format=tarfile.PAX_FORMAT) as archive:
        info = tarfile.TarInfo("repo.yaml")
        info.pax_headers = {"mtime": mtime}
        archive.addfile(info)
    with pytest.raises(BadArchive, match=r"has the member 'repo\.yaml' with a time that cannot be"):
        from_archive(tmp_path / "a.tar")


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress])
@pytest.mark.parametrize("at", [8, 20, 60, 100])
def test_a_damaged_archive_is_said(tmp_path: Path, pack: Callable[[bytes], bytes], at: int) -> None:
    packed = bytearray(pack(make_tar(tmp_path / "a.tar", REPO).read_bytes()))
    packed[at:] = bytes(255 - each for each in packed[at:])
    (tmp_path / "b.tar.gz").write_bytes(packed)
    with pytest.raises(BadArchive, match=r"b\.tar\.gz"):
        from_archive(tmp_path / "b.tar.gz")


def test_an_archive_packed_as_xz_is_refused_since_it_says_itself_how_much_memory_it_needs(tmp_path: Path) -> None:
    (tmp_path / "a.tar").write_bytes(lzma.compress(make_tar(tmp_path / "b.tar", REPO).read_bytes()))
    with zipfile.ZipFile(tmp_path / "a.zip", "w", zipfile.ZIP_LZMA) as archive:
        archive.writestr("repo.yaml", "name: web\n")
    with pytest.raises(BadArchive, match="cannot be read"):
        from_archive(tmp_path / "a.tar")
    with pytest.raises(BadArchive, match=r"has the member 'repo\.yaml', packed in an unusual way"):
        from_archive(tmp_path / "a.zip")


@pytest.mark.parametrize("kind", [b"x", b"g", b"L", b"K"])
@pytest.mark.parametrize("suffix", ["tar", "tar.gz"])
def test_a_header_as_large_as_the_disk_is_not_read_into_memory(tmp_path: Path, kind: bytes, suffix: str) -> None:
    data = header("x", 5 << 30, kind) + bytes(100 << 20)  # enough of what it says to be seen in the memory
    path = tmp_path / f"a.{suffix}"
    path.write_bytes(gzip.compress(data, 1) if suffix == "tar.gz" else data)
    del data
    tracemalloc.start()
    try:
        with pytest.raises(BadArchive, match="has a header of more than 64 KiB"):
            from_archive(path)
        assert tracemalloc.get_traced_memory()[1] < _MOST_MEMORY
    finally:
        tracemalloc.stop()


@pytest.mark.extended
def test_headers_without_end_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.tar.gz"
    value = "v" * ((64 << 10) - 100)
    with tarfile.open(path, "w:gz", format=tarfile.PAX_FORMAT, compresslevel=1) as archive:
        for number in range(1100):
            info = tarfile.TarInfo(f"x{number}")
            info.pax_headers = {"comment": value}
            archive.addfile(info)
    with pytest.raises(BadArchive, match="has more than 64 MiB of headers"):
        from_archive(path)


def test_a_sparse_file_in_an_archive_is_no_file(tmp_path: Path) -> None:
    with tarfile.open(tmp_path / "a.tar", "w", format=tarfile.PAX_FORMAT) as archive:
        for name, text in REPO.items():
            info = tarfile.TarInfo(name)
            info.size = len(text)
            archive.addfile(info, io.BytesIO(text.encode()))
        info = tarfile.TarInfo("feeds/sparse.yaml")
        info.pax_headers = {
            "GNU.sparse.map": "0,0",
            "GNU.sparse.size": str(200 << 20),
            "GNU.sparse.major": "0",
            "GNU.sparse.minor": "1",
        }
        archive.addfile(info)
    assert [each.file for each in from_archive(tmp_path / "a.tar").problems] == ["feeds/sparse.yaml"]


def test_a_member_that_leads_back_is_not_read_for_ever(tmp_path: Path) -> None:
    (tmp_path / "a.tar").write_bytes(header("x", -512, b"0") + header("y", -1024, b"0") + bytes(1024))
    with pytest.raises(BadArchive):
        from_archive(tmp_path / "a.tar")


@pytest.mark.extended
def test_a_member_that_is_larger_than_it_says_is_not_unpacked(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("repo.yaml", bytes(200 << 20))
    forged = (tmp_path / "a.zip").read_bytes().replace((200 << 20).to_bytes(4, "little"), (10).to_bytes(4, "little"))
    (tmp_path / "a.zip").write_bytes(forged)
    tracemalloc.start()
    try:
        with pytest.raises(BadArchive, match="cannot be read"):
            from_archive(tmp_path / "a.zip")
        assert tracemalloc.get_traced_memory()[1] < _MOST_MEMORY
    finally:
        tracemalloc.stop()


def test_an_index_as_large_as_the_disk_is_not_read_into_memory(tmp_path: Path) -> None:
    end = struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, 1, 1, 3 << 30, 0, 0)
    with (tmp_path / "a.zip").open("wb") as file:
        file.seek(3 << 30)
        file.write(end)
    with pytest.raises(BadArchive, match="has an index of more than 16 MiB"):
        from_archive(tmp_path / "a.zip")
    (tmp_path / "a.zip").unlink()


def test_an_empty_file_is_no_archive(tmp_path: Path) -> None:
    (tmp_path / "a.tar").write_bytes(b"")
    with pytest.raises(BadArchive):
        from_archive(tmp_path / "a.tar")


def index(name: bytes, count: int, *, extra: bytes = b"", comment: bytes = b"") -> bytes:
    """A zip archive that is nothing but an index of so many members."""
    lengths = map(len, (name, extra, comment))
    head = struct.pack("<4s4B4HL2L5H2L", b"PK\1\2", 20, 0, 20, 0, 0, 0, 0, 33, 0, 0, 0, *lengths, 0, 0, 0, 0)
    members = (head + name + extra + comment) * count
    most = min(count, 0xFFFF)
    return members + struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, most, most, len(members), 0, 0)


FIELDS = b"\1\2\0\0" * 16_000
"""Extra fields without content, of which the standard library copies the rest for each."""


def test_comments_of_200_mb_in_a_zip_archive_are_not_read(tmp_path: Path) -> None:
    (tmp_path / "a.zip").write_bytes(index(b"x", 3050, comment=bytes(0xFFFF)))
    with pytest.raises(BadArchive, match="has an index of more than 16 MiB"):
        from_archive(tmp_path / "a.zip")


def test_a_member_of_a_zip_archive_with_thousands_of_extra_fields_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.zip").write_bytes(index(b"x", 200, extra=FIELDS))
    with pytest.raises(BadArchive, match="has a member with 64,000 bytes of extra fields, expected at most 4,096"):
        from_archive(tmp_path / "a.zip")


@pytest.mark.parametrize("kind", [b"x", b"g"])
def test_digits_without_end_in_a_header_of_a_tar_archive_are_refused(tmp_path: Path, kind: bytes) -> None:
    """The standard library looks for a number from each of them on (CVE-2024-6232): minutes for 64 KiB."""
    body = b"1" * (63 << 10)
    (tmp_path / "a.tar").write_bytes(header("x", len(body), kind) + body + bytes(1024))
    with pytest.raises(BadArchive, match="has a header with a number of more than 100 digits"):
        from_archive(tmp_path / "a.tar")


def test_a_file_in_a_tar_archive_may_have_many_digits(tmp_path: Path) -> None:
    texts = {**REPO, "feeds/digits.yaml": "1" * 200_000}
    assert from_archive(make_tar(tmp_path / "a.tar", texts)).files["feeds/digits.yaml"] == b"1" * 200_000


def test_thousands_of_headers_for_all_members_of_a_tar_archive_are_refused(tmp_path: Path) -> None:
    with tarfile.open(
        tmp_path / "a.tar", "w", format=tarfile.PAX_FORMAT, pax_headers=dict.fromkeys(map(str, range(4000)), "x")
    ) as archive:
        archive.addfile(tarfile.TarInfo("x"))
    with pytest.raises(BadArchive, match="has more than 100 headers for all members"):
        from_archive(tmp_path / "a.tar")
